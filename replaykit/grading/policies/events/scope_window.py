"""The part of a run in which a policy is in force, and what was found there before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import msgspec

from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.event_patterns import ActionTypes, Pattern, Test, type_truth
from replaykit.grading.policies.events.event_stream import EventStream
from replaykit.grading.policies.events.three_valued_truth import (
    FALSE,
    TRUE,
    Truth,
    every,
    negate,
    of,
    some,
    unknown,
)
from replaykit.grading.policies.events.url_conditions import UrlTests
from replaykit.tasks.policy_rules import Scope
from replaykit.trajectory.action import Unknown

_Made = TypeVar("_Made")


class Held(NamedTuple):
    """An event and whether the policy was in force when it came."""

    place: int
    """Position in the stream."""
    event: Event
    """The event."""
    in_force: Truth
    """UNKNOWN where the recording does not show it."""


class Window:
    """The part of a run in which a policy is in force."""

    def __init__(self, history: EventStream, scope: Scope | None) -> None:
        self.history = history
        held = tuple(_held(history, scope))
        self.held = tuple(one for one in held if one.in_force.holds is not False)
        #: The policy was at no time in force.
        self.never_opened = bool(held) and not self.held
        self._known: dict[object, Any] = {}

    def known(self, key: object, make: Callable[[], _Made]) -> _Made:
        """Return what was made of this window for a key, made once: many policies ask for the same."""
        if key not in self._known:
            self._known[key] = make()
        found: _Made = self._known[key]
        return found

    def within(self, scope: Scope | None) -> Window:
        """Return the part of this run in which policies of such a scope are in force."""
        if scope is None:
            return self
        # Scopes may hold dictionaries; their bytes can be a key.
        return self.known(msgspec.msgpack.encode(scope), lambda: Window(self.history, scope))

    def of(self, kinds: frozenset[str], types: ActionTypes | None = None) -> tuple[Held, ...]:
        """Return the events of these kinds, actions of these types, and the gaps that may hide one."""
        return self.known(
            (kinds, types), lambda: tuple(held for held in self.held if _is_of(held.event, kinds, types))
        )

    def where(self, test: Test, held: Iterable[Held]) -> Iterator[tuple[Event, Truth]]:
        """Yield each of these events that is not ruled out, with the truth of test and scope together."""
        for _, event, in_force in held:
            truth = test(event)
            if truth.holds is not False:
                truth = truth if in_force is TRUE else every((in_force, truth))
                if truth.holds is not False:
                    yield event, truth

    def gaps(self, *kinds: str) -> tuple[str, ...]:
        """Return the codes of what may hide events of these kinds, here or anywhere."""
        anywhere = [code for kind in kinds for code in self.history.hidden(kind)]
        events = [held.event for held in self.of(frozenset(kinds))]
        unread = (f"trajectory.gap@{event.step or 0}" for event in events if _is_unread(event))
        return (*anywhere, *(event.code for event in events if event.kind == "gap"), *unread)


def _is_unread(event: Event) -> bool:
    """Whether an action is known by its words only, which may stand for any action."""
    return event.kind == "action" and isinstance(event.action, Unknown) and bool(event.action.raw)


def _is_of(event: Event, kinds: frozenset[str], types: ActionTypes | None) -> bool:
    if event.kind not in kinds:
        return bool(event.hides & kinds)
    if types is None or event.kind != "action" or isinstance(event.action, Unknown):
        return True
    return type_truth(event, *types).holds is not False


def _held(history: EventStream, scope: Scope | None) -> Iterator[Held]:
    if scope is None:
        yield from (Held(place, event, TRUE) for place, event in enumerate(history.events))
        return
    after = Pattern(scope.after) if scope.after is not None else None
    until = Pattern(scope.until) if scope.until is not None else None
    urls = UrlTests(scope.url)
    opened, closed = _before_any(history, after, TRUE), _before_any(history, until, FALSE)
    for place, event in enumerate(history.events):
        closes = until.truth(event) if until is not None and opened.holds is not False else FALSE
        closed = some((closed, every((opened, closes))))
        yield Held(place, event, every((opened, negate(closed), _at(event, urls))))
        if after is not None:
            opened = some((opened, after.truth(event)))


def _before_any(history: EventStream, pattern: Pattern | None, without: Truth) -> Truth:
    """Return the truth that an event matched before the first one recorded."""
    if pattern is None:
        return without
    hidden = (history.hidden(kind) for kind in sorted(pattern.kinds))
    return some(unknown(*codes) for codes in hidden if codes)


def _at(event: Event, urls: UrlTests) -> Truth:
    if not urls or event.kind == "gap":
        return TRUE
    return unknown("urls.incomplete") if event.url is None else of(urls.holds(event.url))
