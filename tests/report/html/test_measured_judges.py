"""Attacks and calibrations on the first screen: which rows, whose, and that their words stay inert."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from replaykit.cli.main import run as run_cli
from replaykit.errors import JudgeError
from replaykit.grading.agreement.calibration_gate import Measured
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_attacks import (
    AttackResult,
    Flips,
    attack_judges,
    read_attacks,
    run_attacks,
)
from replaykit.grading.judge_runs.judge_run import run_judges
from replaykit.grading.judges.attacks import attacks_named
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.verdict import Report
from replaykit.report.html.measured_judges import JudgeMeasures, measured_judges, measured_text
from replaykit.report.html.report_file import HtmlOptions, write_html
from replaykit.report.report_output import write_report
from replaykit.testing import trajectory
from tests.blocks import block

EVIL = "</script><script>alert(1)</script>\u202e"


def flips(part: int, whole: int) -> Flips:
    return Flips(flips=part, n=whole, share=part / whole, ci95=(0.0, 1.0), high95=0.5)


def attack(name: str = "answer", judge: str = "webvoyager", **fields: Any) -> AttackResult:
    made: dict[str, Any] = {
        "judge": judge, "fingerprint": "sha256:1", "attack": name, "danger": "success", "n": 4, "n_missing": 0,
        "n_skipped": 0, "n_immune": 0, "origins": {"synthetic": 4}, "flipped": flips(1, 4), "to": {"SUCCESS": 1},
        "susceptible": flips(1, 3), "stays": flips(1, 1), "beyond_again": 0.25, "mcnemar_p": 1.0,
        "false_positives": None, "false_positives_before": None,
    }  # fmt: skip
    return AttackResult(**{**made, **fields})


def calibrated(name: str = "webvoyager", **fields: Any) -> Measured:
    made = {"n": 60, "n_pos": 30, "n_neg": 30, "kappa_low": 0.5, "fpr_high": 0.1, "rubrics": {}}
    return Measured(name=name, **{**made, **fields})


def page(report: Report, measures: JudgeMeasures) -> str:
    text = io.StringIO()
    write_html(report, (), text, HtmlOptions(measures=measures))
    return text.getvalue()


def test_nothing_measured_changes_no_byte(markup: Callable[[str], Any]) -> None:
    report = build_report([])
    plain = io.StringIO()
    write_html(report, (), plain)
    assert page(report, JudgeMeasures()) == plain.getvalue()
    assert "measured" not in markup(plain.getvalue()).report


def test_rows_say_whose_they_are_and_what_is_synthetic() -> None:
    measures = JudgeMeasures(
        attacks=(attack(),), calibration={"sha256:1": calibrated(n=10, origins={"synthetic": 2})}
    )
    found = measured_judges(measures, build_report([]))
    (row,) = found["attacks"]
    assert (row["success"], row["stays"], row["high"], row["again"]) == ([1, 3], [1, 1], 0.5, 0.25)
    assert (row["synthetic"], row["elsewhere"]) == (4, True)
    (known,) = found["calibration"]
    assert known["lacks"] == [
        "2 of the replies it was measured on are synthetic, not a model's", "n is 10, below 50",
    ]  # fmt: skip
    assert "calibration of webvoyager, 10 labelled runs: 2 of the replies" in measured_text(measures)


def test_hostile_names_stay_data(markup: Callable[[str], Any]) -> None:
    measures = JudgeMeasures(attacks=(attack(EVIL, EVIL),), calibration={"x": calibrated(EVIL)})
    read = markup(page(build_report([]), measures))
    assert read.report["measured"]["attacks"][0]["judge"] == EVIL
    scripts = [dict(attributes) for tag, attributes in read.tags if tag == "script"]
    assert [one.get("type") for one in scripts] == ["application/json", None]


def judged_under_attack(folder: Path) -> tuple[list[str], Report]:
    """Write two runs with replies to a judge and under attack, all synthetic, and the report of their grading."""
    runs = []
    for number in range(2):
        built = trajectory({"id": f"t{number}", "intent": f"Find order {number}.", "judge": "webvoyager"})
        built.goto("http://shop.test/", f"<p>{number}</p>").screenshot(colour=(number, 0, 0))
        runs.append(str(built.answer("It is 1.").write(folder / f"r{number}.zst")))
    client, live = CallableClient(lambda request, _: "NOT SUCCESS"), GradeOptions(judge_mode="new")
    run_judges(runs, live, client=client)
    run_attacks(runs, live, attacks_named("answer"), client=client)
    report = grade_many(runs)
    write_report(report, folder / "report.json")
    return runs, report


def test_the_command_takes_what_the_other_commands_wrote(tmp_path: Path, capfd: Any) -> None:
    runs, report = judged_under_attack(tmp_path)
    capfd.readouterr()
    assert run_cli(["judge", "sensitivity", *runs, "--attacks", "answer", "--json"]) == 0
    (tmp_path / "attacks.json").write_text(capfd.readouterr().out)
    assert list(read_attacks(tmp_path / "attacks.json")) == attack_judges(
        runs, GradeOptions(), attacks_named("answer")
    )
    labels = tmp_path / "labels.jsonl"
    labels.write_text(
        "".join(
            json.dumps({"trajectory": one.trajectory, "label": "failure"}) + "\n" for one in report.verdicts
        )
    )
    calibration = str(tmp_path / "calibration.json")
    assert run_cli(["agree", str(labels), str(tmp_path / "report.json"), "-o", calibration]) == 0
    shown = ["--sensitivity", str(tmp_path / "attacks.json"), "--calibration", calibration]
    out = tmp_path / "x.html"
    assert run_cli(["view", str(tmp_path / "report.json"), *runs, *shown, "-o", str(out)]) == 0
    first = out.read_text().partition('id="report">')[2].partition("</script>")[0]
    measured = json.loads(first)["measured"]
    assert [(row["attack"], "elsewhere" in row) for row in measured["attacks"]] == [
        ("again", False),
        ("answer", False),
    ]
    assert measured["calibration"][0]["n_neg"] == 2


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[1]", b"\xff", b'[{"judge": "x"}]', msgspec.json.encode([{}])]
)
def test_what_no_attacks_are_is_refused(data: bytes, tmp_path: Path, capfd: Any) -> None:
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(JudgeError, match=r"a\.json: not a list of attacks"):
        read_attacks(tmp_path / "a.json")
    with pytest.raises(JudgeError, match=r"none\.json: cannot read the attacks"):
        read_attacks(tmp_path / "none.json")
    write_report(build_report([]), tmp_path / "r.json")
    how = ["--sensitivity", str(tmp_path / "a.json"), "-o", str(tmp_path / "x.html")]
    assert run_cli(["view", str(tmp_path / "r.json"), *how]) == 3
    assert not (tmp_path / "x.html").exists()


def test_the_commands_of_the_page(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    (tmp_path / "runs").mkdir()
    _, report = judged_under_attack(tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    write_report(report, tmp_path / "report.json")
    labels = [{"trajectory": one.trajectory, "label": "failure"} for one in report.verdicts]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(one) + "\n" for one in labels))
    assert run_cli(["agree", "l.jsonl", "report.json", "-o", "calibration.json"]) == 0
    measure, show = block("docs/calibration.md", "replaykit judge sensitivity").text.splitlines()
    command, target = measure.split(" > ")
    capfd.readouterr()
    assert run_cli(shlex.split(command)[1:]) == 0
    (tmp_path / target).write_text(capfd.readouterr().out)
    assert run_cli(shlex.split(show)[1:]) == 0
    assert '"measured":{"attacks":[' in (tmp_path / "report.html").read_text()
