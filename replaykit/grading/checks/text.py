"""The answer's text: WebArena `string_match`, and the strict rules beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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
from replaykit.grading.values.text import clean, normal
from replaykit.grading.values.tokens import tokens
from replaykit.grading.values.typed import compare, compare_part
from replaykit.grading.verdict import Evidence, Outcome, Value
from replaykit.replay.player import Replay
from replaykit.tasks.checks import StringMatch, Texts, texts
from replaykit.trajectory.action import Answer
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.step import Ending, Step, Trajectory

UNACHIEVABLE = "N/A"
"""Reference of tasks that cannot be done."""


class Wanted(NamedTuple):
    """One requirement of a check on the answer."""

    name: str
    """`exact`, `must_include.0` ..."""
    kind: str
    """Field of the check."""
    reference: str
    """What is demanded."""


def grade_string(check: StringMatch, replay: Replay, terms: Terms) -> tuple[Graded, ...]:
    """Grade every requirement on the answer."""
    wanted = list(requirements(check))
    strict, compat = _rulings(check, wanted, replay, terms)
    evidence = _evidence(replay.trajectory)
    return tuple(
        graded(one.name, ours, theirs, terms.mode, evidence)
        for one, ours, theirs in zip(wanted, strict, compat, strict=True)
    )


def requirements(check: StringMatch) -> Iterator[Wanted]:
    """Yield the atomic requirements, in the order of WebArena's files."""
    for kind in ("exact", "must_include", "must_exclude"):
        yield from _each(kind, getattr(check, kind))
    if check.one_of:
        yield Wanted("one_of", "one_of", OR.join(texts(check.one_of)))
    yield from _each("fuzzy", check.fuzzy)


def counts_as_no_answer(ending: Ending | None) -> bool:
    """Say whether a run without an answer is known to have given none; else nothing is known.

    The agent ended or crashed: that is evidence. A crash of browser, recorder or harness, an unknown
    ending or none at all is no evidence.
    """
    if ending is None:
        return False
    if ending.kind == "crashed":
        return ending.cause == "agent"
    return ending.kind in ("answered", "stopped", "max_steps", "timeout")


def peer_exact(reference: str, found: str) -> bool:
    """Compare as WebArena's `exact_match`."""
    return clean(reference) == clean(found)


def peer_includes(reference: str, found: str, *, is_only: bool) -> bool:
    """Compare as WebArena's `must_include`: a lone reference of one character has to be a word."""
    part, whole = clean(reference), clean(found)
    if is_only and len(part) == 1 and len(tokens(part)) == 1:
        return part in tokens(whole)
    return part in whole


def _each(kind: str, given: Texts) -> Iterator[Wanted]:
    if isinstance(given, str) and kind != "must_include":
        yield Wanted(kind, kind, given)
        return
    yield from (Wanted(f"{kind}.{number}", kind, reference) for number, reference in enumerate(texts(given)))


def _rulings(
    check: StringMatch, wanted: list[Wanted], replay: Replay, terms: Terms
) -> tuple[list[Ruling], list[Ruling]]:
    answer = replay.answer
    if answer is None and not counts_as_no_answer(replay.ending):
        nothing = [undecided("no_ending", "trajectory.end")] * len(wanted)
        return nothing, nothing
    if answer is None:
        strict = [failed("no_answer", "an answer is given", _text(one.reference)) for one in wanted]
    else:
        strict = [_strict(check, one, answer, terms) for one in wanted]
    return strict, _peer(check, wanted, answer or "")


def _strict(check: StringMatch, one: Wanted, answer: str, terms: Terms) -> Ruling:
    if not one.reference.strip() and one.kind != "exact":
        return error("empty_reference", "a reference is a text", _text(one.reference), _text(answer))
    match one.kind:
        case "exact":
            return of_comparison(compare(one.reference, answer, check.value_type, check.tolerance))
        case "one_of":
            parts = one.reference.split(OR)
            return any_of(
                [of_comparison(compare(part, answer, check.value_type, check.tolerance)) for part in parts]
            )
        case "must_include":
            return includes(one.reference, answer, check.value_type)
        case "must_exclude":
            return excludes(one.reference, answer, check.value_type)
    return _strict_fuzzy(check, one, answer, terms)


def includes(reference: str, text: str, value_type: str = "auto") -> Ruling:
    """Rule strictly on a part; ` |OR| ` separates alternatives."""
    return any_of([of_comparison(compare_part(part, text, value_type)) for part in reference.split(OR)])


def excludes(reference: str, text: str, value_type: str = "auto") -> Ruling:
    """Rule strictly on a part that may not occur."""
    hit = compare_part(reference, text, value_type)
    return Ruling(
        outcome=Outcome.FAIL if hit.matches else Outcome.PASS,
        rule=f"{hit.rule}, not allowed",
        reason="contained" if hit.matches else None,
        expected=hit.expected,
        found=hit.found,
    )


def _strict_fuzzy(check: StringMatch, one: Wanted, answer: str, terms: Terms) -> Ruling:
    if check.fuzzy == UNACHIEVABLE:
        if normal(answer) == normal(UNACHIEVABLE) and not terms.require_reason:
            return Ruling(
                outcome=Outcome.PASS,
                rule="the answer is N/A",
                notes=("bare_na",),
                expected=_text(one.reference),
                found=_text(answer),
            )
        return _needs_model("webarena.unachievable", one, answer)
    return _needs_model("webarena.fuzzy", one, answer)


def _needs_model(judge: str, one: Wanted, answer: str) -> Ruling:
    return Ruling(
        outcome=Outcome.UNDECIDED,
        rule="a model compares meanings",
        reason="needs_model",
        missing=(f"reply:{judge}",),
        expected=_text(one.reference),
        found=_text(answer),
    )


def _peer(check: StringMatch, wanted: list[Wanted], answer: str) -> list[Ruling]:
    entry = clean(answer)  # upstream cleans the answer on entry and again in each comparison
    is_only = len(texts(check.must_include)) == 1
    rulings = [_peer_one(check, one, entry, is_only) for one in wanted]
    if check.fuzzy == UNACHIEVABLE and any(ruling.outcome is not Outcome.PASS for ruling in rulings):
        # Upstream replaces the running score by the model's, forgetting what failed before.
        return [
            _needs_model("webarena.unachievable", one, entry)
            if ruling.outcome is not Outcome.PASS or one.kind == "fuzzy"
            else ruling
            for one, ruling in zip(wanted, rulings, strict=True)
        ]
    return rulings


def _peer_one(check: StringMatch, one: Wanted, entry: str, is_only: bool) -> Ruling:
    expected = Value(raw=one.reference, normal=clean(one.reference), type="text")
    found = Value(raw=entry, normal=clean(entry), type="text")
    match one.kind:
        case "exact":
            return of_peer(peer_exact(one.reference, entry), "exact_match", expected, found)
        case "must_include":
            matches = peer_includes(one.reference, entry, is_only=is_only)
            return of_peer(matches, "must_include", expected, found)
        case "must_exclude":
            return of_peer(clean(one.reference) not in clean(entry), "must_exclude", expected, found)
        case "one_of":
            parts = one.reference.split(OR)
            return of_peer(any(clean(part) in clean(entry) for part in parts), "one_of", expected, found)
    if check.fuzzy == UNACHIEVABLE:
        return of_peer(peer_exact(UNACHIEVABLE, entry), "fuzzy_match: N/A", expected, found)
    if isinstance(check.fuzzy, str):
        return error("peer_exception", "fuzzy_match takes a list", expected, found)
    return _needs_model("webarena.fuzzy", one, entry)


def _text(raw: str) -> Value:
    return Value(raw=raw, type="text")


def _evidence(trajectory: Trajectory) -> Evidence:
    """Point to the event that gives the answer, else to the ending."""
    ending = trajectory.ending
    position: int | None = None
    if ending is None or ending.answer is None:
        position = next(
            (n for n in range(len(trajectory.events) - 1, -1, -1) if _is_answer(trajectory.events[n])), None
        )
    if position is None and ending is not None:
        position = trajectory.events.index(ending)
    step = trajectory.events[position] if position is not None else None
    return Evidence(
        source="answer",
        event=position,
        step=step.index if isinstance(step, Step) else None,
        strength="strong",
    )


def _is_answer(event: object) -> bool:
    if isinstance(event, Message):
        return event.kind == "answer"
    return isinstance(event, Step) and isinstance(event.action, Answer)
