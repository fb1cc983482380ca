"""Policies that cannot both be kept: warnings for whoever writes them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from replaykit.tasks.benchmarks.stwab_rules import rules_of
from replaykit.tasks.faults.policy_faults import Fault
from replaykit.tasks.policy_rules import (
    SOURCES,
    AtLeast,
    Eventually,
    Match,
    Never,
    Policy,
    Rule,
    Scope,
    Stwab,
    UrlBoundary,
    UrlTerm,
)
from replaykit.tasks.policy_rules import Sequence as Order
from replaykit.tasks.task import Task


class Contradiction(NamedTuple):
    """Two policies that cannot both be OK, of which neither yields to the other."""

    high: int
    """Position of the one of the higher source, of the first where both have the same."""
    low: int
    """Position of the other."""
    why: str
    """In words."""


class Note(NamedTuple):
    """A contradiction as validation reports it."""

    task: str
    """Id of the first task that has it."""
    path: str
    """Of the lower policy: `$.policies[3]`."""
    message: str
    """For people."""


def contradictions(policies: Sequence[Policy]) -> tuple[Fault, ...]:
    """Return a warning for each pair that cannot both be OK and of which neither yields; higher source first.

    Found are a `never` and a demand for the same, and places denied that are required, or all of those
    allowed.
    """
    return tuple(
        Fault(path=f"$[{one.low}]", code="contradiction", message=_message(policies, one))
        for one in find_contradictions(policies)
    )


def notes(tasks: Iterable[Task]) -> list[Note]:
    """Return the contradictions of all tasks; one that many tasks share comes once, with their number."""
    found: dict[str, list[Note]] = {}
    for task in tasks:
        for one in find_contradictions(task.policies):
            message = _message(task.policies, one)
            found.setdefault(message, []).append(Note(task.id, f"$.policies[{one.low}]", message))
    return [_merged(rows) for rows in found.values()]


def find_contradictions(policies: Sequence[Policy]) -> list[Contradiction]:
    """Return the pairs that cannot both be OK and of which neither yields, in the order of the policies."""
    rules = {
        at: rules_of(policy)
        for at, policy in enumerate(policies)
        if policy.enabled and isinstance(policy.rule, _CONCERNED)
    }
    pairs = sorted({*_forbidden_and_demanded(rules), *_denied_and_wanted(rules)})
    found = (_of_pair(policies, rules, *pair) for pair in pairs)
    return [one for one in found if one is not None]


_CONCERNED = (Never, UrlBoundary, Eventually, AtLeast, Order, Stwab)
"""Rules that forbid, deny, demand or want something; those of the benchmark may mean any."""

_Rules = dict[int, tuple[Rule, ...]]


def _forbidden_and_demanded(rules: _Rules) -> Iterator[tuple[int, int]]:
    """Yield the pairs of which one forbids a match that the other demands."""
    return _sharing(rules, lambda rule: map(_key, _forbids(rule)), lambda rule: map(_key, _demands(rule)))


def _denied_and_wanted(rules: _Rules) -> Iterator[tuple[int, int]]:
    """Yield the pairs of which one denies the first place that the other requires or allows."""
    return _sharing(rules, lambda rule: map(str, _denied(rule)), _first_wanted)


def _sharing(
    rules: _Rules,
    against: Callable[[Rule], Iterable[Hashable]],
    wanted: Callable[[Rule], Iterable[Hashable]],
) -> Iterator[tuple[int, int]]:
    by_key: dict[Hashable, list[int]] = {}
    for at, listed in rules.items():
        for key in {key for rule in listed for key in against(rule)}:
            by_key.setdefault(key, []).append(at)
    for at, listed in rules.items():
        keys = {key for rule in listed for key in wanted(rule)} if by_key else set()
        yield from ((min(at, other), max(at, other)) for key in keys for other in by_key.get(key, ()))


def _of_pair(policies: Sequence[Policy], rules: _Rules, one: int, other: int) -> Contradiction | None:
    high, low = sorted((one, other), key=lambda at: (SOURCES.index(policies[at].source), at))
    higher, lower = policies[high], policies[low]
    yields = lower.id in higher.yields_to or higher.id in lower.yields_to
    if one == other or yields or not _overlap(higher.when, lower.when):
        return None
    why = _clash(rules[high], rules[low]) or _clash(rules[low], rules[high])
    return Contradiction(high, low, why) if why else None


def _overlap(one: Scope | None, other: Scope | None) -> bool:
    if one is None or other is None:
        return True
    pairs = ((one.sites, other.sites), (one.tasks, other.tasks))
    return not any(first and second and not set(first) & set(second) for first, second in pairs)


def _clash(forbidding: Iterable[Rule], demanding: Sequence[Rule]) -> str:
    """Return what one forbids and the other demands, in words; nothing where they can live together."""
    pairs = ((rule, wanted) for rule in forbidding for wanted in demanding)
    return next((why for rule, wanted in pairs if (why := _of_rules(rule, wanted))), "")


def _of_rules(rule: Rule, demanded: Rule) -> str:
    if any(match in _forbids(rule) for match in _demands(demanded)):
        return "the one forbids what the other demands"
    if isinstance(rule, UrlBoundary) and isinstance(demanded, UrlBoundary):
        if rule.deny and demanded.require and set(map(str, demanded.require)) <= set(map(str, rule.deny)):
            return "the one denies every place that the other requires"
        if rule.deny and demanded.allow and set(map(str, demanded.allow)) <= set(map(str, rule.deny)):
            return "the one denies every place that the other allows"
    return ""


def _forbids(rule: Rule) -> tuple[Match, ...]:
    return _listed(rule.match) if isinstance(rule, Never) else ()


def _demands(rule: Rule) -> tuple[Match, ...]:
    match rule:
        case Eventually(match=match):
            listed = _listed(match)
            return listed if len(listed) == 1 else ()
        case AtLeast(match=Match() as match, n=n) if n:
            return (match,)
        case Order(items=items, active="always"):
            return items
    return ()


def _denied(rule: Rule) -> tuple[UrlTerm, ...]:
    return rule.deny if isinstance(rule, UrlBoundary) else ()


def _first_wanted(rule: Rule) -> Iterator[str]:
    if isinstance(rule, UrlBoundary):
        yield from (str(terms[0]) for terms in (rule.require, rule.allow) if terms)


def _key(match: Match) -> bytes:
    # A match may hold a dictionary; its bytes can be a key.
    return msgspec.msgpack.encode(match)


def _listed(match: Match | tuple[Match, ...]) -> tuple[Match, ...]:
    return (match,) if isinstance(match, Match) else match


def _message(policies: Sequence[Policy], one: Contradiction) -> str:
    high, low = policies[one.high], policies[one.low]
    return f"{high.id!r} ({high.source}) and {low.id!r} ({low.source}): {one.why}; let one yield"


def _merged(rows: list[Note]) -> Note:
    first, more = rows[0], len(rows) - 1
    shared = f" (and in {more} more task{'s' if more > 1 else ''})" if more else ""
    return first._replace(message=first.message + shared)
