"""Reports of agent and harness through files: JSON lines that they append, read while the agent runs.

The agent reports on itself: `thought message ask answer step`, and `end` for an end of its own. What it says
of others, a `reply` of the user or an end that somebody else caused, is kept as a claim. The harness's file,
which the agent does not know, may hold a `reply` and any `end`. A line counts from when it was read; the `t`
(epoch ms) that a line gives is kept beside it. Lines that are wrong are reported by their number.
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from replaykit.decoders import decode
from replaykit.errors import UsageError
from replaykit.recorder.file_tail import FileLine, GrowingFile
from replaykit.recorder.live_run import LiveRun
from replaykit.recorder.scripted_user import UserReply

WARNINGS_MAX = 100
"""Lines that are reported; more are counted."""

WRITING = os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

OWN_ENDS = frozenset({"answered", "stopped", "max_steps", "timeout", "crashed"})
"""Endings that an agent can report, because it causes them itself."""

OWN_ROLES = frozenset({None, "agent", "assistant"})
"""Roles in which an agent may speak."""

Speaker: TypeAlias = Literal["agent", "harness"]


class EventLine(Struct, frozen=True, kw_only=True):
    """One line of a file; which fields count depends on the type."""

    type: str
    """Text of the line."""
    t: float | None = None
    """When, epoch ms, as the speaker says."""
    text: str | None = None
    """In lines `thought`, `message`, `ask`, `reply` and `answer`, which are nothing without it."""
    role: str | None = None
    """Speaker that the line names."""
    approved: bool | None = None
    """In lines `reply`."""
    phase: str = "start"
    """In lines `step`: `start end`."""
    action: dict[str, Any] | str | None = None
    """Of step."""
    thought: str | None = None
    """Of step."""
    raw: Any = None
    """Of step."""
    error: Any = None
    """In lines `step` and `end`: a text, or {name, message}."""
    kind: str | None = None
    """Of end."""
    cause: str | None = None
    """Of end."""
    validity: str = "valid"
    """Of end."""

    @property
    def words(self) -> str:
        """Text of the line; empty in lines that have none."""
        return self.text or ""

    @property
    def is_own(self) -> bool:
        """Whether a line written by the agent describes the agent itself."""
        if self.type == "end":
            is_usual = self.validity == "valid" and self.cause in (None, "agent")
            return is_usual and self.kind in (None, *OWN_ENDS)
        return self.type != "reply" and self.role in OWN_ROLES


class ReceivedLine(Struct, frozen=True):
    """One line, and when it was read."""

    speaker: Speaker
    line: FileLine
    at: float
    """Ms since recording start."""


class AgentEvents:
    """Receives lines of the files of agent and harness, and writes the user's replies to a third.

    `listen` may be called by any thread: what it finds waits, in order, until `receive` takes it in.
    """

    def __init__(self, events: Path, replies: Path, run: LiveRun, harness: Path | None = None) -> None:
        self.warnings: list[str] = []
        """Lines that could not be understood, in words."""
        self._agent = GrowingFile(events)
        self._harness = GrowingFile(harness) if harness else None
        self._replies = replies
        self._run = run
        self._received: deque[ReceivedLine] = deque()
        self._lock = threading.Lock()
        self._unlisted = 0
        self._claims = 0
        replies.touch()

    @property
    def counts(self) -> dict[str, int]:
        """Lines that were read, those that could not be understood, and claims."""
        read = self._agent.number + (self._harness.number if self._harness else 0)
        wrong = len(self.warnings) + self._unlisted
        return {"lines": read, "lines_wrong": wrong, "claims": self._claims}

    def listen(self, *, is_last: bool = False) -> bool:
        """Read both files to their ends; returns whether anything waits to be received."""
        with self._lock:
            # A reply follows its question: the harness can only answer what was asked before.
            self._read("agent", self._agent, is_last=is_last)
            if self._harness is not None:
                self._read("harness", self._harness, is_last=is_last)
            return bool(self._received)

    def _read(self, speaker: Speaker, lines: GrowingFile, *, is_last: bool) -> None:
        self._received += (
            ReceivedLine(speaker, line, self._run.clock.now()) for line in lines.take(is_last=is_last)
        )

    def receive(self, *, is_last: bool = False) -> None:
        """Read all lines that are complete; the last time, an unfinished one as well."""
        self.listen(is_last=is_last)
        while self._received:
            self._receive_line(self._received.popleft())
        if is_last:
            self._report_faults()
            self._run.speech_counts = self.counts

    def _report_faults(self) -> None:
        for speaker, lines in (("events", self._agent), ("harness events", self._harness)):
            for fault in lines.faults if lines else ():
                self._warn(f"{speaker} file {fault}")
        if self._unlisted:
            self.warnings.append(f"{self._unlisted} more lines could not be understood")

    def _receive_line(self, received: ReceivedLine) -> None:
        try:
            if received.line.fault:
                raise UsageError(what=received.line.fault)
            if received.line.data.strip():
                self._take(decode(received.line.data, EventLine), received)
        except (msgspec.DecodeError, UnicodeError, UsageError, RecursionError, ValueError) as error:
            name = "events" if received.speaker == "agent" else "harness events"
            self._warn(f"{name} file, line {received.line.number}: {error}")

    def _take(self, event: EventLine, received: ReceivedLine) -> None:
        known = _HANDLERS[received.speaker]
        handle = known.get(event.type)
        if handle is None:
            raise UsageError(what=f"type {event.type!r}; there are {', '.join(known)}")
        if event.text is None and event.type not in ("step", "end"):
            raise UsageError(what=f"a line of the type {event.type!r} needs `text`")
        if received.speaker == "agent" and not event.is_own:
            handle = AgentEvents._claim
        handle(self, event, received.at)

    def _warn(self, warning: str) -> None:
        if len(self.warnings) >= WARNINGS_MAX:
            self._unlisted += 1
            return
        self.warnings.append(warning)

    def _stated_at(self, event: EventLine) -> float | None:
        return None if event.t is None else self._run.clock.of_epoch(event.t)

    def _message(self, event: EventLine, at: float) -> None:
        kind = "say" if event.type == "message" else event.type
        self._run.say(kind, event.words, at=at, stated_at=self._stated_at(event))

    def _claim(self, event: EventLine, at: float) -> None:
        self._claims += 1
        text = event.words if event.type != "end" else _claimed_end(event)
        self._run.say("claim", text, at=at, stated_at=self._stated_at(event), of=event.type)

    def _ask(self, event: EventLine, at: float) -> None:
        reply = self._run.asked(event.words, at=at, stated_at=self._stated_at(event))
        if reply is not None or self._harness is None:
            self._write_reply(reply)  # else the harness may still reply

    def _reply(self, event: EventLine, at: float) -> None:
        self._run.say("reply", event.words, event.approved, at, self._stated_at(event))
        self._write_reply(UserReply(reply=event.words, approved=event.approved))

    def _write_reply(self, reply: UserReply | None) -> None:
        """Write a reply for the agent to read; `null` without a reply."""
        line = None if reply is None else {"text": reply.reply, "approved": reply.approved}
        try:
            handle = os.open(self._replies, WRITING)
        except OSError as error:
            self._warn(f"replies file cannot be written: {error.strerror}")
            return
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def _step(self, event: EventLine, at: float) -> None:
        if event.phase == "end":
            self._run.leave(_named(event.error), at)
        else:
            self._run.enter(event.action, event.thought, event.raw, at, self._stated_at(event))

    def _end(self, event: EventLine, at: float) -> None:
        self._run.end(event.kind, event.cause, event.validity, _named(event.error))

    def _own_end(self, event: EventLine, at: float) -> None:
        self._run.end_own(event.kind, _named(event.error))


def _claimed_end(event: EventLine) -> str:
    claim = {"kind": event.kind, "cause": event.cause, "validity": event.validity}
    return json.dumps({name: value for name, value in claim.items() if value is not None}, ensure_ascii=False)


def _named(error: Any) -> tuple[str, str] | None:
    if isinstance(error, dict):
        return str(error.get("name", "Error")), str(error.get("message", ""))
    return None if error is None else ("Error", str(error))


_HANDLERS: Mapping[Speaker, Mapping[str, Callable[[AgentEvents, EventLine, float], None]]] = {
    "agent": {
        "thought": AgentEvents._message,
        "message": AgentEvents._message,
        "ask": AgentEvents._ask,
        "reply": AgentEvents._claim,
        "answer": AgentEvents._message,
        "step": AgentEvents._step,
        "end": AgentEvents._own_end,
    },
    "harness": {"reply": AgentEvents._reply, "end": AgentEvents._end},
}
