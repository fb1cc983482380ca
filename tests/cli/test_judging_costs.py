"""`agree --prices` and `judge plan --prices`: requests, screenshots, tokens and money, from tapes or estimated."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.cli.main import run as run_cli
from replaykit.errors import UsageError
from replaykit.grading.agreement.calibration import agree
from replaykit.grading.agreement.graders import Grader
from replaykit.grading.agreement.judging_costs import judging_costs
from replaykit.grading.agreement.labels import Label
from replaykit.grading.engine import grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_run import run_judges
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.costs import Spent, read_prices, spent_on, together, tokens_of
from replaykit.grading.model_request import ModelReply, Usage
from replaykit.report.report_output import write_report
from replaykit.testing import trajectory
from tests.blocks import block
from tests.grading.judges.rubric_replies import by_stage

READ, WRITTEN = 1000, 100


def judged(folder: Path, judge: str, answer: Any, n: int = 4) -> tuple[Path, Path]:
    """Write runs of one task, judge them, and label every second one a success; return labels and report."""
    folder.mkdir()
    for number in range(n):
        built = trajectory({"id": "t", "intent": "Find the order number."})
        built.goto("http://shop.test/", f"<p>{number}</p>").screenshot(colour=(number, 2, 3))
        built.answer(f"It is {number}.").write(folder / f"r{number}.zst")
    client = CallableClient(answer)
    run_judges([folder], GradeOptions(judges=(judge,), judge_mode="new"), client=client, concurrency=1)
    report = grade_many([folder], GradeOptions(judges=(judge,)))
    write_report(report, folder / "report.json")
    rows = [
        {"trajectory": one.trajectory, "label": "failure" if number % 2 else "success"}
        for number, one in enumerate(report.verdicts)
    ]
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "labels.jsonl", folder / "report.json"


def billed(text: str) -> ModelReply:
    """Return a synthetic reply with tokens, as a provider reports them."""
    usage = Usage(input_tokens=READ, output_tokens=WRITTEN)
    return ModelReply(text=text, stop_reason="end_turn", model="m", origin="synthetic", usage=usage)


def test_what_was_billed_is_counted_per_run_stage_and_correct_verdict(tmp_path: Path, capfd: Any) -> None:
    labels, report = judged(tmp_path / "runs", "webvoyager", lambda request, _: billed("SUCCESS"))
    cost = agree(labels, report, prices="3/15")["graders"][0]["cost"]
    one = {"requests": 1.0, "images": 1.0, "read": 1000.0, "written": 100.0, "is_estimated": False}
    money = (READ * 3 + WRITTEN * 15) / 1_000_000
    assert (cost["runs"], cost["right"], cost["n_estimated"], cost["n_unknown"]) == (4, 2, 0, 0)
    assert cost["per_run"] == {**one, "money": money}
    assert cost["stages"] == {"verdict": {**one, "money": money}}
    assert cost["per_correct_verdict"]["money"] == 2 * money
    assert cost["per_correct_verdict"]["requests"] == 2.0
    output = tmp_path / "calibration.json"
    assert run_cli(["agree", str(labels), str(report), "--prices", "3/15", "-o", str(output)]) == 0
    said = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert ["per", "run", "1", "1", "1000", "100", "0.0045"] in said
    assert ["per", "correct", "verdict", "2", "2", "2000", "200", "0.009"] in said
    (known,) = json.loads(output.read_text())["judges"].values()
    assert known["cost"] == cost


def test_without_prices_a_calibration_has_tokens_and_no_money(tmp_path: Path, capfd: Any) -> None:
    labels, report = judged(tmp_path / "runs", "webvoyager", lambda request, _: billed("SUCCESS"))
    output = tmp_path / "calibration.json"
    assert run_cli(["agree", str(labels), str(report), "-o", str(output)]) == 0
    assert "cost of" not in capfd.readouterr().out
    (known,) = json.loads(output.read_text())["judges"].values()
    assert (known["cost"]["prices"], known["cost"]["per_run"]["money"]) == (None, None)
    assert known["cost"]["per_run"]["read"] == READ


def test_what_no_tape_holds_is_estimated_and_marked(tmp_path: Path, capfd: Any) -> None:
    sizes: list[int] = []

    def answer(request: Any, images: Any) -> str:
        sizes.append(tokens_of(request))
        return "SUCCESS!"

    labels, report = judged(tmp_path / "runs", "webvoyager", answer)
    cost = agree(labels, report, prices="3/15")["graders"][0]["cost"]
    assert cost["n_estimated"] == 4
    assert cost["total"]["read"] == sum(sizes)
    assert cost["total"]["written"] == 4 * 2
    assert run_cli(["agree", str(labels), str(report), "--prices", "3/15"]) == 0
    said = capfd.readouterr().out
    assert f"~{sum(sizes) / 4:.4g}" in said
    assert "~ estimated: 4 replies without recorded tokens" in said


def test_a_request_that_all_runs_of_a_task_share_is_paid_once(tmp_path: Path, capfd: Any) -> None:
    answer = by_stage()
    labels, report = judged(tmp_path / "runs", "rubric", lambda request, _: billed(answer(request)))
    cost = agree(labels, report, prices="3/15")["graders"][0]["cost"]
    stages = [(name, one["requests"]) for name, one in cost["stages"].items()]
    assert stages == [("rubric", 0.25), ("story", 1.0), ("reading", 1.0)]
    assert cost["n_estimated"] == 0  # the copies on the other tapes have no tokens: the first one counts
    assert cost["total"]["read"] == 9 * READ
    capfd.readouterr()
    assert run_cli(["judge", "plan", str(tmp_path / "runs"), "--judge", "rubric", "--prices", "3/15"]) == 0
    said = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert ["rubric", "rubric", "recorded", "1", "0", "1000", "100", "0.0045"] in said
    assert ["rubric", "reading", "recorded", "4", "4", "4000", "400", "0.0180"] in said


def test_a_plan_lists_the_stages_that_are_missing(tmp_path: Path, capfd: Any) -> None:
    built = trajectory({"id": "t", "intent": "Find the order number.", "judge": "webvoyager"})
    built.goto("http://shop.test/").screenshot(colour=(1, 2, 3)).answer("It is 1.").write(tmp_path / "r.zst")
    assert run_cli(["judge", "plan", str(tmp_path / "r.zst"), "--prices", "3/15"]) == 0
    said = [line.split() for line in capfd.readouterr().out.splitlines()]
    (row,) = (line for line in said if line[2:3] == ["missing"])
    assert row[:5] == ["webvoyager", "verdict", "missing", "1", "1"]
    assert row[5].startswith("~")
    assert row[7].startswith("~0.00")


def test_a_report_without_tokens_says_so(tmp_path: Path, capfd: Any) -> None:
    labels, report = judged(tmp_path / "runs", "webvoyager", lambda request, _: billed("SUCCESS"))
    plain = json.loads(report.read_text())
    for verdict in plain["verdicts"]:
        for stage in verdict["judgements"][0]["stages"]:
            del stage["usage"]
    report.write_text(json.dumps(plain))
    assert run_cli(["agree", str(labels), str(report), "--prices", "3/15"]) == 0
    assert "the report holds no tokens of 4 replies: grade the runs again" in capfd.readouterr().out
    cost = agree(labels, report, prices="3/15")["graders"][0]["cost"]
    assert (cost["per_run"]["requests"], cost["per_run"]["read"], cost["per_run"]["money"]) == (1, None, None)


def stage(key: str, **more: Any) -> dict[str, Any]:
    return {"stage": "s", "request_key": key, "usage": {"images": 0, "read": 1, "written": 0}, **more}


def grader(*stages: dict[str, Any]) -> Grader:
    return Grader(name="j", answer={"r": "success"}, fingerprint="f", stages={"r": stages})


LABELLED = {"r": Label(trajectory="r", label="success")}


def test_members_share_equal_requests_and_votes_do_not() -> None:
    members = grader(stage("a", member="one"), stage("a", member="two"), stage("b", member="two"))
    assert judging_costs(LABELLED, members)["total"]["requests"] == 2
    votes = grader(stage("a", sample=0), stage("a", sample=1), stage("a", sample=1))
    assert judging_costs(LABELLED, votes)["total"]["requests"] == 3


def test_nothing_labelled_costs_nothing_per_run() -> None:
    found = judging_costs({}, grader(stage("a")))
    assert (found["runs"], found["per_run"], found["per_correct_verdict"]) == (0, None, None)


@pytest.mark.parametrize(
    "usage", [None, [], {}, {"read": 1}, {"images": 0, "read": -1, "written": 0}, {"images": "x"}]
)
def test_a_stage_that_somebody_else_wrote_has_unknown_tokens(usage: Any) -> None:
    assert spent_on({"usage": usage}) == Spent(requests=1, n_unknown=1)


@given(st.lists(st.builds(Spent, *[st.integers(0, 9)] * 5, st.just(0))))
def test_sums_cost_what_their_parts_cost(parts: list[Spent]) -> None:
    at = read_prices("3/15.5")
    assert together(parts).money(at) == sum((one.money(at) or 0) for one in parts)


def test_prices_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected IN/OUT"):
        read_prices("three")


def test_the_example_of_the_page(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    labels, _ = judged(tmp_path / "runs", "rubric", lambda request, _: by_stage()(request))
    monkeypatch.chdir(labels.parent)
    command, *shown = block(
        "docs/calibration.md", "$ replaykit agree labels.jsonl report.json --prices"
    ).text.splitlines()
    capfd.readouterr()
    assert run_cli(shlex.split(command.removeprefix("$ "))[1:]) == 0
    said = capfd.readouterr().out.splitlines()
    start = said.index(shown[0])
    assert said[start : start + len(shown)] == shown
