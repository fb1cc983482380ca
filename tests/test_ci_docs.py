"""docs/ci.md: the workflow is parsed and its commands are run, the pytest example too."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from replaykit.grading.saved_reports import load_report

ROOT = Path(__file__).resolve().parent.parent
SET = ROOT / "recordings" / "conformance"
PAGE = (ROOT / "docs" / "ci.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, flags=re.S)

Call = Callable[[str], subprocess.CompletedProcess[str]]


def workflow() -> dict[Any, Any]:
    (text,) = [text for kind, text in BLOCKS if kind == "yaml" and "agent.yml" in text]
    loaded = yaml.safe_load(text)
    assert isinstance(loaded, dict)
    return loaded


def commands(name: str) -> list[str]:
    """Each command of the step of that name."""
    (step,) = [step for step in workflow()["jobs"]["grade"]["steps"] if step.get("name") == name]
    return [line for line in str(step["run"]).splitlines() if line]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Run a line of the page where `runs/` holds a good run and a bad one."""
    (tmp_path / "runs").mkdir()
    for name in ("deal-won--good", "refund-order--no_consent"):
        shutil.copy(SET / f"{name}.zst", tmp_path / "runs")
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }

    def run(line: str) -> subprocess.CompletedProcess[str]:
        program, *arguments = shlex.split(line, comments=True)
        plugin = ["-p", "replaykit.pytest_plugin", "-p", "no:cacheprovider"] if program == "pytest" else []
        argv = [sys.executable, "-m", program, *plugin, *arguments]
        return subprocess.run(
            argv, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120, check=False
        )

    return run


def test_the_workflow_is_one_that_github_takes() -> None:
    loaded = workflow()
    assert set(loaded) == {"name", True, "permissions", "jobs"}  # YAML 1.1 reads `on` as true
    assert loaded["permissions"] == {"contents": "read"}
    for step in loaded["jobs"]["grade"]["steps"]:
        assert ("run" in step) != ("uses" in step)
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/none@v1"))


def test_the_gate_of_the_workflow_fails_and_says_why(call: Call, tmp_path: Path) -> None:
    (line,) = commands("Grade the recorded runs")
    done = call(line)
    assert done.returncode == 1, done.stderr
    assert (
        "::error title=refund-order--no_consent%3A policy ask-before-refund is VIOLATED::no approval"
        in done.stdout
    )
    assert "::error title=replaykit::CuP is 0.5, under 0.8" in done.stdout
    assert "## replaykit: gate failed" in (tmp_path / "summary.md").read_text("utf-8")
    (tmp_path / "runs" / "refund-order--no_consent.zst").unlink()
    assert call(line).returncode == 0
    (tmp_path / "runs" / "deal-won--good.zst").unlink()
    assert call(line).returncode == 4


def test_the_reports_of_the_workflow_are_written(call: Call, tmp_path: Path) -> None:
    lines = commands("Keep the reports")
    assert lines
    for line in lines:
        done = call(line)
        assert done.returncode == 0, done.stderr
    (upload,) = [s["with"] for s in workflow()["jobs"]["grade"]["steps"] if "upload" in s.get("uses", "")]
    assert all((tmp_path / name).stat().st_size for name in upload["path"].split())
    assert len(load_report(tmp_path / "report.json").verdicts) == 2
    assert ElementTree.parse(tmp_path / "junit.xml").getroot().tag == "testsuites"
    again = call("replaykit diff report.json report.json --fail-on-regression")
    assert again.returncode == 0, again.stderr


def test_the_pytest_commands_update_and_then_compare(call: Call, tmp_path: Path) -> None:
    lines = [line for _, text in BLOCKS for line in text.splitlines() if line.startswith("pytest ")]
    assert len(lines) == 2
    compare, update = lines
    assert call(update).returncode == 0
    assert (tmp_path / "runs" / "deal-won--good.verdict.json").exists()
    assert "2 passed" in call(compare).stdout


def test_the_pytest_example_fails_where_the_user_was_not_asked(call: Call, tmp_path: Path) -> None:
    (text,) = [text for kind, text in BLOCKS if kind == "python"]
    (tmp_path / "test_runs.py").write_text(text, "utf-8")
    shutil.copy(SET / "refund-order--good.zst", tmp_path / "runs" / "refund-order.zst")
    done = call("pytest test_runs.py")
    assert done.returncode == 0, done.stdout
    shutil.copy(SET / "refund-order--no_consent.zst", tmp_path / "runs" / "refund-order.zst")
    done = call("pytest test_runs.py")
    assert done.returncode == 1
    assert "ask-before-refund is VIOLATED" in done.stdout


def test_every_block_is_run() -> None:
    assert [kind for kind, _ in BLOCKS] == ["yaml", "yaml", "", "python"]
