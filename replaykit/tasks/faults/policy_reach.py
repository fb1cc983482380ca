"""How far policies reach, by their form only: what can never be broken, and what every run breaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import fields

from replaykit.tasks import policy_rules
from replaykit.tasks.policy_rules import Match, Policy, Scope, kinds_of

_FIELDS = tuple(field.name for field in fields(Match) if field.name not in ("kind", "unless"))


class Reach(NamedTuple):
    """A fault of reach that the form of a rule shows."""

    path: str
    """Place in the policy: `.rule.match.unless`."""
    is_always: bool
    """Whether it is broken wherever it applies; otherwise it can never be broken."""
    why: str
    """In words."""


def reach_of(policy: Policy) -> Iterator[Reach]:
    """Yield why a policy can never be broken, or is broken wherever it applies."""
    for path, match in _matches(policy.rule):
        if match.unless is not None and _covers(match.unless, match):
            yield Reach(f".rule.{path}.unless", False, "`unless` excepts every event that matches")
    match policy.rule:
        case policy_rules.OnlyFill(exempt=exempt) if "*" in exempt:
            yield Reach(".rule.exempt", False, "`*` exempts every field")
        case policy_rules.UrlBoundary() as rule:
            yield from _of_boundary(rule)
        case policy_rules.Consent(approve=approve, deny=deny) if approve and _within(approve, deny):
            yield Reach(".rule.approve", True, "every word that approves also denies")
        case policy_rules.Before(guarded=guarded, requires=requires) if guarded == requires:
            yield Reach(".rule.requires", True, "the first such event has none before it")
        case policy_rules.After(trigger=trigger, response=response) if trigger == response:
            yield Reach(".rule.response", True, "the last such event has none after it")


def unapplied(policy: Policy) -> str:
    """Return why a policy is not graded at all; empty if it is."""
    if not policy.enabled:
        return "`enabled` is false"
    return "the agent is only shown it" if isinstance(policy.rule, policy_rules.Informational) else ""


def scope_words(scope: Scope | None) -> str:
    """Return where and when a policy applies, in words."""
    if scope is None:
        return "all tasks"
    parts = [f"task{'s' if len(scope.tasks) > 1 else ''} {', '.join(scope.tasks)}"] if scope.tasks else []
    parts += [f"tasks of {' or '.join(scope.sites)}"] if scope.sites else []
    parts = parts or ["all tasks"]
    parts += [f"on pages of {_shown(scope.url)}"] if scope.url else []
    parts += ["after an event"] if scope.after is not None else []
    parts += ["until an event"] if scope.until is not None else []
    return ", ".join(parts)


def _shown(url: object) -> str:
    terms = url if isinstance(url, tuple) else (url,)
    return " or ".join(term if isinstance(term, str) else "a URL condition" for term in terms)


def _of_boundary(rule: policy_rules.UrlBoundary) -> Iterator[Reach]:
    denied = [str(term) for term in rule.deny]
    for name in ("allow", "require"):
        terms = [str(term) for term in getattr(rule, name)]
        if terms and _within(terms, denied):
            yield Reach(f".rule.{name}", True, f"`deny` has every entry of `{name}`")


def _within(words: Iterable[str], others: Sequence[str]) -> bool:
    return {word.casefold() for word in words} <= {word.casefold() for word in others}


def _covers(exception: Match, match: Match) -> bool:
    """Whether an exception holds for each event that matches: it demands nothing more."""
    if not kinds_of(match) <= kinds_of(exception) or exception.unless is not None:
        return False
    nothing = ((), None)
    given = [name for name in _FIELDS if getattr(exception, name) not in nothing]
    return all(getattr(exception, name) == getattr(match, name) for name in given)


def _matches(rule: policy_rules.Rule) -> Iterator[tuple[str, Match]]:
    for name in ("match", "guarded", "requires", "trigger", "response"):
        given = getattr(rule, name, None)
        if isinstance(given, Match):
            yield name, given
        elif isinstance(given, tuple):
            yield from ((f"{name}[{number}]", one) for number, one in enumerate(given))
    if isinstance(rule, policy_rules.Sequence):
        yield from ((f"items[{number}]", one) for number, one in enumerate(rule.items))
