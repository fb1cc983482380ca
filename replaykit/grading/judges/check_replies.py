"""Recorded replies for checks: the tape answers what a check would ask a model."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from replaykit.grading.judges.pump import recorded
from replaykit.grading.judges.tape import Tape, read_tape
from replaykit.grading.request import ModelReply, ModelRequest, ReplyFailure


class CheckReplies:
    """Answers requests from a tape, which is read when the first one comes; equal requests are one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_asked = False

    def __call__(self, request: ModelRequest) -> ModelReply | ReplyFailure | None:
        """Return the recorded reply, a miss, or None where there is no tape."""
        self._is_asked = True
        return None if self.tape is None else recorded(request, (0, 0), self.tape)

    @property
    def digest(self) -> str | None:
        """Digest of the tape, once it was asked."""
        return self.tape.digest if self._is_asked and self.tape is not None else None

    @cached_property
    def tape(self) -> Tape | None:
        """The tape; None where there is none. Raises `TapeError`."""
        return read_tape(self._path)
