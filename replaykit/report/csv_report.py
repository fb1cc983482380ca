"""A table for spreadsheets and data frames: one line a run, RFC 4180."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TypeAlias

from replaykit.grading.verdict import Outcome, PolicyOutcome, Report, Verdict

Cell: TypeAlias = str | int | float | None
"""None is an empty field."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_OPEN = (PolicyOutcome.UNDECIDED, PolicyOutcome.ERROR)


def as_csv(report: Report) -> bytes:
    """Return one line a run below a line of names, UTF-8; lines end in CR LF.

    Texts that a spreadsheet would take for a formula begin with an apostrophe.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    writer.writerows(_row(verdict, report.name(verdict)) for verdict in report.verdicts)
    return out.getvalue().encode(errors="replace")


def _row(verdict: Verdict, name: str) -> list[Cell]:
    return [_safe(cell) if isinstance(cell, str) else cell for cell in _cells(verdict, name).values()]


def _cells(verdict: Verdict, name: str) -> dict[str, Cell]:
    policies = Counter(policy.outcome for policy in verdict.policies)
    completion = verdict.completion
    return {
        "run": name,
        "task_id": verdict.task_id,
        "trajectory": verdict.trajectory,
        "dialect": verdict.dialect,
        "mode": verdict.mode,
        "validity": verdict.validity,
        "success": verdict.success,
        "reward": verdict.reward,
        "cup": None if completion is None else verdict.cup,
        "partial_cup": None if completion is None else verdict.partial_cup,
        "completion": None if completion is None else completion.outcome,
        "checks": len(verdict.checks),
        "checks_passed": sum(check.outcome is Outcome.PASS for check in verdict.checks),
        "policies": len(verdict.policies),
        "policies_violated": policies[PolicyOutcome.VIOLATED],
        "policies_open": sum(policies[outcome] for outcome in _OPEN),
        "judgements": " ".join(f"{one.judge}:{one.outcome}" for one in verdict.judgements),
        "error": None if verdict.error is None else verdict.error.kind,
    }


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


_COLUMNS = tuple(_cells(Verdict(task_id="", trajectory=None, suite=None), ""))
