"""Two reports compared: pairs, kinds, reasons, paired statistics."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit.grading.engine import build_report
from replaykit.grading.verdict import (
    CheckResult,
    Completion,
    ErrorInfo,
    Judgement,
    JudgeOutcome,
    Outcome,
    PolicyOutcome,
    PolicyResult,
    Report,
    Verdict,
)
from replaykit.report.report_diff import compare, sign_test
from replaykit.report.text.report_diff_text import comparison_text


def verdict(
    task: str = "t1", run: str = "a", *, passes: bool = True, keeps: bool = True, **changes: Any
) -> Verdict:
    outcome = Outcome.PASS if passes else Outcome.FAIL
    check = CheckResult(
        id="0", type="string_match", dialect="native", mode="strict", outcome=outcome, score=float(passes),
        reason=None if passes else "differs",
    )  # fmt: skip
    policy = PolicyResult(
        id="stay", index=0, dimension="user_consent", source="user", mode="strict",
        outcome=PolicyOutcome.OK if keeps else PolicyOutcome.VIOLATED,
    )  # fmt: skip
    done = Completion(
        outcome=outcome, score=float(passes), partial_any=passes, partial_fraction=float(passes)
    )
    plain = Verdict(
        task_id=task, trajectory=f"sha256:{run}", suite="sha256:s", completion=done, checks=(check,),
        policies=(policy,), success=outcome, cup=int(passes and keeps), reward=float(passes),
    )  # fmt: skip
    return replace(plain, **changes)


def report(*verdicts: Verdict) -> Report:
    return build_report(sorted(verdicts, key=lambda v: (v.task_id, v.trajectory or "")))


def test_equal_reports_have_nothing_between_them() -> None:
    one = report(verdict(), verdict("t2", "b", passes=False))
    found = compare(one, one)
    assert (found.pairs, found.new, found.removed, found.same) == ((), (), (), 2)
    assert all(rate.difference == 0 and rate.p == 1 for rate in found.rates)


def test_runs_of_one_task_are_paired_by_the_names_of_their_bundles() -> None:
    before = replace(
        report(verdict(run="a"), verdict(run="b", passes=False)),
        names={"sha256:a": "t1.1", "sha256:b": "t1.2"},
    )
    after = replace(
        report(verdict(run="c", passes=False), verdict(run="d")),
        names={"sha256:c": "t1.2", "sha256:d": "t1.1"},
    )
    assert [pair.kind for pair in compare(before, after).pairs] == []
    assert compare(before, after).same == 2
    worse = replace(after, names={"sha256:c": "t1.1", "sha256:d": "t1.2"})
    found = compare(before, worse)
    assert [(pair.kind, pair.run) for pair in found.pairs] == [("regressed", "t1.1"), ("fixed", "t1.2")]
    assert "== regressed: t1 (t1.1)" in comparison_text(found)
    assert [pair.run for pair in compare(replace(before, names={}), replace(worse, names={})).pairs] == [
        None,
        None,
    ]


def test_a_lost_success_is_a_regression_with_what_it_rests_on() -> None:
    found = compare(report(verdict()), report(verdict(passes=False, suite="sha256:other")))
    (pair,) = found.pairs
    assert pair.kind == "regressed"
    assert [(c.what, c.before, c.after) for c in pair.changes] == [
        ("success", "PASS", "FAIL"),
        ("CuP", "1", "0"),
        ("check 0", "PASS", "FAIL"),
    ]
    assert pair.changes[2].reason == "differs"
    assert pair.why == ("suite",)


def test_a_new_violation_is_a_regression_though_the_task_is_done() -> None:
    (pair,) = compare(report(verdict()), report(verdict(keeps=False))).pairs
    assert pair.kind == "regressed"
    assert ("policy stay", "OK", "VIOLATED") in [(c.what, c.before, c.after) for c in pair.changes]


def test_what_is_won_is_fixed_unless_something_is_lost() -> None:
    assert compare(report(verdict(passes=False)), report(verdict())).pairs[0].kind == "fixed"
    mixed = compare(report(verdict(passes=False)), report(verdict(keeps=False)))
    assert mixed.pairs[0].kind == "regressed"


def test_a_failure_that_is_now_undecided_is_neither() -> None:
    unsure = verdict(passes=False, success=Outcome.UNDECIDED)
    assert compare(report(verdict(passes=False)), report(unsure)).pairs[0].kind == "changed"


def test_every_cause_is_named() -> None:
    other = verdict(
        passes=False, run="b", suite="sha256:x", tape="sha256:t", mode="compat", dialect="webarena", semantics=2,
    )  # fmt: skip
    (pair,) = compare(report(verdict()), report(other)).pairs
    assert pair.why == ("trajectory", "suite", "tape", "mode", "dialect", "semantics")


def test_a_judge_with_another_fingerprint_is_a_cause() -> None:
    def judged(outcome: JudgeOutcome, fingerprint: str) -> Verdict:
        said = Judgement(judge="webvoyager", outcome=outcome, reason="verdict", fingerprint=fingerprint)
        return verdict(judgements=(said,))

    (pair,) = compare(
        report(judged(JudgeOutcome.SUCCESS, "f1")), report(judged(JudgeOutcome.FAILURE, "f2"))
    ).pairs
    assert pair.why == ("judge webvoyager",)
    assert [c.what for c in pair.changes] == ["judge webvoyager"]


def test_a_flip_without_a_cause_says_so() -> None:
    text = comparison_text(compare(report(verdict()), report(verdict(passes=False))))
    assert "nothing that the reports name differs" in text


def test_a_bundle_that_can_no_longer_be_read_is_a_regression() -> None:
    lost = Verdict(task_id="t1", trajectory=None, suite=None, error=ErrorInfo(kind="BundleTruncated"))
    (pair,) = compare(report(verdict()), report(lost)).pairs
    assert (pair.kind, pair.after) == ("regressed", None)
    assert pair.changes[0].reason == "BundleTruncated"


def test_the_same_run_pairs_with_itself_before_runs_pair_by_order() -> None:
    before = report(verdict(run="a"), verdict(run="b", passes=False))
    after = report(verdict(run="b", passes=False), verdict(run="c"))
    found = compare(before, after)
    assert found.pairs == ()
    assert found.same == 2


def test_runs_that_one_side_lacks_are_new_or_removed() -> None:
    before = report(verdict("t1", "a"), verdict("t2", "b"), verdict("t2", "c"))
    after = report(verdict("t2", "b"), verdict("t3", "d"))
    found = compare(before, after)
    assert (found.new, found.removed) == (("t3",), ("t1", "t2"))
    assert "t2" in comparison_text(found)


def test_rates_are_over_the_tasks_of_both_alone() -> None:
    before = report(verdict("t1", "a", passes=False), verdict("t2", "b", passes=False), verdict("t9", "z"))
    after = report(verdict("t1", "c"), verdict("t2", "d", passes=False), verdict("t8", "y", passes=False))
    rate = next(rate for rate in compare(before, after).rates if rate.metric == "CR")
    assert (rate.tasks, rate.before, rate.after, rate.difference) == (2, 0.0, 0.5, 0.5)
    assert (rate.up, rate.down, rate.p) == (1, 0, 1.0)


def test_runs_that_do_not_count_stay_out_of_the_rates() -> None:
    before = report(verdict("t1", "a"), verdict("t1", "b", passes=False, validity="site_down"))
    rate = next(rate for rate in compare(before, before).rates if rate.metric == "CR")
    assert rate.before == 1.0


def test_a_run_that_no_longer_counts_is_a_change() -> None:
    before = report(verdict("t1", "a"), verdict("t1", "b", passes=False))
    after = report(verdict("t1", "a"), verdict("t1", "c", passes=False, validity="site_down"))
    found = compare(before, after)
    (pair,) = found.pairs
    assert (pair.kind, [(one.what, one.before, one.after) for one in pair.changes]) == (
        "changed", [("validity", "valid", "site_down")],
    )  # fmt: skip
    assert "rates leave out runs that are not valid: 0 before, 1 after" in found.remarks
    assert compare(before, before).remarks == ()


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_sign_test_is_that_of_the_binomial(up: int, down: int) -> None:
    n = up + down
    chance = [Fraction(comb(n, k), 2**n) for k in range(n + 1)]
    assert sum(chance) == 1
    expected = sum((p for p in chance if p <= chance[up]), Fraction(0))
    assert sign_test(up, down) == sign_test(down, up) == expected


def test_ten_wins_against_none_are_no_chance() -> None:
    before = report(*(verdict(f"t{n}", f"a{n}", passes=False) for n in range(10)))
    after = report(*(verdict(f"t{n}", f"b{n}") for n in range(10)))
    rate = next(rate for rate in compare(before, after).rates if rate.metric == "success_rate")
    assert rate.p == 0.002
    assert rate.ci95 == (1.0, 1.0)


@given(st.text(max_size=40))
def test_no_task_can_control_the_terminal(task: str) -> None:
    text = comparison_text(compare(report(verdict(task)), report(verdict(task, passes=False))))
    assert not [char for char in text if ord(char) < 32 and char != "\n"]
    assert len(text.splitlines()) == len(
        comparison_text(compare(report(verdict()), report(verdict(passes=False)))).splitlines()
    )


def test_reports_whose_passes_are_proven_differently_are_remarked_on() -> None:
    def rests(proof: str | None, assumes: str = "page") -> Verdict:
        one = verdict(assumes=assumes)
        return replace(one, policies=(replace(one.policies[0], proof=proof),))

    shares = "passes that rest on what did not happen are not proven alike: 1 of 1 before, 0 of 1 after"
    found = compare(report(rests("proven")), report(rests("recorded")))
    assert found.remarks == (shares,)
    assert f"remark: {shares}" in comparison_text(found)
    assert compare(report(rests("proven")), report(rests("proven"))).remarks == ()
    assert compare(report(rests("proven")), report(rests(None))).remarks == ()
    other = compare(report(rests(None)), report(rests(None, "command agent")))
    assert other.remarks == ("before assumes page; after assumes command agent",)


def test_a_judge_that_could_not_be_asked_is_remarked_on() -> None:
    def judged(outcome: JudgeOutcome) -> Report:
        return report(
            verdict(judgements=(Judgement(judge="j", outcome=outcome, reason="r", fingerprint="f"),))
        )

    answered, missed = judged(JudgeOutcome.SUCCESS), judged(JudgeOutcome.ERROR)
    assert compare(answered, judged(JudgeOutcome.FAILURE)).remarks == ()
    (remark,) = compare(answered, missed).remarks
    assert remark.startswith("judge j could not be asked in 0 of 1 runs before, 1 of 1 after; ")
    (remark,) = compare(missed, report(verdict())).remarks
    assert remark.startswith("judge j could not be asked in 1 of 1 runs before, 0 of 0 after; ")
