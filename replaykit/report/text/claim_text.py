"""What `claims` found of a run, one line a need, a claim and an unexplained request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from replaykit.grading.verdict import Judgement

QUOTE_MAX = 120
"""Characters that are shown of the words that an item is about."""

_OF = {"task": "need", "answer": "claim"}


def claim_lines(judgement: Judgement) -> Iterator[str]:
    """Yield each need and claim with its finding and where it was seen, then what nothing explains."""
    for one in () if judgement.claims is UNSET else judgement.claims:
        quote = " ".join(str(one["quote"]).split())[:QUOTE_MAX]
        why = f" ({one['reason']})" if one["reason"] else ""
        key = "" if one["key"] else ", not a key claim"
        yield f'{_OF[one["of"]]} {one["id"]} {one["finding"]}{why}: "{quote}"{key}{_places(one)}'
    yield from effect_lines(judgement, "no need explains")


def effect_lines(judgement: Judgement, words: str) -> Iterator[str]:
    """Yield each request that changed something and that nothing explains."""
    for one in () if judgement.side_effects is UNSET else judgement.side_effects:
        yield f"{words}: {_change(one)}"


def _places(one: Mapping[str, Any]) -> str:
    """Return the steps and events that the evidence is from."""
    found = [e for predicate in one["predicates"] for e in predicate["evidence"]]
    places = dict.fromkeys(_place(e) for e in found)
    return f" @ {', '.join(places)}" if places else ""


def _place(evidence: Mapping[str, Any]) -> str:
    source, step = evidence.get("source", "page"), evidence.get("step")
    if source == "page" and step is None and evidence.get("note"):
        return str(evidence["note"])
    return f"{source} step {step}" if step is not None else f"{source} event {evidence.get('event')}"


def _change(one: Mapping[str, Any]) -> str:
    if "note" in one:
        return str(one["note"])
    at = "" if one["step"] is None else f" @ step {one['step']}"
    return f"{one['method']} {one['url']}: {one['status']}{at}"
