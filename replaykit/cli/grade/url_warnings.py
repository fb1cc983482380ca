"""URL terms of policies that meet no page of the graded runs, although their path was visited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from replaykit.bundle.reader import open_bundle
from replaykit.cli.console import notice
from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.url_conditions import UrlTests
from replaykit.patterns import lazy_pattern
from replaykit.replay.player import Replay
from replaykit.tasks.policy_rules import Match, Policy, Scope, UrlBoundary

if TYPE_CHECKING:
    from replaykit.grading.verdict import Report
    from replaykit.tasks.suite import Suite

_OPENED_MAX = 100
"""Recordings that are opened for their URLs."""
_LABEL = lazy_pattern(r"[A-Za-z0-9_-]+")
_WITH_PATH = lazy_pattern(r"(?:https?://)?((?:[\w.-]+|\[[0-9a-f:]+\])(?::\d+)?)(/[^/*?#][^*]*)")
_LOOPBACK = lazy_pattern(r"localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1\]?")


class _Reading(NamedTuple):
    """A term, and how it would be written if only its path were meant."""

    policy: str
    term: str
    host: str
    path: str


def warn_of_urls(
    policies: Iterable[Policy], report: Report, suite: Suite | None, sources: Sequence[str]
) -> None:
    """Name each term about a host that no page was on, if the runs visited the path that it may mean."""
    broken = {one.id for verdict in report.verdicts for one in verdict.policies if one.outcome == "VIOLATED"}
    hosts = {_host(root) for roots in (suite.sites if suite is not None else {}).values() for root in roots}
    kept = (policy for policy in policies if policy.id not in broken)
    doubtful = dict.fromkeys(one for policy in kept for one in _readings(policy, hosts))
    urls = _visited(sources) if doubtful else ()
    for policy, term, host, path in doubtful:
        meant = UrlTests(path)
        found = next((url for url in urls if meant.holds(url)), None)
        if found is None or any(map(UrlTests((term, host)).holds, urls)):
            continue
        if _LOOPBACK.fullmatch(host) and not _LOOPBACK.fullmatch(_host(found)):
            continue
        notice(
            f"policy {policy!r}: {term!r} names the host {host}, and no page of the runs was on it;"
            f" {found} was visited: write {path!r} for the path of every host"
        )


def _readings(policy: Policy, hosts: set[str]) -> Iterator[_Reading]:
    for term in (one for one in _terms(policy) if isinstance(one, str)):
        if _LABEL.fullmatch(term) and term.lower() != "localhost":
            yield _Reading(policy.id, term, term, f"/{term}")
        elif found := _WITH_PATH.fullmatch(term):
            host = _host(found[1])
            if host in hosts or _LOOPBACK.fullmatch(host):
                yield _Reading(policy.id, term, host, found[2])


def _terms(policy: Policy) -> Iterator[object]:
    rule = policy.rule
    if isinstance(rule, UrlBoundary):
        yield from (*rule.deny, *rule.allow, *rule.require)
    for name in ("match", "guarded", "requires", "trigger", "response", "items"):
        matches = getattr(rule, name, ())
        for match in matches if isinstance(matches, tuple) else (matches,):
            yield from _of_match(match)
    if isinstance(policy.when, Scope):
        yield from _listed(policy.when.url)


def _of_match(match: object) -> Iterator[object]:
    return iter(_listed(match.url)) if isinstance(match, Match) else iter(())


def _listed(url: object) -> tuple[object, ...]:
    return url if isinstance(url, tuple) else (url,)


def _host(url: str) -> str:
    with suppress(ValueError):
        return urlsplit(url if "://" in url else f"http://{url}").hostname or ""
    return ""


def _visited(sources: Sequence[str]) -> tuple[str, ...]:
    """Return the addresses that pages were on."""
    found: dict[str, None] = {}
    for source in sources[:_OPENED_MAX]:
        with suppress(ReplaykitError), open_bundle(source) as bundle:
            found |= dict.fromkeys(one.url for one in Replay(bundle).navigations if one.url)
    return tuple(found)
