"""Blocks of documents that no other test reads: files load, commands run, Python runs."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from replaykit.cli.main import run
from replaykit.grading.judges.settings_file import named_judge
from replaykit.recorder.user import load_user
from replaykit.tasks.suite import load_policies, load_tasks

ROOT = Path(__file__).resolve().parent.parent
BUNDLES = ("order-total--good", "refund-order--no_consent")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recordings").symlink_to(ROOT / "recordings")
    (tmp_path / "runs").mkdir()
    for name in BUNDLES:
        shutil.copy(ROOT / "recordings" / "conformance" / f"{name}.zst", tmp_path / "runs")
    return tmp_path


def blocks(name: str, kind: str) -> list[str]:
    text = (ROOT / "docs" / name).read_text("utf-8")
    return [found for word, found in re.findall(r"```(\w*)\n(.*?)```", text, flags=re.S) if word == kind]


def typed(line: str) -> int:
    program, *words = shlex.split(line, comments=True)
    assert program == "replaykit"
    return run(words)


def test_the_files_of_the_page_on_tasks_load(folder: Path) -> None:
    suite, user = blocks("tasks.md", "yaml")
    (folder / "suite.yaml").write_text(suite, "utf-8")
    (folder / "user.yaml").write_text(user, "utf-8")
    (task,) = load_tasks(folder / "suite.yaml")
    assert (task.id, len(task.policies), len(task.checks)) == ("order-total", 1, 1)
    reply = load_user(folder / "user.yaml").answer("May I refund it?")
    assert reply is not None and reply.approved is True


def test_the_policies_of_their_page_load(folder: Path) -> None:
    (listed,) = blocks("policies.md", "yaml")
    (folder / "policies.yaml").write_text(f"schema: replaykit.policies/1\npolicies:\n{listed}", "utf-8")
    assert [policy.id for policy in load_policies(folder / "policies.yaml")] == [
        "ask-before-refund",
        "badge-stays-inside",
    ]


def test_the_settings_of_the_page_on_judges_load(folder: Path) -> None:
    (folder / "ours.txt").write_text("Judge.")
    (folder / "system.txt").write_text("Judge.")
    (folder / "user.txt").write_text("{{task}}\n{{images}}\n")
    (folder / "helper_functions.py").write_text("def llm_fuzzy_match(pred, reference, question):\n    pass\n")
    found = []
    for text in blocks("judges.md", "yaml"):
        (folder / "judge.yaml").write_text(text, "utf-8")
        if "prompts_from" not in text:  # needs a peer's source, which tests/grading brings
            found.append(named_judge(str(folder / "judge.yaml")))
    assert len(found) == 3


def test_the_page_on_many_runs() -> None:
    (line,) = blocks("engine.md", "sh")
    assert typed(line) == 1  # a policy is violated
    script, _ = blocks("engine.md", "python")
    said: dict[str, Any] = {"__name__": "__main__", "paths": ["runs"]}
    exec(script.replace("jobs=8", "jobs=1"), said)
    assert len(said["report"].verdicts) == len(said["rows"]) == len(BUNDLES)


def test_the_page_on_reports() -> None:
    shutil.copy("runs/order-total--good.zst", "run.zst")
    shutil.copy("run.zst", "before.zst")
    shutil.copy("runs/refund-order--no_consent.zst", "after.zst")
    for name in ("before", "after", "report"):
        run(["grade", "runs", "--fail-on", "", "-o", f"{name}.json"])
    lines = [
        line for text in blocks("report.md", "") if not text.startswith("$") for line in text.splitlines()
    ]
    assert len(lines) == 6
    for line in lines:
        assert typed(line) == 0, line
    assert Path("report.html").stat().st_size and Path("changes.html").stat().st_size
