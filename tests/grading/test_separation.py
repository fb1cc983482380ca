"""Which rules separate runs: every word, correlations by hand, properties of the statistics, the shipped runs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from replaykit.errors import UsageError
from replaykit.grading.agreement.agreement_rates import Matrix, phi
from replaykit.grading.agreement.labels import Label, Labels
from replaykit.grading.agreement.separation import WORDS, Rule, Separation, separation
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.findings.detection import PAGE_CODES
from replaykit.grading.verdict import (
    CheckResult,
    Completion,
    ErrorInfo,
    Item,
    Judgement,
    JudgeOutcome,
    Outcome,
    PolicyOutcome,
    PolicyResult,
    RunFinding,
    Verdict,
    combine,
    compose,
)

RECORDINGS = Path(__file__).parents[2] / "recordings" / "conformance"


def run(
    number: int,
    checks: str = "",
    policies: str = "",
    judges: str = "",
    *,
    items: str = "",
    codes: tuple[str, ...] = (),
    task: str = "t",
) -> Verdict:
    """Build a verdict: checks and items as P F U E, policies as O V D U E, judges as S F A E N."""
    outcomes = [next(o for o in Outcome if o[0] == letter) for letter in checks]
    answer = [next(o for o in JudgeOutcome if o[0] == letter) for letter in judges]
    done = combine(outcomes) if outcomes else None
    return Verdict(
        task_id=task,
        trajectory=f"sha256:{number:064x}",
        suite=None,
        checks=tuple(_check(place, outcome, items) for place, outcome in enumerate(outcomes)),
        completion=Completion(outcome=done, score=0.0, partial_any=False, partial_fraction=0.0)
        if done
        else None,
        policies=tuple(_policy(place, letter) for place, letter in enumerate(policies)),
        judgements=tuple(
            Judgement(judge=f"j{place}", outcome=one, reason="verdict", fingerprint=f"sha256:{place}")
            for place, one in enumerate(answer)
        ),
        success=compose(done, answer),
        findings=tuple(RunFinding(code=code, name=code, severity="fails") for code in codes),
    )


def _check(place: int, outcome: Outcome, items: str) -> CheckResult:
    of = [next(o for o in Outcome if o[0] == letter) for letter in items]
    rules = tuple(Item(id=f"i{number}", outcome=one, rule="r") for number, one in enumerate(of))
    return CheckResult(
        id=f"c{place}", type="page", dialect="native", mode="strict", outcome=outcome, score=0.0, items=rules
    )


def _policy(place: int, letter: str) -> PolicyResult:
    outcome = next(o for o in PolicyOutcome if o[0] == letter)
    return PolicyResult(
        id=f"p{place}", index=place, dimension="user_consent", source="user", mode="strict", outcome=outcome
    )


def separated(*verdicts: Verdict, labels: Labels | None = None) -> Separation:
    return separation([build_report(verdicts)], labels)


def rules(found: Separation, kind: str) -> list[Rule]:
    return [rule for rule in found.rules if rule.kind == kind]


@pytest.mark.parametrize(
    ("column", "word"),
    [
        ("PF", "separates"), ("PFU", "separates"), ("PP", "all_pass"), ("FF", "all_fail"),
        ("PU", "undecided_in_part"), ("FE", "undecided_in_part"), ("UE", "never_decided"),
    ],
)  # fmt: skip
def test_each_word_of_a_check(column: str, word: str) -> None:
    found = separated(*(run(number, letter) for number, letter in enumerate(column)))
    (rule,) = rules(found, "check")
    assert (rule.word, rule.n) == (word, len(column))
    assert found.words == {name: int(name == word) for name in WORDS}


@pytest.mark.parametrize(
    ("column", "word"),
    [
        ("DD", "dormant"), ("DO", "all_pass"), ("DV", "separates"), ("OV", "separates"), ("VV", "all_fail"),
        ("DU", "undecided_in_part"), ("EU", "never_decided"),
    ],
)  # fmt: skip
def test_each_word_of_a_policy_for_which_dormant_is_a_pass(column: str, word: str) -> None:
    (rule,) = rules(separated(*(run(n, policies=letter) for n, letter in enumerate(column))), "policy")
    assert rule.word == word
    assert rule.dormant == column.count("D")
    assert rule.passed + rule.failed + rule.undecided == rule.n == len(column)


def test_a_judge_that_always_says_the_same_does_not_separate_and_one_that_was_off_is_no_rule() -> None:
    found = rules(separated(run(0, judges="SSN"), run(1, judges="SFN"), run(2, judges="SAN")), "judge")
    assert [(rule.name, rule.word, rule.fingerprint) for rule in found] == [
        ("j0", "all_pass", "sha256:0"),
        ("j1", "separates", "sha256:1"),
    ]


def test_checks_are_of_a_task_and_policies_of_the_corpus() -> None:
    runs = [run(0, "P", "O", task="a"), run(1, "F", "V", task="b")]
    found = separated(*runs)
    assert [(rule.task, rule.word) for rule in rules(found, "check")] == [
        ("a", "all_pass"),
        ("b", "all_fail"),
    ]
    (policy,) = rules(found, "policy")
    assert (policy.task, policy.word, policy.tasks, policy.tasks_differ) == (None, "separates", 0, 0)


def test_tasks_within_which_runs_differ() -> None:
    runs = [run(0, policies="O", task="a"), run(1, policies="V", task="a")]
    runs += [run(2, policies="O", task="b"), run(3, policies="O", task="b"), run(4, policies="V", task="c")]
    (policy,) = rules(separated(*runs), "policy")
    assert (policy.tasks, policy.tasks_differ) == (2, 1)


def test_items_stand_beside_checks_that_have_several() -> None:
    assert not rules(separated(run(0, "P", items="P")), "item")
    found = rules(separated(run(0, "P", items="PF"), run(1, "P", items="PP")), "item")
    assert [(rule.name, rule.word) for rule in found] == [("c0/i0", "all_pass"), ("c0/i1", "separates")]


def test_correlation_with_success_is_by_hand_and_without_the_rule_itself() -> None:
    # Of the first check, success without it is the second one: two runs agree, two do not.
    found = rules(separated(run(0, "PP"), run(1, "PF"), run(2, "FP"), run(3, "FF")), "check")
    assert [rule.phi_success for rule in found] == [0.0, 0.0]
    found = rules(separated(run(0, "PP"), run(1, "PP"), run(2, "PF"), run(3, "FF")), "check")
    assert [rule.phi_success for rule in found] == [0.5774, 0.5774]  # (2 * 1 - 1 * 0) / sqrt(3 * 1 * 2 * 2)
    (alone,) = rules(separated(run(0, "P"), run(1, "F")), "check")
    assert alone.phi_success is None  # nothing else decides success


def test_a_check_is_compared_with_the_judge_where_no_other_check_is() -> None:
    found = separated(run(0, "P", judges="S"), run(1, "F", judges="F"))
    assert [rule.phi_success for rule in found.rules] == [1.0, 1.0]


def with_criteria(
    number: int, *rows: str, judge: str = "F", basis: str = "sha256:b", task: str = "t"
) -> Verdict:
    """Build a verdict of a judge with criteria c0, c1 ...: each its verdict, `applies` before it if it hangs."""
    one = run(number, "P", judges=judge, task=task)
    answer = tuple(_criterion(place, *reversed(words.split())) for place, words in enumerate(rows))
    return replace(one, judgements=(replace(one.judgements[0], criteria=answer, basis=basis),))


def _criterion(place: int, verdict: str, applies: str = "") -> dict[str, str]:
    hangs = {"applies": applies} if applies else {}
    return {"id": f"c{place}", "verdict": verdict, "reason": "", **hangs}


@pytest.mark.parametrize(
    ("column", "word", "counts"),
    [
        (("YES", "NO"), "separates", (1, 1, 0)), (("YES", "NO", "CANNOT_TELL"), "separates", (1, 1, 1)),
        (("YES", "YES"), "all_pass", (2, 0, 0)), (("NO", "NO"), "all_fail", (0, 2, 0)),
        (("NO", "CANNOT_TELL"), "undecided_in_part", (0, 1, 1)), (("CANNOT_TELL",), "never_decided", (0, 0, 1)),
        (("NO NO", "CANNOT_TELL YES"), "never_decided", (0, 0, 2)), (("YES YES", "YES NO"), "separates", (1, 1, 0)),
    ],
)  # fmt: skip
def test_each_word_of_a_criterion(column: tuple[str, ...], word: str, counts: tuple[int, int, int]) -> None:
    found = separated(*(with_criteria(number, answer) for number, answer in enumerate(column)))
    (rule,) = rules(found, "criterion")
    assert (rule.word, rule.passed, rule.failed, rule.undecided) == (word, *counts)
    assert rule.title == "criterion t: j0/c0"
    assert (rule.fingerprint, rule.basis) == ("sha256:0", "sha256:b")


def test_a_criterion_is_of_one_task_and_of_one_rubric() -> None:
    runs = [with_criteria(0, "YES", "NO"), with_criteria(1, "NO", "NO", basis="sha256:x")]
    found = rules(separated(*runs, with_criteria(2, "NO", task="u"), run(3, judges="E")), "criterion")
    assert [(rule.task, rule.name, rule.basis, rule.word) for rule in found] == [
        ("t", "j0/c0", "sha256:b", "all_pass"),
        ("t", "j0/c1", "sha256:b", "all_fail"),
        ("t", "j0/c0", "sha256:x", "all_fail"),
        ("t", "j0/c1", "sha256:x", "all_fail"),
        ("u", "j0/c0", "sha256:b", "all_fail"),
    ]


def test_a_criterion_is_compared_with_what_its_judge_does_not_decide() -> None:
    runs = [with_criteria(0, "YES", judge="S"), with_criteria(1, "NO", judge="F")]
    failed = run(1, "F", judges="F")
    runs[1] = replace(runs[1], checks=failed.checks, completion=failed.completion, success=failed.success)
    (rule,) = rules(separated(*runs), "criterion")
    assert (rule.phi_success, rule.same_as) == (1.0, "check t: c0")
    (alone,) = rules(separated(*(replace(one, checks=(), completion=None) for one in runs)), "criterion")
    assert alone.phi_success is None  # its own judge is no other rule


def test_labels_are_joined_by_trajectory_or_by_task() -> None:
    runs = [run(0, "P", task="a"), run(1, "F", task="b"), run(2, "P", task="c")]
    own = [Label(trajectory=f"{n:064x}", label="success" if n != 1 else "failure") for n in range(2)]
    by_run = Labels(name="l", digest="", labels=(*own, Label(trajectory=f"{2:064x}", label="unsure")))
    by_task = Labels(
        name="l",
        digest="",
        labels=tuple(Label(trajectory=t, task=t, label="failure" if t == "b" else "success") for t in "ab"),
    )
    for labels in (by_run, by_task):
        found = separated(
            *(replace(one, policies=(_policy(0, "OVO"[n]),)) for n, one in enumerate(runs)), labels=labels
        )
        (policy,) = rules(found, "policy")
        assert (found.labelled, policy.phi_labels) == (2, 1.0)
    assert separated(*runs).labelled is None
    again = run(3, "P", task="b")  # which of the two runs of b was labelled is not known
    assert separated(*runs, again, labels=by_task).labelled == 1


def test_rules_that_say_the_same_name_the_first_of_them() -> None:
    found = rules(separated(run(0, "PPF"), run(1, "FFF"), run(2, "UEF")), "check")
    assert [rule.same_as for rule in found] == [None, "check t: c0", None]


def test_a_finding_that_is_unknown_decides_nothing() -> None:
    unknown = RunFinding(code="S1", name="S1", severity="note", unknown=True)
    (rule,) = rules(
        separated(run(1, "P", codes=("S1",)), replace(run(2, "P"), findings=(unknown,))), "finding"
    )
    assert (rule.word, rule.failed, rule.passed, rule.undecided) == ("undecided_in_part", 1, 0, 1)


def test_findings_fail_the_runs_they_are_in_and_pages_of_good_runs_were_not_read() -> None:
    runs = [run(0, "F", codes=("A1", "D4")), run(1, "F"), run(2, "P")]
    found = {rule.name: rule for rule in rules(separated(*runs), "finding")}
    assert sorted(found) == ["A1", "D4"]
    assert (found["A1"].failed, found["A1"].passed, found["A1"].undecided) == (1, 2, 0)
    assert (found["D4"].failed, found["D4"].passed, found["D4"].undecided) == (1, 1, 1)
    assert "D4" in PAGE_CODES


def test_a_run_counts_once_and_two_verdicts_of_it_that_differ_are_refused() -> None:
    one = run(0, "P")
    found = separation([build_report([one]), build_report([one, run(1, "F")])])
    assert (found.runs, found.duplicates) == (2, 1)
    with pytest.raises(UsageError, match="differ"):
        separation([build_report([one]), build_report([run(0, "F")])])


def test_bundles_that_could_not_be_graded_are_counted_and_left_out() -> None:
    lost = Verdict(task_id="x", trajectory=None, suite=None, error=ErrorInfo(kind="NotABundle"))
    found = separated(run(0, "P"), lost)
    assert (found.runs, found.unreadable) == (1, 1)


counts = st.integers(0, 40)


@given(counts, counts, counts, counts)
def test_phi_is_the_correlation_of_two_columns_of_zeros_and_ones(tp: int, fp: int, fn: int, tn: int) -> None:
    m = Matrix(tp, fp, fn, tn)
    pairs = [(1, 1)] * tp + [(1, 0)] * fp + [(0, 1)] * fn + [(0, 0)] * tn
    assert phi(m) == phi(Matrix(tp, fn, fp, tn))  # symmetric
    value = phi(m)
    if value is None:
        assert len({a for a, _ in pairs}) < 2 or len({b for _, b in pairs}) < 2
        return
    mean_a, mean_b = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    covariance = sum((a - mean_a) * (b - mean_b) for a, b in pairs)
    spread = math.sqrt(sum((a - mean_a) ** 2 for a, _ in pairs) * sum((b - mean_b) ** 2 for _, b in pairs))
    assert value == pytest.approx(covariance / spread, abs=1e-4)
    assert -1 <= value <= 1
    assert phi(Matrix(fp, tp, tn, fn)) == pytest.approx(-value, abs=1e-9)  # the other column negated


letters = st.tuples(
    st.text("PFUE", min_size=2, max_size=2), st.text("OVDUE", min_size=1, max_size=1), st.sampled_from("SFAE")
)


@given(st.lists(letters, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_any_corpus_adds_up_and_the_order_of_its_reports_says_nothing(rows, chance) -> None:
    runs = [run(n, *row, task=f"t{n % 3}") for n, row in enumerate(rows)]
    found = separated(*runs)
    shuffled = list(runs)
    chance.shuffle(shuffled)
    assert separated(*shuffled) == found
    assert sum(found.words.values()) == len(found.rules)
    for rule in found.rules:
        assert rule.passed + rule.failed + rule.undecided == rule.n
        assert rule.errors <= rule.undecided
        assert rule.dormant <= rule.passed
        assert rule.tasks_differ <= rule.tasks
        assert (rule.word == "separates") == (rule.passed > 0 and rule.failed > 0)
        assert rule.same_as is None or rule.word == "separates"


def test_the_shipped_runs(tmp_path: Path) -> None:
    found = separation([grade_many(sorted(RECORDINGS.glob("refund-order--*.zst")))])
    checks = {rule.name: rule for rule in rules(found, "check")}
    assert {rule.word for rule in checks.values()} == {"separates"}
    assert checks["page[2]"].same_as == "check refund-order: page[1]"
    assert checks["page[1]"].tasks_differ == 1
    assert {rule.name for rule in rules(found, "policy") if rule.word == "separates"}


def test_criteria_of_a_panel_s_members_are_rules_too() -> None:
    def of_panel(number: int, verdict: str) -> Verdict:
        member = with_criteria(number, verdict).judgements[0]
        plain = {key: value for key, value in to_builtins(member).items() if key != "stages"}
        whole = Judgement(
            judge="panel", outcome=JudgeOutcome.SUCCESS, reason="quorum", fingerprint="sha256:p",
            members=(plain, {"judge": "nobody"}),
        )  # fmt: skip
        return replace(run(number, "P"), judgements=(whole,))

    (rule,) = rules(separated(of_panel(0, "YES"), of_panel(1, "NO")), "criterion")
    assert (rule.name, rule.word, rule.task) == ("panel/j0/c0", "separates", "t")
    assert rule.basis == with_criteria(0, "YES").judgements[0].basis
