"""The reward files that harnesses read: there on every path, never empty, never NaN."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from replaykit.errors import write_refused
from replaykit.grading.verdict import Report, Verdict
from replaykit.report.report_output import replace_file


def write_reward(report: Report, folder: Path) -> None:
    """Write `reward.txt`, flat numeric `reward.json` and `grading_details.json`; atomically, each."""
    verdict = report.verdicts[0]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / "reward.txt", f"{verdict.reward}\n".encode())
        replace_file(folder / "reward.json", msgspec.json.encode(_numbers(verdict, report)) + b"\n")
        replace_file(folder / "grading_details.json", msgspec.json.encode(_details(verdict, report)) + b"\n")
    except OSError as error:
        raise write_refused(folder, "write the reward to", error) from error


def _numbers(verdict: Verdict, report: Report) -> dict[str, float]:
    numbers = {
        "reward": verdict.reward,
        "cup": float(verdict.cup),
        "n_violations": float(sum(verdict.violations.values())),
        "n_undecided": float(_count(verdict, "UNDECIDED")),
    }
    if verdict.completion is not None:
        numbers["cr"] = verdict.completion.score
        numbers["pcr_any"] = float(verdict.completion.partial_any)
        numbers["pcr_fraction"] = verdict.completion.partial_fraction
    return numbers


def _details(verdict: Verdict, report: Report) -> dict[str, Any]:
    return {
        "state": "error" if verdict.error else "graded",
        "reward": verdict.reward,
        "outcome": verdict.success,
        "error": None if verdict.error is None else msgspec.to_builtins(verdict.error),
        "verdict": msgspec.to_builtins(verdict),
        "gate": msgspec.to_builtins(report.gate),
    }


def _count(verdict: Verdict, outcome: str) -> int:
    checks = sum(check.outcome == outcome for check in verdict.checks)
    return checks + sum(policy.outcome == outcome for policy in verdict.policies)
