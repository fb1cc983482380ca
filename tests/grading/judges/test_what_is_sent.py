"""Contents that no request may hold: reasoning, reference values, the answer beside screenshots."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.grading.engine import build_report
from replaykit.grading.judge_rates import judges_summary
from replaykit.grading.judges.attacks import ORDER, attacks_named, under
from replaykit.grading.judges.judge_evidence import gather
from replaykit.grading.judges.judge_loop import drive
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest
from replaykit.grading.verdict import Judgement, JudgeOutcome, RunFinding, Verdict
from replaykit.replay.player import Replay
from replaykit.report.text.judgement_text import process_lines
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import decode_task
from replaykit.testing import Builder, trajectory
from replaykit.trajectory.action import Fill
from replaykit.trajectory.step import CHANNELS

from .conftest import Recorded
from .rubric_replies import by_stage

REASONING, REFERENCE, ANSWER = "canary-reasoning-71", "canary-reference-72", "canary-answer-73"
TASK = decode_task(
    {
        "id": "t", "intent": "Find the order number.",
        "checks": [
            {"type": "string_match", "must_include": [REFERENCE]},
            {"type": "url_match", "url": f"http://shop.test/{REFERENCE}"},
        ],
    }
)  # fmt: skip
JUDGES: dict[str, dict[str, Any]] = {
    "webvoyager": {},
    "webjudge": {},
    "webjudge general": {"variant": "general"},
    "agent_reward": {},
    "claims": {},
    "rubric": {"per_criterion": 1, "facts": "checks"},
    "custom": {"prompts": {"system": "s", "user": "{{task}} {{answer}} {{actions}} {{facts}} {{changes}}"}},
}


def run(**header: Any) -> Builder:
    built = trajectory(**header).goto("http://shop.test/", "<p>Order 42</p>").screenshot()
    for number in range(3):
        built.step(Fill(value=str(number)), thought=REASONING).screenshot(colour=(number, 9, 9))
    return built.answer(ANSWER)


def asked(judge: str, built: Builder, **options: Any) -> list[ModelRequest]:
    """Return every request of a judge; the replies are synthetic."""
    requests: list[ModelRequest] = []
    usual = by_stage()

    def reply(request: ModelRequest, ordinal: Any) -> ModelReply:
        requests.append(request)
        text = {"key_points": "1. Found.", "score": "Score: 5"}.get(request.stage)
        if text is None:
            text = usual(request) if judge.startswith("rubric") else "{}"
        return ModelReply(text=text, stop_reason="end_turn", model="m", origin="synthetic")

    given: dict[str, Any] = {**JUDGES[judge], **options}
    made = build_judge(JudgeSettings(protocol=judge.split()[0], **given), "strict")
    drive(made, gather(TASK, Replay(Recorded(built)), made.needs), reply)
    return requests


def words(request: ModelRequest) -> str:
    parts = (part.text for part in request.content if not isinstance(part, ImagePart))
    return "\n".join([request.system, *parts])


@pytest.mark.parametrize("judge", list(JUDGES))
def test_reasoning_and_reference_values_are_in_no_request(judge: str) -> None:
    requests = asked(judge, run())
    assert requests
    for one in requests:
        assert REASONING not in words(one)
        assert REFERENCE not in words(one)


@pytest.mark.parametrize("judge", ["webjudge general", "agent_reward"])
def test_reasoning_is_sent_where_it_is_asked_for(judge: str) -> None:
    """The test above is not empty."""
    assert any(REASONING in words(one) for one in asked(judge, run(), reasoning="include"))


def test_no_look_holds_the_answer() -> None:
    requests = asked("rubric", run())
    looks = [one for one in requests if one.stage == "look"]
    assert looks
    assert not any(ANSWER in words(one) for one in (*looks, requests[0]))
    assert any(ANSWER in words(one) for one in requests if one.stage == "reading")


@pytest.mark.parametrize(
    ("channel", "state", "expected"),
    [
        ("network", "absent", "all requests"),
        ("network", "partial", "some requests"),
        ("dialogs", "absent", "all dialogs"),
        ("console", "absent", "nothing"),
    ],
)
def test_a_reading_says_what_was_never_captured(channel: str, state: str, expected: str) -> None:
    channels = {**dict.fromkeys(CHANNELS, "recorded"), channel: state}
    seen = trajectory(channels={name: said for name, said in channels.items() if said != "absent"})
    seen.goto("http://shop.test/", "<p>Order 42</p>").screenshot().click("#a", "<p>Order 43</p>").screenshot()
    (reading,) = (one for one in asked("rubric", seen.answer(ANSWER)) if one.stage == "reading")
    assert f"What was not captured: {expected}\n" in f"{words(reading)}\n"


def test_an_order_stands_in_page_text_changes_and_a_field() -> None:
    """`inject` reaches all texts of the last page that a judge with changes receives."""
    judge = build_judge(JudgeSettings(protocol="rubric"), "strict")
    (attack,) = (one for one in attacks_named("inject") if one.name == "inject")
    evidence = gather(TASK, Replay(Recorded(run())), judge.needs)
    changed = under(attack, evidence, judge.needs).notes[-1].changes
    assert f"+ {ORDER}" in changed
    assert any(line.startswith("~ ") and ORDER in line for line in changed)


def test_the_summary_counts_runs_with_unexplained_requests() -> None:
    listed = [({"event": 3, "url": "x"},), (), ({"note": "unknown: the network was not recorded"},)]
    verdicts = [
        Verdict(
            task_id=f"t{n}",
            trajectory=None,
            suite=None,
            judgements=(
                Judgement(
                    judge="j", outcome=JudgeOutcome.SUCCESS, reason="r", fingerprint="f", side_effects=one
                ),
            ),
        )
        for n, one in enumerate(listed)
    ]
    assert judges_summary(verdicts, 0.05)["j"]["n_side_effects"] == 1
    assert build_report(verdicts).summary["judges"]["j"]["n_side_effects"] == 1


def test_the_text_report_has_the_process_score_and_its_company() -> None:
    judge = {
        "n": 4, "process": 0.5, "process_ci95": [0.25, 0.75], "n_blocked": 1, "n_unsupported": 2, "n_side_effects": 0,
    }  # fmt: skip
    assert list(process_lines({"rubric": judge, "webvoyager": {"n": 4}})) == [
        "judge rubric: process 0.500 (0.250 to 0.750); blocked in 1, unsupported in 2 of 4"
    ]
    alone = {**judge, "process": None, "process_ci95": None, "n_blocked": 0, "n_unsupported": 0}
    assert list(process_lines({"rubric": alone})) == ["judge rubric: process unknown"]


def test_the_summary_counts_runs_by_code() -> None:
    one = RunFinding(code="A1", name="action without effect", severity="fails", step=1)
    unknown = RunFinding(code="C2", name="loop", severity="note", unknown=True)
    runs = ((one, one), (one, unknown), ())
    verdicts = [
        Verdict(task_id=f"t{n}", trajectory=None, suite=None, findings=given) for n, given in enumerate(runs)
    ]
    assert build_report(verdicts).summary["findings"] == {"A1": 2}
