"""The answer's text: WebArena `string_match`, and the strict rules beside it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from msgspec.structs import replace

from replaykit.grading.checks.benchmark_rules import PeerRaises, fulfils
from replaykit.grading.checks.llm_match import judge, request
from replaykit.grading.checks.llm_match_replies import Kind
from replaykit.grading.checks.requirement import (
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
from replaykit.grading.values.markdown import unlabelled
from replaykit.grading.values.normal_form import normal
from replaykit.grading.values.numbers import only_number, shown, whole_number
from replaykit.grading.values.typed_comparison import ValueComparison, compare, compare_part, only_value
from replaykit.grading.verdict import Evidence, Outcome, Value
from replaykit.replay.player import Replay
from replaykit.tasks.checks import OR, StringMatch, texts
from replaykit.tasks.dialect import Mode
from replaykit.tasks.faults.value_faults import excluded_fault
from replaykit.tasks.task_values import Texts
from replaykit.trajectory.action import Answer
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.step import Ending, Step, Trajectory

UNACHIEVABLE = "N/A"
"""Reference of tasks that cannot be done."""


class AnswerRequirement(NamedTuple):
    """One requirement of a check on the answer."""

    name: str
    """`exact`, `must_include.0` ..."""
    kind: str
    """Field of the check."""
    reference: str
    """The expected text."""


def grade_string(check: StringMatch, replay: Replay, terms: Terms) -> tuple[Graded, ...]:
    """Grade every requirement on the answer."""
    wanted = list(requirements(check))
    strict, compat = _rulings(check, wanted, replay, terms)
    evidence = answer_evidence(replay.trajectory)
    return tuple(
        graded(one.name, ours, theirs, terms.mode, evidence)
        for one, ours, theirs in zip(wanted, strict, compat, strict=True)
    )


def requirements(check: StringMatch) -> Iterator[AnswerRequirement]:
    """Yield the atomic requirements, in the order of WebArena's files."""
    for kind in ("exact", "must_include", "must_exclude", "required_values"):
        yield from _each(kind, getattr(check, kind))
    if check.one_of:
        yield AnswerRequirement("one_of", "one_of", OR.join(texts(check.one_of)))
    yield from _each("fuzzy", check.fuzzy)


def counts_as_no_answer(ending: Ending | None) -> bool:
    """Return whether a run without an answer is known to have given no answer; else nothing is known.

    The agent ended or crashed: that is evidence. A crash of browser, recorder or harness, an unknown
    ending or none at all is no evidence.
    """
    if ending is None:
        return False
    if ending.kind == "crashed":
        return ending.cause == "agent"
    return ending.kind in ("answered", "stopped", "max_steps", "timeout")


def answer_evidence(trajectory: Trajectory) -> Evidence:
    """Point to the event that gives the answer, else to the ending."""
    ending = trajectory.ending
    position: int | None = None
    if ending is None or ending.answer is None:
        position = next(
            (n for n in range(len(trajectory.events) - 1, -1, -1) if _is_answer(trajectory.events[n])), None
        )
    if position is None and ending is not None:
        last = len(trajectory.events) - 1
        position = last if trajectory.events[last] is ending else trajectory.events.index(ending)
    step = trajectory.events[position] if position is not None else None
    return Evidence(
        source="answer",
        event=position,
        step=step.index if isinstance(step, Step) else None,
        strength="strong",
    )


def _each(kind: str, given: Texts) -> Iterator[AnswerRequirement]:
    if isinstance(given, str) and kind != "must_include":
        yield AnswerRequirement(kind, kind, given)
        return
    yield from (
        AnswerRequirement(f"{kind}.{number}", kind, reference)
        for number, reference in enumerate(texts(given))
    )


def _rulings(
    check: StringMatch, wanted: list[AnswerRequirement], replay: Replay, terms: Terms
) -> tuple[list[Ruling], list[Ruling]]:
    answer = replay.answer
    if answer is None and not counts_as_no_answer(replay.ending):
        nothing = [undecided("no_ending", "trajectory.end")] * len(wanted)
        return nothing, nothing
    if answer is None:
        strict = [failed("no_answer", "an answer is given", _text(one.reference)) for one in wanted]
    else:
        strict = _strictly(check, wanted, answer, terms)
    return strict, _peer(check, wanted, answer or "", terms)


def _strictly(check: StringMatch, wanted: list[AnswerRequirement], answer: str, terms: Terms) -> list[Ruling]:
    """Rule strictly on every requirement; those that only a model can compare are one question."""
    fuzzy = next((one for one in wanted if one.kind == "fuzzy"), None)
    shared = _strict(check, fuzzy, answer, terms) if fuzzy is not None else None
    return [
        shared if shared is not None and one.kind == "fuzzy" else _strict(check, one, answer, terms)
        for one in wanted
    ]


def _strict(check: StringMatch, one: AnswerRequirement, answer: str, terms: Terms) -> Ruling:
    if one.kind != "exact" and not all(part.strip() for part in one.reference.split(OR)):
        return error("empty_reference", "a reference is a text", _text(one.reference), _text(answer))
    match one.kind:
        case "exact":
            return of_comparison(_compare_whole(check, one.reference, answer, terms))
        case "one_of":
            parts = one.reference.split(OR)
            return any_of([of_comparison(_compare_whole(check, part, answer, terms)) for part in parts])
        case "must_include":
            return includes(one.reference, answer, check.value_type)
        case "must_exclude":
            return excludes(one.reference, answer, check.value_type)
        case "required_values":
            return fulfilled(one.reference, answer)
    return _strict_fuzzy(check, one, answer, terms)


def _compare_whole(check: StringMatch, reference: str, answer: str, terms: Terms) -> ValueComparison:
    """Compare the whole answer; a value may stand in a sentence that holds no other one of its kind.

    Not where a record of WebArena asks for the answer in a form, which a sentence has not.
    """
    whole = compare(reference, answer, check.value_type, check.tolerance)
    bare = answer if terms.has_record or whole.matches else unlabelled(answer)
    if bare != answer and (inside := compare(reference, bare, check.value_type, check.tolerance)).matches:
        return replace(inside, rule=f"{inside.rule}, without words that only introduce the answer")
    kind = (whole.reason or "").removeprefix("not_a_")
    inner = None if terms.has_record else only_value(answer, kind)
    if inner is None:
        return whole
    inside = compare(reference, inner, check.value_type, check.tolerance)
    return replace(inside, rule=f"{inside.rule}, the only {kind} of the answer")


def includes(reference: str, text: str, value_type: str = "auto") -> Ruling:
    """Rule strictly on a part; ` |OR| ` separates alternatives."""
    return any_of([of_comparison(compare_part(part, text, value_type)) for part in reference.split(OR)])


def excludes(reference: str, text: str, value_type: str = "auto") -> Ruling:
    """Rule strictly on a part that may not occur; ` |OR| ` separates parts of which none may."""
    if fault := excluded_fault(reference):
        return error("bad_reference", fault, _text(reference), _text(text))
    hits = [compare_part(part, text, value_type) for part in reference.split(OR)]
    hit = next((one for one in hits if one.matches), hits[0])
    return Ruling(
        outcome=Outcome.FAIL if hit.matches else Outcome.PASS,
        rule=f"{hit.rule}, not allowed",
        reason="contained" if hit.matches else None,
        expected=hit.expected,
        found=hit.found,
    )


def fulfilled(reference: str, text: str) -> Ruling:
    """Rule strictly on a number that has to fulfil an inequality."""
    expected = Value(raw=reference, type="number")
    number = _stated_number(text)
    found = Value(raw=text, normal=None if number is None else shown(number), type="number")
    if number is None:
        return failed("not_a_number", "number: fulfils an inequality", expected, found)
    try:
        matches = fulfils(reference, float(number))
    except PeerRaises as fault:
        return error("bad_reference", str(fault), expected, found)
    return Ruling(
        outcome=Outcome.PASS if matches else Outcome.FAIL,
        rule="number: fulfils an inequality",
        reason=None if matches else "differs",
        expected=expected,
        found=found,
    )


def _stated_number(text: str) -> Decimal | None:
    """Return the number that a text is, or the only one in it."""
    whole = whole_number(text)
    if whole is not None:
        return whole[0]
    stated = only_number(text)
    return None if stated is None else stated.value


def _strict_fuzzy(check: StringMatch, one: AnswerRequirement, answer: str, terms: Terms) -> Ruling:
    if check.fuzzy == UNACHIEVABLE:
        if normal(answer) == normal(UNACHIEVABLE) and not terms.require_reason:
            return Ruling(
                outcome=Outcome.PASS,
                rule="the answer is N/A",
                notes=("bare_na",),
                expected=_text(one.reference),
                found=_text(answer),
            )
        return _judged("webarena.unachievable", check.note or UNACHIEVABLE, one, answer, terms, "strict")
    # All references at once: an answer is right as a whole, or it is not.
    return _judged("webarena.fuzzy", ", ".join(texts(check.fuzzy)), one, answer, terms, "strict")


def _judged(
    kind: Kind, reference: str, one: AnswerRequirement, answer: str, terms: Terms, mode: Mode
) -> Ruling:
    index = int(one.name.rpartition(".")[2]) if mode == "compat" and "." in one.name else 0
    wanted = request(kind, terms.intent, reference, answer, index, asking=terms.asking, mode=mode)
    return judge(terms.ask_in(mode), wanted, mode, (_text(one.reference), _text(answer)))


def _peer(check: StringMatch, wanted: list[AnswerRequirement], answer: str, terms: Terms) -> list[Ruling]:
    entry = terms.rules.cleaned(answer)  # upstream cleans the answer on entry and again in each comparison
    is_only = len(texts(check.must_include)) == 1
    rulings = [_peer_one(check, one, entry, is_only, terms) for one in wanted]
    if check.fuzzy != UNACHIEVABLE:
        return rulings
    # Upstream replaces the running score by the model's, forgetting what failed before.
    later = {"exact" if name == "exact_match" else name for name in terms.after_fuzzy or ()}
    failed = [ruling.outcome is not Outcome.PASS for ruling in rulings]
    before = [one.kind not in later for one in wanted]
    if not any(map(all, zip(failed, before, strict=True))):
        return rulings
    judged = _peer_unachievable(check, wanted[-1], entry, terms)
    return [
        judged if is_before and (has_failed or one.kind == "fuzzy") else ruling
        for one, ruling, has_failed, is_before in zip(wanted, rulings, failed, before, strict=True)
    ]


def _peer_unachievable(check: StringMatch, one: AnswerRequirement, entry: str, terms: Terms) -> Ruling:
    if check.note is None and terms.after_fuzzy is not None:
        return error("peer_exception", "string_note is missing")
    return _judged("webarena.unachievable", check.note or "", one, entry, terms, "compat")


def _peer_one(check: StringMatch, one: AnswerRequirement, entry: str, is_only: bool, terms: Terms) -> Ruling:
    rules, reference = terms.rules, one.reference
    expected = Value(raw=reference, normal=rules.cleaned(reference), type="text")
    found = Value(raw=entry, normal=rules.cleaned(entry), type="text")
    match one.kind:
        case "exact":
            return of_peer(expected.normal == found.normal, "exact_match", expected, found)
        case "must_include":
            matches = rules.includes(reference, entry, is_only=is_only)
            return of_peer(matches, "must_include", expected, found)
        case "must_exclude":
            return of_peer(rules.excludes(reference, entry), "must_exclude", expected, found)
        case "one_of":
            parts = reference.split(OR)
            whole = entry if rules.is_word_wise else found.normal
            return of_peer(any(rules.cleaned(part) in whole for part in parts), "one_of", expected, found)
        case "required_values":
            try:
                return of_peer(fulfils(reference, entry), "required_values", expected, found)
            except PeerRaises as fault:
                return error("peer_exception", str(fault), expected, found)
    if check.fuzzy == UNACHIEVABLE:
        return of_peer(expected.normal == found.normal, "fuzzy_match: N/A", expected, found)
    if isinstance(check.fuzzy, str):
        return error("peer_exception", "fuzzy_match takes a list", expected, found)
    return _judged("webarena.fuzzy", one.reference, one, entry, terms, "compat")


def _text(raw: str) -> Value:
    return Value(raw=raw, type="text")


def _is_answer(event: object) -> bool:
    if isinstance(event, Message):
        return event.kind == "answer"
    return isinstance(event, Step) and isinstance(event.action, Answer)
