"""New pages are held back from agents, and from running, until the recorder listens in them."""

from __future__ import annotations

from collections.abc import Callable

from replaykit.recorder.page.page_script import InjectedNames
from replaykit.recorder.proxy.protocol_messages import (
    RECORDER,
    Message,
    Seat,
    TargetPlace,
    Wire,
    plain,
    wires,
)

HOLD_S = 2.0
"""A new page is held back for so long at most."""

LOOK_S = 1.5
"""A page that is to be closed is kept for so long at most, until the recorder has looked at it."""

HELD_MAX = 20_000
"""Messages of one page that are held back."""


BLANK = "about:blank"

FORGET_MAX = 30
"""How often it is tried to take the empty page out of a new page's history."""

SCRIPT = "Page.addScriptToEvaluateOnNewDocument"
"""The call that puts the recorder's script into later documents of a page."""

FOLLOW = "Target.setAutoAttach"
"""The last call that arms a page."""

_ARRIVALS = frozenset({"Page.frameNavigated", "Page.domContentEventFired", "Page.loadEventFired"})


class Holding:
    """Pages that are held back, by target; `late` is called where a page could not be held long enough."""

    def __init__(self, clock: Callable[[], float], late: Callable[[str], None], names: InjectedNames) -> None:
        self.is_holding = False
        """Whether new pages are held: from when the agent may connect."""
        self.counts = {"targets": 0, "targets_late": 0, "commands": 0, "refused": 0}
        """New pages, those held too long, commands of agents, and those refused."""
        self._clock = clock
        self._late = late
        self._names = names
        self._places: dict[str, TargetPlace] = {}
        self._seats: dict[str, Seat] = {}
        self._roots: dict[int, Seat] = {}
        self._unstarted: set[str] = set()
        """Pages that a link opened: their process begins with their document, and answers nothing before."""
        self._arriving: dict[str, int] = {}
        """Sessions of ours on pages that go to their first address, and how often to look at each again."""

        self.on_parting: Callable[[str], None] = self.looked
        """Called with the target of a page that is to be closed; `looked` then lets it go."""
        self._parting: dict[str, tuple[float, Seat, Wire]] = {}
        self._waiting_below: dict[str, str] = {}
        """Frames that wait for the recorder, each with the target around."""
        self._following: list[tuple[float, Seat, Wire, Message]] = []

    def _to_client(self, seat: Seat, wire: Wire) -> None:
        raise NotImplementedError

    def _forward(self, seat: Seat, wire: Wire, params: Message | None) -> None:
        raise NotImplementedError

    def _own(
        self,
        method: str,
        params: Message,
        session: str | None = None,
        then: Callable[[Wire], None] | None = None,
    ) -> None:
        raise NotImplementedError

    def _place(self, target: str) -> TargetPlace:
        return self._places.setdefault(target, TargetPlace())

    def is_ours(self, target: str) -> bool:
        """Whether a target is one of the recorder's own."""
        place = self._places.get(target)
        return place is not None and place.due < 0

    def go(self, target: str, url: str) -> None:
        """Let a new page go somewhere, once the recorder listens in it."""
        place = self._place(target)
        place.url = url
        if not self._is_held(place):
            self._go(target, place)

    def _met(self, about: Message) -> None:
        target = about["targetId"]
        place = self._place(target)
        if self.is_holding and not (place.is_armed or place.due):
            self.counts["targets"] += 1
            place.due = self._clock() + HOLD_S
            if "openerId" in about and about.get("canAccessOpener") is False:
                self._unstarted.add(target)

    def hide(self, target: str) -> None:
        """Keep a target of the recorder's own from all others."""
        # A time below zero marks the recorder's own (`is_ours`), and is never due.
        self._place(target).due = -1.0
        self._place(target).is_armed = True

    def armed(self, target: str) -> None:
        """Let go of a page, now that the recorder listens in it."""
        place = self._place(target)
        if not place.is_armed:
            place.is_armed = True
            self._release(target, place)

    def _arm(self, params: Message) -> None:
        """Take a page that answers nothing yet for armed once the recorder has sent it all that arms it."""
        seat = self._seats.get(str(params.get("sessionId")))
        if seat is None or seat.target not in self._unstarted:
            return
        sent = wires.decode(params["message"])
        if sent.method == SCRIPT and plain(sent.params).get("worldName") == self._names.world:
            seat.is_arming = True
        elif sent.method == FOLLOW and seat.is_arming:
            self.armed(seat.target)

    def _waits(self, seat: Seat, params: Message) -> None:
        """Note a frame that waits for the recorder."""
        is_waiting = seat.client == RECORDER and bool(params.get("waitingForDebugger"))
        if is_waiting and seat.parent is not None and seat.parent.target:
            self._waiting_below[seat.target] = seat.parent.target

    def _arrived_below(self, target: str) -> None:
        """Note that a target shows a document; let clients follow what is below the one around it."""
        if self._waiting_below.pop(target, None) is not None:
            self._follow_all(lambda seat, _: not self._has_waiting(seat.target))

    def _has_waiting(self, target: str) -> bool:
        # Frames that were removed meanwhile have no session.
        waiting = self._waiting_below.items()
        self._waiting_below = {one: around for one, around in waiting if self._place(one).seats}
        return target in self._waiting_below.values()

    def _follow(self, seat: Seat, wire: Wire, params: Message) -> None:
        """Let a client ask for the targets below, but not while a frame there waits for the recorder.

        The browser would take that frame away from the recorder, and it would never load.
        """
        if self._has_waiting(seat.target) and len(self._following) < HELD_MAX:
            self._following.append((self._clock() + HOLD_S, seat, wire, params))
        else:
            self._forward(seat, wire, params)

    def _follow_all(self, is_due: Callable[[Seat, float], bool]) -> None:
        due = [one for one in self._following if is_due(one[1], one[0])]
        self._following = [one for one in self._following if one not in due]
        for _, seat, wire, params in due:
            if seat.id in self._seats:
                self._forward(seat, wire, params)

    def part(self, seat: Seat, wire: Wire, params: Message) -> None:
        """Close a page once the recorder has looked at it for the last time."""
        target = str(params.get("targetId"))
        place = self._places.get(target)
        is_watched = self.is_holding and place is not None and place.is_armed
        if not is_watched or target in self._parting:
            self._forward(seat, wire, None)
            return
        self._parting[target] = (self._clock() + LOOK_S, seat, wire)
        self.on_parting(target)

    def looked(self, target: str) -> None:
        """Let a page be closed, also if the client that asked for it is gone."""
        if target not in self._parting:
            return
        _, seat, wire = self._parting.pop(target)
        if seat.client in self._roots:
            self._forward(seat, wire, None)
        else:
            self._own("Target.closeTarget", {"targetId": target})

    def let_go(self) -> None:
        """Hold nothing back any more."""
        self.is_holding = False
        for target, place in list(self._places.items()):
            for seat in place.seats:
                seat.waits = False
            self._release(target, place)

    def overdue(self) -> None:
        """Let go of pages that were held long enough, and look again at those that just arrived."""
        for session in [session for session, left in self._arriving.items() if left < FORGET_MAX]:
            self._look_back(session)
        now = self._clock()
        self._follow_all(lambda _, due: due <= now)
        for target in [target for target, (due, _, _) in self._parting.items() if due <= now]:
            self.looked(target)
        for target, place in list(self._places.items()):
            if not place.is_armed and 0 < place.due <= now:
                place.is_armed = True
                self.counts["targets_late"] += 1
                self._late(target)
                self._release(target, place)

    def _is_held(self, place: TargetPlace) -> bool:
        return self.is_holding and not place.is_armed and place.due > 0 and len(place.held) < HELD_MAX

    def _release(self, target: str, place: TargetPlace) -> None:
        self._unstarted.discard(target)
        held, place.held = place.held, []
        for seat, wire in held:
            if seat.client in self._roots:
                self._to_client(seat, wire)
        self._resume(place)
        self._go(target, place)

    def _resume(self, place: TargetPlace) -> None:
        # The first resume starts a page that has an opener: the recorder's waits for those of all clients.
        if (place.is_armed or not self.is_holding or not place.due) and not any(
            one.waits for one in place.seats
        ):
            resumes, place.resumes = place.resumes, []
            for wire in resumes:
                seat = self._seats.get(str(wire.sessionId))
                if seat is not None:
                    self._forward(seat, wire, None)

    def _go(self, target: str, place: TargetPlace) -> None:
        url, place.url = place.url, ""
        if url:
            wanted = {"targetId": target, "flatten": True}
            self._own("Target.attachToTarget", wanted, then=lambda answer: self._navigate(url, answer))

    def _navigate(self, url: str, answer: Wire) -> None:
        session = plain(answer.result).get("sessionId")
        if session is None:
            return

        # The empty page is no place to go back to; it can be forgotten once another is there.
        self._arriving[session] = FORGET_MAX
        self._own("Page.enable", {}, session)
        self._own("Page.navigate", {"url": url}, session)

    def _arrived(self, session: str, wire: Wire) -> None:
        if wire.method in _ARRIVALS:
            self._look_back(session)

    def _look_back(self, session: str) -> None:
        self._own(
            "Page.getNavigationHistory", {}, session, lambda answer: self._forget_blank(session, answer)
        )

    def _forget_blank(self, session: str, answer: Wire) -> None:
        if session not in self._arriving:
            return
        history = plain(answer.result)
        urls = [entry["url"] for entry in history.get("entries", ())]
        if urls == [BLANK]:
            return  # it is still to come
        # Right at the arrival the browser may refuse. Entries stay if the agent went on: it may go back to
        # them.
        if len(urls) == 2 and urls[0] == BLANK and history["currentIndex"] == 1 and self._arriving[session]:
            self._arriving[session] -= 1
            self._own("Page.resetNavigationHistory", {}, session)
            return
        del self._arriving[session]
        self._own("Target.detachFromTarget", {"sessionId": session})
