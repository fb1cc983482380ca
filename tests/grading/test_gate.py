"""The gate: what fails it, what leaves it open, what it never lets pass."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from replaykit.errors import UsageError
from replaykit.grading.gate import Calibrated, GateOptions, decide, exit_code, judge_warnings
from replaykit.grading.verdict import (
    CheckResult,
    Completion,
    ErrorInfo,
    Judgement,
    JudgeOutcome,
    Outcome,
    PolicyOutcome,
    PolicyResult,
    Verdict,
    compose,
)


def verdict(check: Outcome = Outcome.PASS, policy: PolicyOutcome = PolicyOutcome.OK, **more: Any) -> Verdict:
    result = CheckResult(id="0", type="url_match", dialect="native", mode="strict", outcome=check, score=0.0)
    rule = PolicyResult(
        id="p", index=0, dimension="user_consent", source="user", mode="strict", outcome=policy
    )
    return Verdict(task_id="t", trajectory=None, suite=None, checks=(result,), policies=(rule,), **more)


def judged(outcome: JudgeOutcome) -> Verdict:
    judgement = Judgement(judge="webvoyager", outcome=outcome, reason="r", fingerprint="f")
    return verdict(judgements=(judgement,))


def status(found: Verdict, *fail_on: str, summary: Any = None, **options: Any) -> str:
    return decide([found], summary or {}, GateOptions(fail_on=fail_on, **options)).status


BOTH = ("check", "policy")


@pytest.mark.parametrize(
    ("found", "kinds", "expected"),
    [
        (verdict(), BOTH, "passed"),
        (verdict(Outcome.FAIL), BOTH, "failed"),
        (verdict(Outcome.FAIL), ("policy",), "passed"),
        (verdict(Outcome.FAIL, validity="site_down"), BOTH, "undecided"),
        (verdict(Outcome.PASS, validity="site_down"), BOTH, "undecided"),
        (verdict(Outcome.FAIL, validity="site_down"), (*BOTH, "undecided"), "failed"),
        (verdict(Outcome.FAIL, validity="site_down"), ("policy",), "passed"),
        (verdict(Outcome.PASS, PolicyOutcome.VIOLATED, validity="site_down"), BOTH, "failed"),
        (verdict(policy=PolicyOutcome.VIOLATED), BOTH, "failed"),
        (verdict(policy=PolicyOutcome.DORMANT), BOTH, "passed"),
        (verdict(Outcome.UNDECIDED), BOTH, "undecided"),
        (verdict(Outcome.UNDECIDED), ("check", "undecided"), "failed"),
        (verdict(Outcome.ERROR), BOTH, "error"),
        (verdict(Outcome.ERROR), ("check", "error"), "failed"),
        (verdict(Outcome.UNDECIDED, PolicyOutcome.VIOLATED), BOTH, "failed"),
        (verdict(error=ErrorInfo(kind="NotABundle")), (), "error"),
        (verdict(error=ErrorInfo(kind="NotABundle")), ("error",), "failed"),
        (judged(JudgeOutcome.FAILURE), BOTH, "passed"),
        (judged(JudgeOutcome.FAILURE), ("judge",), "failed"),
        (judged(JudgeOutcome.ABSTAIN), ("judge",), "undecided"),
        (judged(JudgeOutcome.NOT_EVALUATED), ("judge",), "undecided"),
        (judged(JudgeOutcome.FAILURE), (), "none"),
        (verdict(), ("judge",), "undecided"),
        (verdict(), ("undecided",), "passed"),
    ],
)
def test_what_is_named_decides(found: Verdict, kinds: tuple[str, ...], expected: str) -> None:
    assert status(found, *kinds) == expected


def test_a_task_without_checks_policies_and_judge_is_an_error() -> None:
    nothing = Completion(outcome=Outcome.ERROR, score=0.0, partial_any=False, partial_fraction=0.0)
    found = Verdict(task_id="t", trajectory=None, suite=None, completion=nothing)
    assert status(found, "check") == "error"


def test_metrics_may_be_asked_for() -> None:
    summary = {"metrics": {"CR": {"value": 0.5}, "CuP": {"value": None}}}
    assert status(verdict(), summary=summary, fail_under={"CR": 0.5}) == "passed"
    assert status(verdict(), summary=summary, fail_under={"CR": 0.51}) == "failed"
    assert status(verdict(), summary=summary, fail_under={"CuP": 0.0}) == "failed"
    with pytest.raises(UsageError, match="there are CR, CuP"):
        status(verdict(), summary=summary, fail_under={"XX": 1})


def test_nothing_never_passes() -> None:
    assert decide([], {}, GateOptions(fail_on=())).status == "empty"


def test_exit_codes() -> None:
    codes = {name: exit_code(decide([], {}, GateOptions())) for name in ("empty",)}
    codes["passed"] = exit_code(decide([verdict()], {}, GateOptions()))
    codes["failed"] = exit_code(decide([verdict(Outcome.FAIL)], {}, GateOptions()))
    codes["error"] = exit_code(decide([verdict(Outcome.ERROR)], {}, GateOptions()))
    codes["undecided"] = exit_code(decide([verdict(Outcome.UNDECIDED)], {}, GateOptions()))
    assert codes == {"empty": 4, "passed": 0, "failed": 1, "error": 3, "undecided": 3}


def test_too_many_judge_errors_leave_the_gate_open() -> None:
    summary = {"judges": {"webvoyager": {"n": 10, "n_error": 1}}}
    assert status(verdict(), "judge", summary=summary) == "error"
    assert status(judged(JudgeOutcome.SUCCESS), "judge", summary=summary, max_error_share=0.1) == "passed"
    assert status(verdict(), "check", summary=summary) == "error"
    few = {"judges": {"webvoyager": {"n": 20, "n_error": 1}}}
    assert status(judged(JudgeOutcome.SUCCESS), "judge", summary=few) == "passed"


def test_a_judge_that_was_never_compared_with_people_leaves_the_gate_open() -> None:
    found = judged(JudgeOutcome.SUCCESS)
    assert status(found, "judge", calibrated={"f": Calibrated()}) == "passed"
    assert status(found, "judge", calibrated={"f": Calibrated(lacks=("n is 2, below 50",))}) == "undecided"
    assert status(found, "judge", calibrated={}) == "undecided"
    assert status(judged(JudgeOutcome.FAILURE), "judge", calibrated={}) == "failed"
    options = GateOptions(fail_on=("judge",), calibrated={"f": Calibrated(lacks=("n is 2, below 50",))})
    failed = decide([judged(JudgeOutcome.FAILURE)], {}, options)
    assert failed.reasons[1:] == ("judge webvoyager is not calibrated: n is 2, below 50",)
    assert status(verdict(), "check", calibrated={}) == "passed"


@pytest.mark.parametrize(
    ("bases", "task", "n"),
    [
        (("sha256:a",), "t", 0), (("sha256:b",), "t", 0), (("sha256:c",), "t", 1), ((), "t", 0),
        (("sha256:c",), "u", 0), (("sha256:a", "sha256:c"), "t", 1), (("sha256:c", "sha256:d"), "t", 2),
    ],
)  # fmt: skip
def test_a_task_judged_by_another_rubric_than_the_calibrated_one_leaves_the_gate_open(
    bases: tuple[str, ...], task: str, n: int
) -> None:
    calibrated = {"f": Calibrated(rubrics={"t": ("sha256:a", "sha256:b")})}
    own, members = (bases[0] if len(bases) == 1 else UNSET), tuple({"basis": one} for one in bases)
    expected = Judgement(
        judge="j", outcome=JudgeOutcome.SUCCESS, reason="r", fingerprint="f", basis=own,
        members=members if len(bases) > 1 else UNSET,
    )  # fmt: skip
    found = Verdict(task_id=task, trajectory="sha256:1", suite=None, judgements=(expected,))
    runs = [found, replace(found, trajectory="sha256:2")]
    # The name of a run changes nothing: the task counts.
    gate = decide(
        runs, {}, GateOptions(fail_on=("judge",), calibrated=calibrated), {"sha256:1": "t", "sha256:2": "z"}
    )
    assert (gate.status, len(gate.reasons)) == ("undecided" if n else "passed", n)
    for reason in gate.reasons:
        assert reason.startswith("judge j is not calibrated for task t: its rubric is sha256:")
        assert "that of the calibration sha256:a, sha256:b; judge by that one" in reason
        assert "`replaykit agree -o FILE`" in reason


ALONE = [
    (JudgeOutcome.SUCCESS, "passed"),
    (JudgeOutcome.FAILURE, "failed"),
    (JudgeOutcome.ABSTAIN, "undecided"),
]


@pytest.mark.parametrize(("outcome", "expected"), [*ALONE, (JudgeOutcome.ERROR, "error")])
def test_a_run_that_only_a_judge_decides_is_gated_by_default(outcome: JudgeOutcome, expected: str) -> None:
    judgement = Judgement(judge="webvoyager", outcome=outcome, reason="r", fingerprint="f")
    found = Verdict(
        task_id="t",
        trajectory=None,
        suite=None,
        judgements=(judgement,),
        success=compose(None, [outcome]),
    )
    gate = decide([found], {}, GateOptions())
    assert gate.status == expected
    assert gate.reasons == (
        () if expected == "passed" else (f"t: success (webvoyager: {outcome}) is {found.success}",)
    )


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([JudgeOutcome.SUCCESS] * 5, []),
        ([JudgeOutcome.ABSTAIN] + [JudgeOutcome.FAILURE] * 4, []),
        (
            [JudgeOutcome.ABSTAIN] * 2 + [JudgeOutcome.SUCCESS] * 3,
            ["webvoyager abstained in 2 of 5 runs: 2 x r"],
        ),
        ([JudgeOutcome.ERROR] + [JudgeOutcome.SUCCESS] * 19, []),
        (
            [JudgeOutcome.ERROR] + [JudgeOutcome.SUCCESS] * 9,
            ["webvoyager could not be asked in 1 of 10 runs: 1 x r"],
        ),
        ([JudgeOutcome.NOT_EVALUATED] * 3, []),
    ],
)
def test_judges_of_little_use_are_reported(outcomes: list[JudgeOutcome], expected: list[str]) -> None:
    judgements = [one for outcome in outcomes for one in judged(outcome).judgements]
    assert list(judge_warnings(judgements, 0.05)) == [f"judge {words}" for words in expected]


def test_a_missing_reply_comes_with_the_command_that_asks_for_it() -> None:
    missed = Judgement(judge="ours", outcome=JudgeOutcome.ERROR, reason="tape_miss", fingerprint="f")
    (words,) = judge_warnings([missed], 0.05)
    assert words.endswith(
        "1 x tape_miss (no reply is recorded: `replaykit judge run` asks the model and records it)"
    )


def test_each_judge_is_reported_on_its_own() -> None:
    ours = Judgement(judge="ours", outcome=JudgeOutcome.ABSTAIN, reason="hedged", fingerprint="f")
    fine = judged(JudgeOutcome.SUCCESS).judgements
    assert list(judge_warnings([ours, *fine * 9], 0.05)) == ["judge ours abstained in 1 of 1 run: 1 x hedged"]
    assert list(judge_warnings([], 0.05)) == []
