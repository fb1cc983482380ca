"""What code knows of a run, for judges that are told: checks that ask no model, and unexplained requests."""

from __future__ import annotations

from typing import Any, NamedTuple

from replaykit.grading.findings.side_effects import has_network, unexplained_changes
from replaykit.grading.judges.claims.unexplained import UNKNOWN, plain_change
from replaykit.grading.verdict import CheckResult
from replaykit.replay.player import Replay
from replaykit.tasks.task import Task


class CheckFacts(NamedTuple):
    """The same whatever the options of a grading: strict, without a browser, without verifiers."""

    outcomes: tuple[str, ...]
    """One line a check: name, kind and outcome, never a reference value."""
    side_effects: tuple[dict[str, Any], ...]
    """Requests that changed something and that neither a passing check nor `allow:` of the task explains."""


def check_facts(task: Task, replay: Replay) -> CheckFacts:
    """Return what the checks of a task find that need no model, and what nothing explains."""
    # Loaded for judges that are told of checks: checks have more code than judges.
    from replaykit.grading.checks.check_grading import grade_checks

    results = [one for one in grade_checks(task, replay, "strict") if not _needs_model(one)]
    left = tuple(plain_change(one) for one in unexplained_changes(replay, results, task.allow))
    return CheckFacts(
        outcomes=tuple(f"{one.id} ({one.type}): {one.outcome}" for one in results),
        side_effects=left if has_network(replay) else UNKNOWN,
    )


def _needs_model(result: CheckResult) -> bool:
    return any(code.startswith("reply:") for code in result.missing)
