"""Contents of pages: native `page` checks, and the strict rules for what a page shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.grading.checks.answer_text import excludes, includes
from replaykit.grading.checks.pages.page_evidence import EvidenceReading, Question, ask, drawn
from replaykit.grading.checks.requirement import (
    Graded,
    Ruling,
    Terms,
    any_of,
    error,
    failed,
    graded,
    of_comparison,
    undecided,
)
from replaykit.grading.values.boolean_attributes import presence
from replaykit.grading.values.normal_form import composed, spellings
from replaykit.grading.values.typed_comparison import compare
from replaykit.grading.verdict import Outcome, Value
from replaykit.replay.composed_tree import texts_inside
from replaykit.replay.dom import Dom, Node
from replaykit.replay.player import Replay
from replaykit.replay.unlisted_texts import UNLISTED
from replaykit.tasks.checks import OR, Expect, PageCheck, locator_key, texts
from replaykit.tasks.grammar.regex_matcher import RegexRefused, matcher
from replaykit.tasks.grammar.regex_reach import condition_fault
from replaykit.trajectory.observation import Read
from replaykit.trajectory.redaction_marks import HIDDEN, holds_mark

_ATTRIBUTES = ("alt", "title", "aria-label", "placeholder", "href", "src", "value", "content")
_UNSEEN = frozenset({"script", "style", "noscript", "template"})


class Fields(Struct, frozen=True, kw_only=True):
    """Values that strict rules compare: one value, or the texts of a whole page."""

    texts: tuple[str, ...]
    """Of a page: title, rendered text, then values and attributes."""
    raw: Any = None
    """The value as read."""
    lacks: tuple[str, ...] = ()
    """Codes of parts of the page whose text is unknown."""
    others: Callable[[], tuple[str, ...]] = tuple
    """Texts that the page may show as well."""


Rule = Callable[[str], Ruling]
"""Judges one text."""


def grade_page(check: PageCheck, replay: Replay, terms: Terms, phase: str = "post") -> tuple[Graded, ...]:
    """Grade a native check. No benchmark has it, so both modes are strict."""
    key = locator_key(check.selector, check.property, check.locator)
    question = Question(
        url=check.url,
        prep=check.prep,
        locator=key,
        selector=check.selector,
        property=check.property,
        phase=phase,
    )
    reading = drawn(ask(replay, question, terms, "strict"), terms.chromium)
    fields = fields_of(reading, is_selector=check.selector is not None)
    if check.selector is not None and check.property == "text" and isinstance(fields, Fields):
        fields = replace(fields, others=partial(_others, reading, check.selector))
    there = presence(check.property, reading.read) if check.selector and reading.read else None
    if there is not None and reading.ruling is None:
        fields = Fields(texts=there, raw=there[0])
    return tuple(
        graded(name, strictly(fields, rule, needs_all), None, terms.mode, reading.evidence)
        for name, rule, needs_all in _expected(check.expect, check.value_type)
    )


def _others(reading: EvidenceReading, css: str | None = None) -> tuple[str, ...]:
    """Return what a page, or an element of it, may show as well."""
    if reading.page is None:
        return ()
    return reading.page.unlisted_texts if css is None else reading.page.unlisted_in(css)


def page_fields(dom: Dom, text: str | None = None) -> tuple[str, ...]:
    """Return the texts of a page, each by itself: title, rendered text, form values, attributes.

    `text`: the rendered text of its body, where a browser drew it. Scripts, styles and comments are left out.
    Raises `Unsupported` where the page's text was not kept.
    """
    found = [dom.title, *((dom.whole_text,) if text is None else (text, *texts_inside(dom.inner_texts)))]
    for node in dom.elements:
        if node.tag not in _UNSEEN:
            found += _texts_of(node)
    return tuple(text for text in dict.fromkeys(found) if text)


def _texts_of(node: Node) -> list[str]:
    value = node.value if node.tag in ("input", "textarea", "select") and not node.masked else None
    attributes = [node.attribute(name) for name in _ATTRIBUTES]
    return [text for text in (value, *attributes) if isinstance(text, str)]


def part_rule(reference: str, value_type: str = "auto") -> Rule:
    """Return the rule that a text holds a part; ` |OR| ` separates alternatives."""
    if not reference.strip():
        expected = Value(raw=reference, type="text")
        return lambda text: error("empty_reference", "a reference is a text", expected)
    return lambda text: includes(reference, text, value_type)


def fields_of(reading: EvidenceReading, *, is_selector: bool = False) -> Fields | Ruling:
    """Return what strict rules compare, or why there is nothing."""
    if reading.ruling is not None:
        return reading.ruling
    if reading.read is not None:
        return _field_of(reading.read, is_selector)
    try:
        frames = reading.page.frame_texts if reading.page is not None else ()
        own = page_fields(reading.dom, reading.text) if reading.dom is not None else ()
        lacks = reading.page.unread if reading.page is not None else ()
        return Fields(texts=(*own, *frames), lacks=lacks, others=partial(_others, reading))
    except Unsupported:
        return undecided("unsupported", "probe:text")
    except LocatorLimit:
        return error("locator_limit", "page text")


def _field_of(read: Read, is_selector: bool) -> Fields | Ruling:
    shown = Value(raw=read.value if read.threw is None else read.threw.message, type=read.kind)
    match read.kind:
        case "string":
            lacks = (HIDDEN,) if holds_mark(read.value) else ()
            return Fields(texts=(str(read.value),), raw=read.value, lacks=lacks)
        case "bool":
            return Fields(texts=("true" if read.value else "false",), raw=read.value)
        case "number":
            return Fields(texts=(read.special or str(read.value),), raw=read.value)
        case "undefined" if is_selector:
            return failed("no_element", "the selector finds an element", found=shown)
        case "null" | "undefined":
            return failed("no_value", "a missing value matches nothing", found=shown)
        case "exception" if read.threw is not None and read.threw.name == "TypeError":
            return failed("no_element", "the locator finds an element", found=shown)
        case "exception" if read.threw is not None and read.threw.name == "SyntaxError":
            return error("bad_selector", "a selector is valid CSS", found=shown)
    return error("bad_locator", "a locator gives a text, a number or a truth value", found=shown)


def strictly(fields: Fields | Ruling, rule: Rule, needs_all: bool = False) -> Ruling:
    """Judge the value, or the texts of a page: one is enough, but all must be free of what is excluded."""
    if isinstance(fields, Ruling):
        return fields
    found = _ruling(fields.texts, rule, needs_all)
    if not _rests_on_absence(found, needs_all):
        return found
    if fields.lacks:
        return undecided("not_recorded", *fields.lacks)
    others = fields.others()
    turned = _ruling(others, rule, needs_all) if others else found
    return found if _rests_on_absence(turned, needs_all) else undecided("not_recorded", UNLISTED)


def _ruling(found: tuple[str, ...], rule: Rule, needs_all: bool) -> Ruling:
    rulings = [rule(text) for text in found] or [rule("")]
    if needs_all:
        return next((ruling for ruling in rulings if ruling.outcome is not Outcome.PASS), rulings[0])
    return any_of(rulings)


def _rests_on_absence(ruling: Ruling, needs_all: bool) -> bool:
    return ruling.outcome is (Outcome.PASS if needs_all else Outcome.FAIL)


def _expected(expect: Expect, value_type: str) -> list[tuple[str, Rule, bool]]:
    """Return name, rule, and whether all texts of a page have to keep it, of every operator given."""
    rules: list[tuple[str, Rule, bool]] = []
    if expect.equals is not None:
        reference = expect.equals
        rules.append(("equals", lambda text: of_comparison(compare(reference, text, value_type)), False))
    for kind in ("contains", "all_of"):
        parts = texts(getattr(expect, kind))
        rules += [(f"{kind}.{n}", part_rule(part, value_type), False) for n, part in enumerate(parts)]
    if expect.any_of:
        rules.append(("any_of", part_rule(OR.join(expect.any_of), value_type), False))
    excluded = texts(expect.excludes)
    rules += [(f"excludes.{n}", _exclusion(part, value_type), True) for n, part in enumerate(excluded)]
    if expect.regex is not None:
        rules.append(("regex", _pattern_rule(expect.regex), False))
    if expect.not_empty:
        rules.append(("not_empty", not_empty, False))
    return rules


def _exclusion(reference: str, value_type: str) -> Rule:
    return lambda text: excludes(reference, text, value_type)


def _pattern_rule(pattern: str) -> Rule:
    expected = Value(raw=pattern, type="regex")
    fault = condition_fault(pattern)
    if fault is not None:
        reason, rule = fault
        return lambda text: error(reason, rule, expected)

    def rule_of(text: str) -> Ruling:
        try:
            hit = _hit(pattern, text)
        except RegexRefused as refused:
            return error("unsafe_regex", f"regex: {refused}", expected)
        found = Value(raw=text, normal=hit, type="text")
        if hit is not None:
            return Ruling(outcome=Outcome.PASS, rule="regex: found", expected=expected, found=found)
        return failed("not_contained", "regex: found", expected, found)

    return rule_of


def _hit(pattern: str, text: str) -> str | None:
    search = matcher(composed(pattern)).search
    found = ((spelled, search(spelled)) for spelled in spellings(text))
    return next((spelled[slice(*span)] for spelled, span in found if span is not None), None)


def not_empty(text: str) -> Ruling:
    """Rule that a text is not blank."""
    found = Value(raw=text, type="text")
    if text.strip():
        return Ruling(outcome=Outcome.PASS, rule="not blank", found=found)
    return failed("empty", "not blank", found=found)
