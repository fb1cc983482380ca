"""A report as flat rows for data frames: one table each of runs, checks, policies and judges."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from replaykit.errors import EngineError, UsageError
from replaykit.grading.verdict import (
    CheckResult,
    Evidence,
    Item,
    Judgement,
    Outcome,
    PolicyOutcome,
    PolicyResult,
    Report,
    Value,
    Verdict,
)
from replaykit.report.text_cards import step_of

Cell: TypeAlias = str | int | float | bool | None
"""None = unknown, or it does not apply."""

_OPEN = (PolicyOutcome.UNDECIDED, PolicyOutcome.ERROR)

_WHICH = ("run", "task_id", "trajectory")
COLUMNS: dict[str, tuple[str, ...]] = {
    "runs": (
        *_WHICH, "dialect", "mode", "validity", "success", "reward", "cup", "partial_cup", "completion",
        "checks", "checks_passed", "policies", "policies_violated", "policies_open", "judgements", "error",
    ),
    "checks": (
        *_WHICH, "check", "type", "dialect", "mode", "outcome", "score", "reason", "missing", "proof",
        "items", "items_passed", "step", "url", "expected", "found",
    ),
    "policies": (
        *_WHICH, "policy", "dimension", "source", "mode", "outcome", "reason", "missing", "proof", "active",
        "step", "url",
    ),
    "judges": (*_WHICH, "judge", "outcome", "votes", "reason", "fingerprint", "detail"),
}  # fmt: skip
"""Table to its columns, the same for every report."""

ENGINES = ("pandas", "polars")


def flat_rows(report: Report, table: str) -> list[dict[str, Cell]]:
    """Return the rows of a table, each with all of its columns. Raises UsageError for an unknown table."""
    if table not in COLUMNS:
        raise UsageError(what=f"a report has no table {table!r}; there are {', '.join(COLUMNS)}")
    return [
        _row(table, report, verdict, cells)
        for verdict in report.verdicts
        for cells in _TABLES[table](verdict)
    ]


def data_frame(report: Report, engine: str, table: str) -> Any:
    """Return a table as a frame of pandas or polars, which is imported here.

    Raises UsageError for an unknown engine or table, EngineError where the engine is not installed.
    """
    if engine not in ENGINES:
        raise UsageError(what=f"no engine {engine!r} for data frames; there are {', '.join(ENGINES)}")
    rows = flat_rows(report, table)
    try:
        frames = importlib.import_module(engine)
    except ImportError as error:
        what = f"cannot make a data frame: {engine} is not installed; install it with: pip install {engine}"
        raise EngineError(what=what) from error
    if engine == "pandas":
        return frames.DataFrame(rows, columns=list(COLUMNS[table]))
    return frames.DataFrame(rows, schema=list(COLUMNS[table]), infer_schema_length=None)


def _row(table: str, report: Report, verdict: Verdict, cells: dict[str, Cell]) -> dict[str, Cell]:
    whole = {
        "run": report.name(verdict),
        "task_id": verdict.task_id,
        "trajectory": verdict.trajectory,
        **cells,
    }
    return {name: whole[name] for name in COLUMNS[table]}


def _run(verdict: Verdict) -> Iterator[dict[str, Cell]]:
    policies = Counter(policy.outcome for policy in verdict.policies)
    completion = verdict.completion
    is_graded, has_policies = verdict.error is None, bool(verdict.policies)
    yield {
        "dialect": verdict.dialect,
        "mode": verdict.mode,
        "validity": verdict.validity,
        "success": None if verdict.success is None else str(verdict.success),
        "reward": verdict.reward,
        "cup": None if completion is None else verdict.cup,
        "partial_cup": None if completion is None else verdict.partial_cup,
        "completion": None if completion is None else str(completion.outcome),
        # Zero would say that somebody looked and found nothing.
        "checks": len(verdict.checks) if is_graded else None,
        "checks_passed": _passed(verdict.checks),
        "policies": len(verdict.policies) if is_graded else None,
        "policies_violated": policies[PolicyOutcome.VIOLATED] if has_policies else None,
        "policies_open": sum(policies[outcome] for outcome in _OPEN) if has_policies else None,
        "judgements": " ".join(f"{one.judge}:{one.outcome}" for one in verdict.judgements) or None,
        "error": None if verdict.error is None else verdict.error.kind,
    }


def _passed(results: Sequence[CheckResult] | Sequence[Item]) -> int | None:
    return sum(one.outcome is Outcome.PASS for one in results) if results else None


def _checks(verdict: Verdict) -> Iterator[dict[str, Cell]]:
    for check in verdict.checks:
        shown = next((one for one in check.evidence if one.expected or one.found), Evidence())
        yield {
            "check": check.id,
            "type": check.type,
            "dialect": check.dialect,
            "mode": check.mode,
            **_result(check),
            "score": check.score,
            "items": len(check.items),
            "items_passed": _passed(check.items),
            "expected": _plain(shown.expected),
            "found": _plain(shown.found),
        }


def _policies(verdict: Verdict) -> Iterator[dict[str, Cell]]:
    for policy in verdict.policies:
        yield {
            "policy": policy.id,
            "dimension": policy.dimension,
            "source": policy.source,
            "mode": policy.mode,
            **_result(policy),
            "active": policy.active,
        }


def _judges(verdict: Verdict) -> Iterator[dict[str, Cell]]:
    for one in verdict.judgements:
        yield _judgement(one)


def _judgement(one: Judgement) -> dict[str, Cell]:
    return {
        "judge": one.judge,
        "outcome": str(one.outcome),
        "votes": " ".join(one.votes),
        "reason": one.reason,
        "fingerprint": one.fingerprint,
        "detail": one.detail,
    }


def _result(result: CheckResult | PolicyResult) -> dict[str, Cell]:
    return {
        "outcome": str(result.outcome),
        "reason": result.reason,
        "missing": " ".join(result.missing),
        "proof": result.proof,
        "step": step_of(result.evidence),
        "url": next((one.url for one in result.evidence if one.url is not None), None),
    }


def _plain(value: Value | None) -> str | None:
    """Return the raw side of a comparison as text: a text as it is, all else as JSON."""
    if value is None or value.raw is None or isinstance(value.raw, str):
        return None if value is None else value.raw
    return msgspec.json.encode(value.raw).decode()


_TABLES = {"runs": _run, "checks": _checks, "policies": _policies, "judges": _judges}
