"""Many bundles: the same report whichever way they are graded."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from msgspec import structs

from replaykit.bundle.reader import open_bundle
from replaykit.errors import BundleTruncated, UnknownTask, UsageError
from replaykit.grading.engine import grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import grade
from replaykit.grading.judge_runs.judge_run import plan_judges
from replaykit.grading.judges.judge_config import tape_path
from replaykit.grading.saved_reports import read_report
from replaykit.grading.verdict import Verdict
from replaykit.grading.workers.stored_verdicts import Row, failed, merge
from replaykit.report.json_report import as_json, report_schema
from replaykit.report.text.text_report import as_text
from replaykit.tasks.suite import Suite
from replaykit.tasks.task import decode_task
from replaykit.testing import trajectory

TASK = {"id": "t", "intent": "Which?", "checks": [{"type": "string_match", "exact": "tin"}]}


@pytest.fixture
def bundles(tmp_path: Path) -> list[Path]:
    answers = ["tin", "clay", "tin mug", "", "glass"]
    paths = [
        trajectory({**TASK, "id": f"t{n}"})
        .goto("http://a.test/", f"<p>{n}</p>")
        .answer(answer)
        .write(tmp_path / f"{n}.zst")
        for n, answer in enumerate(answers)
    ]
    (tmp_path / "bad.zst").write_bytes(b"not a bundle")
    return [*paths, tmp_path / "bad.zst"]


def test_order_jobs_and_executor_change_no_byte(bundles: list[Path]) -> None:
    expected = as_json(grade_many(bundles))
    shuffled = random.Random(7).sample(bundles, len(bundles))
    assert as_json(grade_many(shuffled)) == expected
    assert as_json(grade_many(shuffled, jobs=2)) == expected
    with ThreadPoolExecutor(2) as pool:
        assert as_json(grade_many(shuffled, executor=pool)) == expected


def test_a_folder_or_one_path_are_named_as_files_are(bundles: list[Path]) -> None:
    expected = as_json(grade_many(bundles))
    folder = bundles[0].parent
    for named in (folder, str(folder), [folder], iter([folder])):
        assert as_json(grade_many(named)) == expected
    assert (
        as_json(grade_many(str(bundles[0])))
        == as_json(grade_many(bundles[0]))
        == as_json(grade_many(bundles[:1]))
    )
    assert plan_judges(str(bundles[0])) == plan_judges(bundles[:1])
    with open_bundle(bundles[0]) as bundle:
        assert grade(bundles[0]) == grade(str(bundles[0])) == grade(bundle)
    assert [verdict.error is None for verdict in grade_many("").verdicts] == [False]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"mode": "lenient"}, "option mode: 'lenient' is not one of strict, compat"),
        ({"dialect": "webarna"}, "option dialect: 'webarna' is not one of native, webarena, "),
        ({"compose": "xor"}, "option compose: 'xor' is not one of rules_first, and, or"),
        ({"replay": "browser"}, "option replay: 'browser' is not one of static, auto, chromium"),
        ({"judges": "webvoyager"}, "option judges: expected a tuple of names or settings"),
    ],
)
def test_an_option_that_there_is_not_makes_no_verdict(
    bundles: list[Path], option: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        grade(bundles[0], **option)
    with pytest.raises(UsageError, match=words):
        GradeOptions(**option)


def test_a_task_may_be_plain_values_and_nothing_else(bundles: list[Path]) -> None:
    assert grade(bundles[0], TASK) == grade(bundles[0], decode_task(TASK))
    assert grade(bundles[0], TASK, dialect="webarena").dialect == "webarena"
    with pytest.raises(
        UsageError, match=r"task is a Task or its plain values, got 'tasks.yaml#t': .*load_suite"
    ):
        grade(bundles[0], cast("Any", "tasks.yaml#t"))


def test_a_bundle_that_cannot_be_read_is_one_error(bundles: list[Path]) -> None:
    report = grade_many(bundles)
    errors = [verdict for verdict in report.verdicts if verdict.error]
    assert [verdict.task_id for verdict in errors] == ["bad.zst"]
    assert errors[0].error is not None
    assert errors[0].error.kind == "NotABundle"
    assert str(bundles[0].parent) not in as_json(report).decode()
    assert report.summary["metrics"]["CR"]["errors"] == 1


def test_the_same_trajectory_counts_once(bundles: list[Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy.zst"
    copy.write_bytes(bundles[0].read_bytes())
    twice, once = grade_many([*bundles, copy]), grade_many(bundles)
    (found,) = twice.duplicates
    assert found.files == tuple(sorted([bundles[0].name, "copy.zst"]))
    assert (twice.verdicts, twice.summary) == (once.verdicts, once.summary)
    assert f"one run, graded once: {', '.join(found.files)}" in as_text(twice)


def test_progress_is_reported_and_changes_nothing(bundles: list[Path]) -> None:
    seen: list[str] = []
    report = grade_many(bundles, on_progress=lambda source, _: seen.append(source))
    assert seen == [str(path) for path in bundles]
    assert as_json(report) == as_json(grade_many(bundles))


def test_an_empty_set_never_passes() -> None:
    assert grade_many([]).gate.status == "empty"


def test_reports_round_trip_and_fit_their_schema(bundles: list[Path]) -> None:
    data = as_json(grade_many(bundles))
    assert as_json(read_report(data, "r.json")) == data
    named = {name for name in msgspec.json.decode(data)["verdicts"][0] if name}
    # No judge was asked, so that nothing is said of whose run was judged.
    assert named | {"judged"} == set(report_schema()["$defs"]["Verdict"]["properties"])


def test_another_task_may_be_graded(bundles: list[Path]) -> None:
    check = {"type": "string_match", "exact": "clay"}
    suite = Suite(tasks=(decode_task({**TASK, "id": "x", "checks": [check]}),))
    with open_bundle(bundles[1]) as bundle:
        assert grade(bundle).reward == 0.0
        assert grade(bundle, suite.tasks[0]).reward == 1.0
        chosen = structs.replace(suite, is_chosen=True)
        assert grade(bundle, options=GradeOptions(suite=chosen)).task_id == "x"
        with pytest.raises(UnknownTask, match="no task 't1'; it has x"):
            grade(bundle, options=GradeOptions(suite=suite))


def test_tapes_lie_beside_their_bundle(tmp_path: Path) -> None:
    assert tape_path("/a/run.zst", None) == Path("/a/run.replies.jsonl")
    assert tape_path("/a/run.zst", str(tmp_path)) == tmp_path / "run.replies.jsonl"
    assert tape_path("/a/run.zst", "/b/t.jsonl") == Path("/b/t.jsonl")


def test_paths_stay_out_of_errors() -> None:
    verdict = failed("/secret/place/run.zst", BundleTruncated(source="/secret/place/run.zst", size=9))
    assert verdict.error is not None
    assert "/secret" not in str(verdict.error.fields)
    assert verdict.error.fields["source"] == "run.zst"


def test_merging_orders_by_task_then_content() -> None:
    def at(source: str, task: str, digest: str | None) -> Row:
        verdict = Verdict(task_id=task, trajectory=digest, suite=None)
        return Row(trajectory=digest, grader="g", source=source, verdict=verdict)

    rows = [at("c", "b", "2"), at("a", "b", "1"), at("z", "é", None), at("b", "a", "9"), at("x", "b", "1")]
    found = merge(rows)
    assert [(row.verdict.task_id, row.trajectory) for row in found] == [
        ("a", "9"),
        ("b", "1"),
        ("b", "2"),
        ("é", None),
    ]
