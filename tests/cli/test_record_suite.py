"""`record --suite`: exit codes of suites that need no browser to fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from replaykit.cli.main import run
from replaykit.recorder import suite_runs
from replaykit.recorder.agent_runs import Recorded
from replaykit.recorder.suite_runs import SuiteRun
from replaykit.testing import trajectory

SUITE = """\
schema: replaykit.suite/1
tasks:
  - {id: one, intent: Act., metadata: {level: easy}}
  - {id: two, intent: Act., metadata: {level: hard}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> str:
    file = tmp_path / "suite.yaml"
    file.write_text(SUITE, "utf-8")
    return str(file)


def record(suite: str, folder: Path, *more: str) -> int:
    return run(["record", "--suite", suite, "-o", str(folder), *more, "--", "never-started"])


def finished(folder: Path, id: str) -> Path:
    folder.mkdir(exist_ok=True)
    return trajectory(id).answer("x").write(folder / f"{id}.1.zst")


def test_no_task_that_fits_is_nothing(suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert record(suite, tmp_path / "runs", "--level", "impossible") == 4
    assert "no task fits; its levels are easy, hard" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_run_that_fails_is_reported_and_fails_with_3(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs"
    finished(folder, "two")
    (folder / "one.1.zst").write_bytes(b"no bundle")
    assert record(suite, folder) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "failed: one.1.zst: one, trial 1: " in err and "1 kept, 1 failed" in err


def test_what_is_there_already_is_a_success(suite: str, tmp_path: Path) -> None:
    finished(tmp_path / "runs", "one")
    assert record(suite, tmp_path / "runs", "--level", "easy") == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--task-ids", "one,three"), "no task three"),
        (("--seed", "1"), "--seed belongs to --per-level"),
        (("--task", "suite.yaml#one"), "without --task"),
    ],
)
def test_usage(
    more: tuple[str, ...], words: str, suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert record(suite, tmp_path / "runs", *more) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("stopped_at", [1, 2])
def test_ctrl_c_ends_the_suite_even_in_its_last_run(
    stopped_at: int, suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def stub(runs: list[SuiteRun], _: object, *, force: bool) -> object:
        def one(run: SuiteRun) -> Recorded:
            begun.append(run.task.id)
            finished(run.path.parent, run.task.id)
            end = ("stopped", "person") if len(begun) == stopped_at else ("answered", "agent")
            return Recorded(path=run.path, digest="d", kind=end[0], cause=end[1])

        return suite_runs.record_suite(runs, one, force=force)

    monkeypatch.setattr("replaykit.cli.record.record.record_suite", stub)
    assert record(suite, tmp_path / "runs") == 130
    assert begun == ["one", "two"][:stopped_at]
