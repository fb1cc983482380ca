"""Verdicts in exported traces: errors at their steps, files attached, nothing of it in what is imported again."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from replaykit.bundle.reader import open_bundle
from replaykit.grading.engine import build_report
from replaykit.grading.grader import grade
from replaykit.grading.verdict import Judgement, JudgeOutcome, Report, Verdict
from replaykit.interop.bundle_export import Choices, export_run
from replaykit.report.report_output import write_report
from replaykit.testing import trajectory
from tests.interop.conftest import Importing

TASK = {
    "id": "t1",
    "intent": "Buy tea.",
    "checks": [{"type": "string_match", "exact": "Bought."}],
    "policies": [
        {
            "id": "stay",
            "dimension": "boundary_and_scope_limitation",
            "rule": {"type": "url_boundary", "deny": ["/admin"]},
        }
    ],
}


def built(path: Path, answer: str = "Lost.") -> Path:
    run = trajectory(task=TASK).goto("http://shop.test/", "<a id=a>Admin</a>")
    return run.goto("http://shop.test/admin", "<h1>Admin</h1>").answer(answer).write(path)


def graded(path: Path) -> Verdict:
    with open_bundle(path) as bundle:
        return grade(bundle)


def lines(file: Path) -> list[dict[str, Any]]:
    with zipfile.ZipFile(file) as archive:
        return [json.loads(line) for line in archive.read("trace.trace").splitlines()]


def ends(file: Path) -> list[dict[str, Any]]:
    return [line for line in lines(file) if line["type"] == "after"]


def exported(path: Path, *verdicts: Verdict) -> Path:
    target = path.with_suffix(".zip")
    return export_run("playwright-trace", path, target, choices=Choices(verdicts=verdicts), force=True)


def test_a_violation_is_an_error_of_its_step_and_a_failed_check_one_of_the_run(tmp_path: Path) -> None:
    path = built(tmp_path / "run.zst")
    verdict = graded(path)
    assert [p.outcome for p in verdict.policies] == ["VIOLATED"]
    found = [after.get("error") for after in ends(exported(path, verdict))]
    assert [error and error["name"] for error in found] == [None, "replaykit", "replaykit"]
    assert "policy stay violated" in str(found[1]) and "/admin" in str(found[1])
    assert str(found[-1]).count("check ") == 1


def test_verdict_and_judges_are_attached_and_summed_up(tmp_path: Path) -> None:
    path = built(tmp_path / "run.zst", "Bought.")
    said = Judgement(judge="a/b", outcome=JudgeOutcome.SUCCESS, reason="ok", fingerprint="f")
    target = exported(path, replace(graded(path), judgements=(said,)))
    last = ends(target)[-1]
    names = [one["name"] for one in last["attachments"]]
    assert names == ["replaykit.json", "verdict.json", "judge-0-a-b.json"]
    with zipfile.ZipFile(target) as archive:
        files = [json.loads(archive.read(f"resources/{one['sha1']}")) for one in last["attachments"]]
    assert files[1]["trajectory"] == graded(path).trajectory
    assert files[2]["outcome"] == "SUCCESS"
    title = next(line["title"] for line in lines(target) if line.get("method") == "tracingGroup")
    assert title.startswith("CuP=0 completion=PASS violations=1 a/b=SUCCESS, answer:")


def test_a_verdict_on_another_run_is_not_shown(tmp_path: Path) -> None:
    path, other = built(tmp_path / "run.zst"), built(tmp_path / "other.zst", "Else.")
    plain = exported(path).read_bytes()
    assert exported(path, graded(other)).read_bytes() == plain
    assert exported(path, graded(path)).read_bytes() != plain


def test_what_is_imported_again_has_no_errors_of_ours(tmp_path: Path, imported: Importing) -> None:
    path = built(tmp_path / "run.zst")
    target = exported(path, graded(path))
    assert any("error" in after for after in ends(target))
    again = imported("playwright-trace", target)
    assert [step.error for step in again.trajectory.steps] == [None, None]


def test_a_step_that_failed_keeps_its_own_error(tmp_path: Path) -> None:
    run = trajectory(task=TASK).goto("http://shop.test/", "<p>x</p>")
    run.goto("http://shop.test/admin", "<p>x</p>", error="Timeout")
    path = run.answer("Lost.").write(tmp_path / "run.zst")
    found = [after.get("error") for after in ends(exported(path, graded(path)))]
    assert "Timeout" in str(found[1])
    assert "step 1: policy stay violated" in str(found[-1])


def test_the_command_takes_a_report_and_playwright_lists_what_is_wrong(tmp_path: Path) -> None:
    driver = pytest.importorskip("playwright._impl._driver")
    path, report = built(tmp_path / "run.zst"), tmp_path / "report.json"
    made: Report = build_report([graded(path)])
    write_report(made, report)
    command = [sys.executable, "-m", "replaykit", "export", "playwright-trace", path, "--report", report]
    subprocess.run([*command, "-o", tmp_path / "t.zip"], check=True, capture_output=True, timeout=120)

    def tool(*said: str) -> str:
        whole = [*driver.compute_driver_executable(), "trace", *said]
        done = subprocess.run(whole, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
        return done.stdout

    tool("open", str(tmp_path / "t.zip"))
    errors, files = tool("errors"), tool("attachments")
    tool("close")
    assert "policy stay violated" in errors
    assert "verdict.json" in files
