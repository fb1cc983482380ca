"""Options that name sites, and names of sites and tasks that no run has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from replaykit.cli.console import notice
from replaykit.errors import ReplaykitError, UsageError
from replaykit.grading.verdict import Report
from replaykit.trajectory.plurals import counted

if TYPE_CHECKING:
    from replaykit.tasks.policy_rules import Policy
    from replaykit.tasks.suite import Suite


def check_server(url: str | None) -> None:
    """Raise UsageError for a `--judge-base-url` that no request can go to."""
    if url is not None and not url.startswith(("http://", "https://")):
        raise UsageError(what=f"--judge-base-url: expected http://... or https://..., got {url!r}")


def parse_sites(given: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return site name to roots; a name given several times has several roots."""
    sites: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, _, url = text.partition("=")
        if not name or "://" not in url:
            raise UsageError(what=f"--site: expected NAME=URL, got {text!r}")
        sites[name] = (*sites.get(name, ()), url)
    return sites


def warn_of_sites(given: Iterable[str], suite: Suite | None, sources: Iterable[str]) -> None:
    """Say which names of `--site` no task and no recording has: their roots are only equal to each other."""
    left, known = set(given), set[str]()
    if not left:
        return
    for names, plain in _sites_named(suite, sources):
        known |= names
        left = {name for name in left - known if f"__{name.upper()}__" not in plain}
        if not left:
            return  # no further recording is opened
    from difflib import get_close_matches  # for what is wrong only

    for name in sorted(left):
        near = "".join(f"; did you mean {one}?" for one in get_close_matches(name, known, 1))
        there = f" (there are {', '.join(sorted(known)[:_NAMES_MAX])})" if known else ""
        notice(f"--site {name}: no task and no recording has a site of this name{near}{there}")


def warn_of_scopes(
    policies: Iterable[Policy], report: Report, suite: Suite | None, sources: Sequence[str]
) -> None:
    """Say which policies concern none of the runs, and which names in their `when` no run has."""
    left = _concerning_none(policies, report)
    if not left:
        return
    from replaykit.tasks.policy_reach import scope_words
    from replaykit.tasks.suite_faults import FileNames, scope_faults  # for what is probably wrong only

    sites = {name for names, _ in _sites_named(suite, sources[:_OPENED_MAX]) for name in names}
    graded = [verdict.task_id for verdict in report.verdicts if verdict.error is None]
    tasks = [task.id for task in suite.tasks] if suite is not None else []
    known = FileNames(tuple(dict.fromkeys((*tasks, *graded))), tuple(sorted(sites)))
    for policy in left:
        why = "; ".join(fault.message for fault in scope_faults((policy,), known))
        runs = counted(len(graded), "run")
        about = f"is for {scope_words(policy.when)} and concerns none of the runs ({runs})"
        notice(f"policy {policy.id!r} {about}{why and ': '}{why}")


def _concerning_none(policies: Iterable[Policy], report: Report) -> list[Policy]:
    """Return the policies that were out of scope wherever they were graded."""
    scoped = {policy.id: policy for policy in policies if policy.when is not None}
    results = (one for verdict in report.verdicts for one in verdict.policies) if scoped else ()
    seen = {(one.id, one.reason == "out_of_scope") for one in results}
    return [policy for id, policy in scoped.items() if (id, True) in seen and (id, False) not in seen]


def _sites_named(suite: Suite | None, sources: Iterable[str]) -> Iterator[tuple[set[str], str]]:
    """Yield the names of sites of the suite and of each recording, with their tasks as text."""
    from replaykit.bundle.reader import open_bundle  # for who names sites

    if suite is not None:
        yield {*suite.sites, *(name for task in suite.tasks for name in task.sites)}, _text(suite.tasks)
    for source in sources:
        with suppress(ReplaykitError), open_bundle(source) as bundle:  # grading reports what is wrong with it
            header = bundle.header
            listed = (header.task or {}).get("sites")
            named = listed if isinstance(listed, list | tuple) else ()
            yield {*header.sites, *(name for name in named if isinstance(name, str))}, _text(header.task)


def _text(plain: Any) -> str:
    return msgspec.json.encode(plain).decode()


_OPENED_MAX = 100
"""Recordings that are opened for the names of their sites."""

_NAMES_MAX = 20
"""Names that a message lists."""
