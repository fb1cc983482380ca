"""Replies for checks: the tape answers what they would ask a model, and the model what the tape does not."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from replaykit.bundle.reader import Bundle
from replaykit.grading.judges.judge_config import Panel, tape_of
from replaykit.grading.judges.judge_execution import recorder_of
from replaykit.grading.judges.judge_loop import Asked
from replaykit.grading.judges.judge_options import checked_model
from replaykit.grading.judges.tape.tape import Tape, request_key
from replaykit.grading.model_request import Asking, ModelReply, ModelRequest, ReplyFailure

if TYPE_CHECKING:
    from replaykit.grading.judges.clients.client import Client
    from replaykit.grading.judges.tape.tape_recorder import TapeRecorder


_ONCE = (0, 0)


class CheckReplies:
    """Answers the requests of checks; equal ones are one, asked once in a grading.

    Nothing is read before the first one comes. `client` is asked in the modes `new` and `refresh`; there,
    a request inside a running event loop raises JudgeError, as a model that no provider has does always.
    """

    def __init__(self, panel: Panel, bundle: Bundle, client: Client | None = None) -> None:
        self._panel = panel
        self._bundle = bundle
        self._client = client
        self._replies: dict[str, ModelReply | ReplyFailure | None] = {}
        #: What came, in order, each request once.
        self.asked: list[Asked] = []

    def __call__(self, request: ModelRequest) -> ModelReply | ReplyFailure | None:
        """Return the reply, or why it is missing; None where there is no tape and no model to ask."""
        wanted = replace(request, model=checked_model(self._panel.model or request.model))
        key = request_key(wanted)
        if key not in self._replies:
            self.asked.append(Asked(request=wanted, ordinal=_ONCE))
            self._replies[key] = self._reply(wanted)
        return self._replies[key]

    @cached_property
    def asking(self) -> Asking:
        """How a model is asked."""
        return self._panel.asking

    @property
    def missing(self) -> tuple[Asked, ...]:
        """The requests that came and have no reply."""
        replies = zip(self.asked, self._replies.values(), strict=True)
        return tuple(asked for asked, reply in replies if not isinstance(reply, ModelReply))

    @property
    def digest(self) -> str | None:
        """Digest of the tape as it is now, once it was asked."""
        if not self._replies:
            return None
        # A tape that was asked from only does not change; one that was asked for does.
        tape = self._tape if self._client is None else tape_of(self._bundle, self._panel.tape)
        return None if tape is None else tape.digest

    def _reply(self, request: ModelRequest) -> ModelReply | ReplyFailure | None:
        if self._recorder is not None:
            return self._recorder.answer(request, _ONCE)
        if self._tape is None:
            return None
        from replaykit.grading.judges.tape.tape_miss import recorded

        return recorded(request, _ONCE, self._tape)

    @cached_property
    def _tape(self) -> Tape | None:
        return tape_of(self._bundle, self._panel.tape)

    @cached_property
    def _recorder(self) -> TapeRecorder | None:
        if self._client is None:
            return None
        from replaykit.grading.judges.tape.tape_recorder import (
            refuse_in_loop,  # threads are for those who ask
        )

        refuse_in_loop("grade", "grade_async")
        return recorder_of(self._panel, self._bundle, self._client)
