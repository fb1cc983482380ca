"""One bundle graded for a test, and what to report where that is not well."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from replaykit.bundle.reader import open_bundle
from replaykit.grading.engine import build_report
from replaykit.grading.gate import GateOptions, in_words
from replaykit.grading.gate_kinds import checked_kinds
from replaykit.grading.grader import grade
from replaykit.grading.verdict import Verdict
from replaykit.report.text.text_report import describe
from replaykit.tasks.suite import load_suite
from replaykit.tasks.task import Task


def graded(path: Path, task: Task | Path | None = None, **options: Any) -> Verdict:
    """Grade a bundle against its own task, a given one, or that of its id in a task file."""
    if isinstance(task, Path):
        options["suite"], task = load_suite(task), None
    with open_bundle(path) as bundle:
        return grade(bundle, task, **options)


def why_not(verdict: Verdict, path: Path, fail_on: Iterable[str]) -> str | None:
    """Return why a verdict does not pass, with its evidence; None where it does.

    What could not be decided does not pass either. Raises UsageError for an unknown kind.
    """
    gate = build_report([verdict], gate=GateOptions(fail_on=checked_kinds(fail_on))).gate
    if gate.status in ("passed", "none"):
        return None
    head = f"gate: {in_words(gate)}"
    reasons = [f"  {reason}" for reason in gate.reasons]
    return "\n".join([head, *reasons, "", describe(verdict).rstrip(), "", f"bundle: {path}"])
