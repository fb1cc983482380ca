"""`grade --format github` as a step of GitHub Actions meets it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from replaykit.testing import trajectory

TASK = {"id": "t1", "intent": "Which mug?", "checks": [{"type": "string_match", "exact": "the tin mug"}]}


def grade(path: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if name != "GITHUB_STEP_SUMMARY"}
    return subprocess.run(
        [sys.executable, "-m", "replaykit", "grade", str(path), "--format", "github"],
        capture_output=True, text=True, env={**plain, **environ}, check=False, timeout=120,
    )  # fmt: skip


def bundle(folder: Path, answer: str) -> Path:
    return (
        trajectory(task=TASK)
        .goto("http://shop.test/", "<h1>Mugs</h1>")
        .answer(answer)
        .write(folder / "run.zst")
    )


@pytest.mark.parametrize(("answer", "code"), [("the tin mug", 0), ("the ::error::mug", 1)])
def test_the_summary_goes_to_its_file_and_failures_become_annotations(
    answer: str, code: int, tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    done = grade(bundle(tmp_path, answer), GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == code, done.stderr
    lines = done.stdout.splitlines()
    assert bool(lines) == bool(code)
    assert all(line.startswith("::error title=run%3A check string_match[0] is FAIL::") for line in lines)
    assert summary.read_text().startswith("before\n## replaykit: gate ")


def test_without_the_variable_both_go_to_stdout(tmp_path: Path) -> None:
    done = grade(bundle(tmp_path, "the clay mug"))
    assert done.stdout.startswith("## replaykit: gate failed\n\n0 of 1 run succeeded.")
    assert "\n::error title=run" in done.stdout


def test_a_summary_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    done = grade(bundle(tmp_path, "the tin mug"), GITHUB_STEP_SUMMARY=str(tmp_path))
    assert done.returncode == 2
    assert "cannot write the summary" in done.stderr and "Traceback" not in done.stderr
