"""Contents of pages: native `page` checks, and WebArena's `program_html`, strictly and as the peer."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.grading.checks import calls
from replaykit.grading.checks.item import (
    OR,
    Graded,
    Ruling,
    Terms,
    any_of,
    error,
    failed,
    graded,
    of_comparison,
    of_peer,
    undecided,
)
from replaykit.grading.checks.reading import LAST, Question, Reading, arrived_url, ask, final_url
from replaykit.grading.checks.text import excludes, includes
from replaykit.grading.values.text import clean
from replaykit.grading.values.typed import compare
from replaykit.grading.values.url import post_url
from replaykit.grading.verdict import Evidence, Mode, Outcome, Value
from replaykit.replay.dom import Dom, Node
from replaykit.replay.player import Replay
from replaykit.tasks.checks import Expect, HtmlTarget, PageCheck, ProgramHtml, locator_key, texts
from replaykit.tasks.regexes import regex_fault
from replaykit.trajectory.observation import Read

_ATTRIBUTES = ("alt", "title", "aria-label", "placeholder", "href", "src", "value", "content")
_UNSEEN = frozenset({"script", "style", "noscript", "template"})
_REGEX_TEXT_MAX = 65_536


class Fields(Struct, frozen=True, kw_only=True):
    """What strict rules compare: one value, or the texts of a whole page."""

    texts: tuple[str, ...]
    """Of a page: title, rendered text, then values and attributes."""
    raw: Any = None
    """The value as read."""


Rule = Callable[[str], Ruling]
"""Judges one text."""


def grade_page(check: PageCheck, replay: Replay, terms: Terms, phase: str = "post") -> tuple[Graded, ...]:
    """Grade a native check; there is no peer, so both modes are strict."""
    key = locator_key(check.selector, check.property, check.locator)
    question = Question(
        url=check.url,
        prep=check.prep,
        locator=key,
        selector=check.selector,
        property=check.property,
        phase=phase,
    )
    reading = ask(replay, question, terms, "strict")
    fields = _fields(reading, is_selector=check.selector is not None)
    return tuple(
        graded(name, _strictly(fields, rule, wants_all), None, terms.mode, reading.evidence)
        for name, rule, wants_all in _expected(check.expect, check.value_type)
    )


def grade_html(
    check: ProgramHtml, replay: Replay, terms: Terms, cursor: str = LAST, phase: str = "post"
) -> tuple[Graded, ...]:
    """Grade every target; `cursor` is the page that the peer's browser is on when the check begins."""
    found: list[Graded] = []
    for number, target in enumerate(check.targets):
        found += _grade_target(target, f"target.{number}", cursor, replay, terms, phase)
        cursor = _moved(target, cursor, replay, phase)
    return tuple(found)


def cursor_after(check: ProgramHtml, cursor: str, replay: Replay) -> str:
    """Return the page that the peer's browser is on after a check: every target that navigates moves it."""
    for target in check.targets:
        cursor = _moved(target, cursor, replay, "post")
    return cursor


def cursor_url(cursor: str, replay: Replay, phase: str = "post") -> str | None:
    """Return the URL of that page, None where it was not recorded."""
    return final_url(replay) if cursor == LAST else arrived_url(replay, cursor, phase)


def peer_text(read: Read) -> str:
    """Return what Python's `str` makes of a value that the driver hands over; exceptions are empty."""
    match read.kind:
        case "string":
            return str(read.value)
        case "bool":
            return str(bool(read.value))
        case "number":
            return str(float(read.special)) if read.special is not None else str(read.value)
        case "exception":
            return ""
        case "node":
            return "ref: <Node>"
        case "array" | "object":
            return str(read.value)
    return "None"


def page_fields(dom: Dom) -> tuple[str, ...]:
    """Return the texts of a page, each by itself: title, rendered text, form values, attributes.

    Scripts, styles and comments are none. Raises `Unsupported` where the page's text was not kept.
    """
    found = [dom.title, dom.text]
    for node in dom.root.descendants() if dom.root is not None else ():
        if node.is_element and node.tag not in _UNSEEN:
            found += _texts_of(node)
    return tuple(text for text in dict.fromkeys(found) if text)


def _texts_of(node: Node) -> list[str]:
    value = node.value if node.tag in ("input", "textarea", "select") and not node.masked else None
    attributes = [node.attribute(name) for name in _ATTRIBUTES]
    return [text for text in (value, *attributes) if isinstance(text, str)]


def _grade_target(
    target: HtmlTarget, name: str, cursor: str, replay: Replay, terms: Terms, phase: str
) -> list[Graded]:
    """Grade one target by the rules of both modes; the evidence is that of the mode asked for."""
    names = [f"{name}.{kind}" for kind in _contents(target)]
    strict, strict_from = _strict_target(target, replay, terms, phase)
    compat, compat_from = _peer_target(target, cursor, replay, terms, phase)
    reading = compat_from if terms.mode == "compat" else strict_from
    return [
        graded(item, ours, theirs, terms.mode, reading.evidence)
        for item, ours, theirs in zip(names, strict, compat, strict=True)
    ]


def _contents(target: HtmlTarget) -> list[str]:
    if target.exact_match is not None:
        return ["exact"]
    return [f"must_include.{number}" for number in range(len(target.must_include))] or ["contents"]


def _strict_target(
    target: HtmlTarget, replay: Replay, terms: Terms, phase: str
) -> tuple[list[Ruling], Reading]:
    reading = _target_reading(target, LAST, replay, terms, "strict", phase)
    fields = _fields(reading)
    if target.exact_match is not None:
        reference = target.exact_match
        return [_strictly(fields, lambda text: of_comparison(compare(reference, text)))], reading
    rulings = [_strictly(fields, _part_rule(part)) for part in target.must_include]
    return rulings or [error("no_contents", "required_contents names exact_match or must_include")], reading


def _part_rule(reference: str, value_type: str = "auto") -> Rule:
    if not reference.strip():
        expected = Value(raw=reference, type="text")
        return lambda text: error("empty_reference", "a reference is a text", expected)
    return lambda text: includes(reference, text, value_type)


def _peer_target(
    target: HtmlTarget, cursor: str, replay: Replay, terms: Terms, phase: str
) -> tuple[list[Ruling], Reading]:
    reading = _target_reading(target, cursor, replay, terms, "compat", phase)
    if reading.ruling is not None:
        return [reading.ruling] * len(_contents(target)), reading
    text = html.unescape(peer_text(reading.read) if reading.read is not None else _source(reading.dom))
    if target.exact_match is not None:
        matches = clean(target.exact_match) == clean(text)
        return [of_peer(matches, "exact_match", target.exact_match, text)], reading
    rulings = [_peer_part(part, text) for part in target.must_include]
    return rulings or [error("peer_exception", "required_contents is unknown")], reading


def _peer_part(reference: str, text: str) -> Ruling:
    matches = any(clean(part) in clean(text) for part in reference.split(OR))
    return of_peer(matches, "must_include", reference, text)


def _source(dom: Dom | None) -> str:
    return dom.source if dom is not None else ""


def _target_reading(
    target: HtmlTarget, cursor: str, replay: Replay, terms: Terms, mode: Mode, phase: str
) -> Reading:
    url = _resolved(target.url, cursor, replay, phase)
    if isinstance(url, Ruling):
        return Reading(evidence=_nowhere(target), ruling=url)
    locator = target.locator.strip() if mode == "strict" else target.locator
    if calls.is_call(locator):
        call = calls.parse_call(locator, cursor_url(cursor, replay, phase) or "")
        return Reading(evidence=_nowhere(target), ruling=calls.cannot_answer(call, locator))
    if locator and not locator.startswith(("document.", "[...document.")):
        reason = "bad_locator" if mode == "strict" else "peer_exception"
        return Reading(evidence=_nowhere(target), ruling=error(reason, "a locator begins with document."))
    question = Question(url=url, prep=target.prep_actions, locator=locator, phase=phase)
    return ask(replay, question, terms, mode)


def _resolved(url: str, cursor: str, replay: Replay, phase: str) -> str | Ruling:
    """Return the page that a target's URL means: `last`, or an address."""
    if url == LAST:
        return cursor
    if not calls.is_call(url):
        return url
    last = cursor_url(cursor, replay, phase)
    if last is None:
        return undecided("not_recorded", "urls.incomplete")
    call = calls.parse_call(url, last)
    if call is not None and call.name == calls.POST_URL and len(call.arguments) == 1:
        try:
            return post_url(call.arguments[0])
        except ValueError:
            return error("peer_exception", "urlparse")
    return calls.cannot_answer(call, url)


def _moved(target: HtmlTarget, cursor: str, replay: Replay, phase: str) -> str:
    url = _resolved(target.url, cursor, replay, phase)
    return url if isinstance(url, str) else cursor


def _nowhere(target: HtmlTarget) -> Evidence:
    return Evidence(url=None if target.url == LAST else target.url, locator=target.locator or None)


def _fields(reading: Reading, *, is_selector: bool = False) -> Fields | Ruling:
    """Return what strict rules compare, or why there is nothing."""
    if reading.ruling is not None:
        return reading.ruling
    if reading.read is not None:
        return _field_of(reading.read, is_selector)
    try:
        return Fields(texts=page_fields(reading.dom) if reading.dom is not None else ())
    except Unsupported:
        return undecided("unsupported", "probe:text")
    except LocatorLimit:
        return error("locator_limit", "page text")


def _field_of(read: Read, is_selector: bool) -> Fields | Ruling:
    shown = Value(raw=read.value if read.threw is None else read.threw.message, type=read.kind)
    match read.kind:
        case "string":
            return Fields(texts=(str(read.value),), raw=read.value)
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


def _strictly(fields: Fields | Ruling, rule: Rule, wants_all: bool = False) -> Ruling:
    """Judge the value, or the texts of a page: one is enough, but all must be free of what is excluded."""
    if isinstance(fields, Ruling):
        return fields
    rulings = [rule(text) for text in fields.texts] or [rule("")]
    if wants_all:
        return next((ruling for ruling in rulings if ruling.outcome is not Outcome.PASS), rulings[0])
    return any_of(rulings)


def _expected(expect: Expect, value_type: str) -> list[tuple[str, Rule, bool]]:
    """Return name, rule, and whether all texts of a page have to keep it, of every operator given."""
    rules: list[tuple[str, Rule, bool]] = []
    if expect.equals is not None:
        reference = expect.equals
        rules.append(("equals", lambda text: of_comparison(compare(reference, text, value_type)), False))
    for kind in ("contains", "all_of"):
        parts = texts(getattr(expect, kind))
        rules += [(f"{kind}.{n}", _part_rule(part, value_type), False) for n, part in enumerate(parts)]
    if expect.any_of:
        rules.append(("any_of", _part_rule(OR.join(expect.any_of), value_type), False))
    excluded = texts(expect.excludes)
    rules += [(f"excludes.{n}", _exclusion(part, value_type), True) for n, part in enumerate(excluded)]
    if expect.regex is not None:
        rules.append(("regex", _pattern_rule(expect.regex), False))
    if expect.not_empty:
        rules.append(("not_empty", _not_empty, False))
    return rules


def _exclusion(reference: str, value_type: str) -> Rule:
    return lambda text: excludes(reference, text, value_type)


def _pattern_rule(pattern: str) -> Rule:
    expected = Value(raw=pattern, type="regex")
    fault = regex_fault(pattern)
    if fault is not None:
        reason, rule = fault
        return lambda text: error(reason, rule, expected)

    def rule_of(text: str) -> Ruling:
        hit = re.search(pattern, text[:_REGEX_TEXT_MAX])
        found = Value(raw=text, normal=hit[0] if hit else None, type="text")
        if hit is not None:
            return Ruling(outcome=Outcome.PASS, rule="regex: found", expected=expected, found=found)
        return failed("not_contained", "regex: found", expected, found)

    return rule_of


def _not_empty(text: str) -> Ruling:
    found = Value(raw=text, type="text")
    if text.strip():
        return Ruling(outcome=Outcome.PASS, rule="not blank", found=found)
    return failed("empty", "not blank", found=found)
