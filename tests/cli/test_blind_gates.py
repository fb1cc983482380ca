"""Gates that would be green although nothing was graded, nothing was compared, or an option was misread."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from replaykit.cli.main import run
from replaykit.testing import trajectory

Captured = pytest.CaptureFixture[str]


def recorded(path: Path, answer: str = "tin", id: str = "t1") -> Path:
    path.parent.mkdir(exist_ok=True)
    task = {"id": id, "intent": "Which mug?", "checks": [{"type": "string_match", "exact": "tin"}]}
    return trajectory(task).goto("http://shop.test/", "<h1>Mugs</h1>").answer(answer).write(path)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    recorded(tmp_path / "runs" / "one.zst")
    recorded(tmp_path / "runs" / "two.zst", id="t2")
    return tmp_path / "runs"


def graded(runs: Path, name: str) -> str:
    out = runs.parent / f"{name}.json"
    run(["grade", str(runs), "-o", str(out)])
    return str(out)


def test_a_folder_without_bundles_beside_one_with_them_leaves_the_gate_open(
    runs: Path, tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / "nightly").mkdir()
    assert run(["grade", str(runs), str(tmp_path / "nightly")]) == 3
    assert "nightly: no bundle was found in it" in capsys.readouterr().out
    assert run(["grade", str(runs), str(runs / "one.zst"), str(runs)]) == 0
    recorded(runs / "three.zst", "clay", "t3")
    assert run(["grade", str(runs), str(tmp_path / "nightly")]) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fail-under", "CuP=95"], "95 % is 0.95"),
        (["--fail-under", "CuP=95%"], "95 % is 0.95"),
        (["--fail-under", "CuP=0"], "every run reaches 0"),
        (["--fail-under", "CuP=-1"], "a value from 0 to 1"),
        (["--fail-under", "CuP=nan"], "a value from 0 to 1"),
        (["--fail-under", "CuP"], "METRIC=VALUE"),
        (["--fail-under", "CuP=1", "--fail-under", "CuP=0.5"], "CuP has two values"),
        (["--fail-under", "safety_failure_rate=0.05"], "less of safety_failure_rate is better"),
        (["--fail-on", ","], "names no kind"),
        (["--fail-on", " "], "names no kind"),
        (["--fail-on", "checks"], "no kind 'checks'"),
    ],
)
def test_a_condition_that_cannot_fail_is_refused(
    words: list[str], said: str, runs: Path, capsys: Captured
) -> None:
    recorded(runs / "bad.zst", "clay", "t3")
    assert run(["grade", str(runs), *words]) == 2
    assert said in capsys.readouterr().err


def test_conditions_that_can_fail_are_not(runs: Path) -> None:
    assert run(["grade", str(runs), "--fail-under", "CuP=0.5", "--fail-under", "CuP=0.5"]) == 0
    assert run(["grade", str(runs), "--fail-on", "", "--fail-under", "success_rate=1"]) == 0
    assert run(["grade", str(runs), "--fail-on", ""]) == 0


def test_reports_without_a_task_in_common_are_not_compared(
    runs: Path, tmp_path: Path, capsys: Captured
) -> None:
    recorded(tmp_path / "others" / "x.zst", "clay", "x")
    before, after = graded(runs, "before"), graded(tmp_path / "others", "after")
    assert run(["diff", before, after, "--fail-on-regression"]) == 4
    assert "no task in common" in capsys.readouterr().err
    assert run(["diff", before, after]) == 0
    (tmp_path / "none").mkdir()
    nothing = graded(tmp_path / "none", "nothing")
    assert run(["diff", before, nothing, "--fail-on-regression"]) == 4
    assert run(["diff", nothing, nothing, "--fail-on-regression"]) == 4


def test_a_run_that_is_gone_is_no_success(runs: Path, capsys: Captured) -> None:
    before = graded(runs, "before")
    recorded(runs / "three.zst", "clay", "t3")
    assert run(["diff", before, graded(runs, "more"), "--fail-on-regression"]) == 0
    (runs / "two.zst").unlink()
    after = graded(runs, "after")
    assert run(["diff", before, after, "--fail-on-regression"]) == 3
    assert "1 run of the first report, gone from the second: t2" in capsys.readouterr().err
    shutil.copy(recorded(runs.parent / "bad" / "one.zst", "clay"), runs / "one.zst")
    assert run(["diff", before, graded(runs, "worse"), "--fail-on-regression"]) == 1


def test_a_report_of_another_version_is_refused(runs: Path, tmp_path: Path, capsys: Captured) -> None:
    before = graded(runs, "before")
    plain = json.loads(Path(before).read_text())
    (tmp_path / "later.json").write_text(json.dumps({**plain, "schema": "replaykit.report/9"}))
    assert run(["diff", before, str(tmp_path / "later.json"), "--fail-on-regression"]) == 3
    assert "a report of another version, 'replaykit.report/9'" in capsys.readouterr().err
