"""`agree --question`: AgentRewardBench's further questions, answered by findings and by judges that were asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.cli.main import run as run_cli
from replaykit.errors import LabelError, TaskError
from replaykit.grading.agreement.calibration import agree
from replaykit.grading.engine import grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_run import run_judges
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.report.report_output import write_report
from tests.interop.samples import agentrewardbench

HEAD = (
    "annotator_name,benchmark,task_id,model_name,trajectory_success,trajectory_side_effect,trajectory_looping"
)
ROUND = ("a", "b", "a", "b")
ONWARD = ("a", "b", "c", "d")


def steps(clicks: tuple[str, ...], *, has_trees: bool = True) -> list[dict[str, Any]]:
    """Clicks, each on the page that is named like it, and the page after them."""
    made: list[dict[str, Any]] = [
        {
            "num": at,
            "action": f"click('{page}')",
            "reasoning": "On.",
            "url": "http://x.test/",
            "axtree": f"[{page}] button" if has_trees else None,
            "open_pages_urls": ["http://x.test/"],
        }
        for at, page in enumerate(clicks)
    ]
    return [*made, {"num": len(clicks), "url": "http://x.test/"}]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Four runs of one agent: round and called so, onward and called so, onward and called round, not known."""
    runs = {"wa.1": (ROUND, True), "wa.2": (ONWARD, True), "wa.3": (ONWARD, True), "wa.4": (ROUND, False)}
    for task, (clicks, has_trees) in runs.items():
        path = agentrewardbench(tmp_path / "in", steps=steps(clicks, has_trees=has_trees))
        path.rename(path.with_name(f"{task}.json"))
    assert run_cli(["import", "agentrewardbench", str(tmp_path / "in"), "-o", str(tmp_path / "runs")]) == 0
    said = {"wa.1": "Yes", "wa.2": "No", "wa.3": "Yes", "wa.4": "Yes"}
    rows = [HEAD, *(f"A,wa,{task},m,Successful,No,{looping}" for task, looping in said.items())]
    rows.append("A,wa,wa.2,other,Successful,Yes,Yes")
    labels = tmp_path / "annotations.csv"
    labels.write_text("\n".join(rows) + "\n")
    write_report(grade_many([tmp_path / "runs"]), tmp_path / "report.json")
    return labels, tmp_path / "report.json"


def test_findings_answer_whether_a_run_went_round(files: tuple[Path, Path], capfd: Any) -> None:
    labels, report = files
    (found,) = agree(labels, report, agent="m", question="looping")["graders"]
    assert found["name"] == "finding C2"
    assert found["decided"]["matrix"] == {"tp": 1, "fp": 0, "fn": 1, "tn": 1}
    assert found["excluded"] == {"unknown": 1}
    assert found["baselines"]["always yes"]["accuracy"] == 0.6667
    assert (
        run_cli(["agree", str(labels), str(report), "--agent", "m", "--question", "trajectory_looping"]) == 0
    )
    out = capfd.readouterr().out
    assert "question trajectory_looping: positive = yes\nlabels: 3 yes, 1 no\n" in out
    assert "== finding C2" in out
    assert "left out: 1 unknown" in out


def test_a_network_that_was_not_recorded_answers_nothing(files: tuple[Path, Path]) -> None:
    labels, report = files
    (found,) = agree(labels, report, agent="m", question="side_effect")["graders"]
    assert (found["name"], found["decided"]["n"], found["excluded"]) == ("finding S1", 0, {"unknown": 4})


REPLY = "<success>Successful</success><side>No</side><optimal>1. Complete Failure</optimal><loop>{}</loop>"


def test_judges_that_were_asked_answer_too(files: tuple[Path, Path], tmp_path: Path) -> None:
    labels, report = files
    said = {"wa.1": "Yes", "wa.2": "Yes", "wa.3": "No", "wa.4": "perhaps"}
    for task, loop in said.items():
        client = CallableClient(lambda request, images, loop=loop: REPLY.format(loop))
        options = GradeOptions(judges=("agent_reward",), judge_mode="new")
        run_judges([tmp_path / "runs" / f"{task}.zst"], options, client=client)
    write_report(grade_many([tmp_path / "runs"], GradeOptions(judges=("agent_reward",))), report)
    finding, judge = agree(labels, report, agent="m", question="looping")["graders"]
    assert (finding["name"], judge["name"]) == ("finding C2", "agent_reward")
    assert judge["decided"]["matrix"] == {"tp": 1, "fp": 1, "fn": 1, "tn": 0}
    assert judge["excluded"] == {"unknown": 1}
    success = agree(labels, report, agent="m")["graders"][0]
    assert success["decided"]["matrix"] == {"tp": 4, "fp": 0, "fn": 0, "tn": 0}


def test_what_cannot_be_asked_is_refused(files: tuple[Path, Path], tmp_path: Path, capfd: Any) -> None:
    labels, report = files
    with pytest.raises(
        LabelError, match=r"no question 'optimality' .* trajectory_looping, trajectory_side_effect"
    ):
        agree(labels, report, agent="m", question="optimality")
    with pytest.raises(LabelError, match="no labels of agent 'x'; there are m, other"):
        agree(labels, report, agent="x", question="looping")
    own = tmp_path / "own.jsonl"
    own.write_text(json.dumps({"trajectory": "a" * 64, "label": "success"}))
    with pytest.raises(LabelError, match="there are none"):
        agree(own, report, question="looping")
    with pytest.raises(TaskError, match="not a report"):
        agree(labels, labels, question="looping")
    labels.write_text(labels.read_text().replace(",Yes\n", ",often\n"))
    with pytest.raises(LabelError, match=r"'often' of run .* is not yes, no or unsure"):
        agree(labels, report, question="looping")
    arguments = ["agree", str(labels), str(report), "--question", "looping", "-o", str(tmp_path / "c.json")]
    assert run_cli(arguments) == 2
    assert "a calibration is of success" in capfd.readouterr().err
