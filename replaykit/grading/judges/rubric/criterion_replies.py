"""Statements of a model about each criterion, in its JSON reply, compared with what it was shown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.decoders import decode_within
from replaykit.grading.judges.replies.strict_object import last_object
from replaykit.grading.judges.rubric.criteria import validity_of
from replaykit.grading.judges.rubric.rubric_verdict import CriterionReading, Met
from replaykit.grading.model_request import ModelReply
from replaykit.tasks.rubric import Criterion, Validity

STEPS_MAX = 50
"""Steps that one criterion may cite."""

WORDS_MAX = 300
"""Characters that are kept of what the model saw."""

BLOCKERS = ("captcha", "login_wall", "site_down", "not_available", "dialog", "other")
"""Obstacles that may stand in an agent's way."""

CODES = (
    "A1", "A2", "A3", "A4", "B1", "B2", "B3", "B4", "B5", "C1", "C2", "C3", "C4",
    "D1", "D2", "D3", "D4", "D5", "E1", "E2", "E3", "E4", "E5", "E6",
)  # fmt: skip
"""Codes of a first failing step."""

_KNOWN = ("id", "verdict", "applies", "steps", "seen", "could_help", "blocker")
_MET = {"yes": Met.YES, "no": Met.NO, "cannot_tell": Met.CANNOT_TELL}


class Shown(Struct, frozen=True, kw_only=True):
    """Evidence that one request showed to a model."""

    n_steps: int
    """Steps of the run."""
    steps: Collection[int]
    """Steps with a screenshot, a readable page or a fact in the request."""
    shown_steps: Collection[int]
    """Steps with a screenshot in it."""
    has_answer: bool
    """Whether the agent's answer was in it."""
    blocked: Sequence[int] = ()
    """Steps at which a page blocked the agent, found without a model."""


class ReadItem(Struct, frozen=True, kw_only=True):
    """Statement of a reply about one criterion."""

    id: str
    """Of the criterion."""
    verdict: Met
    """Whether it holds."""
    applies: Met = Met.YES
    """Whether its condition holds."""
    reason: str = ""
    """Why it is undecided: `unread uncited`; empty = the model states so."""
    steps: tuple[int, ...] = ()
    """Steps cited."""
    seen: str = ""
    """The model's description of what it saw."""
    blocker: str = ""
    """The obstacle, if the agent could not have met the criterion."""
    excused: str = ""
    """Who stated that the agent could not have met it: `detected`, `judged`; empty = it could."""

    @property
    def reading(self) -> CriterionReading:
        """Reading from which the verdict is folded."""
        return CriterionReading(verdict=self.verdict, applies=self.applies, excused=bool(self.excused))


class ReadReply(Struct, frozen=True, kw_only=True):
    """One reply."""

    items: Mapping[str, ReadItem]
    """By criterion, each of those asked about."""
    validity: Validity = "valid"
    """Whether the task can be done, as the model states after it saw the run."""
    failure: dict[str, Any] | None = None
    """First failing step, `step` and `code`; None = none is named."""
    n_ignored: int = 0
    """Unknown keys and criteria."""

    @property
    def n_unread(self) -> int:
        """Criteria without a readable word."""
        return sum(one.reason == "unread" for one in self.items.values())

    def report(self) -> dict[str, Any]:
        """Return what a judgement keeps of the reply."""
        verdicts = {id: str(one.verdict) for id, one in self.items.items()}
        return {"verdicts": verdicts, "n_unread": self.n_unread, "n_ignored": self.n_ignored}


def read_items(reply: ModelReply, criteria: Sequence[Criterion], shown: Shown) -> ReadReply | str:
    """Return what a reply states about these criteria, or why it cannot be read, in a word of a judgement.

    A criterion that is missing, named twice, or given another word is unread. YES without a step that was in
    the request is uncited; both are undecided.
    """
    found = last_object(reply.text, reply.stop_reason)
    if isinstance(found, str):
        return "empty_reply" if not reply.text.strip() else found
    rows = _rows(found)
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_id.setdefault(str(row.get("id", "")).strip(), []).append(row)
    known = {one.id for one in criteria}
    ignored = Counter(name not in _KNOWN for row in rows for name in row)[True]
    return ReadReply(
        items={one.id: _item(one, by_id.get(one.id, []), shown) for one in criteria},
        validity=validity_of(found.get("validity")),
        failure=_failure(found.get("first_failure"), shown.n_steps),
        n_ignored=ignored + sum(id not in known for id in by_id),
    )


def lenient(reply: ModelReply, criteria: Sequence[Criterion]) -> dict[str, CriterionReading]:
    """Return what a careless reader takes: the first object, words by their beginning, without citation."""
    rows = _rows(_first_object(reply.text))
    found: dict[str, CriterionReading] = {}
    for row in rows:
        verdict = _beginning(row.get("verdict"))
        applies = _beginning(row.get("applies")) or Met.YES
        if verdict is not None:
            found.setdefault(
                str(row.get("id", "")).strip(), CriterionReading(verdict=verdict, applies=applies)
            )
    return {one.id: found[one.id] for one in criteria if one.id in found}


def _rows(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    rows = found.get("criteria")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _item(one: Criterion, rows: Sequence[Mapping[str, Any]], shown: Shown) -> ReadItem:
    unread = ReadItem(id=one.id, verdict=Met.CANNOT_TELL, applies=Met.CANNOT_TELL, reason="unread")
    if not rows or any(row != rows[0] for row in rows):
        return unread
    row = rows[0]
    verdict, applies = _met(row.get("verdict")), _met(row.get("applies", "YES"))
    steps = _steps(row.get("steps"), shown.n_steps)
    if verdict is None or applies is None or steps is None:
        return unread
    is_cited = bool(set(steps) & set(shown.steps))
    if applies is Met.NO and not is_cited:
        applies = Met.CANNOT_TELL
    blocker, excused = _excuse(row, steps, shown) if verdict is Met.NO else ("", "")
    reason = "" if verdict is not Met.YES or is_cited or _is_answered(one, shown) else "uncited"
    return ReadItem(
        id=one.id,
        verdict=Met.CANNOT_TELL if reason else verdict,
        applies=applies,
        reason=reason,
        steps=steps,
        seen=str(row.get("seen") or "")[:WORDS_MAX],
        blocker=blocker,
        excused=excused,
    )


def _is_answered(one: Criterion, shown: Shown) -> bool:
    """Return whether a criterion is about the words of the answer only, which stood in the request."""
    return one.proof == ("answer",) and shown.has_answer


def _excuse(row: Mapping[str, Any], steps: Sequence[int], shown: Shown) -> tuple[str, str]:
    """Return what blocked it and who shows that: it takes a cited step, and a wall or a screenshot there."""
    blocker = _word(row.get("blocker"))
    if _met(row.get("could_help")) is not Met.NO or blocker not in BLOCKERS or not steps:
        return "", ""
    if any(at <= step for at in shown.blocked for step in steps):
        return blocker, "detected"
    return (blocker, "judged") if set(steps) & set(shown.shown_steps) else ("", "")


def _steps(cited: Any, n_steps: int) -> tuple[int, ...] | None:
    """Return the steps of a citation; None where it is no list of at most 50 steps of the run."""
    given = [] if cited is None else cited
    if not isinstance(given, list) or len(given) > STEPS_MAX:
        return None
    if any(isinstance(one, bool) or not isinstance(one, int) or not 0 <= one < n_steps for one in given):
        return None
    return tuple(sorted(set(given)))


def _failure(stated: Any, n_steps: int) -> dict[str, Any] | None:
    if not isinstance(stated, dict):
        return None
    steps, code = _steps([stated.get("step")], n_steps), str(stated.get("code", "")).strip().upper()
    return {"step": steps[0], "code": code} if steps and code in CODES else None


def _met(stated: Any) -> Met | None:
    return _MET.get(_word(stated))


def _word(stated: Any) -> str:
    return stated.strip().casefold() if isinstance(stated, str) else ""


def _beginning(stated: Any) -> Met | None:
    word = _word(stated)
    return next((met for name, met in _MET.items() if word.startswith(name)), None)


def _first_object(text: str) -> Mapping[str, Any]:
    start = text.find("{")
    try:
        found = decode_within(text, start, json.JSONDecoder())[0] if start >= 0 else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def plain(one: ReadItem, criterion: Criterion, story: str | None) -> dict[str, Any]:
    """Return what a judgement keeps of one criterion."""
    fields = msgspec.to_builtins(one)
    return {
        "id": one.id,
        "statement": criterion.statement,
        "kind": criterion.kind,
        "weight": criterion.weight,
        **({"when": criterion.when, "applies": fields["applies"]} if criterion.when else {}),
        **({"any_of": criterion.any_of} if criterion.any_of else {}),
        "verdict": fields["verdict"],
        "reason": one.reason,
        "steps": list(one.steps),
        "seen": one.seen,
        "story": story,
        **({"blocker": one.blocker, "excused": one.excused} if one.excused else {}),
    }
