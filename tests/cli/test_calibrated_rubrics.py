"""`agree -o` keeps by which rubric each task was judged, and `--require-calibration` refuses another one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from replaykit.cli.main import run as run_cli
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_run import run_judges
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.verdict import Verdict
from replaykit.report.report_output import write_report
from replaykit.testing import trajectory
from tests.grading.judges.rubric_replies import CRITERIA, as_client, by_stage, reading, row, rubric

MINIMUM = ("--calibration-min", "n=0,n_pos=0,n_neg=0,kappa_low=-1,fpr_high=1")


def judged(path: Path, task: str, end: str) -> Verdict:
    """Write a run and judge it by a criterion that ends so; the replies are synthetic."""
    built = trajectory({"id": task, "intent": "Find the order number."})
    built.goto("http://shop.test/", f"<p>{path.name}</p>").screenshot(colour=(1, 2, 3))
    built.answer("It is 42.").write(path)
    criteria = [{**CRITERIA[1], "statement": f"The page shows the order number{end}"}]
    client = CallableClient(as_client(by_stage(rubric=rubric(criteria), reading=reading(row("c2")))))
    run_judges([path], GradeOptions(judges=("rubric",), judge_mode="new"), client=client)
    (verdict,) = grade_many([path], GradeOptions(judges=("rubric",))).verdicts
    return verdict


def labelled(path: Path, *verdicts: Verdict) -> Path:
    labels = ("success", "failure")
    rows = [{"trajectory": one.trajectory, "label": labels[n % 2]} for n, one in enumerate(verdicts)]
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def calibrated(folder: Path, labels: Path, *verdicts: Verdict) -> Path:
    report, output = folder / "report.json", folder / "calibration.json"
    write_report(build_report(verdicts), report)
    assert run_cli(["agree", str(labels), str(report), "-o", str(output)]) == 0
    return output


def rubrics_of(calibration: Path) -> dict[str, list[str]]:
    (judge,) = json.loads(calibration.read_text())["judges"].values()
    found: dict[str, list[str]] = judge["rubrics"]
    return found


def basis(verdict: Verdict) -> str:
    (found,) = verdict.judgements[0].bases
    return found


def test_a_calibration_keeps_the_rubrics_of_labelled_runs(tmp_path: Path, capfd: Any) -> None:
    one, two, other = (
        judged(tmp_path / "a.zst", "t1", "."),
        judged(tmp_path / "b.zst", "t1", "!"),
        judged(tmp_path / "c.zst", "t2", "."),
    )
    unlabelled = judged(tmp_path / "d.zst", "t3", ".")
    labels = labelled(tmp_path / "l.jsonl", one, two, other)
    file = calibrated(tmp_path, labels, one, two, other, unlabelled)
    assert rubrics_of(file) == {"t1": sorted({basis(one), basis(two)}), "t2": [basis(other)]}
    by_task = tmp_path / "l.csv"
    by_task.write_text("task_id,human_label\nt1,1\nt2,0\n")
    assert rubrics_of(calibrated(tmp_path, by_task, one, other)) == {"t1": [basis(one)], "t2": [basis(other)]}


def test_another_rubric_than_the_calibrated_one_is_refused(tmp_path: Path, capfd: Any) -> None:
    known, other = judged(tmp_path / "a.zst", "t1", "."), judged(tmp_path / "b.zst", "t1", "!")
    new = judged(tmp_path / "c.zst", "t2", "!")
    file = calibrated(tmp_path, labelled(tmp_path / "l.jsonl", known), known)
    plain = json.loads(file.read_text())
    for judge in plain["judges"].values():
        judge.update(origins={}, kappa_low=1, fpr_high=0)
    file.write_text(json.dumps(plain))
    assert len({one.judgements[0].fingerprint for one in (known, other, new)}) == 1
    how = ("--judge", "rubric", "--fail-on", "judge", "--require-calibration", str(file), *MINIMUM)
    capfd.readouterr()
    assert run_cli(["grade", str(tmp_path / "a.zst"), *how]) == 0
    assert run_cli(["grade", str(tmp_path / "c.zst"), *how]) == 0  # of a task without a calibrated rubric
    capfd.readouterr()
    assert run_cli(["grade", str(tmp_path / "b.zst"), *how]) == 3
    said = capfd.readouterr().out
    assert f"not calibrated for task t1: its rubric is {basis(other)[:19]}, that of the calibration" in said
    assert f"{basis(known)[:19]}; judge by that one" in said


def test_agents_and_sites_in_common_are_asked_for(tmp_path: Path, capfd: Any) -> None:
    def at(name: str, agent: str, site: str) -> Verdict:
        path = tmp_path / f"{name}.zst"
        task = {"id": name, "intent": "Find the order number.", "start_urls": [f"http://{site}/"]}
        built = trajectory(task, agent={"name": agent}).goto(f"http://{site}/", f"<p>{name}</p>")
        built.screenshot(colour=(1, 2, 3)).answer("It is 42.").write(path)
        client = CallableClient(as_client(by_stage()))
        run_judges([path], GradeOptions(judges=("rubric",), judge_mode="new"), client=client)
        return grade_many([path], GradeOptions(judges=("rubric",))).verdicts[0]

    known, _, _ = at("a", "ada", "shop.test"), at("b", "bob", "shop.test"), at("c", "ada", "crm.test")
    file = calibrated(tmp_path, labelled(tmp_path / "l.jsonl", known), known)
    (judge,) = json.loads(file.read_text())["judges"].values()
    assert (judge["agents"], judge["sites"]) == (["ada"], ["shop.test"])
    how = ("--judge", "rubric", "--require-calibration", str(file), *MINIMUM)

    def warned(*names: str) -> list[str]:
        capfd.readouterr()
        run_cli(["grade", *(str(tmp_path / f"{name}.zst") for name in names), *how])
        return [line for line in capfd.readouterr().err.splitlines() if "in common" in line]

    assert warned("a") == warned("a", "b") == warned("b", "c") == []
    (of_agents,) = warned("b")
    assert "judge rubric has no agent in common with its calibration: bob here, ada there" in of_agents
    (of_sites,) = warned("c")
    assert "no site in common with its calibration: crm.test here, shop.test there" in of_sites
