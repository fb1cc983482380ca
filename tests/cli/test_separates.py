"""`replaykit separates`: what it prints, and how it exits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run_here as run

RECORDINGS = Path(__file__).parents[2] / "recordings" / "conformance"


@pytest.fixture
def report(tmp_path: Path, capfd: Any) -> Path:
    """A report of the shipped runs of one task."""
    run(capfd, "grade", *sorted(RECORDINGS.glob("order-total--*.zst")), "-o", tmp_path / "report.json")
    return tmp_path / "report.json"


def test_it_lists_which_rules_separate_runs(report: Path, capfd: Any) -> None:
    code, said, _ = run(capfd, "separates", report)
    assert code == 0
    assert said.startswith("4 runs of 1 task\n")
    assert "check order-total: string_match[0]" in said
    assert "separates: some runs pass it and some fail it" in said


def test_its_json_is_the_same_each_time(report: Path, capfd: Any) -> None:
    code, said, _ = run(capfd, "separates", report, "--format", "json")
    assert code == 0
    found = json.loads(said)
    assert found["schema"] == "replaykit.separates/1"
    assert len(found["rules"]) == sum(found["words"].values())
    assert run(capfd, "separates", report, report, "--format", "json")[1] == said.replace(
        '"duplicates": 0', '"duplicates": 4'
    )


def test_a_word_may_fail_the_command(report: Path, capfd: Any) -> None:
    assert run(capfd, "separates", report, "--fail-on", "separates")[0] == 1
    assert run(capfd, "separates", report, "--fail-on", "never_decided")[0] == 0
    code, _, said = run(capfd, "separates", report, "--fail-on", "all_pass,constant")
    assert code == 2
    assert "'constant' is not one of separates, all_pass" in said


def test_labels_stand_beside(report: Path, tmp_path: Path, capfd: Any) -> None:
    verdicts = json.loads(report.read_text())["verdicts"]
    labels = tmp_path / "labels.jsonl"
    lines = [
        {"trajectory": one["trajectory"], "label": "success" if one["success"] == "PASS" else "failure"}
        for one in verdicts
    ]
    labels.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, said, _ = run(capfd, "separates", report, "--labels", labels)
    assert code == 0
    assert said.startswith("4 runs of 1 task, 4 labelled\n")
    row = next(line for line in said.splitlines() if line.startswith("check order-total: string_match[0]"))
    assert row.endswith("+1.00")


def test_what_is_no_report_is_refused(report: Path, tmp_path: Path, capfd: Any) -> None:
    assert run(capfd, "separates", tmp_path / "none.json")[0] == 3
    (tmp_path / "other.json").write_text("{}")
    assert run(capfd, "separates", tmp_path / "other.json")[0] == 3


def test_how_many_breaches_a_policy_notices(report: Path, tmp_path: Path, capfd: Any) -> None:
    suite = RECORDINGS.parents[1] / "fixtures" / "tasks" / "shop.yaml"
    runs = sorted(RECORDINGS.glob("order-total--*.zst"))
    tried = tmp_path / "tried.jsonl"
    tried.write_text(run(capfd, "policies", "try", suite, *runs, "--mutate", "--json")[1])
    lines = [json.loads(line)["mutation"]["scores"] for line in tried.read_text().splitlines()]
    name = "stay-out-of-admin"
    made = [
        sum(line.get(name, {"made": 0, "noticed": 0})[key] for line in lines) for key in ("noticed", "made")
    ]
    assert made[1] >= made[0] > 0
    code, said, _ = run(capfd, "separates", report, "--mutations", tried)
    assert code == 0
    assert f"policy {name} notices {made[0]} of {made[1]} edits made on purpose" in said
    plain = json.loads(run(capfd, "separates", report, "--mutations", tried, "--format", "json")[1])
    mutants = {rule["name"]: rule["mutants"] for rule in plain["rules"]}
    assert mutants[name] == {"noticed": made[0], "made": made[1]}
    assert mutants["string_match[0]"] is None
    assert "on purpose" not in run(capfd, "separates", report)[1]


@pytest.mark.parametrize("text", ["", "{", '{"bundle": "a"}', '{"mutation": {"scores": {"p": 1}}}'])
def test_what_was_never_tried_is_refused(report: Path, tmp_path: Path, capfd: Any, text: str) -> None:
    (tmp_path / "tried.jsonl").write_text(text)
    code, _, said = run(capfd, "separates", report, "--mutations", tmp_path / "tried.jsonl")
    assert code == 2
    assert "policies try FILE RUNS --mutate --json" in said
    assert run(capfd, "separates", report, "--mutations", tmp_path / "none.jsonl")[0] == 2
