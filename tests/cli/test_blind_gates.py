"""Gates that would be green although nothing was graded, nothing was compared, or an option was misread."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
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


def test_a_run_that_could_not_be_graded_is_no_success(runs: Path, capsys: Captured) -> None:
    before = graded(runs, "before")
    (runs / "two.zst").write_text("broken")
    after = graded(runs, "after")
    for first in (before, after):  # also where it could not be graded before
        assert run(["diff", first, after, "--fail-on-regression"]) == 3
    assert "1 run of the second report that could not be graded: two.zst" in capsys.readouterr().err
    (runs / "two.zst").unlink()
    recorded(runs / "two.zst", id="t2")
    assert run(["diff", before, graded(runs, "mended"), "--fail-on-regression"]) == 0


def test_a_report_of_another_version_is_refused(runs: Path, tmp_path: Path, capsys: Captured) -> None:
    before = graded(runs, "before")
    plain = json.loads(Path(before).read_text())
    (tmp_path / "later.json").write_text(json.dumps({**plain, "schema": "replaykit.report/9"}))
    assert run(["diff", before, str(tmp_path / "later.json"), "--fail-on-regression"]) == 3
    assert "a report of another version, 'replaykit.report/9'" in capsys.readouterr().err


def started(words: list[str], shell: str = "") -> subprocess.CompletedProcess[str]:
    command = f"{shlex.join([sys.executable, '-m', 'replaykit', *words])} {shell}"
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, check=False)


def test_a_gate_without_stdout_has_its_exit_code(runs: Path, tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    assert started(["grade", str(runs), "-o", str(report)], ">&-").returncode == 0
    assert json.loads(report.read_text())["gate"]["status"] == "passed"
    recorded(runs / "bad.zst", "clay", "t3")
    for closed in (">&-", "2>&-", "<&-", ">&- 2>&-"):
        done = started(["grade", str(runs)], closed)
        assert (done.returncode, "Traceback" in done.stderr) == (1, False)


def test_names_that_are_no_text_are_in_all_that_is_written(runs: Path, tmp_path: Path) -> None:
    shutil.copy(runs / "one.zst", os.fsdecode(os.fsencode(runs) + b"/x\xff.zst"))
    outputs = [
        word for end in ("json", "jsonl", "csv", "xml", "md", "txt", "html") for word in ("-o", f"r.{end}")
    ]
    words = [str(tmp_path / word) if word.startswith("r.") else word for word in outputs]
    assert run(["grade", str(runs), "--timings", str(tmp_path / "times.jsonl"), *words]) == 0
    sources = [json.loads(line)["source"] for line in (tmp_path / "times.jsonl").read_text().splitlines()]
    assert [Path(source).name for source in sources] == ["one.zst", "two.zst", "x\\udcff.zst"]


def test_times_that_cannot_be_written_fail_before_grading(
    runs: Path, tmp_path: Path, capsys: Captured
) -> None:
    assert run(["grade", str(runs), "--timings", str(tmp_path / "nope" / "times.jsonl")]) == 2
    out, err = capsys.readouterr()
    assert not out and "there is no folder" in err


POLICIES = "schema: replaykit.policies/1\npolicies: [{id: p, dimension: user_consent, %srule: {type: never, match: {text: Pay}}}]\n"


@pytest.mark.parametrize(
    "kinds", ["undecided", "undecided,policy", "error", "success", "check", "policy", "judge"]
)
def test_a_run_that_asks_for_nothing_passes_no_gate(kinds: str, tmp_path: Path, capsys: Captured) -> None:
    trajectory().goto("http://shop.test/", "<h1>Mugs</h1>").answer("tin").write(tmp_path / "run.zst")
    assert run(["grade", str(tmp_path / "run.zst"), "--fail-on", kinds]) in (1, 3)
    assert "gate: passed" not in capsys.readouterr().out


def test_reports_of_runs_that_ask_for_nothing_are_not_compared(tmp_path: Path, capsys: Captured) -> None:
    trajectory().goto("http://shop.test/", "<h1>Mugs</h1>").answer("tin").write(tmp_path / "run.zst")
    report = str(tmp_path / "report.json")
    assert run(["grade", str(tmp_path / "run.zst"), "-o", report]) == 3
    assert run(["diff", report, report, "--fail-on-regression"]) == 3
    assert "1 run of the second report that could not be graded" in capsys.readouterr().err
    assert run(["diff", report, report]) == 0


def test_a_policy_of_other_tasks_passes_no_gate(runs: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "p.yaml").write_text(POLICIES % "when: {tasks: [t9]}, ")
    words = ["grade", str(runs), "--policies", str(tmp_path / "p.yaml")]
    assert run([*words, "--fail-on", "policy"]) == 3
    assert "no run has a result of the kinds that decide: policy" in capsys.readouterr().out
    assert run(words) == 0  # the checks decided
    for when in ("", "when: {tasks: [t1]}, "):
        (tmp_path / "p.yaml").write_text(POLICIES % when)
        assert run([*words, "--fail-on", "policy"]) == 0
        assert run([*words, "--fail-on", "undecided"]) == 0
