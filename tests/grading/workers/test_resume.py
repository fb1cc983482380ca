"""Rows on disk: what is graded is not graded again, unless something that it depends on has changed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import EngineError, NondeterministicVerdict, NotABundle
from replaykit.grading.engine import grade_many, iter_grades
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.verdict import ErrorInfo, Verdict
from replaykit.grading.workers.shards import Shards, read_rows
from replaykit.grading.workers.stored_verdicts import Row, failed_row, merge
from replaykit.report.json_report import as_json
from replaykit.tasks.suite import Suite
from replaykit.tasks.task import decode_task
from replaykit.testing import trajectory

TASK = {"id": "t", "intent": "Which?", "checks": [{"type": "string_match", "exact": "tin"}]}


@pytest.fixture
def bundles(tmp_path: Path) -> list[Path]:
    return [
        trajectory({**TASK, "id": f"t{n}"}).goto("http://a.test/").answer(said).write(tmp_path / f"{n}.zst")
        for n, said in enumerate(["tin", "clay", "glass", "tin"])
    ]


def graded(folder: Path) -> list[str]:
    return [Path(row.source).name for row in read_rows(folder)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_was_cut_short_goes_on(bundles: list[Path], tmp_path: Path, jobs: int) -> None:
    whole = as_json(grade_many(bundles))
    results = tmp_path / "results"
    rows = iter_grades(bundles, results=results)
    next(rows)
    next(rows)
    rows.close()
    assert graded(results) == ["0.zst", "1.zst"]
    assert as_json(grade_many(bundles, results=results, jobs=jobs)) == whole
    assert sorted(graded(results)) == ["0.zst", "1.zst", "2.zst", "3.zst"]
    assert as_json(grade_many(bundles, results=results, jobs=jobs)) == whole
    assert len(graded(results)) == 4


def test_what_is_new_does_not_wait_for_what_is_known(bundles: list[Path], tmp_path: Path) -> None:
    results = tmp_path / "results"
    grade_many(bundles[:2], results=results)
    order = [Path(row.source).name for row in iter_grades(bundles, results=results)]
    assert order == ["2.zst", "3.zst", "0.zst", "1.zst"]


def test_only_what_changed_is_graded_again(bundles: list[Path], tmp_path: Path) -> None:
    results = tmp_path / "results"
    grade_many(bundles, results=results)
    bundles[1].unlink()
    trajectory({**TASK, "id": "t1"}).goto("http://a.test/").answer("tin").write(bundles[1])
    report = grade_many(bundles, results=results)
    assert [verdict.reward for verdict in report.verdicts] == [1.0, 1.0, 0.0, 1.0]
    assert graded(results)[4:] == ["1.zst"]
    suite = Suite(tasks=tuple(decode_task({**TASK, "id": f"t{n}", "mode": "compat"}) for n in range(4)))
    grade_many(bundles, GradeOptions(suite=suite), results=results)
    assert len(graded(results)) == 9


def test_an_error_is_tried_again_and_gives_way(bundles: list[Path], tmp_path: Path) -> None:
    results, good = tmp_path / "results", bundles[0].read_bytes()
    bundles[0].write_bytes(good[:40])
    assert grade_many(bundles, results=results).summary["metrics"]["CR"]["errors"] == 1
    bundles[0].write_bytes(good)
    report = grade_many(bundles, results=results)
    assert report.summary["metrics"]["CR"]["errors"] == 0
    assert len(merge(read_rows(results))) == 4


def test_a_torn_last_line_is_what_a_killed_run_leaves(bundles: list[Path], tmp_path: Path) -> None:
    results = tmp_path / "results"
    grade_many(bundles, results=results)
    shard = results / "shard-000001.jsonl"
    shard.write_bytes(shard.read_bytes()[:-9])
    whole = as_json(grade_many(bundles))
    assert as_json(grade_many(bundles, results=results)) == whole
    assert sorted(path.name for path in results.iterdir()) == ["shard-000001.jsonl", "shard-000002.jsonl"]
    assert graded(results)[3:] == ["3.zst"]


def test_a_foreign_shard_is_refused(bundles: list[Path], tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    (results / "shard-000001.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(EngineError, match=r"shard-000001.jsonl: not a shard of results"):
        grade_many(bundles, results=results)


def test_a_folder_that_cannot_be_is_refused(bundles: list[Path]) -> None:
    with pytest.raises(EngineError, match="cannot make the folder"):
        grade_many(bundles, results=bundles[0] / "results")


def test_two_verdicts_of_one_kind_that_differ_are_an_error(tmp_path: Path) -> None:
    verdict = Verdict(task_id="t", trajectory="sha256:1", suite=None)
    row = Row(trajectory="sha256:1", grader="g", source="a", verdict=verdict)
    other = msgspec.structs.replace(row, verdict=msgspec.structs.replace(verdict, reward=1.0))
    assert merge([row, msgspec.structs.replace(row, source="b")]) == [row]
    with pytest.raises(NondeterministicVerdict, match="sha256:1: two verdicts"):
        merge([row, other])


ROWS = st.lists(
    st.builds(
        lambda source, task, is_error: Row(
            trajectory=None if is_error else source,
            grader="g",
            source=source,
            verdict=Verdict(
                task_id=task,
                trajectory=source,
                suite=None,
                error=ErrorInfo(kind="E", fields={}) if is_error else None,
            ),
        ),
        st.text(max_size=3),
        st.just("t"),
        st.booleans(),
    ),
    max_size=12,
)


def test_broken_bundles_of_one_name_come_in_one_order() -> None:
    rows = [failed_row(f"{run}/x.zst", NotABundle(source=f"{run}/x.zst", found=run)) for run in "ab"]
    assert [row.verdict for row in merge(rows)] == [row.verdict for row in merge(reversed(rows))]


@given(rows=ROWS, seed=st.randoms(use_true_random=False))
def test_merging_depends_on_no_order(rows: list[Row], seed: object) -> None:
    shuffled = list(rows)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    assert [row.verdict for row in merge(rows)] == [row.verdict for row in merge(shuffled)]


@given(rows=ROWS)
def test_rows_come_back_from_disk(rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("rows")
    with Shards(folder) as shards:
        shards.write(rows[:5])
        shards.write(rows[5:])
    assert list(read_rows(folder)) == rows
    with Shards(folder) as known:
        for row in {row.source: row for row in rows if not row.is_error}.values():
            assert known.key(row.source) == (row.trajectory, row.grader)
            assert known.row(row.source) == row
