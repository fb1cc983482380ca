"""The events file of a command's agent: JSON lines that it appends, heard while it runs; and the replies.

`thought message ask reply answer step end`, each with an optional `t` (epoch ms); fields are those of the
run's methods. Lines that are wrong are told by their number and stop nothing.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.decoders import decode
from replaykit.errors import UsageError
from replaykit.recorder.run import Run

log = logging.getLogger("replaykit.recorder")

LINE_MAX = 1 << 20
"""Bytes of one line."""


class SpokenLine(Struct, frozen=True, kw_only=True):
    """One line of the events file; which fields count depends on the type."""

    type: str
    """What is said."""
    t: float | None = None
    """When, epoch ms."""
    text: str = ""
    """Of thought, message, ask, reply, answer."""
    approved: bool | None = None
    """Of reply."""
    phase: str = "start"
    """Of step: `start end`."""
    action: dict[str, Any] | str | None = None
    """Of step."""
    thought: str | None = None
    """Of step."""
    raw: Any = None
    """Of step."""
    error: Any = None
    """Of step and end: a text, or {name, message}."""
    kind: str | None = None
    """Of end."""
    cause: str | None = None
    """Of end."""
    validity: str = "valid"
    """Of end."""


class Spoken:
    """Hears an events file, and writes the user's replies to another."""

    def __init__(self, events: Path, replies: Path, run: Run) -> None:
        self.warnings: list[str] = []
        """Lines that could not be understood, in words."""
        self._events = events
        self._replies = replies
        self._run = run
        self._offset = 0
        self._number = 0
        events.touch()
        replies.touch()

    def hear(self, *, is_last: bool = False) -> None:
        """Take in the lines that are complete; the last time, an unfinished one too."""
        with self._events.open("rb") as file:
            file.seek(self._offset)
            new = file.read()
        end = len(new) if is_last else new.rfind(b"\n") + 1
        self._offset += end
        for line in new[:end].splitlines():
            self._number += 1
            if line.strip():
                self._hear_line(line)

    def _hear_line(self, line: bytes) -> None:
        try:
            if len(line) > LINE_MAX:
                raise UsageError(what=f"{len(line)} bytes, {LINE_MAX} are allowed")
            said = decode(line, SpokenLine)
            handle = _SAID.get(said.type)
            if handle is None:
                raise UsageError(what=f"type {said.type!r}; there are {', '.join(_SAID)}")
            handle(self, said, self._at(said))
        except (msgspec.DecodeError, UnicodeError, UsageError, RecursionError) as error:
            warning = f"events file, line {self._number}: {error}"
            self.warnings.append(warning)
            log.warning(warning)

    def _at(self, said: SpokenLine) -> float | None:
        return None if said.t is None else self._run.clock.of_epoch(said.t)

    def _say(self, said: SpokenLine, at: float | None) -> None:
        self._run.say("say" if said.type == "message" else said.type, said.text, said.approved, at)

    def _ask(self, said: SpokenLine, at: float | None) -> None:
        reply = self._run.asked(said.text, at=at)
        line = None if reply is None else {"text": reply.reply, "approved": reply.approved}
        with self._replies.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _step(self, said: SpokenLine, at: float | None) -> None:
        if said.phase == "end":
            self._run.leave(_named(said.error), at)
        else:
            self._run.enter(said.action, said.thought, said.raw, at)

    def _end(self, said: SpokenLine, at: float | None) -> None:
        self._run.end(said.kind, said.cause, said.validity, _named(said.error))


def _named(error: Any) -> tuple[str, str] | None:
    if isinstance(error, dict):
        return str(error.get("name", "Error")), str(error.get("message", ""))
    return None if error is None else ("Error", str(error))


_SAID: dict[str, Callable[[Spoken, SpokenLine, float | None], None]] = {
    "thought": Spoken._say,
    "message": Spoken._say,
    "ask": Spoken._ask,
    "reply": Spoken._say,
    "answer": Spoken._say,
    "step": Spoken._step,
    "end": Spoken._end,
}
