"""Reports as the results JSON of WABE: the leaderboard's query reads it as it is.

`success_rate` counts judgements, or the checks where there was no judge; `success` of a task may be a
fallback, and `success_source` names it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import CannotExport, UsageError
from replaykit.grading.metrics import JUDGE_ERRORS
from replaykit.grading.verdict import Outcome, Report, Verdict
from replaykit.report.json_text import json_text
from replaykit.trajectory.action_history import action_history, is_own
from replaykit.trajectory.plurals import counted

ROLE = "white_agent"
"""Participant that the leaderboard ranks."""

SUCCESS, FAILURE, ABSTAIN = "SUCCESS", "FAILURE", "ABSTAIN"
_NO_IMAGES = "no_evidence"


def as_wabe(report: Report, sources: Iterable[str | Path], *, has_fallback: bool = True) -> bytes:
    """Return the results of a report; the bundles give steps, thoughts and action histories.

    Raises UsageError where there is no task: an empty list would not load as a table.
    """
    _refuse_empty(report)
    paths = {digest: path for path in sources for digest in _digest(path)}
    agent, tasks = "unknown", []
    for verdict in report.verdicts:
        path = paths.get((verdict.trajectory or "").removeprefix("sha256:"))
        if path is None and verdict.trajectory is not None:
            raise UsageError(what=f"a results file needs the bundle of {verdict.task_id}: it is not there")
        with open_bundle(path) if path is not None else nullcontext() as bundle:
            agent = _agent(bundle) or agent
            tasks.append(_task(verdict, bundle, has_fallback=has_fallback))
    detail = _counts(tasks) | {"tasks": tasks, "judge": report.summary.get("judges", {})}
    detail["divergence"] = _divergence(detail["successful_tasks"], _graded(tasks))
    result = {"winner": ROLE if detail["successful_tasks"] else "none", "detail": detail}
    plain = {"participants": {ROLE: agent}, "results": [result]}
    return json_text(plain, 2) + b"\n"


def _refuse_empty(report: Report) -> None:
    if not report.verdicts:
        raise UsageError(what="no run is graded: a results file needs at least one task")
    if report.summary["metrics"]["success_rate"].get("reason") == JUDGE_ERRORS:
        raise CannotExport(
            format="wabe",
            source=counted(len(report.verdicts), "run"),
            missing="every judgement is an error, so there is no success rate",
            advice="The text report names the reasons; ask again with --judge-mode new.",
        )


def _agent(bundle: Bundle | None) -> str | None:
    return bundle.header.agent.name if bundle is not None and bundle.header.agent is not None else None


def _counts(tasks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "success_rate": 100.0 * _graded(tasks) / len(tasks),
        "successful_tasks": sum(task["success"] for task in tasks),
        "total_tasks": len(tasks),
    }


def _graded(tasks: list[dict[str, Any]]) -> int:
    """Return the number of tasks that a judge or checks, not a fallback, call successful."""
    return sum(task["success"] and task["success_source"] in ("judge", "checks") for task in tasks)


def _divergence(successful: int, graded: int) -> str | None:
    """Return why the two figures that a leaderboard shows do not go together, if so."""
    if successful == graded:
        return None
    counts = f"{counted(successful, 'task')} counted as successful, {graded} of them by a judge or checks"
    return f"{counts}: rank by success_rate"


def _digest(path: str | Path) -> Iterable[str]:
    with open_bundle(path) as bundle:
        return [bundle.digest]


class _OwnResult(NamedTuple):
    """Verdict of a run about itself: an imported one, in the words of its own file."""

    actions: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    steps: int = 0
    limit: int | None = None
    level: str = "easy"
    website: str | None = None
    task: str | None = None
    screenshots: tuple[str, ...] = ()
    error: str | None = None


def _own_result(bundle: Bundle | None) -> _OwnResult:
    if bundle is None:
        return _OwnResult()
    run, task = bundle.trajectory, bundle.header.task or {}
    source = bundle.header.source
    own = source.extra if source is not None and is_own(run) else {}
    history = action_history(run)
    steps, limit = own.get("steps_taken"), own.get("max_steps") or task.get("max_steps")
    return _OwnResult(
        actions=history.actions,
        thoughts=history.thoughts or (() if is_own(run) else ("",) * len(history.actions)),
        steps=steps if isinstance(steps, int) else len(history.actions),
        limit=limit if isinstance(limit, int) else None,
        level=str(own.get("level") or (task.get("metadata") or {}).get("level") or "easy"),
        website=next((str(url) for url in task.get("start_urls") or ()), None),
        task=str(task["intent"]) if task.get("intent") else None,
        screenshots=tuple(str(name) for name in own.get("screenshots") or ()),
        error=own.get("error") if isinstance(own.get("error"), str) else None,
    )


def _task(verdict: Verdict, bundle: Bundle | None, *, has_fallback: bool) -> dict[str, Any]:
    own = _own_result(bundle)
    is_finished = _finished(bundle, own)
    success, source = _success(verdict, is_finished=is_finished, has_fallback=has_fallback)
    return {
        "task_id": verdict.task_id,
        "website": own.website,
        "task_description": own.task,
        "success": success,
        "success_source": source,
        "steps_taken": own.steps,
        "max_steps": own.steps if own.limit is None else own.limit,
        "level": own.level,
        "thoughts": list(own.thoughts),
        "action_history": list(own.actions),
        "screenshots": list(own.screenshots),
        "error": own.error if verdict.error is None else verdict.error.kind,
    }


def _finished(bundle: Bundle | None, own: _OwnResult) -> bool:
    ending = bundle.ending if bundle is not None else None
    within = own.limit is None or own.steps <= own.limit
    return ending is not None and ending.kind == "answered" and within


def _success(verdict: Verdict, *, is_finished: bool, has_fallback: bool) -> tuple[bool, str]:
    one = next(iter(verdict.judgements), None)
    if one is not None and one.outcome in (SUCCESS, FAILURE):
        return one.outcome == SUCCESS, "judge"
    if one is not None and one.outcome == ABSTAIN and one.reason != _NO_IMAGES:
        return False, "judge_abstain"  # the agent's own word would fail open
    if verdict.checks:
        return verdict.success is Outcome.PASS, "checks"
    has_fallback = has_fallback and verdict.error is None  # what could not be graded is no success
    return (is_finished, "loop_fallback") if has_fallback else (False, "none")
