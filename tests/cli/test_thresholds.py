"""`agree --choose` writes thresholds, `grade --calibrated` decides by them and refuses other judges."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from replaykit.cli.main import run as run_cli
from replaykit.errors import JudgeError, LabelError
from replaykit.grading.agreement.calibration_gate import read_thresholds
from replaykit.grading.agreement.threshold_choice import chooses
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import grade
from replaykit.grading.judge_runs.judge_run import run_judges
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.settings_file import load_judge
from replaykit.grading.share_thresholds import ShareThresholds, ThresholdFile
from replaykit.grading.verdict import Judgement, Report
from replaykit.report.json_report import as_json
from replaykit.report.report_output import write_report
from replaykit.report.text.text_report import as_text
from replaykit.testing import trajectory
from tests.grading.judges.messages_server import Server
from tests.grading.judges.rubric_replies import as_client, by_stage

LENIENT = "fpr<=0.5"
"""An aim that 5 tasks without an error reach."""


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    file = tmp_path / "three.yaml"
    file.write_text("id: three\nprotocol: webvoyager\nvotes: 3\n")
    return file


def judged(folder: Path, judge: Path, tasks: dict[str, str]) -> Report:
    """Write and judge one run of each task; `tasks`: id to its three votes, S or F each."""
    folder.mkdir(exist_ok=True)
    for task, votes in tasks.items():
        built = trajectory({"id": task, "intent": "Find order 42."})
        built.goto("http://shop.test/", f"<p>{task}</p>").screenshot(colour=(1, 2, 3))
        built.answer("It is 42.").write(folder / f"{task}.zst")
        said = iter("SUCCESS" if vote == "S" else "NOT SUCCESS" for vote in votes)
        client = CallableClient(lambda request, images, said=said: next(said))
        options = GradeOptions(judges=(load_judge(judge),), judge_mode="new")
        run_judges([folder / f"{task}.zst"], options, client=client, concurrency=1)
    return grade_many([folder], GradeOptions(judges=(load_judge(judge),)))


@pytest.fixture
def files(tmp_path: Path, judge: Path) -> tuple[Path, Path]:
    """Report and labels: in each half 6 tasks with a failure that got no vote, 6 with a success that got all."""
    halves = [[f"t{n}" for n in range(200) if chooses(f"t{n}") is half][:12] for half in (True, False)]
    tasks = {task: "SSS" if n % 2 else "FFF" for half in halves for n, task in enumerate(half)}
    report = judged(tmp_path / "runs", judge, tasks)
    write_report(report, tmp_path / "report.json")
    rows = [
        {"trajectory": one.trajectory, "label": "success" if tasks[one.task_id] == "SSS" else "failure"}
        for one in report.verdicts
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return labels, tmp_path / "report.json"


def only(report: Report) -> Judgement:
    (verdict,) = report.verdicts
    (found,) = verdict.judgements
    return found


def test_thresholds_are_chosen_written_and_applied(
    files: tuple[Path, Path], judge: Path, tmp_path: Path, capfd: Any
) -> None:
    labels, report = files
    output = tmp_path / "calibration.json"
    assert run_cli(["agree", str(labels), str(report), "--choose", LENIENT, "-o", str(output)]) == 0
    out = capfd.readouterr().out
    assert "accept from a share of 1/3 (fpr<=0.5): 0 of 6 tasks with a failure, at most 0.3931" in out
    assert "reject up to a share of 0 (fnr<=0.5): 0 of 6 tasks with a success, at most 0.3931" in out
    assert "on the other half, 12 tasks: tp 6, fp 0, fn 0, tn 6, abstained 0" in out
    (known,) = json.loads(output.read_text())["judges"].values()
    assert known["thresholds"]["accept"]["at"] == "1/3"
    new = tmp_path / "new"
    judged(new, judge, {"other": "SFF"})
    options = GradeOptions(judges=(load_judge(judge),), thresholds=read_thresholds(output))
    graded = grade_many([new], options)
    found = only(graded)
    assert (found.outcome, found.reason) == ("SUCCESS", "threshold")  # one vote of three is enough here
    assert found.fingerprint in json.loads(output.read_text())["judges"]
    assert isinstance(found.basis, str)
    assert found.basis == f"calibration:{read_thresholds(output).digest}"
    said = "share 0.333, accepted from 1/3, rejected up to 0; was FAILURE"
    assert said in as_text(graded)
    assert as_json(graded) == as_json(grade_many([new], options, jobs=2))
    how = ["--judge", str(judge), "--calibrated", str(output)]
    assert run_cli(["grade", str(new), *how]) == 0
    assert said in capfd.readouterr().out


def test_another_judge_is_refused(files: tuple[Path, Path], judge: Path, tmp_path: Path, capfd: Any) -> None:
    labels, report = files
    output = tmp_path / "calibration.json"
    run_cli(["agree", str(labels), str(report), "--choose", LENIENT, "-o", str(output)])
    other = tmp_path / "other.yaml"
    other.write_text("id: three\nprotocol: webvoyager\nvotes: 3\nimages: last:1\n")
    judged(tmp_path / "new", other, {"t": "SSS"})
    capfd.readouterr()
    run = str(tmp_path / "new" / "t.zst")
    assert run_cli(["grade", run, "--judge", str(other), "--calibrated", str(output)]) == 3
    assert "has no thresholds in calibration.json" in capfd.readouterr().err


def test_rows_that_were_kept_are_graded_again_with_other_thresholds(
    files: tuple[Path, Path], judge: Path, tmp_path: Path
) -> None:
    labels, report = files
    output, rows = tmp_path / "calibration.json", tmp_path / "rows"
    run_cli(["agree", str(labels), str(report), "--choose", LENIENT, "-o", str(output)])
    judged(tmp_path / "new", judge, {"other": "SFF"})
    plain = GradeOptions(judges=(load_judge(judge),))
    with_thresholds = GradeOptions(judges=(load_judge(judge),), thresholds=read_thresholds(output))
    assert only(grade_many([tmp_path / "new"], plain, results=rows)).outcome == "FAILURE"
    assert only(grade_many([tmp_path / "new"], with_thresholds, results=rows)).outcome == "SUCCESS"
    assert only(grade_many([tmp_path / "new"], plain, results=rows)).outcome == "FAILURE"


def test_an_aim_out_of_reach_says_how_many_tasks_are_needed(
    files: tuple[Path, Path], tmp_path: Path, capfd: Any
) -> None:
    labels, report = files
    output = tmp_path / "calibration.json"
    assert run_cli(["agree", str(labels), str(report), "--choose", "fpr<=0.05", "-o", str(output)]) == 3
    captured = capfd.readouterr()
    assert "accept never (fpr<=0.05): 0 of 6 tasks with a failure" in captured.out
    assert "59 such tasks are needed" in captured.err
    with pytest.raises(LabelError, match="no judge of it has thresholds"):
        read_thresholds(output)
    assert run_cli(["agree", str(labels), str(report), "--choose", "fpr=0.05"]) == 2


def test_a_judge_of_one_vote_has_no_share(tmp_path: Path, capfd: Any) -> None:
    one = tmp_path / "one.yaml"
    one.write_text("protocol: webvoyager\n")
    report = judged(tmp_path / "runs", one, {"t": "S"})
    write_report(report, tmp_path / "report.json")
    labels = tmp_path / "l.jsonl"
    labels.write_text(json.dumps({"trajectory": report.verdicts[0].trajectory, "label": "success"}))
    assert run_cli(["agree", str(labels), str(tmp_path / "report.json"), "--choose", LENIENT]) == 4
    assert "no judge of the report has a share" in capfd.readouterr().err


def test_thresholds_choose_no_thresholds(
    files: tuple[Path, Path], judge: Path, tmp_path: Path, capfd: Any
) -> None:
    labels, report = files
    output = tmp_path / "calibration.json"
    run_cli(["agree", str(labels), str(report), "--choose", LENIENT, "-o", str(output)])
    options = GradeOptions(judges=(load_judge(judge),), thresholds=read_thresholds(output))
    write_report(grade_many([tmp_path / "runs"], options), tmp_path / "again.json")
    again = ["agree", str(labels), str(tmp_path / "again.json")]
    assert run_cli(again) == 0
    assert run_cli([*again, "--choose", LENIENT]) == 3
    assert "choose others without --calibrated" in capfd.readouterr().err


@pytest.mark.parametrize(
    "thresholds",
    [
        {"accept": {"at": "0"}, "reject": {"at": None}},
        {"accept": {"at": None}, "reject": {"at": "1"}},
        {"accept": {"at": "1e9"}, "reject": {"at": None}},
        {"accept": {"at": 1}, "reject": {"at": None}},
        {"accept": {}, "reject": {}},
        [],
    ],
)
def test_a_calibration_without_chosen_thresholds_is_refused(thresholds: Any, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    plain = {"schema": "replaykit.calibration/2", "judges": {"sha256:1": {"thresholds": thresholds}}}
    file.write_text(json.dumps(plain))
    with pytest.raises(LabelError, match=r"it is not a calibration.*thresholds"):
        read_thresholds(file)


def test_a_report_without_thresholds_says_nothing_of_a_share(tmp_path: Path, judge: Path) -> None:
    report = judged(tmp_path / "runs", judge, {"t": "SSS"})
    assert "share" not in json.loads(as_json(build_report(report.verdicts)))["verdicts"][0]["judgements"][0]


def test_the_commands_of_the_page(
    files: tuple[Path, Path], judge: Path, tmp_path: Path, monkeypatch: Any, capfd: Any
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "calibration.md").read_text()
    section = text.partition("## Thresholds")[2].partition("\n## ")[0]
    agree, grade = (line[2:] for line in section.splitlines() if line.startswith("$ "))
    monkeypatch.chdir(tmp_path)
    judge.rename(tmp_path / "three-votes.yaml")
    assert "fpr<=0.05" in agree
    assert run_cli(shlex.split(agree.replace("fpr<=0.05", LENIENT))[1:]) == 0
    assert run_cli([*shlex.split(grade)[1:], "--fail-on", ""]) == 0
    assert "accepted from 1/3" in capfd.readouterr().out


class _Counted:
    """A client that counts what it is asked; its replies are synthetic."""

    def __init__(self, say: Any) -> None:
        self.asked: list[str] = []
        self._say = say

    def __call__(self, request: Any, images: Any) -> str:
        self.asked.append(request.stage)
        return str(self._say(request))


def test_a_judge_without_thresholds_is_refused_before_anybody_is_asked(
    files: tuple[Path, Path], tmp_path: Path, capfd: Any
) -> None:
    labels, report = files
    output = tmp_path / "calibration.json"
    run_cli(["agree", str(labels), str(report), "--choose", LENIENT, "-o", str(output)])
    other = tmp_path / "other.yaml"
    other.write_text("id: three\nprotocol: webvoyager\nvotes: 3\nimages: last:1\n")
    panel = tmp_path / "panel.yaml"
    panel.write_text("protocol: panel\nmembers: [webvoyager, claims]\n")
    new = tmp_path / "new"
    judged(new, other, {"t": "SSS"})
    (new / "t.replies.jsonl").unlink()
    client = _Counted(lambda request: "SUCCESS")
    for judge in (other, panel):
        options = GradeOptions(
            judges=(load_judge(judge),), judge_mode="new", thresholds=read_thresholds(output)
        )
        with pytest.raises(JudgeError, match=r"has no thresholds in calibration\.json"):
            grade(new / "t.zst", options=options, client=CallableClient(client))
    assert client.asked == []
    capfd.readouterr()
    how = ["--calibrated", str(output), "--judge-mode", "new", "--judge-base-url", "http://127.0.0.1:9"]
    assert run_cli(["grade", str(new), "--judge", str(other), *how]) == 3
    assert "has no thresholds in calibration.json" in capfd.readouterr().err


def test_one_uncovered_judge_of_many_runs_refuses_them_all(
    files: tuple[Path, Path], judge: Path, tmp_path: Path, capfd: Any
) -> None:
    """The first run would be judged by its calibrated judge; the second names another: nothing is asked."""
    labels, report = files
    output = tmp_path / "calibration.json"
    run_cli(["agree", str(labels), str(report), "--choose", LENIENT, "-o", str(output)])
    new = tmp_path / "new"
    new.mkdir()
    for name, own in (("a", {}), ("b", {"judge": "webjudge"})):
        built = trajectory({"id": name, "intent": "Find order 42.", **own})
        built.goto("http://shop.test/", f"<p>{name}</p>").screenshot(colour=(1, 2, 3))
        built.answer("It is 42.").write(new / f"{name}.zst")
    with Server() as server:
        how = ["--judge", str(judge), "--calibrated", str(output), "--judge-mode", "new"]
        capfd.readouterr()
        assert run_cli(["grade", str(new), *how, "--judge-base-url", server.url]) == 3
        assert server.seen == []
    assert "judge webjudge: fingerprint" in capfd.readouterr().err
    assert list(new.glob("*.jsonl")) == []


def calibrated_rubric(folder: Path) -> tuple[ThresholdFile, Path]:
    """Return thresholds for the judge rubric, calibrated by one rubric of task `t`, and a run of it."""
    folder.mkdir()
    built = trajectory({"id": "t", "intent": "Find the order number."})
    built.goto("http://shop.test/", "<p>1</p>").screenshot(colour=(1, 2, 3)).answer("It is 42.")
    path = built.write(folder / "run.zst")
    options = GradeOptions(judges=("rubric",), judge_mode="new")
    run_judges([path], options, client=CallableClient(as_client(by_stage())))
    (one,) = grade_many([path], GradeOptions(judges=("rubric",))).verdicts[0].judgements
    assert isinstance(one.basis, str)
    known = {one.fingerprint: ShareThresholds(accept="1", reject="0")}
    rubrics = {one.fingerprint: {"t": (one.basis,)}}
    return ThresholdFile(name="c.json", digest="sha256:c", judges=known, rubrics=rubrics), path


def test_criteria_that_were_not_calibrated_are_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    file, path = calibrated_rubric(tmp_path / "runs")
    client = _Counted(by_stage())
    live = GradeOptions(judges=("rubric",), judge_mode="new", thresholds=file)
    assert grade(path, options=live, client=CallableClient(client)).judgements[0].outcome == "SUCCESS"
    assert client.asked == []  # the tape answers all of it
    tape = path.with_suffix(".replies.jsonl")
    lines = tape.read_text().splitlines(keepends=True)
    tape.write_text("".join(line for line in lines if '"stage":"rubric"' not in line))
    with pytest.raises(JudgeError, match="not calibrated for task t: it has no rubric yet"):
        grade(path, options=live, client=CallableClient(client))
    tape.write_text("".join(lines))
    with pytest.raises(JudgeError, match="it has no rubric yet"):  # all of it would be asked for again
        grade(path, options=replace(live, judge_mode="refresh"), client=CallableClient(client))
    other = replace(file, rubrics={mark: {"t": ("sha256:" + "0" * 64,)} for mark in file.rubrics})
    for mode in ("new", "none"):
        with pytest.raises(JudgeError, match="not calibrated for task t: its rubric is sha256:"):
            grade(path, options=replace(live, judge_mode=mode, thresholds=other))
    assert client.asked == []
    off = grade(path, options=replace(live, judge_mode="off", thresholds=other))
    assert off.judgements[0].outcome == "NOT_EVALUATED"


def test_a_calibration_gives_its_rubrics_to_its_thresholds(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    sides = {"accept": {"at": "1"}, "reject": {"at": None}}
    plain = {"sha256:1": {"thresholds": sides, "rubrics": {"t": ["sha256:2"]}}}
    file.write_text(json.dumps({"schema": "replaykit.calibration/2", "judges": plain}))
    assert read_thresholds(file).rubrics == {"sha256:1": {"t": ("sha256:2",)}}
    plain["sha256:1"]["rubrics"] = {"t": "sha256:2"}
    file.write_text(json.dumps({"schema": "replaykit.calibration/2", "judges": plain}))
    with pytest.raises(LabelError, match=r"it is not a calibration.*rubrics"):
        read_thresholds(file)
