"""Needs and claims decided: their quotes held against the text, their predicates folded into one finding."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.grading.judges.claims.predicate_decisions import (
    ClaimFinding,
    Decision,
    Subject,
    decide,
    not_shown,
)
from replaykit.grading.judges.claims.predicates import (
    AnyPredicate,
    CannotCheck,
    ClaimItem,
    ClaimItems,
    Count,
    Entered,
    NoRequest,
    TextVisible,
    UserAgreed,
    ValueShown,
)
from replaykit.grading.judges.claims.run_facts import RunFacts
from replaykit.grading.judges.claims.spurious_evidence import is_misquoted, is_stated

_ORDER = (ClaimFinding.CONTRADICTED, ClaimFinding.NOT_SHOWN, ClaimFinding.SUPPORTED)

_NO_PROOF = (NoRequest, UserAgreed, Entered, Count, CannotCheck)
"""Predicates that are not sufficient to show that a task was done: absence, permission, entry, count."""

_TEXTS = (TextVisible, ValueShown)
"""Predicates on texts, which may stand there whatever the agent did."""


class Decided(Struct, frozen=True, kw_only=True):
    """One need or claim with its finding."""

    of: Literal["task", "answer"]
    """Whose words it is about."""
    item: ClaimItem
    """As the model stated it."""
    finding: ClaimFinding
    """Result."""
    reason: str = ""
    """Why it is not supported, in a word."""
    decisions: tuple[Decision, ...] = ()
    """Each predicate."""
    is_proof: bool = False
    """Whether a supported predicate of it shows an effect."""
    has_effect_proof: bool = False
    """Whether one of them shows more than a text."""
    events: tuple[int, ...] = ()
    """Requests that it explains: a request that was asked for is, even where the rest is not shown."""

    @property
    def is_supported(self) -> bool:
        """Whether the recording shows it."""
        return self.finding is ClaimFinding.SUPPORTED


def decided(
    items: ClaimItems, of: Literal["task", "answer"], text: str, texts: tuple[str, ...], facts: RunFacts
) -> list[Decided]:
    """Decide items in order. A request that one need explains explains no other."""
    found: list[Decided] = []
    taken: frozenset[int] = frozenset()
    for item in items.items:
        subject = Subject(
            facts=facts, texts=(*texts, item.quote), taken=taken if of == "task" else frozenset()
        )
        one = _decided(item, of, text, subject)
        taken |= frozenset(one.events)
        found.append(one)
    return found


def plain(one: Decided) -> dict[str, Any]:
    """Return what a judgement keeps of a need or claim: plain values."""
    pairs = zip(one.item.predicates, one.decisions, strict=False)
    return {
        "id": one.item.id,
        "of": one.of,
        "quote": one.item.quote,
        "key": one.item.is_key,
        "finding": str(one.finding),
        "reason": one.reason,
        "how": one.item.how,
        "predicates": [_plain(predicate, decision) for predicate, decision in pairs],
    }


def _plain(predicate: AnyPredicate, decision: Decision) -> dict[str, Any]:
    stated: dict[str, Any] = msgspec.to_builtins(predicate)
    evidence = [msgspec.to_builtins(one) for one in decision.evidence]
    return {
        "states": stated,
        "finding": str(decision.finding),
        "reason": decision.reason,
        "evidence": evidence,
    }


def _decided(item: ClaimItem, of: Literal["task", "answer"], text: str, subject: Subject) -> Decided:
    found = Decided(of=of, item=item, finding=ClaimFinding.NOT_SHOWN)
    if not item.predicates:
        return replace(found, reason="unread")
    if is_misquoted(item.quote, text):
        return replace(found, reason="misquoted")
    decisions = tuple(_stated(item, one, decide(one, subject)) for one in item.predicates)
    pairs = list(zip(item.predicates, decisions, strict=True))
    worst = sorted(decisions, key=lambda one: _ORDER.index(one.finding))
    first = worst[0] if item.how == "all" else worst[-1]
    if item.how == "all" and first.finding is ClaimFinding.SUPPORTED and not is_stated(item, item.predicates):
        first = not_shown("unstated")
    is_supported = first.finding is ClaimFinding.SUPPORTED
    shown = [(one, decision) for one, decision in pairs if decision.finding is ClaimFinding.SUPPORTED]
    return replace(
        found,
        finding=first.finding,
        reason=first.reason,
        decisions=decisions,
        is_proof=is_supported and any(not isinstance(one, _NO_PROOF) for one, _ in shown),
        has_effect_proof=is_supported and any(not isinstance(one, (*_NO_PROOF, *_TEXTS)) for one, _ in shown),
        events=tuple(event for _, decision in shown for event in decision.events),
    )


def _stated(item: ClaimItem, predicate: AnyPredicate, decision: Decision) -> Decision:
    """Return a decision of one of several alternatives, which has to say all numbers of the quote itself."""
    is_bare = (
        item.how == "any" and decision.finding is ClaimFinding.SUPPORTED and not is_stated(item, [predicate])
    )
    return not_shown("unstated", decision.evidence) if is_bare else decision
