"""Patterns over events: the fields of a match and the scope of a policy, in three-valued logic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from replaykit.grading.policies.event import ENTER, SPACE, Event, is_printable
from replaykit.grading.policies.events import History
from replaykit.grading.policies.targets import names_on_page, page_has, target_inside
from replaykit.grading.policies.texts import Reading, TextTests
from replaykit.grading.policies.truth import FALSE, TRUE, Truth, every, negate, of, some, unknown
from replaykit.grading.policies.url_terms import UrlTests
from replaykit.tasks.policies import EventKind, Match, Scope, Text
from replaykit.tasks.policy_faults import GROUPS
from replaykit.tasks.task import Task
from replaykit.trajectory.action import Press, Unknown

Test = Callable[[Event], Truth]


class Pattern:
    """A compiled match."""

    def __init__(self, match: Match) -> None:
        self.kinds = kinds_of(match)
        self.action = [_action_test(match)] if match.action else []
        self.subject = list(_subject_tests(match))
        self.others = list(_other_tests(match))
        self.tests = (*self.action, *self.others, *self.subject)
        self.unless = None if match.unless is None else Pattern(match.unless)

    def truth(self, event: Event) -> Truth:
        """Return whether the event matches; a gap that may hide such an event is UNKNOWN."""
        if event.kind not in self.kinds:
            return self._gap(event)
        if isinstance(event.act, Unknown):
            return unknown(f"trajectory.gap@{event.step}")
        found = TRUE
        for test in self.tests:
            truth = test(event)
            if truth.holds is False:
                return FALSE
            found = truth if found is TRUE else every((found, truth))
        return found if self.unless is None else every((found, negate(self.unless.truth(event))))

    def at_stake(self, event: Event) -> Truth:
        """Return whether the event is one that the match could have been about.

        Of an action: its subject (`text`, `selector`, `role`, `url`), else its type; where nothing
        but the subject is given, and of every other kind, any event will do.
        """
        if event.kind not in self.kinds:
            return FALSE
        if event.kind != "action" or not (self.action or self.others or self.unless):
            return TRUE
        if isinstance(event.act, Unknown):
            return unknown(f"trajectory.gap@{event.step}")
        return every(test(event) for test in self.subject or self.action)

    def _gap(self, event: Event) -> Truth:
        is_possible = bool(event.hides & self.kinds)
        if is_possible and event.kind == "maybe":
            is_possible = self.truth(replace(event, kind="action", hides=frozenset())).holds is not False
        return unknown(event.code) if is_possible else FALSE


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

    def __init__(self, history: History, scope: Scope | None) -> None:
        self.history = history
        held = tuple(_held(history, scope))
        self.held = tuple(one for one in held if one.in_force.holds is not False)
        #: The policy was at no time in force.
        self.never_opened = bool(held) and not self.held
        self._of: dict[frozenset[str], tuple[Held, ...]] = {}

    def of(self, kinds: frozenset[str]) -> tuple[Held, ...]:
        """Return the events of these kinds, and the gaps that may hide one."""
        if kinds not in self._of:
            found = (held for held in self.held if held.event.kind in kinds or held.event.hides & kinds)
            self._of[kinds] = tuple(found)
        return self._of[kinds]

    def where(self, test: Test, kinds: frozenset[str]) -> Iterator[tuple[Event, Truth]]:
        """Yield each event that is not ruled out, with the truth of test and scope together."""
        for _, event, in_force in self.of(kinds):
            truth = test(event)
            if truth.holds is not False:
                truth = truth if in_force is TRUE else every((in_force, truth))
                if truth.holds is not False:
                    yield event, truth

    def gaps(self, *kinds: str) -> tuple[str, ...]:
        """Return the codes of what may hide events of these kinds, here or anywhere."""
        anywhere = [code for kind in kinds for code in self.history.hidden(kind)]
        wanted = frozenset(kinds)
        return (*anywhere, *(held.event.code for held in self.of(wanted) if held.event.kind == "gap"))


def any_of(patterns: Iterable[Pattern]) -> Test:
    """Return the test that one of these patterns matches."""
    listed = tuple(patterns)
    return listed[0].truth if len(listed) == 1 else lambda event: some(p.truth(event) for p in listed)


def alternatives(match: Match | tuple[Match, ...]) -> tuple[Match, ...]:
    """Return one match or several as several."""
    return (match,) if isinstance(match, Match) else match


def kinds_of(match: Match) -> frozenset[EventKind]:
    """Return the kinds of events that a match is about."""
    return frozenset((match.kind,) if isinstance(match.kind, str) else match.kind)


def concerns(scope: Scope | None, task: Task) -> bool:
    """Whether the policy is about this task at all."""
    if scope is None:
        return True
    site = not scope.sites or any(name in scope.sites for name in task.sites)
    return site and (not scope.tasks or task.id in scope.tasks)


def action_types(names: str | tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the action tags that names and groups stand for, and the groups themselves."""
    listed = [name.lower() for name in ((names,) if isinstance(names, str) else names)]
    tags = {tag for name in listed for tag in GROUPS.get(name, (name,))}
    return frozenset(tags), frozenset(name for name in listed if name in GROUPS)


def is_action(event: Event, tags: frozenset[str], groups: frozenset[str]) -> bool:
    """Whether the action is of these types; keys count in the groups that they act for."""
    if event.tag in tags:
        return True
    if not isinstance(event.act, Press):
        return False
    activates = "@activate" in groups and event.act.key in ENTER + SPACE
    return activates or ("@input" in groups and is_printable(event.act.key))


def _action_test(match: Match) -> Test:
    tags, groups = action_types(match.action)
    return lambda event: of(is_action(event, tags, groups))


def _subject_tests(match: Match) -> Iterator[Test]:
    if match.url:
        urls = UrlTests(match.url)
        yield lambda event: unknown("urls.incomplete") if event.url is None else of(urls.holds(event.url))
    if match.role:
        roles = frozenset(r.lower() for r in ((match.role,) if isinstance(match.role, str) else match.role))
        yield lambda event: _role(event, roles)
    if match.text:
        names = TextTests(match.text)
        yield lambda event: _text(event, names)
    if isinstance(match.selector, Text):
        references = TextTests(match.selector)
        yield lambda event: _reference(event, references)
    elif match.selector is not None:
        css = match.selector
        yield lambda event: page_has(event, css) if event.kind == "page" else target_inside(event, css)


def _other_tests(match: Match) -> Iterator[Test]:
    if match.failed is not None:
        wanted = match.failed
        yield (
            lambda event: unknown("trajectory.gap@0") if event.failed is None else of(event.failed == wanted)
        )
    if match.value:
        values = TextTests(match.value)
        yield lambda event: values.truth(event.entered)
    if match.message:
        messages = TextTests(match.message)
        yield lambda event: messages.truth((event.said,)) if event.message is not None else FALSE


def _reference(event: Event, references: TextTests) -> Truth:
    """Return whether the agent's own reference of the target is one of these."""
    if event.element is None or event.element.ref is None:
        return unknown(f"target@{event.step}") if event.has_target else FALSE
    return references.truth((Reading(event.element.ref, event.step),))


def _role(event: Event, roles: frozenset[str]) -> Truth:
    if event.role is not None:
        return of(event.role.lower() in roles)
    return unknown(f"target@{event.step}") if event.has_target else FALSE


def _text(event: Event, names: TextTests) -> Truth:
    if event.kind == "page":
        shown = event.shown
        return unknown(*shown) if isinstance(shown, tuple) else names.truth((shown,))
    is_known = event.unnamed is FALSE
    if is_known and not names.may_hold(event.called):
        return FALSE
    found = names.truth(event.names)
    if found.holds or is_known:
        return found
    on_page = names_on_page(event)
    return some((found, event.unnamed)) if on_page is None else names.truth(on_page)


def _held(history: History, scope: Scope | None) -> Iterator[Held]:
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


def _before_any(history: History, pattern: Pattern | None, without: Truth) -> Truth:
    """Return the truth that an event matched before the first one recorded."""
    if pattern is None:
        return without
    return some(unknown(*codes) for kind in sorted(pattern.kinds) if (codes := history.hidden(kind)))


def _at(event: Event, urls: UrlTests) -> Truth:
    if not urls or event.kind == "gap":
        return TRUE
    return unknown("urls.incomplete") if event.url is None else of(urls.holds(event.url))
