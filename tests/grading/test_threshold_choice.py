"""Thresholds chosen by a fixed sequence of exact tests: figures, the order, the halves, and the error rate."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.errors import UsageError
from replaykit.grading.agreement.threshold_choice import LabelledShare, chooses, chosen, read_aims
from replaykit.grading.share_thresholds import Share
from replaykit.grading.statistics import is_bounded, needed, upper_bound

AIM = Fraction(1, 20)
OWN = [f"t{n}" for n in range(2000) if chooses(f"t{n}")]
OTHER = [f"t{n}" for n in range(2000) if not chooses(f"t{n}")]


def row(task: str, said: Fraction | float, *, is_success: bool = False, parts: int = 4) -> LabelledShare:
    share = Fraction(said)
    return LabelledShare(task, is_success, Share(share, share, parts))


def test_aims_are_read_or_refused() -> None:
    assert read_aims("fpr<=0.05") == {"fpr": AIM}
    assert read_aims(" fnr <= 0.1 , fpr<=0.05") == {"fnr": Fraction(1, 10), "fpr": AIM}
    for text in ("", "fpr<0.05", "fpr<=0", "fpr<=1", "fpr<=x", "fpr<=nan", "kappa<=0.1", "fpr<=0.1,fpr<=0.2"):
        with pytest.raises(UsageError, match="--choose"):
            read_aims(text)


@pytest.mark.parametrize(
    ("aim", "tasks"), [("0.05", (59, 93, 124)), ("0.10", (29, 46, 61)), ("0.15", (19, 30, 40))]
)
def test_how_many_tasks_are_needed(aim: str, tasks: tuple[int, ...]) -> None:
    assert tuple(needed(hits, Fraction(aim)) for hits in range(3)) == tasks


@given(st.integers(0, 12), st.integers(1, 200), st.integers(1, 99))
def test_the_exact_test_and_the_bound_agree(hits: int, n: int, percent: int) -> None:
    hits, aim = min(hits, n), Fraction(percent, 100)
    assert is_bounded(hits, n, aim) == ((upper_bound(hits, n) or 0) <= aim)


@given(st.integers(0, 6), st.integers(1, 50))
@settings(deadline=None)
def test_one_task_fewer_than_needed_is_too_few(hits: int, percent: int) -> None:
    aim = Fraction(percent, 100)
    least = needed(hits, aim)
    assert is_bounded(hits, least, aim)
    assert least == hits + 1 or not is_bounded(hits, least - 1, aim)


def test_accepting_stops_at_the_first_threshold_that_fails() -> None:
    rows = [row(task, 0) for task in OWN[:100]]
    rows[0] = row(OWN[0], Fraction(3, 4))  # 1 of 100: bounded by 0.05
    rows[1:4] = [row(task, Fraction(1, 2)) for task in OWN[1:4]]  # 4 of 100 are not
    found = chosen(rows, {"fpr": AIM})
    assert (found["accept"]["at"], found["accept"]["tasks_wrong"], found["accept"]["tasks"]) == (
        "3/4",
        1,
        100,
    )
    assert found["accept"]["high95"] == upper_bound(1, 100)
    assert found["lacks"] == []


def test_a_later_threshold_does_not_save_one_that_fails() -> None:
    """Bounds only grow on the way down, so that what comes after the first failure is never asked."""
    rows = [row(task, 1) for task in OWN[:5]] + [row(task, 0) for task in OWN[5:60]]
    found = chosen(rows, {"fpr": AIM})["accept"]
    assert (found["at"], found["tasks_wrong"], found["needed"]) == (None, 5, needed(5, AIM))


def test_rejecting_likewise_and_never_where_it_accepts() -> None:
    rows = [row(task, 0) for task in OWN[:60]]
    rows += [row(task, 1, is_success=True) for task in OWN[60:120]]
    found = chosen(rows, {"fpr": AIM})
    # Everything from 1/4 on is accepted without an error, so only 0 is left to be rejected.
    assert (found["accept"]["at"], found["reject"]["at"]) == ("1/4", "0")
    assert (found["reject"]["tasks"], found["reject"]["tasks_wrong"]) == (60, 0)


def test_what_is_missing_is_reported_with_the_tasks_needed() -> None:
    rows = [row(task, 0) for task in OWN[:30]]
    found = chosen(rows, {"fpr": AIM})
    assert found["accept"]["at"] is None
    assert found["lacks"] == [
        "fpr<=0.05: even the strictest threshold has 0 of 30 tasks with a failure accepted; 59 such tasks are "
        "needed for that many, in the half that chooses"
    ]
    assert len(chosen(rows, {"fpr": AIM, "fnr": AIM})["lacks"]) == 2
    assert chosen(rows, {"fpr": Fraction(1, 10)})["lacks"] == []


def test_a_task_counts_once_however_often_it_was_run() -> None:
    rows = [row(OWN[0], 0) for _ in range(500)]
    found = chosen(rows, {"fpr": AIM})["accept"]
    assert (found["tasks"], found["at"]) == (1, None)
    rows = [row(task, 0) for task in OWN[:100]] + [row(OWN[0], 1), row(OWN[0], 1)]
    assert chosen(rows, {"fpr": AIM})["accept"]["tasks_wrong"] == 1


def test_one_half_chooses_and_the_other_reports() -> None:
    rows = [row(task, 0) for task in OWN[:60]] + [row(task, 1) for task in OTHER[:10]]
    rows += [row(task, Fraction(1, 2), is_success=True) for task in OTHER[10:20]]
    found = chosen(rows, {"fpr": AIM})
    assert (found["accept"]["at"], found["accept"]["tasks"]) == ("1/4", 60)
    reported = found["reported"]
    assert (reported["n"], reported["tasks"], reported["abstained"]) == (20, 20, 0)
    assert reported["matrix"] == {"tp": 10, "fp": 10, "fn": 0, "tn": 0}
    assert (reported["fpr"]["tasks_wrong"], reported["fpr"]["high95"]) == (10, 1.0)


def test_the_half_of_a_task_is_that_of_its_id() -> None:
    assert [chooses(f"t{n}") for n in range(6)] == [chooses(f"t{n}") for n in range(6)]
    assert 0.45 < len(OWN) / 2000 < 0.55


def accepted_share(rate: float, tasks: int, runs: int, corpora: int) -> float:
    """How often any threshold is accepted where the strictest one is wrong in `rate` of the tasks."""
    accepted = 0
    for seed in range(corpora):
        chance = random.Random(seed)
        wrong = [chance.random() < rate for _ in range(tasks)]
        said = [
            row(task, Fraction(1) if bad and n == 0 else Fraction(chance.randrange(4), 4))
            for task, bad in zip(OWN, wrong, strict=False)
            for n in range(runs)
        ]
        accepted += chosen(said, {"fpr": AIM})["accept"]["at"] is not None
    return accepted / corpora


@pytest.mark.parametrize(("tasks", "runs"), [(59, 1), (100, 1), (93, 3)])
def test_a_threshold_that_errs_too_often_is_seldom_accepted(tasks: int, runs: int) -> None:
    """True rate 0.10, aim 0.05, 2,000 seeded corpora: at most 5 %, within Monte Carlo error."""
    corpora = 2000 if runs == 1 else 400
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / corpora)
    assert accepted_share(0.10, tasks, runs, corpora) <= most


def test_at_the_aim_itself_it_is_accepted_in_at_most_a_twentieth() -> None:
    """The worst case of the guarantee: 59 tasks without an error have a chance of 0.95 to the 59th, 0.0485."""
    corpora = 2000
    found = accepted_share(0.05, 59, 1, corpora)
    sigma = math.sqrt(0.0485 * 0.9515 / corpora)
    assert abs(found - 0.95**59) <= 3 * sigma
