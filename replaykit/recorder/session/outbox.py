"""Output of the session: events in writing, commands that get replies, and what waits for a step.

An event may name a step that is not over yet. It waits here and is written as soon as the step has its index;
readers sort events by time, so the order of lines is free.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.blobs import blob_id
from replaykit.recorder.session.driver_messages import (
    MAIN,
    Close,
    CloseDocuments,
    CommandReply,
    FetchBody,
    Http,
    Open,
    Output,
    Pause,
    Post,
    ReadLog,
    ReadPage,
    Screenshot,
    Write,
)
from replaykit.recorder.session.page_message import ms
from replaykit.secrets.redactor import Redactor
from replaykit.trajectory.exchange import Gap
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Ending, Event, Header

Command: TypeAlias = (
    ReadPage | Screenshot | CloseDocuments | FetchBody | Post | ReadLog | Http | Open | Close | Pause
)  # fmt: skip
"""An output that gets a reply."""

Flow: TypeAlias = Generator[Command, CommandReply, None]
"""Work in several commands: yields one (its id is set here), is sent the reply."""

HURRIED = "hurried"
"""Error of a reply that did not come: there was no time left for it."""

_R = TypeVar("_R")

Asking: TypeAlias = Generator[Command, CommandReply, _R]
"""A part of a flow that returns a result."""


class Blob(Struct, frozen=True, kw_only=True):
    """A payload with its id."""

    id: str
    """sha256 of the payload, hex."""
    media_type: str
    """Its type."""
    data: bytes
    """The payload, free of secrets."""
    frame: bytes = b""
    """The same as a frame of the journal, where it was compressed already; empty = not yet."""

    @classmethod
    def of(cls, media_type: str, data: bytes) -> Blob:
        """Return a payload with the id that it will have in the file."""
        return cls(id=blob_id(data), media_type=media_type, data=data)


class StepRef:
    """A step that may not have its index yet."""

    def __init__(self, at: float, page: int | None) -> None:
        self.at = at
        """Start of the action, ms."""
        self.page = page
        """Tab ordinal."""
        self.index: int | None = None
        """Step index, once it is committed."""
        self.is_dropped = False
        """There will be no such step."""
        self.source = MAIN
        """The document that it was done in."""
        self.looks = 0
        """Observations of what came of it, written or under way."""


class Outbox:
    """Collects outputs of one `feed`; redacts every event; keeps blobs from being written twice."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self.latest = 0
        """Latest time in any event, ms."""
        self.is_closed = False
        """The ending is written: nothing may follow."""
        self._outputs: list[Output] = []
        self._waiting: list[tuple[Event, tuple[Blob, ...], StepRef]] = []
        self._written: set[str] = set()

    def drain(self) -> list[Output]:
        """Return what has been collected and start again."""
        outputs, self._outputs = self._outputs, []
        return outputs

    def send(self, output: Output) -> None:
        """Give out a command or a notice to the driver."""
        self._outputs.append(output)

    def blob(self, media_type: str, data: bytes) -> Blob:
        """Return a payload without secrets, with the id that it will have in the file."""
        clean = self.redactor.blob(media_type, data)
        return Blob.of(media_type, clean)

    def write(self, event: Event | Header, blobs: Iterable[Blob] = (), ref: StepRef | None = None) -> None:
        """Commit an event; with `ref`, as soon as that step has its index."""
        # The ending has to stay last, and late replies may still bring events.
        if self.is_closed:
            return
        if ref is None or ref.is_dropped or isinstance(event, Header):
            self._commit(event, blobs)
        elif ref.index is None:
            self._waiting.append((event, tuple(blobs), ref))
        else:
            self._commit(_linked(event, ref.index), blobs)

    def settle(self, ref: StepRef, index: int) -> None:
        """Give a step its index, and write what waited for it."""
        ref.index = index
        ready = [entry for entry in self._waiting if entry[2] is ref]
        self._waiting = [entry for entry in self._waiting if entry[2] is not ref]
        for event, blobs, _ in ready:
            self._commit(_linked(event, index), blobs)

    def release(self, ref: StepRef) -> None:
        """Write what waited for a step that there will not be, and what comes for it later."""
        ref.is_dropped = True
        ready = [entry for entry in self._waiting if entry[2] is ref]
        self._waiting = [entry for entry in self._waiting if entry[2] is not ref]
        for event, blobs, _ in ready:
            self._commit(event, blobs)

    def gap(
        self,
        channel: str,
        why: str,
        at: float,
        *,
        page: int | None = None,
        ref: StepRef | None = None,
        count: int = 1,
    ) -> None:
        """Report that something was missed."""
        self.write(Gap(t=ms(at), page=page, channel=channel, why=why, count=count), ref=ref)

    def close(self, ending: Ending) -> None:
        """Write the ending after everything that still waits."""
        for event, blobs, _ in self._waiting:
            self._commit(event, blobs)
        self._waiting = []
        # Readers sort by time: an ending with an earlier time would not be the last event.
        self._commit(replace(ending, t=max(self.latest, ending.t or 0)), ())
        self.is_closed = True

    def _commit(self, event: Event | Header, blobs: Iterable[Blob]) -> None:
        new = {blob.id: blob for blob in blobs if blob.id not in self._written}
        self._written |= new.keys()
        if not isinstance(event, Header):
            self.latest = max(self.latest, event.t or 0)
        payloads = tuple((blob.id, blob.media_type, blob.data) for blob in new.values())
        # Every event passes the redactor here; there is no other way into the file.
        frames = {blob.id: blob.frame for blob in new.values() if blob.frame}
        self._outputs.append(Write(event=self.redactor.event(event), blobs=payloads, frames=frames))


class Started(Struct, frozen=True, kw_only=True):
    """A flow under way."""

    flow: Flow
    """Its generator."""
    counts: bool
    """Whether the end waits for it."""
    token: object
    """Subject of the command, for `hurry`."""


class Flows:
    """Runs flows: one reply moves one flow on."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._next_id = 0
        self._waiting: dict[int, Started] = {}
        self._when_idle: list[Callable[[], Flow]] = []

    @property
    def is_idle(self) -> bool:
        """Whether only timers are pending."""
        return not any(started.counts for started in self._waiting.values())

    def start(self, flow: Flow, *, counts: bool = True, token: object = None) -> None:
        """Run a flow up to its first command; `counts=False`: the end does not wait for it."""
        self._step(Started(flow=flow, counts=counts, token=token), None)

    def when_idle(self, make: Callable[[], Flow]) -> None:
        """Run a flow after all that is under way."""
        self._when_idle.append(make)
        self._go_on()

    def reply(self, reply: CommandReply) -> None:
        """Move the flow on that waits for this reply; others are ignored."""
        started = self._waiting.pop(reply.id, None)
        if started is not None:
            self._step(started, reply)
            self._go_on()

    def hurry(self, token: object, at: float) -> None:
        """Move a flow on as if its command had failed: there is no time left for it."""
        waiting = (number for number, started in self._waiting.items() if started.token is token)
        found = next(waiting, None)
        if found is not None:
            # The real reply may still arrive, but nothing waits for its number any more.
            self.reply(CommandReply(at=at, id=found, error=HURRIED))

    def _step(self, started: Started, reply: CommandReply | None) -> None:
        try:
            command = next(started.flow) if reply is None else started.flow.send(reply)
        except StopIteration:
            return
        number, self._next_id = self._next_id, self._next_id + 1
        self._waiting[number] = started
        self._outbox.send(replace(command, id=number))

    def _go_on(self) -> None:
        while self._when_idle and self.is_idle:
            self.start(self._when_idle.pop(0)())


def _linked(event: Event, index: int) -> Event:
    if isinstance(event, Observation):
        return replace(event, of=index)
    return replace(event, step=index) if hasattr(event, "step") else event
