"""JavaScript worlds of one tab's documents, and what our script says in its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import RecorderError
from replaykit.recorder.browser.tab.cdp_documents import Place, Spot
from replaykit.recorder.browser.tab.cdp_frames import Flood, Via
from replaykit.recorder.browser.tab.tab_state import Missed, TabState
from replaykit.recorder.page.page_script import (
    CLOSING,
    ENDINGS,
    PageClose,
    PageEvent,
    PageGap,
    PageOpen,
    PagePart,
    PagePush,
    Parts,
    decode_message,
    split_number,
)
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import (
    MAIN,
    FrameLeft,
    Input,
    PageMessage,
    SnapshotPushed,
    Source,
)

Params: TypeAlias = dict[str, Any]


class Context(Struct, frozen=True, kw_only=True):
    """A JavaScript world of one document."""

    frame: str
    """Frame id."""
    name: str
    """Name of the world; empty = the page's own."""
    document: int
    """Document ordinal of the tab when it appeared."""
    source: Source = MAIN
    """Source of its messages."""
    origin: str = ""
    """Origin of the document that it was made for."""


class Numbers:
    """Numbers of what one world says: each one more than the one before, from 0 in each document."""

    def __init__(self) -> None:
        self.next = 0
        """The one that is due."""

    def misses(self, number: int | None) -> int:
        """Take a number in; return how many messages are missing before it, one for a number out of place."""
        if number is None:
            return 0
        missing = number - self.next if number > 0 else 0
        self.next = number + 1
        return missing if missing >= 0 else 1


class Worlds:
    """Worlds of one tab."""

    def __init__(self, tab: TabState, clock: Clock) -> None:
        self._tab = tab
        self._clock = clock
        self._flood = Flood()
        self._contexts: dict[Place, Context] = {}
        self._parts: dict[Place, Parts] = {}
        self._numbers: dict[Place, Numbers] = {}

    def received(self, place: Place) -> int:
        """Return how many messages of a context have come."""
        numbers = self._numbers.get(place)
        return numbers.next if numbers is not None else 0

    def place(self, name: str | None = None, frame: str | None = None) -> Place | None:
        """Return a frame's context of a world, `""` being the page's own; default: ours, the main frame."""
        name = self._tab.names.world if name is None else name
        wanted = frame or self._tab.frames.main
        found = [
            place
            for place, context in self._contexts.items()
            if context.frame == wanted and context.name == name
        ]
        # The latest: the browser may make our world again for the same frame (decision 40).
        return found[-1] if found else None

    def pages(self) -> list[tuple[Place, str]]:
        """Return the pages' own contexts, each with its frame."""
        return [(place, context.frame) for place, context in self._contexts.items() if not context.name]

    def unknown(self, due: frozenset[Via]) -> list[tuple[Place, str]]:
        """Return those of `pages`, in some targets and below, whose documents deny nothing."""
        present = self._present()
        denying = {present[place] for place in self._tab.leave_listeners.denials & present.keys()}
        return [
            (place, frame)
            for place, frame in self.pages()
            if place not in denying and any(place[0][: len(via)] == via for via in due)
        ]

    def unasked(self) -> Iterator[Spot]:
        """Yield the documents that have neither denied that they listen for their end, nor been asked."""
        asked = self._tab.leave_listeners.handles
        every = frozenset(place[0] for place in self._contexts)
        return ((place[0], frame) for place, frame in self.unknown(every) if place not in asked)

    def _present(self) -> dict[Place, Place]:
        """Return our contexts of the documents that frames have now, each with the page's own."""
        # Ours comes after the page's own of the same document: one before it belongs to an earlier document.
        own, ours = dict[tuple[Via, str], Place](), dict[Place, Place]()
        for place, context in self._contexts.items():
            spot = (place[0], context.frame)
            if not context.name:
                own[spot] = place
            elif context.name == self._tab.names.world and spot in own:
                ours[place] = own[spot]
        return {place: page for place, page in ours.items() if page in own.values()}

    def is_own(self, params: Params, via: Via) -> bool:
        """Whether the page's own world sent it, and no world of ours or of the agent's driver."""
        context = self._contexts.get((via, params.get("executionContextId", -1)))
        return context is None or not context.name

    def translate(self, method: str, params: Params, via: Via) -> Iterator[Input]:
        """Yield what an event of WORLDS means."""
        yield from WORLDS[method](self, params, via)

    def forget_below(self, via: Via, why: str) -> Iterator[Input]:
        """Yield what the end of a target, and of all below it, means."""
        for place in [place for place in self._contexts if place[0][: len(via)] == via]:
            yield from self._forget(place, why)

    def _forget(self, place: Place, why: str = "left") -> Iterator[Input]:
        # Noted messages are translated again later, and documents must count each once.
        if not self._tab.is_noting:
            self._tab.documents.left(place)
        context = self._contexts.pop(place, None)
        self._parts.pop(place, None)
        self._numbers.pop(place, None)
        self._tab.leave_listeners.handles.pop(place, None)
        self._tab.leave_listeners.denials.discard(place)
        if context is None or context.name != self._tab.names.world:
            return
        frames = self._tab.frames
        if context.frame != frames.main and frames.reporters.get(context.frame) == context.source[1]:
            del frames.reporters[context.frame]
            at = self._clock.arrived()
            yield FrameLeft(at=at, page=self._tab.page, source=context.source, why=why)

    def _created(self, params: Params, via: Via) -> Iterator[Input]:
        context, place = params["context"], (via, params["context"]["id"])
        about = context.get("auxData", {})
        frame, is_own = about.get("frameId", ""), about.get("isDefault", False)
        # A driver's world may lack a name, and an empty one would read as the page's own.
        name = "" if is_own else context["name"] or "?"
        if is_own and not self._tab.is_noting:
            is_new = not (self._tab.is_watched or self._tab.is_existing)
            # In a tab that is being armed, a document was there before it is reported.
            at = self._tab.seen_at if is_new else self._clock.arrived()
            self._tab.documents.begun(via, frame, at)
        number = self._tab.frames.renew(frame) if name == self._tab.names.world else 0
        source = self._tab.frames.source(frame, number)
        document = self._tab.document
        self._contexts[place] = Context(
            frame=frame, name=name, document=document, source=source, origin=context.get("origin", "")
        )
        return iter(())

    def _destroyed(self, params: Params, via: Via) -> Iterator[Input]:
        yield from self._forget((via, params["executionContextId"]))

    def _cleared(self, params: Params, via: Via) -> Iterator[Input]:
        for place in [place for place in self._contexts if place[0] == via]:
            yield from self._forget(place)

    def _called(self, params: Params, via: Via) -> Iterator[Input]:
        place = (via, params["executionContextId"])
        context = self._contexts.get(place)
        if params["name"] != self._tab.names.binding or context is None:
            return
        number, text = split_number(params["payload"])
        missing = self._numbers.setdefault(place, Numbers()).misses(number)
        if missing and self._tab.actor == "agent":
            self._tab.gaps.append(Missed("actions", "seq.broken", missing))
        # A closing travels in the message before it: between two the next document may come (decision 43).
        for line in text.split("\n"):
            self._tab.documents.reported(place)
            # A closing passes any flood: without it the document would count as unclosed.
            if line.startswith(CLOSING) or self._admits(context, line):
                yield from self._receive(place, context, line)

    def _admits(self, context: Context, text: str) -> bool:
        if context.frame == self._tab.frames.main:
            return True
        is_admitted = self._flood.admits(len(text), self._clock.now())
        if self._flood.dropped:
            self._tab.gaps.append(Missed("actions", "flood", self._flood.dropped))
            self._flood.dropped = 0
        return is_admitted

    def _receive(self, place: Place, context: Context, text: str) -> Iterator[Input]:
        try:
            message = decode_message(self._tab.names.fields.opened(text))
            whole = self._joined(place, message) if isinstance(message, PagePart) else None
        except RecorderError:
            self._tab.gaps.append(Missed("actions", "message.invalid"))
            return
        is_agent = self._tab.actor == "agent"
        if whole is not None:
            yield from self._receive(place, context, whole)
        elif isinstance(message, PagePush):
            self._note_listeners(place, context.frame, message.listened, is_due=True)
            yield from self._pushed(message, context, place[0])
        elif isinstance(message, PageOpen):
            self._opened(context, message, place)
        elif isinstance(message, PageClose):
            self._tab.documents.closed(place, message, self._page_time(message.at, place[0]))
            self._note_listeners(place, context.frame, message.listened, is_due=message.leaving)
        elif is_agent and isinstance(message, PageEvent):
            # A probe tab serializes; what happens in it is no action of the agent.
            at = self._page_time(message.at, place[0])
            yield PageMessage(event=self._seen(message, context), at=at, **self._whence(context))
        elif is_agent and isinstance(message, PageGap):
            # The text of an error may hold a word of the page, and passes no redactor.
            detail = message.detail if message.why == "events.missed" else ""
            self._tab.gaps.append(Missed("actions", message.why, message.count, detail))

    def _seen(self, event: PageEvent, context: Context) -> PageEvent:
        """Return an event whose cause is known as far as its world sees.

        A world that was touched before its frame's document came is made too early: with the origin of the
        document before. Its call stacks show nothing of other worlds, not even of a driver's.
        """
        place = self.place("", context.frame)
        is_blind = place is not None and self._contexts[place].origin != context.origin
        is_of_script = event.cause == "" and (not event.trusted or event.name == "focusin")
        return replace(event, cause="unseen") if is_blind and is_of_script else event

    def _whence(self, context: Context) -> dict[str, Any]:
        frame, page = self._tab.frame(context.frame), self._tab.page
        return {"page": page, "document": context.document, "frame": frame, "source": context.source}

    def _page_time(self, epoch_ms: float, via: Via) -> float:
        target = self._tab.targets.get(via)
        ahead = self._tab.ahead if target is None or target.ahead is None else target.ahead
        return self._clock.witnessed(self._clock.of_epoch(epoch_ms - ahead))

    def _joined(self, place: Place, part: PagePart) -> str | None:
        return self._parts.setdefault(place, Parts()).add(part)

    def _opened(self, context: Context, message: PageOpen, place: Place) -> None:
        at = self._page_time(message.at, place[0])
        self._tab.documents.opened(place, context.frame, message, at)
        if message.role == "frame":
            self._greeted(context, place[0], is_touched=message.touched)
        elif message.touched and self._tab.actor == "agent" and not self._tab.is_existing:
            self._tab.gaps.append(Missed("actions", "armed.late"))

    def _greeted(self, context: Context, via: Via, *, is_touched: bool) -> None:
        tab = self._tab
        if not tab.frames.knows(context.frame):
            return
        tab.frames.reporters[context.frame] = context.source[1]
        if context.frame not in tab.frames.owned:
            tab.unhandled.append(context.frame)
        target = tab.targets.get(via)
        if is_touched and tab.actor == "agent" and target is not None and not target.is_existing:
            tab.gaps.append(Missed("actions", "target.late"))

    def _pushed(self, push: PagePush, context: Context, via: Via) -> Iterator[Input]:
        self._tab.take_facts(push, context.frame)
        yield SnapshotPushed(push=push, at=self._page_time(push.at, via), **self._whence(context))

    def _note_listeners(self, place: Place, frame: str, listened: bool | None, *, is_due: bool) -> None:
        listeners, is_denied = self._tab.leave_listeners, listened is False
        was_denied = place in listeners.denials
        is_due |= is_denied != was_denied
        if was_denied and listened is None:
            listeners.doubt((place[0], frame))
        (listeners.denials.add if is_denied else listeners.denials.discard)(place)
        if listened and place in self._present():
            listeners.looked((place[0], frame), set(ENDINGS))
        if self._tab.actor == "agent" and is_due:
            listeners.happened(place[0])


WORLDS: dict[str, Callable[[Worlds, Params, Via], Iterator[Input]]] = {
    "Runtime.executionContextCreated": Worlds._created,
    "Runtime.executionContextDestroyed": Worlds._destroyed,
    "Runtime.executionContextsCleared": Worlds._cleared,
    "Runtime.bindingCalled": Worlds._called,
}
"""Protocol events that report worlds."""
