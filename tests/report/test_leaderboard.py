"""WABE's leaderboard: its query runs unchanged, in a real DuckDB, on the files that `--format wabe` writes."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from msgspec.structs import replace

from replaykit.cli.main import run as command_line
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.verdict import Judgement, JudgeOutcome, Verdict
from replaykit.report.wabe import as_wabe
from replaykit.testing.builder import trajectory

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
def test_what_counts_without_a_judge_is_told(
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
