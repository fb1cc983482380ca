"""The skill for coding agents: each of its commands runs, and the tools that it names exist."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from replaykit.cli.main import run

ROOT = Path(__file__).resolve().parents[3]
SKILL = files("replaykit.integrations") / "skill" / "SKILL.md"
TEXT = SKILL.read_text("utf-8")
COMMANDS = [
    line.strip()
    for block in re.findall(r"```sh\n(.*?)```", TEXT, flags=re.S)
    for line in block.splitlines()
    if line.strip()
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the runs and tasks that the skill names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in ("refund-order--good", "refund-order--no_consent"):
        shutil.copy(ROOT / "recordings" / "conformance" / f"{name}.zst", tmp_path / "runs")
    shutil.copytree(ROOT / "fixtures" / "tasks", tmp_path / "tasks")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs_and_json_is_json(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *words = shlex.split(command)
    assert program == "replaykit"
    assert run(words) in (0, 1)
    said = capsys.readouterr().out
    if "--json" in words or words[-2:] == ["--format", "json"]:
        documents = [said] if words[-1] == "json" else said.splitlines()
        assert all(json.loads(one) for one in documents) and documents


def test_extracted_evidence_has_screenshots() -> None:
    (line,) = [one for one in COMMANDS if " extract " in one]
    assert run(shlex.split(line)[1:]) == 0
    assert list(Path("evidence").rglob("*.png"))


def test_the_head_is_what_agents_read() -> None:
    head = yaml.safe_load(TEXT.split("---")[1])
    assert re.fullmatch(r"[a-z0-9-]{1,64}", head["name"])
    assert 0 < len(head["description"]) <= 1024


def test_the_tools_that_it_names_are_those_of_the_server() -> None:
    named = set(
        re.findall(
            r"`([a-z]+_[a-z]+|grade|explain|diff)`", TEXT.partition("## By MCP")[2].partition("## ")[0]
        )
    )
    assert named == {"list_runs", "grade", "explain", "show_step", "query_dom", "diff"}
