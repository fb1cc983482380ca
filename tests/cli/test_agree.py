"""`replaykit label` and `agree`: blind, resumable, and what they compare."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from replaykit.bundle.reader import open_bundle
from replaykit.cli.main import cli
from replaykit.cli.main import run as run_cli
from replaykit.errors import LabelError, TaskError
from replaykit.grading.agreement.calibration import agree
from replaykit.grading.agreement.calibration_gate import read_calibration
from replaykit.grading.agreement.labels import read_labels
from replaykit.grading.engine import build_report
from replaykit.grading.grader import grade
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.report.report_diff import diff
from replaykit.report.report_output import write_report
from replaykit.testing import trajectory


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Four runs of two tasks; a judge calls the first three successes."""
    found = []
    for number in range(4):
        built = trajectory({"id": f"t{number % 2}", "intent": "Find order 42.", "judge": "webvoyager"})
        built.goto("http://shop.test/", f"<p>{number}</p>").screenshot(colour=(number, 0, 0))
        found.append(built.answer(f"It is \x1b[31m{number}.").write(tmp_path / f"run{number}.zst"))
    return found


@pytest.fixture
def report(runs: list[Path], tmp_path: Path) -> Path:
    verdicts = []
    for number, path in enumerate(runs):
        client = CallableClient(lambda request, images, n=number: "SUCCESS" if n < 3 else "NOT SUCCESS")
        with open_bundle(path) as bundle:
            verdicts.append(grade(bundle, client=client, judge_mode="new"))
    write_report(build_report(verdicts), tmp_path / "report.json")
    return tmp_path / "report.json"


def label(runs: list[Path], output: Path, typed: str, *more: str) -> Any:
    arguments = ["label", *map(str, runs), "-o", str(output), "--annotator", "ada", *more]
    return CliRunner().invoke(cli, arguments, input=typed)


def test_labels_are_blind_resumable_and_appended(runs: list[Path], report: Path, tmp_path: Path) -> None:
    output = tmp_path / "labels.jsonl"
    first = label(runs, output, "y\nfine\nn\n\nq\n")
    assert first.exit_code == 0, first.output
    assert "SUCCESS" not in first.output
    assert "FAILURE" not in first.output
    assert "\x1b[31m" not in first.output
    assert "Find order 42." in first.output
    images = re.findall(
        r"^screenshots: 1, written by: replaykit extract (\S+) DIR$", first.output, re.MULTILINE
    )
    assert len(images) == 3
    assert set(images) <= set(map(str, runs))
    assert [one.label for one in read_labels(output).labels] == ["success", "failure"]
    before = output.read_bytes()
    assert "run 1 of 2" in label(runs, output, "x\n\nu\n\n").output
    assert output.read_bytes().startswith(before)
    assert [one.label for one in read_labels(output).labels[2:]] == ["not_executable", "unsure"]
    assert "every run is labelled already" in label(runs, output, "").stderr
    assert len({one.trajectory for one in read_labels(output).labels}) == 4


def test_the_order_is_that_of_the_seed(runs: list[Path], tmp_path: Path) -> None:
    def shown(name: str, seed: str) -> list[str]:
        said = label(runs, tmp_path / name, "y\n\n" * 4, "--seed", seed).output
        return [line.split(": ")[1] for line in said.splitlines() if line.startswith("run ")]

    assert shown("a", "1") == shown("b", "1")
    assert len({tuple(shown(f"c{seed}", str(seed))) for seed in range(8)}) > 1


def test_agreement_with_a_report(runs: list[Path], report: Path, tmp_path: Path, capfd: Any) -> None:
    said = ["success", "failure", "success", "failure"]
    digests = []
    for path in runs:
        with open_bundle(path) as bundle:
            digests.append(bundle.digest)
    labels = tmp_path / "labels.jsonl"
    rows = [
        {"trajectory": run, "label": one, "annotator": "ada"} for run, one in zip(digests, said, strict=True)
    ]
    labels.write_text("\n".join(json.dumps(row) for row in rows))
    calibrated = tmp_path / "calibration.json"
    assert run_cli(["agree", str(labels), str(report), "-o", str(calibrated)]) == 0
    out, errors = capfd.readouterr()
    assert "judge webvoyager may not decide a gate yet: kappa_low is 0, below 0.4; fpr_high is 1" in errors
    assert f"use it: replaykit grade RUNS --require-calibration {calibrated}" in errors
    assert "== webvoyager" in out
    assert "decided: tp 2, fp 1, fn 0, tn 1" in out
    judge, success = agree(labels, report)["graders"]
    assert (judge["name"], success["name"]) == ("webvoyager", "success")
    assert judge["decided"]["precision"]["value"] == 0.6667
    assert judge["rates"] == {"grader": 0.75, "people": 0.5, "gap": 0.25}
    assert judge["baselines"]["always SUCCESS"]["accuracy"] == 0.5
    assert judge["baselines"]["always FAILURE"]["recall"] == 0
    measured = read_calibration(calibrated)[judge["fingerprint"]]
    assert measured.rubrics == {}
    assert measured.lacks == (
        "kappa_low is 0, below 0.4",
        "fpr_high is 1, above 0.15",
        "n is 4, below 50",
        "n_pos is 2, below 20",
        "n_neg is 2, below 20",
    )


def test_what_is_no_verdict_is_counted(report: Path, runs: list[Path], tmp_path: Path) -> None:
    with open_bundle(runs[0]) as bundle:
        rows = [
            {"trajectory": bundle.digest, "label": "not_executable"},
            {"trajectory": "zzz", "label": "success"},
        ]
    labels = tmp_path / "l.jsonl"
    labels.write_text("\n".join(json.dumps(row) for row in rows))
    judge = agree(labels, report)["graders"][0]
    assert judge["decided"]["n"] == 0
    assert judge["decided"]["kappa"]["value"] is None
    assert judge["excluded"] == {"label not_executable": 1, "not in the other file": 1, "not labelled": 3}


def test_nothing_in_common_matches_nothing(report: Path, tmp_path: Path, capfd: Any) -> None:
    labels = tmp_path / "l.jsonl"
    labels.write_text('{"trajectory": "zzz", "label": "success"}')
    assert run_cli(["agree", str(labels), str(report)]) == 4
    assert run_cli(["agree", str(tmp_path / "none"), str(report)]) == 3


def test_a_calibration_that_cannot_be_written_is_reported(report: Path, tmp_path: Path, capfd: Any) -> None:
    labels = tmp_path / "l.jsonl"
    labels.write_text('{"trajectory": "zzz", "label": "success"}')
    assert run_cli(["agree", str(labels), str(report), "-o", str(tmp_path / "none" / "c.json")]) == 2
    assert "cannot write" in capfd.readouterr().err


def test_labels_against_labels(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("trajectory,label\na,success\nb,failure\nc,success\nd,unsure\n")
    two.write_text("trajectory,label\na,success\nb,success\nc,success\nd,failure\n")
    (grader,) = agree(one, two)["graders"]
    assert grader["decided"]["matrix"] == {"tp": 2, "fp": 1, "fn": 0, "tn": 0}
    assert grader["excluded"] == {"label unsure": 1}


def test_a_calibration_is_read_or_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"schema": "other"}')
    with pytest.raises(LabelError, match="it is not a calibration"):
        read_calibration(tmp_path / "x.json")


def test_published_labels_are_joined_by_task(runs: list[Path], tmp_path: Path, capfd: Any) -> None:
    verdicts = []
    for number, path in enumerate(runs[:2]):
        client = CallableClient(lambda request, images, n=number: "SUCCESS" if n else "NOT SUCCESS")
        with open_bundle(path) as bundle:
            verdicts.append(grade(bundle, client=client, judge_mode="new"))
    report = tmp_path / "report.json"
    write_report(build_report(verdicts), report)
    labels = tmp_path / "human_label.json"
    rows = [
        {"task_id": f"t{n}", "confirmed_task": "x", "A_human_label": 1, "B_human_label": 0} for n in (0, 1)
    ]
    labels.write_text(json.dumps(rows))
    judge = agree(labels, report, agent="A")["graders"][0]
    assert judge["decided"]["matrix"] == {"tp": 1, "fp": 0, "fn": 1, "tn": 0}
    assert judge["decided"]["few"] is True
    assert run_cli(["agree", str(labels), str(report)]) == 4
    assert "it labels runs of A, B; choose one with --agent" in capfd.readouterr().err


def test_a_task_with_several_runs_does_not_identify_one(report: Path, tmp_path: Path) -> None:
    labels = tmp_path / "l.csv"
    labels.write_text("task_id,human_label\nt0,1\nt1,0\n")
    judge = agree(labels, report)["graders"][0]
    assert (judge["decided"]["n"], judge["excluded"]) == (0, {"not in the other file": 2, "not labelled": 4})


def test_labels_that_match_nothing_are_named(report: Path, tmp_path: Path, capfd: Any) -> None:
    labels = tmp_path / "l.csv"
    labels.write_text("task_id,label\nt0,1\nt1,0\nelsewhere,1\nelsewhere,0\n")
    found = agree(labels, report)["labels"]
    assert found["such_as"] == ["t0", "t1", "elsewhere"]
    assert (found["unmatched"], found["of_several"], found["replaced"]) == (3, 2, 1)
    assert run_cli(["agree", str(labels), str(report)]) == 4
    errors = capfd.readouterr().err
    assert "1 label replaced by a later one of the same run and annotator" in errors
    assert "3 labelled runs not in report.json, such as t0, t1, elsewhere" in errors
    assert "2 labels of a task with several runs" in errors


def test_rows_without_an_answer_are_counted(report: Path, tmp_path: Path, capfd: Any) -> None:
    runs = [one["trajectory"] for one in json.loads(report.read_text())["verdicts"]]
    labels = tmp_path / "l.csv"
    labels.write_text(f"trajectory,label\n{runs[0]},1\n{runs[1]},\n{runs[2]},\n")
    assert agree(labels, report)["labels"]["unanswered"] == 2
    for words in (["agree", str(labels), str(report)], ["separates", str(report), "--labels", str(labels)]):
        assert run_cli(words) == 0
        assert "2 rows without an answer: not used" in capfd.readouterr().err
    labels.write_text(f"trajectory,label\n{runs[0]},1\n")
    assert run_cli(["agree", str(labels), str(report)]) == 0
    assert "without an answer" not in capfd.readouterr().err


@pytest.mark.parametrize("saved", ["sorted", "marked", "newer"])
def test_a_report_is_known_however_it_was_saved(report: Path, tmp_path: Path, saved: str) -> None:
    plain = json.loads(report.read_text())
    labels = tmp_path / "l.jsonl"
    labels.write_text(json.dumps({"trajectory": plain["verdicts"][0]["trajectory"], "label": "success"}))
    if saved == "newer":
        report.write_text(json.dumps({**plain, "schema": "replaykit.report/9"}))
        with pytest.raises(TaskError, match=r"a report of another version, 'replaykit\.report/9'"):
            agree(labels, report)
        return
    mark = "\ufeff" if saved == "marked" else ""
    report.write_text(mark + json.dumps(plain, indent=2, sort_keys=True))
    assert agree(labels, report)["graders"][0]["decided"]["n"] == 1
    assert [pair.kind for pair in diff(report, report).pairs] == []


def pour(writes: int, data: bytes) -> None:
    os.write(writes, data)
    os.close(writes)


def test_a_pipe_is_read_once(report: Path, tmp_path: Path) -> None:
    plain = json.loads(report.read_text())["verdicts"][0]
    labels = json.dumps({"trajectory": plain["trajectory"], "label": "success"}).encode()
    for data, others in ((labels, (report,)), (report.read_bytes(), ())):
        reads, writes = os.pipe()
        threading.Thread(target=pour, args=(writes, data), daemon=True).start()
        pipe = f"/dev/fd/{reads}"
        file = tmp_path / "l.jsonl"
        file.write_bytes(labels)
        words = ["agree", *([pipe, *map(str, others)] if others else [str(file), pipe])]
        assert run_cli(words) == 0
        os.close(reads)


@pytest.mark.parametrize("replaced", ["labels.jsonl", "report.json", "again.jsonl"])
def test_no_input_is_replaced(report: Path, tmp_path: Path, capfd: Any, replaced: str) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"trajectory": "a", "label": "success"}')
    (tmp_path / "again.jsonl").hardlink_to(labels)
    before = (tmp_path / replaced).read_bytes()
    assert run_cli(["agree", str(labels), str(report), "-o", str(tmp_path / replaced)]) == 2
    assert "which agree reads: name another file" in capfd.readouterr().err
    assert (tmp_path / replaced).read_bytes() == before


def test_two_verdicts_of_one_run_that_differ_are_refused(report: Path, tmp_path: Path, capfd: Any) -> None:
    labels = tmp_path / "l.jsonl"
    labels.write_text('{"trajectory": "zzz", "label": "success"}')
    plain = json.loads(report.read_text())
    first = plain["verdicts"][0]
    report.write_text(json.dumps({**plain, "verdicts": [*plain["verdicts"], first]}))
    graders = agree(labels, report)["graders"]
    assert [grader["duplicates"] for grader in graders] == [1, 1]
    assert graders[0]["excluded"]["not labelled"] == 4
    judgement = {**first["judgements"][0], "outcome": "FAILURE"}
    other = {**first, "judgements": [judgement]}
    report.write_text(json.dumps({**plain, "verdicts": [*plain["verdicts"], other]}))
    with pytest.raises(
        LabelError, match=r"two verdicts of .* differ in judge webvoyager .*: SUCCESS and FAILURE"
    ):
        agree(labels, report)
    assert run_cli(["agree", str(labels), str(report)]) == 3
    assert "Grade the run once, with one tape" in capfd.readouterr().err


def test_a_calibration_says_how_well_a_judge_agreed(report: Path, runs: list[Path], tmp_path: Path) -> None:
    labels, target = tmp_path / "l.jsonl", tmp_path / "c.json"
    for number, path in enumerate(runs):
        with open_bundle(path) as bundle:
            row = {"trajectory": bundle.digest, "label": "success" if number in (0, 1) else "failure"}
        with labels.open("a") as file:
            file.write(json.dumps(row) + "\n")
    assert run_cli(["agree", str(labels), str(report), "-o", str(target)]) == 0
    plain = json.loads(target.read_text())
    (judge,) = plain["judges"].values()
    assert plain["schema"] == "replaykit.calibration/2"
    assert (judge["n"], judge["n_pos"], judge["n_neg"], judge["tasks"]) == (4, 2, 2, 2)
    # Both tasks have a failure, one of them was called a success: Clopper-Pearson of 1 in 2.
    assert judge["fpr_high"] == 0.9747
    assert judge["origins"] == {"live": 4}
