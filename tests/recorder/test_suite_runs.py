"""Suite runs: which tasks, which files, and what one failing run costs. No browser: what records is a stub."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.writer import Journal
from replaykit.errors import NoBrowser, RecorderError, UsageError
from replaykit.recorder.agent_runs import Recorded
from replaykit.recorder.suite_runs import (
    LOG,
    SuiteResult,
    SuiteRun,
    TaskChoice,
    choose,
    record_suite,
    runs_of,
    summary,
)
from replaykit.tasks.task import Task
from replaykit.testing import trajectory
from replaykit.trajectory.step import Header

LEVELS = ["easy", "medium", "hard", "Easy", "hard", "easy"]
TASKS = [Task(id=f"t{at}", intent="Act.", metadata={"level": level}) for at, level in enumerate(LEVELS)]


def ids(choice: TaskChoice) -> list[str]:
    return [task.id for task in choose(TASKS, choice)]


def recorded(run: SuiteRun, kind: str = "answered", cause: str = "agent", **more: str) -> Recorded:
    trajectory(task={"id": run.task.id, "intent": "Act."}).answer("x").write(run.path)
    return Recorded(path=run.path, digest=f"d-{run.path.name}", kind=kind, cause=cause, **more)


def states(results: list[SuiteResult]) -> list[tuple[str, int, str]]:
    return [(result.task, result.trial, result.state) for result in results]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (TaskChoice(), ["t0", "t1", "t2", "t3", "t4", "t5"]),
        (TaskChoice(level="EASY"), ["t0", "t3", "t5"]),
        (TaskChoice(level="easy", limit=2), ["t0", "t3"]),
        (TaskChoice(ids=("t4", "t1")), ["t1", "t4"]),
        (TaskChoice(ids=("t4", "t1"), level="hard"), ["t4"]),
        (TaskChoice(level="impossible"), []),
    ],
)
def test_tasks_are_chosen_in_the_order_of_the_suite(choice: TaskChoice, expected: list[str]) -> None:
    assert ids(choice) == expected


def test_a_sample_takes_as_many_of_every_level_and_the_same_for_the_same_seed() -> None:
    chosen = ids(TaskChoice(per_level=1, seed=7))
    assert chosen == ids(TaskChoice(per_level=1, seed=7))
    assert sorted(LEVELS[int(id[1:])] for id in chosen) == sorted({*LEVELS})
    assert len({tuple(ids(TaskChoice(per_level=1, seed=seed))) for seed in range(20)}) > 1


def test_an_unknown_task_is_reported_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no task nope; the suite begins t0, t1"):
        choose(TASKS, TaskChoice(ids=("t1", "nope")))


def test_every_task_is_tried_once_before_any_is_tried_again(tmp_path: Path) -> None:
    runs = runs_of(TASKS[:2], 2, tmp_path)
    assert [run.path.name for run in runs] == ["t0.1.zst", "t1.1.zst", "t0.2.zst", "t1.2.zst"]


@given(st.lists(st.text(max_size=300), unique=True, max_size=20))
def test_no_two_runs_share_a_file_and_none_leaves_the_folder(names: list[str]) -> None:
    runs = runs_of([Task(id=name, intent="") for name in names], 2, Path("out"))
    assert len({run.path for run in runs}) == 2 * len(names)
    assert all(run.path.parent == Path("out") and len(run.path.name) < 200 for run in runs)
    assert all(not run.path.name.startswith(".") and run.path.name.isascii() for run in runs)


def test_a_failing_run_costs_no_other_one(tmp_path: Path) -> None:
    def record(run: SuiteRun) -> Recorded:
        if run.task.id == "t1":
            raise RecorderError(what="the site is down")
        if run.task.id == "t2":
            raise OSError("no space")
        if run.task.id == "t3":
            return recorded(run, "crashed", error="ValueError: oops")
        return recorded(run)

    folder = tmp_path / "new" / "runs"
    done = list(record_suite(runs_of(TASKS[:5], 1, folder), record))
    assert [result.state for result in done] == ["recorded", "failed", "failed", "recorded", "recorded"]
    assert [result.error for result in done[1:4]] == [
        "the site is down",
        "OSError: no space",
        "ValueError: oops",
    ]
    assert summary(done, 5) == "3 recorded (2 answered, 1 crashed), 2 failed"
    lines = [msgspec.json.decode(line, type=SuiteResult) for line in (folder / LOG).read_bytes().splitlines()]
    assert lines == done


def test_what_exists_is_kept_and_replaced_only_when_asked(tmp_path: Path) -> None:
    runs = runs_of(TASKS[:2], 1, tmp_path)
    recorded(runs[0])
    before = runs[0].path.read_bytes()
    calls: list[str] = []

    def record(run: SuiteRun) -> Recorded:
        calls.append(run.task.id)
        run.path.unlink(missing_ok=True)
        return recorded(run)

    first = list(record_suite(runs, record))
    assert states(first) == [("t0", 1, "kept"), ("t1", 1, "recorded")]
    assert calls == ["t1"] and runs[0].path.read_bytes() == before
    assert summary(first, 2) == "1 recorded (1 answered), 1 kept"
    assert states(list(record_suite(runs, record, force=True))) == [
        ("t0", 1, "recorded"),
        ("t1", 1, "recorded"),
    ]
    assert calls == ["t1", "t0", "t1"]


@pytest.mark.parametrize(
    ("is_journal", "words"), [(True, "`replaykit seal` completes it"), (False, "not a replaykit bundle")]
)
def test_a_file_that_is_no_finished_bundle_is_never_taken_for_one(
    is_journal: bool, words: str, tmp_path: Path
) -> None:
    runs = runs_of(TASKS[:2], 1, tmp_path)
    if is_journal:
        with Journal.create(runs[0].path) as journal:
            journal.commit([Header(channels={})])
    else:
        runs[0].path.write_bytes(b"not a bundle")
    before = runs[0].path.read_bytes()
    done = list(record_suite(runs, recorded))
    assert [result.state for result in done] == ["failed", "recorded"]
    assert words in str(done[0].error)
    assert runs[0].path.read_bytes() == before


def test_after_a_person_stops_a_run_no_other_one_begins(tmp_path: Path) -> None:
    done = list(record_suite(runs_of(TASKS, 1, tmp_path), lambda run: recorded(run, "stopped", "person")))
    assert states(done) == [("t0", 1, "recorded")]
    assert summary(done, 6) == "1 recorded (1 stopped), 5 not begun"


def test_what_would_fail_every_run_ends_the_suite(tmp_path: Path) -> None:
    def record(run: SuiteRun) -> Recorded:
        raise NoBrowser(tried="nothing")

    with pytest.raises(NoBrowser):
        list(record_suite(runs_of(TASKS, 1, tmp_path), record))
