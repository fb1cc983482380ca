"""Patterns over events: the fields of a match, in three-valued logic."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from replaykit.grading.policies.events.aria_choices import (
    choices_of,
    is_scale,
    is_segment,
    offered,
    own_choices,
)
from replaykit.grading.policies.events.event import (
    ENTER,
    SPACE,
    Event,
    has_lines,
    is_moving,
    is_printable,
    takes_no_letter,
    types_text,
)
from replaykit.grading.policies.events.plain_widgets.confirmed_choices import (
    CONFIRMED,
    confirmed,
    may_be_shown,
    with_all_shown,
)
from replaykit.grading.policies.events.plain_widgets.containers import name_on_ground
from replaykit.grading.policies.events.recorded_targets import (
    names_by_label,
    names_on_page,
    page_has,
    target_inside,
)
from replaykit.grading.policies.events.text_conditions import Reading, TextTests
from replaykit.grading.policies.events.texts_near import texts_near
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
from replaykit.replay.unlisted_texts import UNLISTED
from replaykit.tasks.grammar.xpath_grammar import is_xpath
from replaykit.tasks.policy_rules import GROUPS, Match, Scope, Text, TextTerms, kinds_of
from replaykit.tasks.task import Task
from replaykit.trajectory.action import (
    ActionBase,
    Check,
    DblClick,
    MouseClick,
    MouseDblClick,
    Press,
    SelectOption,
    Tap,
    Uncheck,
    Unknown,
)
from replaykit.trajectory.redaction_marks import HIDDEN, MASKED

Test = Callable[[Event], Truth]

ActionTypes = tuple[frozenset[str], frozenset[str]]
"""Tags of actions, and the groups that they come from: keys belong to some of these."""


class Pattern:
    """A compiled match."""

    def __init__(self, match: Match) -> None:
        self.kinds = kinds_of(match)
        #: Types of actions that it is about; None = all.
        self.types = action_types(match.action) if match.action else None
        self.action = [_action_test(self.types)] if self.types else []
        #: Whether it asks what was entered.
        self.asks_value = bool(match.value)
        #: Field to folded texts: one of them is in that field of every event that matches and is known.
        self.words: dict[str, tuple[str, ...]] = {}
        #: Selector that the target is, or is inside; None = none, or a path.
        self.css = (
            match.selector if isinstance(match.selector, str) and not is_xpath(match.selector) else None
        )
        self.places = list(self._place_tests(match))
        #: What a choice is called or worth; None where something else is asked of it.
        self.chosen = None if match.selector or match.role else [*map(TextTests, _texts_of(match))]
        #: What a scale is called that takes a value.
        self.named = TextTests(match.text) if match.text else None
        self.subject = [*self.places, *self._subject_tests(match)]
        self.others = list(self._other_tests(match))
        self.tests = (*self.action, *self.others, *self.subject)
        self.unless = None if match.unless is None else Pattern(match.unless)

    @property
    def is_about_subject(self) -> bool:
        """Whether `at_stake` asks of actions for their subject."""
        return bool(self.subject and (self.action or self.others or self.unless))

    def truth(self, event: Event) -> Truth:
        """Return whether the event matches; a gap that may hide such an event is UNKNOWN."""
        if event.kind not in self.kinds:
            return self._gap(event)
        if isinstance(event.action, Unknown):
            return unknown(f"trajectory.gap@{event.step or 0}")
        found = _all(self.tests, event)
        if not found.holds:
            found = self._of_choice(event, found)
        if self.unless is None or found is FALSE:
            return found
        return every((found, negate(self.unless.truth(event))))

    def _of_choice(self, event: Event, found: Truth) -> Truth:
        """Return whether it is about what was chosen here; `found` is what the action says without that."""
        is_about_choice = self.types is None or not self.types[0].isdisjoint(CONFIRMED)
        made = confirmed(event) if is_about_choice and event.after is not None else ()
        if self._is_beyond(event, made):
            return FALSE
        confirmed_as = some(_all(self.tests, one) for one in made if self._concerns(one.action))
        if confirmed_as is not FALSE:
            return confirmed_as
        is_asked = self.types is not None or found is FALSE
        if made and is_asked and own_choices(event) <= _NUMBERS and all(map(_is_number, made)):
            # A number has one value, unless the page shows it in another way.
            seen = any(_all(self.tests, with_all_shown(one)).holds for one in made if may_be_shown(one))
            return _choice(event) if seen else FALSE
        if is_asked and any(isinstance(one.action, Check) for one in made) and is_moving(event.action):
            return FALSE  # a key sets one radio button of a group
        return _choice(event) if found is FALSE and self._may_be_choice(event) else found

    def _is_beyond(self, event: Event, made: Sequence[Event]) -> bool:
        """Whether a radio button was set for certain, and it is about something else: that enters no text."""
        is_set = event.role == "radio" and any(isinstance(one.action, Check) for one in made)
        if not is_set or self.types is None or self.asks_value:
            return False
        return not any(is_action(one, *self.types) for one in (event, *made))

    def _concerns(self, action: ActionBase | None) -> bool:
        """Whether it asks for what was entered: who clicks an option of a page does not use a `select`."""
        is_any_input = self.types is None or "@input" in self.types[1]
        return not isinstance(action, SelectOption) or (self.asks_value and is_any_input)

    def _may_be_choice(self, event: Event) -> bool:
        """Whether it is about what may have been chosen here, whose name and place are unknown."""
        choices = choices_of(event)
        is_choice = bool(choices if self.types is None else self.types[0] & choices)
        if not is_choice or self.chosen is None or _all(self.places, event).holds is False:
            return False
        if self.named and is_scale(event) and self.named.truth(event.names).holds is False and event.names:
            return False
        names = offered(event)
        return names is None or any(tests.truth(names).holds is not False for tests in self.chosen)

    def at_stake(self, event: Event) -> Truth:
        """Return whether the event is one that the match could have been about.

        Of an action: its subject (`text`, `selector`, `role`, `url`), else its type; where nothing
        but the subject is given, and of every other kind, any event will do.
        """
        if event.kind not in self.kinds:
            return FALSE
        if event.kind != "action" or not (self.action or self.others or self.unless):
            return TRUE
        if isinstance(event.action, Unknown):
            return unknown(f"trajectory.gap@{event.step or 0}")
        return _all(self.subject or self.action, event)

    def _gap(self, event: Event) -> Truth:
        is_possible = bool(event.hides & self.kinds)
        if is_possible and event.kind == "maybe":
            is_asked = self.asks_value or not event.is_by_value
            (kind,) = event.hides
            is_possible = (
                is_asked and self.truth(replace(event, kind=kind, hides=frozenset())).holds is not False
            )
        return unknown(event.code) if is_possible else FALSE

    def _place_tests(self, match: Match) -> Iterator[Test]:
        if match.url:
            urls = UrlTests(match.url)
            self._learn("url", urls.words)
            yield lambda event: unknown("urls.incomplete") if event.url is None else of(urls.holds(event.url))

    def _subject_tests(self, match: Match) -> Iterator[Test]:
        if match.role:
            listed = (match.role,) if isinstance(match.role, str) else match.role
            roles = frozenset(map(_one_role, listed))
            yield lambda event: _role(event, roles)
        if match.text:
            names = self._texts("text", match.text)
            yield lambda event: _text(event, names)
        if isinstance(match.selector, Text):
            references = TextTests(match.selector)
            yield lambda event: _reference(event, references)
        elif match.selector is not None:
            css = match.selector
            yield lambda event: page_has(event, css) if event.kind == "page" else target_inside(event, css)

    def _other_tests(self, match: Match) -> Iterator[Test]:
        if match.failed is not None:
            wanted = match.failed
            yield lambda event: _failed(event, wanted)
        if match.value:
            values, keys = self._texts("value", match.value), TextTests(_as_keys(match.value))
            yield lambda event: some((_value(event, values), keys.truth(event.keys)))
        if match.message:
            messages = self._texts("message", match.message)
            yield lambda event: messages.truth((event.message_text,)) if event.message is not None else FALSE

    def _texts(self, field: str, terms: TextTerms) -> TextTests:
        tests = TextTests(terms)
        self._learn(field, tests.words)
        return tests

    def _learn(self, field: str, words: tuple[str, ...] | None) -> None:
        if words is not None:
            self.words[field] = words


def alternatives(match: Match | tuple[Match, ...]) -> tuple[Match, ...]:
    """Return one match or several as several."""
    return (match,) if isinstance(match, Match) else match


def concerns(scope: Scope | None, task: Task) -> bool:
    """Whether the policy is about this task at all."""
    if scope is None:
        return True
    site = not scope.sites or any(name in scope.sites for name in task.sites)
    return site and (not scope.tasks or task.id in scope.tasks)


def action_types(names: str | tuple[str, ...]) -> ActionTypes:
    """Return the action tags that names and groups stand for, and the groups themselves."""
    listed = [name.lower() for name in ((names,) if isinstance(names, str) else names)]
    tags = {tag for name in listed for tag in GROUPS.get(name, (name,))}
    return frozenset(tags), frozenset(name for name in listed if name in GROUPS)


def is_action(event: Event, tags: frozenset[str], groups: frozenset[str]) -> bool:
    """Whether the action is of these types; a key counts as the type of action that it performs.

    Checking a box implies a click on it, or Space pressed on it. A double click or a tap is a click as well.
    """
    if event.tag in tags and not (groups and _is_secondary(event.action)):
        return True
    if "click" in tags and _is_click(event.action):
        return True
    if not isinstance(event.action, Press):
        return False
    is_text = is_printable(event.action.key) and not takes_no_letter(event.element)
    enters = is_text or event.action.value_after is not None
    return ("@activate" in groups and activates(event.action)) or ("@input" in groups and enters)


def _is_click(action: ActionBase | None) -> bool:
    """Whether an action includes a click: not with the secondary button, which opens a menu."""
    if isinstance(action, MouseClick):
        return not _is_secondary(action)
    return isinstance(action, Check | Uncheck | DblClick | MouseDblClick | Tap)


def _is_secondary(action: ActionBase | None) -> bool:
    return isinstance(action, MouseClick) and action.button == "right"


def type_truth(event: Event, tags: frozenset[str], groups: frozenset[str]) -> Truth:
    """Return whether the action is of these types; it is unknown what some keys did."""
    if is_action(event, tags, groups):
        return TRUE
    if tags & choices_of(event):
        return _choice(event)
    if tags & _WRITING and (event.tag in _WRITING or _is_letter(event.action)):
        return _writes(event)
    action = event.action
    if "@activate" in groups and _is_secondary(action):
        return unknown(f"button.secondary@{event.step or 0}")
    if "@activate" in groups and isinstance(action, Press) and action.key in SPACE and _is_link(action):
        return unknown(f"key.link@{event.step or 0}")
    if not isinstance(action, Press) or action.key != MASKED or not groups & {"@activate", "@input"}:
        return FALSE
    return unknown(HIDDEN)


_WRITING = frozenset({"fill", "type", "keyboard_type", "keyboard_insert_text"})
"""Tags of actions that put a text into a field: which of them it is, the driver chose."""

_BY_OTHERS = ("choice", "value.by_script")
"""Codes of values that a widget or a script may have put into a field: no one wrote them."""

_STEPPED = ("date", "datetime-local", "month", "number", "time", "week")
"""Types of fields that keys and buttons may step: the whole value is recorded either way."""


def _is_letter(action: ActionBase | None) -> bool:
    """Whether an action is a key that writes one character."""
    return isinstance(action, Press) and is_printable(action.key) and action.key not in SPACE


def _writes(event: Event) -> Truth:
    """Return whether a text was written into a field, in any way."""
    element = event.element
    is_field = element is None or element.tag is None or types_text(element) or element.role in _TEXTUAL
    if event.code.startswith(_BY_OTHERS) or not is_field or takes_no_letter(element):
        return FALSE
    is_stepped = element is not None and element.tag == "input" and element.type in _STEPPED
    return _choice(event) if is_stepped and event.tag == "fill" else TRUE


def _is_link(action: Press) -> bool:
    """Whether a key went to a link: the browser does not follow it at Space, but a page may."""
    return action.element is not None and action.element.role == "link"


_TEXTUAL = ("searchbox", "textbox")


_NUMBERS = frozenset({"fill"})
"""Tags of what may become of a number."""


def _is_number(choice: Event) -> bool:
    return choice.tag in _NUMBERS


def _choice(event: Event) -> Truth:
    return unknown(f"choice@{event.step or 0}")


def activates(action: Press) -> bool:
    """Whether a key (Space, Enter) activates its target and does not type into it."""
    if action.key in SPACE:
        return not types_text(action.element) and not _is_link(action)
    return action.key in ENTER and not has_lines(action.element)


def _texts_of(match: Match) -> Iterator[TextTerms]:
    yield from (terms for terms in (match.text, match.value) if terms)


def _as_keys(terms: TextTerms) -> TextTerms:
    """Return words as whole names of keys: `Enter` is no part of `Shift+Enter`."""
    if isinstance(terms, Text):
        return terms
    words = (terms,) if isinstance(terms, str) else terms
    return Text(regex="^(?:" + "|".join(map(re.escape, words)) + ")$")


def _all(tests: Sequence[Test], event: Event) -> Truth:
    found = TRUE
    # FALSE wins over UNKNOWN, so every test is asked.
    for test in tests:
        truth = test(event)
        if truth.holds is False:
            return FALSE
        found = truth if found is TRUE else every((found, truth))
    return found


def _action_test(types: ActionTypes) -> Test:
    return lambda event: type_truth(event, *types)


def _value(event: Event, values: TextTests) -> Truth:
    """Return whether such a text was entered, also in parts: then the field holds it by this action."""
    found = values.truth(event.entered)
    held, before = values.truth(event.held), event.held_before
    if not found.holds and is_segment(event) and _has_digits(values.words):
        return _choice(event)
    if found.holds or held.holds is False:
        return found
    if before is not None and values.truth((Reading(before, event.step),)).holds:
        return found  # it was there before
    # The page, or a key that deletes, may have made the text.
    is_known = held.holds is None or event.is_put_in
    return some((found, held if is_known else unknown(f"value.edited@{event.step or 0}")))


def _has_digits(words: tuple[str, ...] | None) -> bool:
    return words is None or any(char.isdigit() for word in words for char in word)


def _failed(event: Event, wanted: bool) -> Truth:
    return unknown("trajectory.gap@0") if event.failed is None else of(event.failed == wanted)


def _reference(event: Event, references: TextTests) -> Truth:
    """Return whether the agent's own reference of the target is one of these."""
    if event.element is None or event.element.ref is None:
        return unknown(f"target@{event.step or 0}") if event.has_target else FALSE
    return references.truth((Reading(event.element.ref, event.step),))


_SAME_ROLES = {"image": "img", "presentation": "none", "directory": "list"}
"""Roles that WAI-ARIA has two names for."""


def _one_role(role: str) -> str:
    return _SAME_ROLES.get(role.lower(), role.lower())


def _role(event: Event, roles: frozenset[str]) -> Truth:
    if event.role is not None:
        return of(_one_role(event.role) in roles)
    return unknown(f"target@{event.step or 0}") if event.has_target else FALSE


def _text(event: Event, names: TextTests) -> Truth:
    if event.kind == "page":
        shown = event.shown
        return unknown(*shown) if isinstance(shown, tuple) else names.truth((shown,))
    found = names.truth(event.names)
    if not found.holds:
        found = some((found, names.truth(names_by_label(event))))
    if event.element is not None and event.element.closed_shadow:
        # Its own texts may be elsewhere on the screen, or nowhere.
        return event.unnamed
    if found.holds is not False or names.truth(event.seen).holds is not False:
        grounded = name_on_ground(event, names)
        if grounded is not None:
            return grounded
    if not found.holds and names.truth(event.lookalikes).holds:
        return unknown(f"names.confusable@{event.step or 0}")
    if not found.holds and names.truth(event.over).holds:
        return unknown(f"names.covered@{event.step or 0}")
    if not found.holds and names.truth(event.seen).holds:
        return unknown(f"{UNLISTED}@{event.step or 0}")
    if found.holds or event.unnamed is FALSE:
        return found
    if event.is_drawn:
        return event.unnamed
    on_page = names_on_page(event)
    if on_page:
        return names.truth(on_page)
    near = texts_near(event)
    return some((found, event.unnamed)) if near is None or near.may_name(names) else found
