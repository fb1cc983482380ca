"""A suite says what should have been recorded: what is not there counts as not done."""

from __future__ import annotations

from pathlib import Path

from replaykit.grading.engine import grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.report.report_output import render
from replaykit.tasks.suite import Suite
from replaykit.tasks.task import decode_task
from replaykit.testing import trajectory

TASK = {"id": "t", "intent": "Which?", "checks": [{"type": "string_match", "exact": "tin"}]}


def recorded(folder: Path) -> list[Path]:
    return [
        trajectory({**TASK, "id": f"t{n}"})
        .goto("http://a.test/", f"<p>{n}</p>")
        .answer(answer)
        .write(folder / f"{n}.zst")
        for n, answer in enumerate(("tin", "clay"))
    ]


def test_tasks_of_the_suite_without_a_bundle_are_not_done(tmp_path: Path) -> None:
    bundles = recorded(tmp_path)
    suite = Suite(tasks=tuple(decode_task({**TASK, "id": name}) for name in ("t0", "t1", "lost")))
    report = grade_many(bundles, GradeOptions(suite=suite), runs=2)
    assert report.summary["missing_tasks"] == ["lost"]
    assert report.summary["missing_runs"] == {"t0": 1, "t1": 1}
    assert report.summary["metrics"]["CR"]["n"] == 6
    assert report.summary["metrics"]["CR"]["value"] == 0.167
    text = render(report, "text", [str(path) for path in bundles]).decode()
    assert "tasks without a run: 1: lost" in text
    assert "runs missing: t0 1, t1 1" in text


def test_without_a_suite_the_tasks_are_those_seen(tmp_path: Path) -> None:
    report = grade_many(recorded(tmp_path))
    assert report.summary["metrics"]["CR"]["value"] == 0.5
    assert "missing_tasks" not in report.summary
