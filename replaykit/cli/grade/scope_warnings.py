"""Policies whose `when` concerns none of the graded runs, so that their results say nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from replaykit.cli.console import notice
from replaykit.cli.site_options import sites_named
from replaykit.trajectory.plurals import counted

if TYPE_CHECKING:
    from replaykit.grading.verdict import Report
    from replaykit.tasks.faults.suite_faults import FileNames
    from replaykit.tasks.policy_rules import Policy
    from replaykit.tasks.suite import Suite

_OPENED_MAX = 100
"""Recordings that are opened for the names of their sites."""


def warn_of_scopes(
    policies: Iterable[Policy], report: Report, suite: Suite | None, sources: Sequence[str]
) -> None:
    """Name each policy that concerns none of the runs, and the names in its `when` that no run has."""
    left = list(_concerning_none(policies, report))
    if not left:
        return
    from replaykit.tasks.faults.policy_reach import scope_words
    from replaykit.tasks.faults.suite_faults import scope_faults  # for what is probably wrong only

    graded = [verdict.task_id for verdict in report.verdicts if verdict.error is None]
    known = _names(graded, suite, sources)
    for policy in left:
        where = f"is for {scope_words(policy.when)} and concerns none of the runs"
        why = "; ".join(fault.message for fault in scope_faults((policy,), known))
        notice(f"policy {policy.id!r} {where} ({counted(len(graded), 'run')}){why and ': '}{why}")


def _concerning_none(policies: Iterable[Policy], report: Report) -> Iterator[Policy]:
    """Yield the policies that were out of scope wherever they were graded."""
    scoped = {policy.id: policy for policy in policies if policy.when is not None}
    results = (one for verdict in report.verdicts for one in verdict.policies) if scoped else ()
    seen = {(one.id, one.reason == "out_of_scope") for one in results}
    yield from (policy for id, policy in scoped.items() if (id, True) in seen and (id, False) not in seen)


def _names(graded: Sequence[str], suite: Suite | None, sources: Sequence[str]) -> FileNames:
    """Return the names of tasks and sites that a policy could have meant."""
    from replaykit.tasks.faults.suite_faults import FileNames

    sites = {name for names, _ in sites_named(suite, sources[:_OPENED_MAX]) for name in names}
    tasks = [task.id for task in suite.tasks] if suite is not None else []
    return FileNames(tuple(dict.fromkeys((*tasks, *graded))), tuple(sorted(sites)))
