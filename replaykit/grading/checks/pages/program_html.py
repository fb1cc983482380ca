"""Targets on pages: `program_html` of WebArena and its relatives, strictly and as the benchmark."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.grading.checks.answer_text import excludes as excludes_strictly
from replaykit.grading.checks.answer_text import fulfilled
from replaykit.grading.checks.benchmark_rules import NOTHING, BenchmarkRules, PeerRaises, fulfils
from replaykit.grading.checks.llm_match import judge, request
from replaykit.grading.checks.pages import calls
from replaykit.grading.checks.pages.final_page import LAST, cursor_url
from replaykit.grading.checks.pages.page_check import Fields, fields_of, not_empty, part_rule, strictly
from replaykit.grading.checks.pages.page_evidence import EvidenceReading, Question, ask, drawn
from replaykit.grading.checks.requirement import (
    Graded,
    Ruling,
    Terms,
    error,
    graded,
    of_comparison,
    of_peer,
    undecided,
)
from replaykit.grading.values.typed_comparison import compare
from replaykit.grading.values.urls import post_url
from replaykit.grading.verdict import Evidence, Value
from replaykit.replay.dom import Dom
from replaykit.replay.player import Replay
from replaykit.replay.selectors.locator_evaluation import LAMBDA
from replaykit.tasks.checks import OR, HtmlTarget, ProgramHtml, texts
from replaykit.tasks.dialect import Mode
from replaykit.tasks.grammar.xpath_grammar import is_xpath
from replaykit.tasks.task_values import Texts
from replaykit.trajectory.observation import Read

_SCRIPTS = ("document.", "[...document.")

_NO_VALUE = "lambda: a value"
"""The rule of a target that reads nothing: the benchmark looks at no target after it."""


class Content(NamedTuple):
    """One requirement on what a target reads."""

    name: str
    """`exact`, `must_include.0` ..."""
    kind: str
    """Field of the target."""
    reference: str
    """The expected text."""


def grade_html(
    check: ProgramHtml, replay: Replay, terms: Terms, cursor: str = LAST, phase: str = "post"
) -> tuple[Graded, ...]:
    """Grade every target; `cursor` is the page that the benchmark's browser is on when the check begins."""
    found: list[Graded] = []
    is_over = False
    for number, target in enumerate(check.targets):
        wanted = contents(target, terms.rules) or _demands_nothing(number, terms)
        peer = _peer_target(target, wanted, cursor, replay, terms, phase)
        if is_over:
            peer = [of_peer(False, "not looked at any more", None, None)] * max(len(wanted), 1), peer[1]
        is_over = is_over or any(ruling.rule == _NO_VALUE for ruling in peer[0])
        found += _grade_target(target, wanted, f"target.{number}", peer, replay, terms, phase)
        cursor = _moved(target, cursor, replay, terms, phase)
    return tuple(found)


def cursor_after(check: ProgramHtml, cursor: str, replay: Replay, terms: Terms) -> str:
    """Return the page of the benchmark's browser after a check: each target that navigates moves it."""
    for target in check.targets:
        cursor = _moved(target, cursor, replay, terms, "post")
    return cursor


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


def contents(target: HtmlTarget, rules: BenchmarkRules) -> list[Content]:
    """Return the requirements that count: the benchmark's first known kind; ST-WebAgentBench takes all."""
    found: list[list[Content]] = []
    if target.not_empty:
        found.append([Content("not_empty", "not_empty", "")])
    if target.exact_match is not None:
        found.append([Content("exact", "exact_match", target.exact_match)])
    for kind in ("must_include", "must_exclude", "required_values"):
        parts = getattr(target, kind)
        found.append([Content(f"{kind}.{number}", kind, part) for number, part in enumerate(parts)])
    fuzzy = _questions(target.fuzzy_match, rules)
    found.append([Content(f"fuzzy.{number}", "fuzzy_match", part) for number, part in enumerate(fuzzy)])
    given = [group for group in found if group]
    counted = [group for group in given if group[0].kind in rules.requirements] or given
    if rules.has_all_requirements:
        return [content for group in counted for content in group]
    return counted[0] if counted else []


def _demands_nothing(number: int, terms: Terms) -> list[Content]:
    """Return what counts of a target whose requirement is named and empty: the benchmark passes it."""
    named = terms.named[number] if number < len(terms.named) else ()
    return [Content("contents", NOTHING, "")] if "must_include" in named else []


def _questions(references: Texts, rules: BenchmarkRules) -> tuple[str, ...]:
    """Return what a model is asked about: VisualWebArena has a text of parts, the lite copy one list."""
    parts = texts(references)
    if rules.fuzzy == "text":
        return tuple(part for text in parts for part in text.split(OR))
    return (", ".join(parts),) if rules.fuzzy == "joined" and parts else parts


def _grade_target(
    target: HtmlTarget,
    wanted: list[Content],
    name: str,
    peer: tuple[list[Ruling], EvidenceReading],
    replay: Replay,
    terms: Terms,
    phase: str,
) -> list[Graded]:
    """Grade one target by the rules of both modes; the evidence is that of the mode asked for."""
    names = [f"{name}.{content.name}" for content in wanted] or [f"{name}.contents"]
    strict, strict_from = _strict_target(target, wanted, replay, terms, phase)
    compat, compat_from = peer
    reading = compat_from if terms.mode == "compat" else strict_from
    return [
        graded(item, ours, theirs, terms.mode, reading.evidence)
        for item, ours, theirs in zip(names, strict, compat, strict=True)
    ]


def _strict_target(
    target: HtmlTarget, wanted: list[Content], replay: Replay, terms: Terms, phase: str
) -> tuple[list[Ruling], EvidenceReading]:
    reading = drawn(_target_reading(target, LAST, replay, terms, "strict", phase), terms.chromium)
    fields = fields_of(reading)
    rulings = [_strictly_one(content, fields, terms) for content in wanted]
    return rulings or [_no_contents()], reading


def _no_contents() -> Ruling:
    return error("no_contents", "required_contents names what is required")


def _strictly_one(content: Content, fields: Fields | Ruling, terms: Terms) -> Ruling:
    reference = content.reference
    match content.kind:
        case "exact_match":
            return strictly(fields, lambda text: of_comparison(compare(reference, text)))
        case "must_include":
            return strictly(fields, part_rule(reference))
        case "must_exclude":
            return strictly(fields, lambda text: excludes_strictly(reference, text), needs_all=True)
        case "required_values":
            return strictly(fields, lambda text: fulfilled(reference, text))
        case "not_empty":
            return strictly(fields, not_empty)
        case "nothing":
            return _no_contents()
    if isinstance(fields, Ruling):
        return fields
    return _judged(reference, "\n".join(fields.texts), terms, "strict")


def _judged(reference: str, found: str, terms: Terms, mode: Mode) -> Ruling:
    sides = (Value(raw=reference, type="text"), Value(raw=found, type="text"))
    wanted = request("webarena.fuzzy", terms.intent, reference, found, asking=terms.asking, mode=mode)
    return judge(terms.ask_in(mode), wanted, mode, sides)


def _peer_target(
    target: HtmlTarget, wanted: list[Content], cursor: str, replay: Replay, terms: Terms, phase: str
) -> tuple[list[Ruling], EvidenceReading]:
    reading = _target_reading(target, cursor, replay, terms, "compat", phase)
    if reading.ruling is not None:
        return [reading.ruling] * max(len(wanted), 1), reading
    value: Any = _source(reading.dom) if reading.read is None else peer_text(reading.read)
    if target.locator.startswith(LAMBDA) and reading.read is not None:
        value = _typed_value(reading.read)
        if value is None:
            nothing = of_peer(False, _NO_VALUE, None, None)
            return [nothing] * max(len(wanted), 1), reading
    elif terms.rules.is_unescaped:
        value = html.unescape(value)
    if reading.read is not None and calls.is_call(target.locator):
        value = reading.read.value if terms.rules.has_functions else value
    known = [content for content in wanted if content.kind in terms.rules.requirements]
    if any(content.kind == "fuzzy_match" for content in known) and not _is_asked(target, terms.rules):
        known = []
    rulings = [_peer_one(content, value, terms) for content in (wanted if known else ())]
    unknown = error("peer_exception", "required_contents is unknown")
    return rulings or [unknown] * max(len(wanted), 1), reading


def _is_asked(target: HtmlTarget, rules: BenchmarkRules) -> bool:
    """Return whether the references for a model are written as the benchmark takes them."""
    return isinstance(target.fuzzy_match, str) is (rules.fuzzy == "text")


def _typed_value(read: Read) -> Any:
    """Return a value as the driver hands it over; a falsy value counts as missing."""
    if read.kind in ("string", "bool", "number", "array", "object"):
        return (float(read.special) if read.special is not None else read.value) or None
    return peer_text(read) if read.kind == "node" else None


def _peer_one(content: Content, value: Any, terms: Terms) -> Ruling:
    try:
        return _PEER[content.kind](content.reference, value, terms)
    except PeerRaises as fault:
        return error("peer_exception", str(fault), Value(raw=content.reference, type="text"))


def _peer_exact(reference: str, value: Any, terms: Terms) -> Ruling:
    text = str(value) if isinstance(value, int) and terms.rules.is_word_wise else _text(value)
    matches = terms.rules.cleaned(reference) == terms.rules.cleaned(text)
    return of_peer(matches, "exact_match", reference, text)


def _peer_includes(reference: str, value: Any, terms: Terms) -> Ruling:
    text = _text(value)
    return of_peer(terms.rules.contains(reference, text), "must_include", reference, text)


def _peer_excludes(reference: str, value: Any, terms: Terms) -> Ruling:
    text = _text(value)
    if OR in reference:
        raise PeerRaises("must_exclude has no alternatives")
    return of_peer(terms.rules.excludes(reference, text), "must_exclude", reference, text)


def _peer_fulfils(reference: str, value: Any, terms: Terms) -> Ruling:
    return of_peer(fulfils(reference, value), "required_values", reference, value)


def _peer_fuzzy(reference: str, value: Any, terms: Terms) -> Ruling:
    return _judged(reference, _text(value), terms, "compat")


def _peer_nothing(reference: str, value: Any, terms: Terms) -> Ruling:
    return of_peer(True, "must_include: nothing", reference, str(value))


def _peer_not_empty(reference: str, value: Any, terms: Terms) -> Ruling:
    text = _text(value)
    return of_peer(bool(text.strip()), "not_empty", reference, text)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise PeerRaises(f"{type(value).__name__} where a text belongs")
    return value


_PEER: dict[str, Callable[[str, Any, Terms], Ruling]] = {
    "exact_match": _peer_exact,
    "must_include": _peer_includes,
    "must_exclude": _peer_excludes,
    "required_values": _peer_fulfils,
    "fuzzy_match": _peer_fuzzy,
    "not_empty": _peer_not_empty,
    NOTHING: _peer_nothing,
}


def _source(dom: Dom | None) -> str:
    return dom.source if dom is not None else ""


def _target_reading(
    target: HtmlTarget, cursor: str, replay: Replay, terms: Terms, mode: Mode, phase: str
) -> EvidenceReading:
    url = _resolved(target.url, cursor, replay, phase)
    if isinstance(url, Ruling):
        return EvidenceReading(evidence=_nowhere(target), ruling=url)
    is_blank = not target.locator.strip()
    locator = target.locator.strip() if mode == "strict" or is_blank else target.locator
    if calls.is_call(locator):
        return _called(target, locator, url, replay, terms, mode, phase)
    if locator and not _is_readable(locator, terms.rules, mode):
        reason = "bad_locator" if mode == "strict" else "peer_exception"
        return EvidenceReading(
            evidence=_nowhere(target), ruling=error(reason, "a locator begins with document.")
        )
    question = Question(url=url, prep=target.prep_actions, locator=locator, phase=phase)
    return ask(replay, question, terms, mode)


def _is_readable(locator: str, rules: BenchmarkRules, mode: Mode) -> bool:
    """Return whether a dialect has locators of this kind; strict rules have all of them."""
    if locator.startswith(_SCRIPTS):
        return True
    if locator.startswith(LAMBDA):
        return mode == "strict" or rules.has_functions
    return is_xpath(locator) and (mode == "strict" or rules.has_xpath)


def _called(
    target: HtmlTarget, locator: str, url: str, replay: Replay, terms: Terms, mode: Mode, phase: str
) -> EvidenceReading:
    """Answer a call: from the page that it is about, or from an API's reply."""
    call = calls.parse_call(locator, "")
    if call is None or not calls.reads_page(call):
        found = calls.api_read(call, locator, replay, phase)
        ruling = found if isinstance(found, Ruling) else None
        return EvidenceReading(
            evidence=_nowhere(target), read=None if isinstance(found, Ruling) else found, ruling=ruling
        )
    page = ask(replay, Question(url=url, prep=target.prep_actions, phase=phase), terms, mode)
    evidence = replace(page.evidence, locator=locator)
    if page.dom is None:
        return replace(page, evidence=evidence)
    try:
        return EvidenceReading(evidence=evidence, read=calls.page_read(call, locator, page.dom, mode))
    except Unsupported:
        return EvidenceReading(evidence=evidence, ruling=undecided("unsupported", f"probe:{locator}"))
    except LocatorLimit:
        return EvidenceReading(evidence=evidence, ruling=error("locator_limit", "locator"))


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
    found = calls.api_read(call, url, replay, phase)
    return found if isinstance(found, Ruling) else str(found.value)


def _moved(target: HtmlTarget, cursor: str, replay: Replay, terms: Terms, phase: str) -> str:
    """Return the page of the benchmark's browser after a target; ST-WebAgentBench opens a tab for each."""
    if terms.rules.has_tabs:
        return cursor
    url = _resolved(target.url, cursor, replay, phase)
    return url if isinstance(url, str) else cursor


def _nowhere(target: HtmlTarget) -> Evidence:
    return Evidence(url=None if target.url == LAST else target.url, locator=target.locator or None)
