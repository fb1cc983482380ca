"""Policies that cannot both be kept: warnings for whoever writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from replaykit.tasks.policies import (
    SOURCES,
    AtLeast,
    Eventually,
    Match,
    Never,
    Policy,
    Scope,
    UrlBoundary,
)
from replaykit.tasks.policies import Sequence as Order
from replaykit.tasks.policy_faults import Fault


def contradictions(policies: Sequence[Policy]) -> tuple[Fault, ...]:
    """Return a warning for each pair that cannot both be OK and of which neither yields; higher source first.

    Found are a `never` and a demand for the same, and places denied that are required, or all of those
    allowed.
    """
    numbered = [(at, policy) for at, policy in enumerate(policies) if policy.enabled]
    return tuple(fault for one, other in combinations(numbered, 2) for fault in _of_pair(one, other))


def _of_pair(one: tuple[int, Policy], other: tuple[int, Policy]) -> Iterator[Fault]:
    high, low = sorted((one, other), key=lambda row: (SOURCES.index(row[1].source), row[0]))
    yields = low[1].id in high[1].yields_to or high[1].id in low[1].yields_to
    if yields or not _overlap(high[1].when, low[1].when):
        return
    why = _clash(high[1], low[1]) or _clash(low[1], high[1])
    if why:
        message = (
            f"{high[1].id!r} ({high[1].source}) and {low[1].id!r} ({low[1].source}): {why}; let one yield"
        )
        yield Fault(path=f"$[{low[0]}]", code="contradiction", message=message)


def _overlap(one: Scope | None, other: Scope | None) -> bool:
    if one is None or other is None:
        return True
    pairs = ((one.sites, other.sites), (one.tasks, other.tasks))
    return not any(first and second and not set(first) & set(second) for first, second in pairs)


def _clash(one: Policy, other: Policy) -> str:
    """Return what one forbids and the other demands, in words; nothing where they can live together."""
    rule, demanded = one.rule, other.rule
    if isinstance(rule, Never) and any(match in _listed(rule.match) for match in _demands(other)):
        return "the one forbids what the other demands"
    if isinstance(rule, UrlBoundary) and isinstance(demanded, UrlBoundary):
        if rule.deny and demanded.require and set(map(str, demanded.require)) <= set(map(str, rule.deny)):
            return "the one denies every place that the other requires"
        if rule.deny and demanded.allow and set(map(str, demanded.allow)) <= set(map(str, rule.deny)):
            return "the one denies every place that the other allows"
    return ""


def _demands(policy: Policy) -> tuple[Match, ...]:
    match policy.rule:
        case Eventually(match=match):
            listed = _listed(match)
            return listed if len(listed) == 1 else ()
        case AtLeast(match=Match() as match, n=n) if n:
            return (match,)
        case Order(items=items, active="always"):
            return items
    return ()


def _listed(match: Match | tuple[Match, ...]) -> tuple[Match, ...]:
    return (match,) if isinstance(match, Match) else match
