"""WABE's leaderboard: its query runs unchanged, in a real DuckDB, on the files that `--format wabe` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from replaykit.cli.main import run as command_line
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.verdict import Judgement, JudgeOutcome, Verdict
from replaykit.interop.run_import import import_run, import_runs
from replaykit.report.wabe_report import as_wabe
from replaykit.testing.builder import trajectory
from tests.interop.samples import png, wabe, write

QUERY = """SELECT t.participants.white_agent AS id, ROUND(unnest.detail.success_rate, 1) AS "Pass Rate",
unnest.detail.successful_tasks AS "Passed", unnest.detail.total_tasks AS "# Tasks"
FROM results t, UNNEST(t.results) ORDER BY "Pass Rate" DESC"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that ended with an answer."""
    made = trajectory().click("#b", "<p>x</p>").answer("Done")
    return made.write(tmp_path_factory.mktemp("runs") / "a.zst")


def judged(verdict: Verdict, outcome: JudgeOutcome) -> Verdict:
    one = Judgement(judge="webjudge", outcome=outcome, reason="x", fingerprint="f")
    return replace(verdict, judgements=(one,))


def results(out: Path, run: Path, *outcomes: JudgeOutcome | None) -> Path:
    """Write the results of one run that was judged so often; None = by nobody."""
    (graded,) = grade_many([str(run)]).verdicts
    verdicts = [graded if outcome is None else judged(graded, outcome) for outcome in outcomes]
    out.write_bytes(as_wabe(build_report(verdicts), [run]))
    return out


def ranked(*files: Path) -> list[tuple[object, ...]]:
    """Return what the leaderboard shows for files that are loaded as one table."""
    with duckdb.connect() as base:
        names = [str(file) for file in files]
        base.execute("CREATE TABLE results AS SELECT * FROM read_json_auto(?)", [names])
        return base.execute(QUERY).fetchall()


YES, NO, UNSURE = JudgeOutcome.SUCCESS, JudgeOutcome.FAILURE, JudgeOutcome.ABSTAIN


@pytest.mark.parametrize(
    ("outcomes", "row"),
    [
        ((YES,), (100.0, 1, 1)),
        ((YES, NO, NO), (33.3, 1, 3)),
        ((UNSURE, YES), (50.0, 1, 2)),
        ((None,), (0.0, 1, 1)),  # nobody judged: the run's end stands in for `success`, never for the rate
    ],
)
def test_one_file_is_one_row(
    tmp_path: Path, run: Path, outcomes: tuple[JudgeOutcome | None, ...], row: tuple[float, int, int]
) -> None:
    assert ranked(results(tmp_path / "a.json", run, *outcomes)) == [("unknown", *row)]


@pytest.mark.parametrize(("outcomes", "said"), [((YES, NO), None), ((YES, None), "2 tasks counted as")])
def test_what_counts_without_a_judge_is_listed(
    tmp_path: Path, run: Path, outcomes: tuple[JudgeOutcome | None, ...], said: str | None
) -> None:
    detail = json.loads(results(tmp_path / "a.json", run, *outcomes).read_text())["results"][0]["detail"]
    assert (detail["divergence"] is None) == (said is None)
    assert (detail["divergence"] or "").startswith(said or "")


def test_files_that_differ_in_kind_are_ranked_together(tmp_path: Path, run: Path) -> None:
    files = [
        results(tmp_path / "unjudged.json", run, None),
        results(tmp_path / "half.json", run, YES, NO),
        results(tmp_path / "whole.json", run, YES, YES, YES),
    ]
    assert [row[1:] for row in ranked(*files)] == [(100.0, 3, 3), (50.0, 1, 2), (0.0, 1, 1)]


@pytest.mark.parametrize(("options", "successful"), [([], 1), (["--no-fallback"], 0)])
def test_an_end_is_no_success_where_that_is_not_wanted(
    options: list[str], successful: int, run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "results.json"
    argv = ["grade", str(run), "--fail-on", "", "--format", "wabe", "-o", str(out), *options]
    command_line(argv)
    detail = json.loads(out.read_text())["results"][0]["detail"]
    assert (detail["successful_tasks"], detail["success_rate"]) == (successful, 0.0)


def wabe_detail(run: Path) -> dict[str, Any]:
    report = build_report([judged(verdict, YES) for verdict in grade_many([str(run)]).verdicts])
    detail = json.loads(as_wabe(report, [run]))["results"][0]["detail"]
    (task,) = detail["tasks"]
    return dict(task)


def test_an_imported_run_keeps_what_its_file_says(tmp_path: Path) -> None:
    """Level, limit, screenshots, lines and thoughts of a WABE folder come back as they were."""
    source = wabe(tmp_path, level="hard", max_steps=25, steps_taken=7)
    import_run("wabe", source, tmp_path / "run.zst")
    written = json.loads((source / "result.json").read_text())
    task = wabe_detail(tmp_path / "run.zst")
    for name in ("level", "max_steps", "action_history", "thoughts", "error"):
        assert task[name] == written[name]
    assert task["steps_taken"] == 7
    assert task["screenshots"] == ["trajectory/step_000.png", "trajectory/step_001.png"]


def test_a_results_file_comes_back_as_it_was(tmp_path: Path) -> None:
    written: dict[str, Any] = {
        "task_id": "t9", "task": "Find it.", "success": False, "steps_taken": 2, "max_steps": 12,
        "level": "medium", "thoughts": ["a"], "action_history": ["Click it", "TASK_COMPLETE -> ANSWER: 4"],
        "screenshots": ["shots/b.png", "shots/a.png"], "error": "gave up",
    }  # fmt: skip
    for number, name in enumerate(written["screenshots"]):
        write(tmp_path, name, png(number))
    detail = {"success_rate": 0.0, "successful_tasks": 0, "total_tasks": 1, "tasks": [written]}
    plain = {"participants": {"white_agent": "x"}, "results": [{"detail": detail}]}
    write(tmp_path, "results.json", plain)
    (done,) = import_runs("wabe", [tmp_path / "results.json"], tmp_path / "out")
    task = wabe_detail(Path(done.path))
    for name in written.keys() - {"task", "success", "task_id"}:
        assert task[name] == written[name]


def test_a_recorded_run_says_what_its_task_says(tmp_path: Path) -> None:
    task = {"id": "t", "intent": "Find it.", "max_steps": 9, "metadata": {"level": "medium"}}
    run = trajectory(task).click("#b", "<p>x</p>").answer("Done").write(tmp_path / "a.zst")
    found = wabe_detail(run)
    assert (found["level"], found["max_steps"], found["screenshots"]) == ("medium", 9, [])
    assert found["action_history"] == ["<element> -> CLICK"]
