"""Every built-in judge on the shipped recordings: planned, asked once, graded for ever without network and SDK.

The replies were written by hand and say so (`synthetic`): nothing here says how good a judge is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from replaykit.cli.main import run as run_cli
from replaykit.grading.engine import grade_many
from replaykit.grading.gate import GateOptions
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_run import requests_of, run_judges
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.costs import tokens_of
from replaykit.grading.judges.judge_options import PROTOCOLS, judge_settings
from replaykit.grading.judges.model_judge import ModelJudge
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.judges.settings_file import load_judge
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest
from replaykit.report.json_report import as_json
from tests.thorough import one_in

RECORDINGS = sorted((Path(__file__).parents[3] / "recordings" / "conformance").glob("*.zst"))
PAGE = Path(__file__).parents[3] / "docs" / "judges.md"
GATE = GateOptions(fail_on=())
BY_STAGE = {
    "key_points": "**Key Points**:\n1. The page shows what the task asks for.",
    "score": "**Reasoning**: the page is the one of the task.\n**Score**: 4",
    "needs": json.dumps({"asks": True, "items": []}),
    "claims": json.dumps({"items": []}),
    "look": "",
    "story": json.dumps({"criteria": [{"id": "c1", "verdict": "YES"}]}),
    "reading": json.dumps({"criteria": [{"id": "c1", "verdict": "YES", "steps": [0]}]}),
}
VERDICTS = {
    "webvoyager": "The screenshots show it. SUCCESS",
    "webjudge": 'Thoughts: done.\nStatus: "success"',
    "agent_reward": "<success>Successful</success>\n<side>No</side>\n<optimal>3. Optimal</optimal>\n<loop>No</loop>",
}
WITHOUT_NETWORK = """
import socket, sys

def no(*a, **k):
    raise AssertionError("the network is cut")

socket.socket.connect = socket.getaddrinfo = socket.create_connection = no
for name in ("anthropic", "openai", "httpx", "httpx2"):
    sys.modules[name] = None
from replaykit.cli.main import run

sys.exit(run(sys.argv[1:]))
"""


FIRST = ("key_points.system", "needs.system", "criteria.system", "system")
"""The prompt of each judge's first request."""


def rubric_of(request: ModelRequest) -> str:
    """Return one criterion for the first word of the task that stands in a request."""
    (part,) = request.content
    assert not isinstance(part, ImagePart)
    word = part.text.split("\n")[2].split()[0]
    row = {
        "id": "c1",
        "statement": "The page shows what the task asks for.",
        "asked": word,
        "proof": ["page"],
    }
    return json.dumps({"criteria": [row], "validity": "valid"})


def by_hand(request: ModelRequest, _: Any) -> ModelReply:
    text = (
        rubric_of(request)
        if request.stage == "rubric"
        else BY_STAGE.get(request.stage) or VERDICTS.get(request.judge, "{}")
    )
    return ModelReply(text=text, stop_reason="end_turn", model=request.model, origin="synthetic")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All shipped recordings, with tapes that every built-in judge was recorded on."""
    folder = tmp_path_factory.mktemp("runs")
    for path in RECORDINGS:
        shutil.copy(path, folder)
    options = GradeOptions(judges=PROTOCOLS, judge_mode="new")
    run_judges([str(folder)], options, client=CallableClient(by_hand))
    return folder


@pytest.mark.parametrize("judge", one_in(5, PROTOCOLS))
def test_regraded_without_network_and_sdk_to_the_same_bytes(judge: str, runs: Path, tmp_path: Path) -> None:
    report = grade_many([str(runs)], GradeOptions(judges=(judge,)), gate=GATE)
    judged = [one for verdict in report.verdicts for one in verdict.judgements if one.judge == judge]
    assert len(judged) == len(RECORDINGS)
    assert not [one.detail for one in judged if one.outcome == "ERROR"]
    asked = [one for one in judged if one.origins]
    assert len(asked) > len(RECORDINGS) // 2
    assert all(set(one.origins) == {"synthetic"} for one in asked)
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    command = ["grade", str(runs), "--judge", judge, "--jobs", "1", "-o"]
    assert run_cli([*command, str(here)]) == 1  # the shipped recordings hold bad runs
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NETWORK, *command, str(there)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"},
    )
    assert done.returncode == 1, done.stderr
    assert there.read_bytes() == here.read_bytes()
    assert json.loads(there.read_bytes())["verdicts"] == json.loads(as_json(report))["verdicts"]


@pytest.mark.parametrize("judge", one_in(5, PROTOCOLS))
def test_one_changed_word_of_a_prompt_is_an_error_that_names_the_nearest_request(
    judge: str, runs: Path, tmp_path: Path
) -> None:
    built = build_judge(judge_settings(judge), "strict")
    assert isinstance(built, ModelJudge)
    slot = next(name for name in FIRST if name in built.prompts.digests)
    text = built.prompts.text(slot)
    word = next(word for word in text.split() if len(word) > 4 and word.isalpha() and text.count(word) == 1)
    (tmp_path / "changed.txt").write_text(text.replace(word, "ALTERED"))
    (tmp_path / "judge.json").write_text(json.dumps({"protocol": judge, "prompts": {slot: "changed.txt"}}))
    options = GradeOptions(judges=(load_judge(tmp_path / "judge.json"),))
    asked = 0
    for verdict in grade_many([str(runs)], options, gate=GATE).verdicts:
        (judged,) = (one for one in verdict.judgements if one.judge == judge)
        assert judged.outcome in ("ERROR", "ABSTAIN")  # ABSTAIN: nothing to look at, so nothing was asked
        if judged.outcome == "ERROR":
            asked += 1
            assert judged.reason == "tape_miss"
            assert "the nearest request of " in (judged.detail or "")
            assert "system: tape has " in (judged.detail or "")
            assert word in (judged.detail or "")
            assert "ALTERED" in (judged.detail or "")
    assert asked > len(RECORDINGS) // 2


def test_a_plan_lists_calls_screenshots_tokens_and_cost_of_every_judge(tmp_path: Path, capfd: Any) -> None:
    for path in RECORDINGS:
        shutil.copy(path, tmp_path)
    named = [part for judge in PROTOCOLS for part in ("--judge", judge)]
    assert run_cli(["judge", "plan", str(tmp_path), *named, "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)
    assert run_cli(["judge", "plan", str(tmp_path), *named, "--prices", "3/15"]) == 0
    lines = capfd.readouterr().out.splitlines()
    for judge in PROTOCOLS:
        own = [row for row in rows if row["judge"] == judge]
        assert len(own) == len(RECORDINGS)
        calls, images, tokens = (sum(row[name] for row in own) for name in ("at_most", "images", "tokens"))
        assert calls >= len(RECORDINGS) // 2
        assert tokens > 0
        cost = f"{tokens * 3 / 1_000_000:.4f}"
        line = next(line.split() for line in lines if line.startswith(f"{judge} "))
        assert line[2:] == [str(len(own)), str(calls), str(images), str(tokens), cost]


def measured(runs: Path) -> str:
    """Return the table of docs/judges.md: what each judge asked of all recordings, a run."""
    rows = ["| judge | requests | screenshots | tokens read |", "| --- | --- | --- | --- |"]
    for judge in PROTOCOLS:
        asked = [one.request for one in requests_of([str(runs)], GradeOptions(judges=(judge,)))]
        own = [request for request in asked if request.judge == judge]
        images = sum(isinstance(part, ImagePart) for request in own for part in request.content)
        numbers = (len(own), images, sum(map(tokens_of, own)))
        shown = [f"{number / len(RECORDINGS):.1f}" for number in numbers[:2]]
        rows.append(f"| `{judge}` | {' | '.join(shown)} | {numbers[2] / len(RECORDINGS):.0f} |")
    return "\n".join(rows) + "\n"


@pytest.mark.thorough
def test_the_page_says_what_every_judge_asked_of_the_shipped_recordings(runs: Path) -> None:
    page, table = PAGE.read_text("utf-8"), measured(runs)
    written = re.search(r"^\| judge \| requests \|.*?\n(?!\|)", page, flags=re.MULTILINE | re.DOTALL)
    assert written is not None
    if os.environ.get("REPLAYKIT_UPDATE"):
        PAGE.write_text(page.replace(written[0], table), "utf-8")
        return
    assert written[0] == table


def test_the_page_compares_every_judge() -> None:
    head = "| judge | sees | calls of one run | published figures | unproven |"
    rows = PAGE.read_text("utf-8").partition(head)[2].partition("\n\n")[0]
    assert [row.split("`")[1] for row in rows.splitlines() if row.startswith("| `")] == [
        *PROTOCOLS,
        "panel",
        "custom",
    ]
