"""Rubrics as a model replies and as a file states them: read strictly, then held against the intent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.decoders import convert
from replaykit.grading.judges.replies.strict_object import last_object
from replaykit.grading.model_request import ModelReply
from replaykit.grading.values.normal_form import fold
from replaykit.patterns import lazy_pattern
from replaykit.tasks.rubric import (
    CRITERIA_MAX,
    Author,
    Criterion,
    Rubric,
    Validity,
    intent_digest,
)

ALIKE = 0.8
"""Share of equal words from which two criteria for the same words of the intent overlap."""

_WORD = lazy_pattern(r"\w+")
_FIELDS = tuple(Criterion.__struct_fields__)
_VALIDITY: tuple[Validity, ...] = ("valid", "ambiguous", "impossible", "not_allowed")


class Criteria(Struct, frozen=True, kw_only=True):
    """A rubric held against the intent."""

    rubric: Rubric
    """Criteria of the judgement."""
    n_phantom: int = 0
    """Outcome criteria whose words are not in the intent: they became process criteria of weight 0."""
    overlap: tuple[tuple[str, str], ...] = ()
    """Outcome criteria that ask for the same in nearly the same words."""
    n_unread: int = 0
    """Criteria of a reply that could not be read: left out."""
    n_ignored: int = 0
    """Unknown keys of a reply."""

    def report(self) -> dict[str, Any]:
        """Return counts for the judgement."""
        return {
            "n_criteria": len(self.rubric.criteria),
            "n_phantom": self.n_phantom,
            "overlap": [list(pair) for pair in self.overlap],
            "n_unread": self.n_unread,
            "n_ignored": self.n_ignored,
        }


def against(rubric: Rubric, intent: str, *, n_unread: int = 0, n_ignored: int = 0) -> Criteria:
    """Hold a rubric against the intent: what the intent does not ask for never decides."""
    criteria = [_grounded(one, intent) for one in rubric.criteria]
    pairs = zip(criteria, rubric.criteria, strict=True)
    return Criteria(
        rubric=replace(rubric, criteria=tuple(criteria)),
        n_phantom=sum(one.kind != other.kind for one, other in pairs),
        overlap=tuple(_overlap([one for one in criteria if one.kind == "outcome"])),
        n_unread=n_unread,
        n_ignored=n_ignored,
    )


def read_rubric(reply: ModelReply, task: str, intent: str, key: str) -> Criteria | str:
    """Return the criteria of a reply, or why it is missing, in a word of a judgement."""
    found = last_object(reply.text, reply.stop_reason)
    if isinstance(found, str):
        return "empty_reply" if not reply.text.strip() else found
    rows = found.get("criteria")
    if not isinstance(rows, list):
        return "no_criteria"
    read, unread = _criteria(rows[:CRITERIA_MAX])
    if not read:
        return "no_criteria"
    rubric = Rubric(
        schema="replaykit.rubric/1",
        task=task,
        intent_sha256=intent_digest(intent),
        by=Author(model=reply.model, key=key),
        validity=validity_of(found.get("validity")),
        criteria=tuple(read),
    )
    return against(
        rubric, intent, n_unread=unread + max(0, len(rows) - CRITERIA_MAX), n_ignored=_unknown(rows)
    )


def validity_of(stated: Any) -> Validity:
    """Return a word on whether a task can be done; anything else means that it can."""
    word = stated.strip().casefold() if isinstance(stated, str) else ""
    return next((one for one in _VALIDITY if one == word), "valid")


def _criteria(rows: Sequence[Any]) -> tuple[list[Criterion], int]:
    """Return the readable criteria, and the number of unreadable ones; a repeated id is unreadable."""
    read: list[Criterion] = []
    for row in rows:
        try:
            read.append(convert(_row(row), Criterion))
        except msgspec.ValidationError:
            continue
    ids = [one.id for one in read]
    own = [one for one in read if ids.count(one.id) == 1]
    return own, len(rows) - len(own)


def _row(row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    plain = {name: row[name] for name in _FIELDS if row.get(name) is not None}
    for name in ("kind", "proof"):
        if name in plain:
            plain[name] = _folded(plain[name])
    if plain.get("weight") == 0:
        del plain["weight"]
    return plain


def _folded(value: Any) -> Any:
    if isinstance(value, list):
        return [_folded(one) for one in value]
    return value.strip().casefold() if isinstance(value, str) else value


def _unknown(rows: Sequence[Any]) -> int:
    return sum(name not in _FIELDS for row in rows if isinstance(row, Mapping) for name in row)


def _grounded(one: Criterion, intent: str) -> Criterion:
    """Return a criterion as it is where the intent asks for it; else it decides nothing."""
    asked = fold(one.asked)
    if one.kind == "process" or (asked and asked in fold(intent)):
        return one
    return replace(one, kind="process", weight=0, any_of="")


def _overlap(criteria: Sequence[Criterion]) -> list[tuple[str, str]]:
    return [
        (one.id, other.id)
        for place, one in enumerate(criteria)
        for other in criteria[place + 1 :]
        if fold(one.asked) == fold(other.asked) and _alike(one.statement, other.statement) >= ALIKE
    ]


def _alike(one: str, other: str) -> float:
    """Return the share of words that two sentences have in common."""
    words, others = set(_WORD.findall(fold(one))), set(_WORD.findall(fold(other)))
    return len(words & others) / max(1, len(words | others))
