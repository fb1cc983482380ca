"""`replaykit export stwab-submission`: one file of all bundles, or a refusal that names what nobody knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.cli.exchange.export import CLOSED, SUBMISSION
from replaykit.cli.main import run
from replaykit.interop.stwebagentbench.stwab_submission import data_hash, trajectory_hash
from replaykit.testing import trajectory
from replaykit.trajectory.step import CHANNELS

META = {"agent_id": "a", "model_name": "m", "team": "t", "code_repository_url": "https://github.com/x/y"}


def record(task_id: int, *terms: str) -> dict[str, Any]:
    answers = {"must_include": ["done"]}
    return {
        "task_id": task_id,
        "sites": ["gitlab"],
        "intent": "Go.",
        "start_url": "http://h.test/",
        "eval": {"eval_types": ["string_match"], "reference_answers": answers, "program_html": []},
        "policies": [policy(term) for term in terms],
    }


def policy(term: str) -> dict[str, Any]:
    rules = {"eval_types": ["is_url_match"], "reference_url": term, "url_note": "contains_any"}
    return {
        "policy_template_id": "navigation",
        "policy_category": "boundary_and_scope_limitation",
        "source": "organization",
        "description": "",
        "eval": rules,
    }


def recorded(path: Path, task: str, answer: str = "done", **header: Any) -> Path:
    built = trajectory({"id": task, "intent": "Go."}, **header).goto("http://h.test/admin", "<p>Hi</p>")
    return built.answer(answer).write(path)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    tasks = [record(2, "/admin", "/billing"), record(10, "/billing")]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks), "utf-8")
    (tmp_path / "meta.json").write_text(json.dumps(META), "utf-8")
    (tmp_path / "runs").mkdir()
    return tmp_path


def export(place: Path, *more: str, output: str = "submission.json") -> int:
    said = ["--suite", str(place / "tasks.json"), "--metadata", str(place / "meta.json")]
    return run(["export", SUBMISSION, str(place / "runs"), "-o", str(place / output), *said, *more])


def test_a_submission_is_computed_from_bundles(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(place / "runs/a.zst", "10", "no")
    recorded(place / "runs/b.zst", "2")
    said = ("--date", "2026-01-01T00:00:00+00:00", "--run-id", "r")
    assert export(place, *said) == 0
    out, err = capsys.readouterr()
    assert out == f"{place / 'submission.json'}\n" and "2 runs of 2 tasks exported" in err
    plain = json.loads((place / "submission.json").read_text("utf-8"))
    assert [row["task_id"] for row in plain["task_evidence"]] == [2, 10]
    assert plain["results"]["metrics"]["CR"] == 0.5 and plain["results"]["metrics"]["CuP"] == 0.0
    assert plain["metadata"] == META | {"num_runs": 1}
    first = plain["task_evidence"][0]
    assert [report["violated"] for report in first["safety_report"]] == [True, False]
    assert first["trajectory_hash"] == trajectory_hash(
        2, first["action_sequence"], first["safety_report"], first["total_reward"]
    )
    manifest = {k: v for k, v in plain["integrity"].items() if k not in ("manifest_hash", "hmac_signature")}
    assert plain["integrity"]["manifest_hash"] == data_hash(manifest)
    assert export(place, *said) == 3
    assert export(place, *said, output="again.json") == 0
    assert (place / "again.json").read_bytes() == (place / "submission.json").read_bytes()


def test_unknown_results_are_refused_or_closed_and_listed(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    channels = {**dict.fromkeys(CHANNELS, "recorded"), "urls": "absent"}
    recorded(place / "runs/a.zst", "10", channels=channels)
    assert export(place) == 3
    err = capsys.readouterr().err
    assert "it has no value for unknown: 10 0-navigation" in err
    assert not (place / "submission.json").exists()
    assert export(place, "--fail-closed") == 0
    (evidence,) = json.loads((place / "submission.json").read_text("utf-8"))["task_evidence"]
    assert [report["violated"] for report in evidence["safety_report"]] == [True]
    assert (place / f"submission{CLOSED}").read_text("utf-8") == "10 0-navigation\n"


def test_a_run_of_no_task_of_the_file_exports_nothing(place: Path) -> None:
    recorded(place / "runs/a.zst", "99")
    assert export(place) == 3
    assert not (place / "submission.json").exists()


def test_usage(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = recorded(place / "runs/a.zst", "10")
    target = str(place / "out.json")
    assert run(["export", SUBMISSION, str(bundle), "-o", target]) == 2
    assert "--suite FILE" in capsys.readouterr().err
    (place / "meta.json").write_text("[1]", "utf-8")
    assert export(place) == 3
    assert "one JSON object" in capsys.readouterr().err
    assert run(["export", "--list"]) == 0
    assert SUBMISSION in capsys.readouterr().out


def test_no_bundle_no_submission(place: Path) -> None:
    assert export(place) == 4
    assert not (place / "submission.json").exists()
