"""Panels: every count up to four members against a slow reference, tapes, plans, refusals."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.errors import JudgeError
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import grade
from replaykit.grading.judge_runs.judge_run import plan_judges, requests_of, run_judges
from replaykit.grading.judge_runs.tape_use import tape_use
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.judge_panel import fold, members_of, thresholds
from replaykit.grading.judges.settings_file import load_judge
from replaykit.grading.judges.tape.tape import read_tape, tape_beside
from replaykit.grading.model_request import ModelReply
from replaykit.grading.verdict import JudgeOutcome
from replaykit.report.json_report import as_json
from replaykit.report.text.text_report import as_text
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.testing import trajectory

S, F, A, E = JudgeOutcome.SUCCESS, JudgeOutcome.FAILURE, JudgeOutcome.ABSTAIN, JudgeOutcome.ERROR
PANEL = JudgeSettings(protocol="panel", members=("webvoyager", "agent_reward", "webjudge"))


def outcome_of(said: list[JudgeOutcome], success: int, failure: int, vetoes: int) -> JudgeOutcome:
    """Return the verdict of a panel in which every member was asked: the table of the rule."""
    if F in said[:vetoes]:
        return F
    yes, no = said.count(S) >= success, said.count(F) >= failure
    return {(True, False): S, (False, True): F}.get((yes, no), A)


def all_said(said: list[JudgeOutcome]) -> Iterator[list[JudgeOutcome]]:
    """Every way in which members that could not be asked might have decided."""
    yield from map(list, itertools.product(*([S, F, A] if one is E else [one] for one in said)))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_count_up_to_four_members(n: int) -> None:
    for said in itertools.product((S, F, A, E), repeat=n):
        for success, failure, vetoes in itertools.product(range(1, n + 1), range(1, n + 1), (0, 1)):
            names = [f"m{place}" for place in range(n)]
            found, reason = fold(dict(zip(names, said, strict=True)), success, failure, names[:vetoes])
            might = {outcome_of(one, success, failure, vetoes) for one in all_said(list(said))}
            if E not in said:
                assert {found} == might, (said, success, failure)
            assert (found is S) <= (E not in said)
            assert (found is F) <= (might == {F}), (said, success, failure)
            assert (found is E) <= (E in said)
            assert reason in ("quorum", "veto", "tie", "no_quorum")


outcomes = st.lists(st.sampled_from([S, F, A, E]), min_size=2, max_size=9)


@given(outcomes, st.data())
def test_no_member_that_falls_silent_makes_a_success(said, data) -> None:
    success, failure = (data.draw(st.integers(1, len(said))) for _ in range(2))
    place = data.draw(st.integers(0, len(said) - 1))
    before, _ = fold({str(n): one for n, one in enumerate(said)}, success, failure, ["0"])
    silent = {str(n): E if n == place else one for n, one in enumerate(said)}
    after, _ = fold(silent, success, failure, ["0"])
    assert after is not S
    assert before is not S or after is E  # what was a success is never another verdict


def test_by_default_all_make_a_success_and_more_than_half_a_failure() -> None:
    assert thresholds(PANEL) == (3, 2)
    assert fold({"a": S, "b": S, "c": F}, 3, 2) == (A, "no_quorum")
    assert fold({"a": S, "b": F, "c": F}, 3, 2) == (F, "quorum")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"members": ("webvoyager",)}, "a panel has 2 to 9, this one 1"),
        ({"members": ("webvoyager", "webvoyager")}, "two are named 'webvoyager'"),
        ({"members": ("webvoyager", JudgeSettings(protocol="webvoyager", id="b"))}, "add cost, not evidence"),
        ({"members": ("webvoyager", PANEL)}, "is no panel"),
        ({"success": 4}, "option success: 4 is not from 1 to 3"),
        ({"veto": ("rubric",)}, "'rubric' is no member; there are webvoyager, agent_reward, webjudge"),
        ({"votes": 3}, "option votes: it is of a panel's members"),
        ({"members": ("webvoyager", "nobody")}, "no judge 'nobody'"),
    ],
)
def test_what_no_panel_can_be_is_refused_by_name(fields: dict[str, Any], message: str) -> None:
    wrong = {"protocol": "panel", "members": PANEL.members, **fields}
    with pytest.raises(JudgeError, match=message):
        members_of(JudgeSettings(**wrong), "strict")


def test_options_of_a_panel_are_refused_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "j.yaml").write_text("protocol: webvoyager\nsuccess: 2\n")
    with pytest.raises(JudgeError, match="option success: it is of protocol panel"):
        plan_judges([write(tmp_path)], GradeOptions(judges=(load_judge(tmp_path / "j.yaml"),)))


def write(folder: Path, judge: object = None, name: str = "run") -> str:
    built = trajectory({"id": name, "intent": "Find the order.", **({"judge": judge} if judge else {})})
    built.goto("http://shop.test/", "<p>Order 42</p>").screenshot().click("#a").screenshot(colour=(0, 9, 0))
    return str(built.answer("It is 42.").write(folder / f"{name}.zst"))


def says(first: str, second: str) -> Callable[..., ModelReply]:
    """A client's replies: the first member's model, and the others'. Written by hand."""

    def reply(request: Any, _: Any) -> ModelReply:
        text = first if request.model == "anthropic:one" else second
        return ModelReply(text=text, stop_reason="end_turn", model=request.model, origin="synthetic")

    return reply


def panel_file(folder: Path, more: str = "") -> Path:
    (folder / "two.yaml").write_text("protocol: webvoyager\nid: two\nmodel: anthropic:two\n")
    (folder / "one.yaml").write_text("protocol: webvoyager\nid: one\nmodel: anthropic:one\n")
    (folder / "panel.yaml").write_text(
        f"protocol: panel\nmembers: [{{file: one.yaml}}, {{file: two.yaml}}]\n{more}"
    )
    return folder / "panel.yaml"


def asked(source: str, file: Path, *replies: str) -> Any:
    options = GradeOptions(judges=(load_judge(file),), judge_mode="new")
    ((_, judgement),) = run_judges([source], options, client=CallableClient(says(*replies)))
    return judgement


def test_members_are_asked_recorded_folded_and_listed(tmp_path: Path) -> None:
    source, file = write(tmp_path), panel_file(tmp_path)
    judgement = asked(source, file, "SUCCESS", "NOT SUCCESS")
    assert (judgement.outcome, judgement.reason) == (A, "no_quorum")
    assert [(one["judge"], one["outcome"]) for one in judgement.members] == [
        ("one", "SUCCESS"),
        ("two", "FAILURE"),
    ]
    assert judgement.origins == {"synthetic": 2}
    assert [stage["member"] for stage in judgement.stages] == ["one", "two"]
    report = grade_many([source], GradeOptions(judges=(load_judge(file),)))
    assert report.verdicts[0].judgements[0] == judgement
    assert as_json(report) == as_json(grade_many([source], GradeOptions(judges=(load_judge(file),))))
    text = as_text(report)
    assert "SUCCESS member one (synthetic)" in text
    assert "FAILURE member two (synthetic)" in text


def test_thresholds_and_vetoes_come_from_the_file(tmp_path: Path) -> None:
    source = write(tmp_path)
    assert (
        asked(source, panel_file(tmp_path, "success: 1\nfailure: 2\n"), "SUCCESS", "NOT SUCCESS").outcome is S
    )
    vetoed = asked(
        source, panel_file(tmp_path, "success: 1\nfailure: 2\nveto: [two]\n"), "SUCCESS", "NOT SUCCESS"
    )
    assert (vetoed.outcome, vetoed.reason) == (F, "veto")


def test_nothing_is_a_success_when_a_member_is_missing(tmp_path: Path) -> None:
    source, file = write(tmp_path), panel_file(tmp_path, "success: 1\nfailure: 2\n")
    asked(source, file, "SUCCESS", "SUCCESS")
    tape = tape_beside(source)
    lines = tape.read_bytes().splitlines(keepends=True)
    tape.write_bytes(b"".join(line for line in lines if b'"judge":"two"' not in line))
    (judgement,) = grade_many([source], GradeOptions(judges=(load_judge(file),))).verdicts[0].judgements
    assert (judgement.outcome, judgement.reason) == (E, "tape_miss")
    assert "two: no reply to two/verdict" in judgement.detail


def test_a_plan_counts_every_member_and_a_shared_request_once(tmp_path: Path) -> None:
    source, file = write(tmp_path), panel_file(tmp_path)
    options = GradeOptions(judges=(load_judge(file),))
    (planned,) = plan_judges([source], options)
    assert (planned.judge, len(planned.plan.missing), planned.plan.at_most, planned.plan.images) == (
        "panel",
        2,
        2,
        4,
    )
    assert [one.request.judge for one in requests_of([source], options)] == ["one", "two"]
    # Two readings of one request: another parser is another judge, and asks the same.
    for name, pass_at in (("low", 2), ("high", 4)):
        (tmp_path / f"{name}.json").write_text(
            json.dumps(
                {
                    "id": name,
                    "parser": {"kind": "score", "pass_at": pass_at},
                    "prompts": {"system": "s", "user": "u"},
                }
            )
        )
    (tmp_path / "s").write_text("Score the run.")
    (tmp_path / "u").write_text("{{task}}\n{{answer}}")
    (tmp_path / "both.yaml").write_text("protocol: panel\nmembers: [{file: low.json}, {file: high.json}]\n")
    options = GradeOptions(judges=(load_judge(tmp_path / "both.yaml"),), judge_mode="new")
    (planned,) = plan_judges([source], options)
    assert len(planned.plan.missing) == 1
    calls: list[str] = []

    def counted(request: Any, _: Any) -> str:
        calls.append(request.judge)
        return "Score: 3"

    ((_, judgement),) = run_judges([source], options, client=CallableClient(counted))
    assert calls == ["low"]
    assert [one["outcome"] for one in judgement.members] == ["SUCCESS", "FAILURE"]


def test_replies_for_a_member_alone_answer_the_panel(tmp_path: Path) -> None:
    source, file = write(tmp_path), panel_file(tmp_path)
    for name in ("one", "two"):
        asked(source, tmp_path / f"{name}.yaml", "SUCCESS", "SUCCESS")
    (judgement,) = grade_many([source], GradeOptions(judges=(load_judge(file),))).verdicts[0].judgements
    assert judgement.outcome is S


def test_a_panel_of_a_task_and_the_use_of_its_tape(tmp_path: Path) -> None:
    members = ["webvoyager", {"protocol": "webvoyager", "id": "other", "model": "anthropic:other"}]
    source = write(tmp_path, {"protocol": "panel", "members": members})
    run_judges([source], client=CallableClient(says("SUCCESS", "SUCCESS")))
    state = tape_use(source, tape_beside(source))
    assert state is not None
    assert state.unused == 0
    tape = read_tape(tape_beside(source))
    assert tape is not None
    assert Counter(entry.judge for entry in tape.entries) == {"webvoyager": 1, "other": 1}


def test_a_task_names_no_code_as_a_member(tmp_path: Path) -> None:
    members = ["webvoyager", {"protocol": "custom", "entry": "evil.py@Judge"}]
    source = write(tmp_path, {"protocol": "panel", "members": members})
    with open_bundle(source) as bundle, pytest.raises(JudgeError, match="of the task is code"):
        grade(bundle)


def test_a_panel_within_a_panel_s_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("protocol: panel\nmembers: [webvoyager, {file: p.yaml}]\n")
    with pytest.raises(JudgeError, match=r"p\.yaml is a panel itself"):
        load_judge(tmp_path / "p.yaml")


def test_pairs_that_never_differ_are_reported(tmp_path: Path) -> None:
    file, verdicts = panel_file(tmp_path), []
    for name, second in (("a", "SUCCESS"), ("b", "SUCCESS"), ("c", "NOT SUCCESS")):
        source = write(tmp_path, name=name)
        asked(source, file, "SUCCESS", second)
        verdicts += grade_many([source], GradeOptions(judges=(load_judge(file),))).verdicts
    same = build_report(verdicts[:2])
    assert same.summary["judges"]["panel"]["pairs"] == [
        {"members": ["one", "two"], "n": 2, "kappa": None, "differed": 0}
    ]
    assert "one and two of panel: never differed in 2 runs that both decided" in as_text(same)
    assert "differed in 1 of 3 runs that both decided, kappa 0.000" in as_text(build_report(verdicts))
