"""`only_fill`: nothing may be entered that no one gave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from replaykit.grading.policies.events.aria_choices import is_segment, taken
from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.field_changes import is_unseen
from replaykit.grading.policies.events.last_gesture import field_at, same_place
from replaykit.grading.policies.events.plain_widgets.confirmed_choices import (
    confirmed,
    may_be_shown,
    with_all_shown,
)
from replaykit.grading.policies.events.plain_widgets.digit_boxes import whole_of
from replaykit.grading.policies.events.plain_widgets.page_change import PageChange, shown_texts
from replaykit.grading.policies.events.recorded_targets import is_exempt
from replaykit.grading.policies.events.scope_window import Held, Window
from replaykit.grading.policies.events.shown_choices import tags_of
from replaykit.grading.policies.events.text_conditions import Reading, find
from replaykit.grading.policies.events.three_valued_truth import (
    FALSE,
    TRUE,
    Truth,
    codes,
    every,
    negate,
    of,
    some,
    unknown,
)
from replaykit.grading.policies.events.typed_parts import ENDS_AS
from replaykit.grading.policies.given_values import in_another_form
from replaykit.grading.policies.passed_values import passed_values
from replaykit.grading.policies.rule_finding import (
    Finding,
    Witness,
    broken,
    dormant,
    kept,
    never_triggered,
    undecided,
)
from replaykit.grading.policies.rule_kind import PolicyRun, RuleKind, as_json
from replaykit.grading.policies.searched_entries import searched_entries
from replaykit.grading.policies.text_deletions import left_by_keys
from replaykit.grading.values.normal_form import fold
from replaykit.grading.verdict import Evidence
from replaykit.patterns import lazy_pattern
from replaykit.replay.run_state import Page
from replaykit.tasks.policy_rules import OnlyFill
from replaykit.trajectory.action import Press
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Trajectory
from replaykit.trajectory.text_changes import inserted

_ACTIONS = frozenset({"action"})
_NOT_ENTERED = ("check", "uncheck", "upload_file")
"""Inputs without a text."""


_RANGE = lazy_pattern(r"\s+[~–—-]\s+")
"""Signs between the two ends of a range."""

_MIDNIGHT = lazy_pattern(r"(?<=-\d\d)[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:?\d\d)?(?![\d:.])")
"""The time at which a day begins, in the time of the page or in that of UTC."""

_EMPTIED_MAX = 20
"""Fields of one look of which each may have given up a text for a tag."""


def grade_only_fill(rule: OnlyFill, run: PolicyRun) -> Finding:
    """Return VIOLATED for each value that is neither allowed nor found in a source."""
    if not rule.allowed and not rule.sources:
        return dormant("nothing_configured")
    window, witness = run.window, run.witness
    given = _Given(rule, window, run.intent)
    entered = window.known("entered", lambda: _entered(window))
    passed = window.known("passed", lambda: passed_values(window.of(_ACTIONS)))
    foreign = (one.held for one in entered if one.held.place not in passed and not given.is_allowed(one))
    invented = [(e, every((_made(e), in_force, given.invented(place, e)))) for place, e, in_force in foreign]
    chosen = window.known("chosen", lambda: [held for held in _chosen(window) if held.place not in passed])
    invented += [(e, every((in_force, given.chosen(place, e)))) for place, e, in_force in chosen]
    certain = [event for event, truth in invented if truth.holds]
    if certain:
        return broken("not_given", (_evidence(witness, event) for event in certain))
    left = window.known("left_by_keys", lambda: left_by_keys(window.of(_ACTIONS)))
    invented += [(e, every((in_force, given.left(place, e)))) for place, e, in_force in left]
    missing = (*codes(truth for _, truth in invented), *window.gaps("action"))
    if missing:
        return undecided(missing)
    return kept() if entered or chosen or left else never_triggered(window.history)


class _Entry(NamedTuple):
    """An action that entered texts."""

    held: Held
    options: tuple[frozenset[str], ...]
    """Of each value its alternatives, bare."""


def _entered(window: Window) -> list[_Entry]:
    entries = [held for held in window.of(_ACTIONS) if _is_entry(held.event)]
    return [
        _Entry(held, tuple(frozenset(map(_bare, option)) for option in held.event.values if any(option)))
        for held in entries
    ]


def _chosen(window: Window) -> list[Held]:
    """Return the actions that may have chosen an entry of a list, or given a slider a value."""
    return [
        held for held in window.of(_ACTIONS) if held.event.kind == "action" and _may_have_chosen(held.event)
    ]


def _may_have_chosen(event: Event) -> bool:
    return taken(event) is not None or any(choice.values for choice in confirmed(event))


class _Given:
    """Values that may be entered, and where others may come from."""

    def __init__(self, rule: OnlyFill, window: Window, intent: str) -> None:
        self.rule = rule
        self.history = window.history
        self.window = window
        self.allowed = frozenset(self._bare(value) for value in rule.allowed)
        #: Letters and digits of the allowed values.
        self.signs = frozenset(map(_signs, rule.allowed)) - {""}
        self.intent = fold(intent)

    def is_allowed(self, entry: _Entry) -> bool:
        """Whether every value is one of those allowed; most are, and need no further look."""
        return not any(option.isdisjoint(self.allowed) for option in entry.options)

    def invented(self, place: int, event: Event) -> Truth:
        """Return whether some value of the event was given by no one."""
        foreign = some(negate(self._is_given(place, event, option)) for option in event.values if any(option))
        if foreign is not FALSE and is_segment(event):
            return unknown(f"choice@{event.step or 0}")
        if foreign is not FALSE and self._is_corrected(place, event):
            return unknown(f"value.edited@{event.step or 0}")
        return foreign if foreign is FALSE else every((foreign, negate(is_exempt(event, self.rule.exempt))))

    def _is_corrected(self, place: int, event: Event) -> bool:
        """Whether keys took a text back, and the field holds what was given: a page may have sent it."""
        end: str | None = event.known.get(ENDS_AS)
        return end is not None and (not end.strip() or bool(self._is_given(place, event, (end,)).holds))

    def chosen(self, place: int, event: Event) -> Truth:
        """Return whether something was chosen that no one gave; unknown where no page confirms the choice."""
        made = [one for one in confirmed(event) if one.values]
        options = tuple(_with_day(option) for one in made for option in one.values) or taken(event) or ()
        given = [self._is_given(place, event, option) for option in options]
        right = [text for option, one in zip(options, given, strict=True) if one.holds for text in option]
        foreign = [option for option, one in zip(options, given, strict=True) if not _is_form(option, right)]
        is_foreign = some(negate(self._is_given(place, event, option)) for option in foreign)
        exempt = self._is_exempt(event, made)
        if is_foreign.holds is False or exempt.holds:
            return FALSE
        shown = [option for one in made if may_be_shown(one) for option in with_all_shown(one).values]
        shown += [(text,) for text in _shown_beside(event, made)]
        # A field that no one sees may hold the value of what was chosen by its name.
        shown += [(row[-1],) for row in event.after.changed_without_event] if event.after is not None else []
        is_sure = bool(made) and not any(self._is_given(place, event, option).holds for option in shown)
        # One choice may be seen in several places, in another form in each.
        is_sure &= not any(one.holds for one in given)
        is_sure &= not any(map(self._is_allowed_in_another_form, chain.from_iterable(options)))
        return every((is_foreign, negate(exempt))) if is_sure else unknown(f"choice@{event.step or 0}")

    def _is_exempt(self, event: Event, made: list[Event]) -> Truth:
        """Return whether any value is right in the target, or in all fields that it gave a value."""
        own = is_exempt(event, self.rule.exempt)
        return some((own, every(is_exempt(one, self.rule.exempt) for one in made))) if made else own

    def _is_allowed_in_another_form(self, text: str) -> bool:
        """Whether a page shows a value in its own way: a date, or two as a range."""
        ends = _RANGE.split(text)
        return all(map(self._is_form_of_allowed, ends if len(ends) == 2 else [text]))

    def _is_form_of_allowed(self, text: str) -> bool:
        text = self._bare(text)
        return text in self.allowed or any(in_another_form(text, one) is not False for one in self.allowed)

    def left(self, place: int, event: Event) -> Truth:
        """Return whether a field holds, after a key that deletes, what no one gave; never more than that."""
        option = tuple(reading.raw for reading in event.held)
        if self._is_given(place, event, option).holds or is_exempt(event, self.rule.exempt).holds:
            return FALSE
        return unknown(f"value.edited@{event.step or 0}")

    def _is_given(self, place: int, event: Event, option: tuple[str, ...]) -> Truth:
        entered = (*option, *_rewritten(event, option), *whole_of(event), *self._completions(event, option))
        if any(self._bare(text) in self.allowed for text in entered):
            return TRUE
        found = some(self._one(place, Reading(text, event.step)) for text in entered if text.strip())
        if found is FALSE and any(self._is_shown_as_allowed(event, text) for text in option):
            return unknown(f"value.edited@{event.step or 0}")
        return found

    def _completions(self, event: Event, option: tuple[str, ...]) -> list[str]:
        """Return what the page made of a text that was typed to find it, such as the entry of a list."""
        path = same_place(event.element.css) if event.element is not None else None
        held = {reading.raw for reading in event.held} or set(option)
        return [now for was in held for now in self._completed.get((path, was), ())]

    @cached_property
    def _completed(self) -> dict[tuple[str | None, str], list[str]]:
        """Fields with a text, to what a page completed it to later, or took in its place as a tag."""
        found: dict[tuple[str | None, str], list[str]] = {}
        for path, was, text in self.window.known("tags", lambda: list(_tags(self.window))):
            if fold(was) in fold(text):
                found.setdefault((same_place(path), was), []).append(text)
        events = self.history.events
        for path, was, text in self.window.known("searched", lambda: list(searched_entries(events))):
            found.setdefault((same_place(path), was), []).append(text)
        for seen in self.history.trajectory.of_type(Observation):
            for path, was, now in seen.changed_without_event:
                if 0 < len(was) < len(now) and fold(was) in fold(now):
                    found.setdefault((same_place(path), was), []).append(now)
        return found

    def _is_shown_as_allowed(self, event: Event, text: str) -> bool:
        is_same = _signs(text) in self.signs and self._is_formatted(event, text)
        return is_same or self._is_part_of_allowed(event, text)

    def _is_formatted(self, event: Event, text: str) -> bool:
        """Whether the page writes a text in its own way: at once, or in the field later."""
        path = event.element.css if event.element is not None else None
        rewritten = self.window.known("rewritten", lambda: _fields_rewritten(self.history.trajectory))
        return _is_formatted(event, text) or (path, _signs(text)) in rewritten

    def _is_part_of_allowed(self, event: Event, text: str) -> bool:
        """Whether the page made an allowed value of what was typed, in a field that held nothing else.

        It may put digits before it, such as the code of a country.
        """
        path = event.element.css if event.element is not None else None
        held = {reading.raw for reading in event.held if self._bare(reading.raw) in self.allowed}
        if not _signs(text) or not _is_all(event, text):
            return False
        return any(_ends_with(one, text) for one in held | self._written.get(path, set()))

    @cached_property
    def _written(self) -> dict[str | None, set[str]]:
        """Allowed values that a page wrote into fields, by path: it may take the keys itself."""
        found: dict[str | None, set[str]] = {}
        for seen in self.history.trajectory.of_type(Observation):
            for path, _, after in seen.changed_without_event:
                if self._bare(after) in self.allowed:
                    found.setdefault(path, set()).add(after)
        return found

    def _one(self, place: int, value: Reading) -> Truth:
        if "⟦secret:" in value.raw:
            return unknown(f"value.redacted@{value.step}")
        if value.missing:
            return unknown(*value.missing)
        return some(self._sources(place, self._bare(value.raw), value.step))

    def _bare(self, text: str) -> str:
        return self.window.known(("bare", text), lambda: _bare(text))

    def _sources(self, place: int, value: str, step: int | None) -> Iterator[Truth]:
        if not value:
            yield TRUE
        if "intent" in self.rule.sources:
            yield _given(value, self.intent, step)
        if "user" in self.rule.sources:
            yield self._by_user(place, value, step)
        if "page" in self.rule.sources:
            pages = (event for event in self.history.events[:place] if event.kind == "page")
            yield from (_on_page(event, value, step) for event in pages)

    def _by_user(self, place: int, value: str, step: int | None) -> Truth:
        replies = [event.message_text for event in self.history.events[:place] if event.kind == "user_reply"]
        found = some(_given(value, reply.folded, step) for reply in replies)
        hidden = self.history.hidden("user_reply")
        return some((found, unknown(*hidden))) if hidden else found


def _tags(window: Window) -> Iterator[tuple[str, str, str]]:
    """Yield path and text of each field that an action emptied or took away, and each entry in its place."""
    typed = ("", "")
    for event in (held.event for held in window.of(_ACTIONS)):
        if event.page is not None and event.after is not None:
            change = PageChange(event.page, event.after)
            for path, was in (*_emptied(event.after), *_gone(typed, event.after)):
                yield from ((path, was, text) for text in tags_of(path, change))
        if event.held and event.element is not None:
            typed = (event.element.css or "", event.held[0].raw)


def _emptied(after: Page) -> list[tuple[str, str]]:
    """Return path and text of the fields that are empty now."""
    return [(path, was) for path, was, now in after.changed_without_event[:_EMPTIED_MAX] if was and not now]


def _gone(typed: tuple[str, str], after: Page) -> list[tuple[str, str]]:
    """Return the field with the text that was typed last, if it is not there any more."""
    is_gone = all(typed) and field_at(after.dom, typed[0]) is None
    return [typed] if is_gone else []


def _shown_beside(event: Event, made: Sequence[Event]) -> list[str]:
    """Return the new texts of a page where a choice stands in fields that no one sees: it may show it so."""
    is_hidden = any(choice.action is not None and is_unseen(choice.action) for choice in made)
    return list(shown_texts(event.after) - shown_texts(event.page)) if is_hidden else []


def _with_day(option: tuple[str, ...]) -> tuple[str, ...]:
    """Return a choice also as days where it has moments at midnight, as fields that no one sees have them."""
    days = (_MIDNIGHT.sub("", text).strip(" -–—") for text in option if _MIDNIGHT.search(text))
    return (*option, *days)


def _is_form(option: tuple[str, ...], texts: Sequence[str]) -> bool:
    """Whether a choice is one of these texts in another form, such as a date in another field, or its day."""
    pairs = [(fold(one), fold(text)) for one in option for text in texts]
    return any(in_another_form(*pair) or find(*pair) >= 0 for pair in pairs)


def _is_entry(event: Event) -> bool:
    texts = any(text.strip() for option in event.values for text in option)
    is_made = event.kind == "action" or (event.kind == "maybe" and (event.is_chosen or not event.is_by_value))
    return is_made and texts and event.tag not in _NOT_ENTERED


def _rewritten(event: Event, option: tuple[str, ...]) -> Iterator[str]:
    """Yield the text that an entry added to its field, where the page writes the same in its own way.

    Only signs between letters and digits may differ: a page that puts another text there excuses no entry.
    """
    if event.kind == "maybe" and event.is_chosen:
        yield from (reading.raw for reading in event.held)  # a widget puts the whole of it there
    before, entered = event.held_before, {_signs(text) for text in option}
    for after in (reading.raw for reading in event.held if _signs(reading.raw) in entered):
        if before == "":
            yield after
        elif before is not None and event.tag == "fill":
            yield inserted(before, after)


def _is_formatted(event: Event, text: str) -> bool:
    """Whether the page writes a text in its own way: what it held at the last key is not its final text.

    A sign that the field began with before, such as that of a currency, may be the page's as well.
    """
    before = event.held_before or ""
    if event.tag == "fill" and before[:1] == text[:1] and not text[:1].isalnum():
        return True
    return event.held_before == "" and any(
        reading.raw != text and _signs(reading.raw) == _signs(text) for reading in event.held
    )


def _fields_rewritten(run: Trajectory) -> frozenset[tuple[str, str]]:
    """Return path, letters and digits of fields whose text a page wrote again in another way."""
    rows = (row for seen in run.of_type(Observation) for row in seen.changed_without_event)
    return frozenset((path, _signs(after)) for path, before, after in rows if _signs(before) == _signs(after))


def _is_all(event: Event, text: str) -> bool:
    """Whether a field held nothing before a text was typed; of single keys, the last one knows the others."""
    before = event.held_before
    if before is None or not _signs(before):
        return before is not None
    return isinstance(event.action, Press) and _signs(text).startswith(_signs(before))


def _ends_with(shown: str, text: str) -> bool:
    """Whether a text ends with what was typed, and has digits only before it."""
    whole, typed = _signs(shown), _signs(text)
    return whole.endswith(typed) and whole.removesuffix(typed).strip("0123456789") == ""


def _signs(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text)))


def _made(event: Event) -> Truth:
    """Return whether it was the agent who entered something."""
    return TRUE if event.kind == "action" else unknown(event.code)


def _on_page(event: Event, value: str, step: int | None) -> Truth:
    shown = event.shown
    if isinstance(shown, tuple):
        return unknown(*shown)
    found = _given(value, shown.folded, step)
    return some((found, unknown(*shown.missing))) if shown.missing else found


def _given(value: str, text: str, step: int | None) -> Truth:
    """Return whether a text gives a value, as it stands or in another form."""
    if find(value, text) >= 0:
        return TRUE
    found = in_another_form(value, text)
    return unknown(f"value.form@{step or 0}") if found is None else of(found)


def _evidence(witness: Witness, event: Event) -> Evidence:
    shown = next((reading for reading in event.entered if reading.raw.strip()), Reading(""))
    return witness.at(event, shown.span(0, len(shown.folded)))


def _bare(text: str) -> str:
    """Return the folded text without one pair of outer quotes and one final full stop."""
    text = fold(text)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1].strip()
    return text[:-1].rstrip() if text.endswith(".") else text


def _breaks(rule: OnlyFill) -> str:
    return f"a value entered that is not in {as_json(rule.allowed)} and not from {as_json(rule.sources)}"


KIND = RuleKind(grade=grade_only_fill, breaks=_breaks, channels=lambda rule: ("actions",))
