"""Reports as the results JSON of WABE: the leaderboard's query reads it as it is.

`success_rate` counts what a judge said, or the checks where no judge spoke; `success` of a task may be a
fallback, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import CannotExport, UsageError
from replaykit.grading.metrics import JUDGE_ERRORS
from replaykit.grading.verdict import Outcome, Report, Verdict
from replaykit.report.json_text import json_text
from replaykit.trajectory.action import tag_of
from replaykit.trajectory.counted import counted
from replaykit.trajectory.rendering import MESSAGES, render_step

ROLE = "white_agent"
"""Participant that the leaderboard ranks."""

SUCCESS, FAILURE, ABSTAIN = "SUCCESS", "FAILURE", "ABSTAIN"
_NO_PICTURES = "no_evidence"


def as_wabe(report: Report, sources: Iterable[str | Path], *, has_fallback: bool = True) -> bytes:
    """Return the results of a report; the bundles give steps, thoughts and action histories.

    Raises UsageError where there is no task: an empty list would not load as a table.
    """
    if not report.verdicts:
        raise UsageError(what="no run is graded: a results file needs at least one task")
    if report.summary["metrics"]["success_rate"].get("reason") == JUDGE_ERRORS:
        raise CannotExport(
            format="wabe",
            source=counted(len(report.verdicts), "run"),
            missing="every judgement is an error, so there is no success rate",
            advice="The text report names the reasons; ask again with --judge-mode new.",
        )
    paths = {digest: path for path in sources for digest in _digest(path)}
    agent, tasks = "unknown", []
    for verdict in report.verdicts:
        path = paths.get((verdict.trajectory or "").removeprefix("sha256:"))
        if path is None and verdict.trajectory is not None:
            raise UsageError(what=f"a results file needs the bundle of {verdict.task_id}: it is not there")
        if path is None:
            tasks.append(_task(verdict, None, has_fallback=has_fallback))
            continue
        with open_bundle(path) as bundle:
            told = bundle.header.agent
            agent = (told.name if told is not None else None) or agent
            tasks.append(_task(verdict, bundle, has_fallback=has_fallback))
    graded = sum(task["success"] and task["success_source"] in ("judge", "checks") for task in tasks)
    successful = sum(task["success"] for task in tasks)
    detail = {
        "success_rate": 100.0 * graded / len(tasks),
        "successful_tasks": successful,
        "total_tasks": len(tasks),
        "tasks": tasks,
        "judge": report.summary.get("judges", {}),
        "divergence": _divergence(successful, graded),
    }
    plain = {"participants": {ROLE: agent}, "results": [{"detail": detail}]}
    return json_text(plain, 2) + b"\n"


def _divergence(successful: int, graded: int) -> str | None:
    """Return why the two figures that a leaderboard shows do not go together, if so."""
    if successful == graded:
        return None
    told = f"{counted(successful, 'task')} counted as successful, {graded} of them by a judge or checks"
    return f"{told}: rank by success_rate"


def _digest(path: str | Path) -> Iterable[str]:
    with open_bundle(path) as bundle:
        return [bundle.digest]


def _task(verdict: Verdict, bundle: Bundle | None, *, has_fallback: bool) -> dict[str, Any]:
    steps = bundle.trajectory.steps if bundle is not None else ()
    acts = [step for step in steps if tag_of(step.action) not in MESSAGES]
    task = (bundle.header.task if bundle is not None else None) or {}
    limit = task.get("max_steps")
    is_finished = _finished(bundle, len(acts), limit)
    success, source = _success(verdict, is_finished=is_finished, has_fallback=has_fallback)
    return {
        "task_id": verdict.task_id,
        "success": success,
        "success_source": source,
        "steps_taken": len(acts),
        "max_steps": limit if isinstance(limit, int) else len(acts),
        "level": str((task.get("metadata") or {}).get("level", "easy")),
        "thoughts": [step.thought or "" for step in acts],
        "action_history": [step.raw if isinstance(step.raw, str) else render_step(step) for step in acts],
        "screenshots": [],
        "error": None if verdict.error is None else verdict.error.kind,
    }


def _finished(bundle: Bundle | None, taken: int, limit: Any) -> bool:
    ending = bundle.ending if bundle is not None else None
    within = not isinstance(limit, int) or taken <= limit
    return ending is not None and ending.kind == "answered" and within


def _success(verdict: Verdict, *, is_finished: bool, has_fallback: bool) -> tuple[bool, str]:
    one = next(iter(verdict.judgements), None)
    if one is not None and one.outcome in (SUCCESS, FAILURE):
        return one.outcome == SUCCESS, "judge"
    if one is not None and one.outcome == ABSTAIN and one.reason != _NO_PICTURES:
        return False, "judge_abstain"  # the agent's own word would fail open
    if verdict.checks:
        return verdict.success is Outcome.PASS, "checks"
    has_fallback = has_fallback and verdict.error is None  # what could not be graded is no success
    return (is_finished, "loop_fallback") if has_fallback else (False, "none")
