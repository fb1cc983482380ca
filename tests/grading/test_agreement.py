"""Agreement: worked numbers, cases of which nothing can be said, and that chance is seeded."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.agreement.agreement_rates import (
    Cluster,
    Matrix,
    accuracy,
    added,
    balanced_accuracy,
    bootstrap,
    corrected,
    difference_p,
    f1,
    kappa,
    matrix_report,
    precision,
    recall,
    rogan_gladen,
    rounded,
    specificity,
)
from replaykit.grading.statistics import weighted_kappa, wilson

WORKED = Matrix(tp=40, fp=10, fn=5, tn=45)


@pytest.mark.parametrize(
    ("statistic", "value"),
    [
        (precision, 0.8), (recall, 0.8889), (f1, 0.8421), (specificity, 0.8182),
        (kappa, 0.7), (accuracy, 0.85), (balanced_accuracy, 0.8535),
    ],
)  # fmt: skip
def test_worked_numbers(statistic, value):
    assert rounded(statistic(WORKED)) == value


def test_worked_intervals():
    assert wilson(40, 50, 4) == (0.6696, 0.8876)
    assert wilson(0, 10, 4) == (0.0, 0.2775)


def test_worked_corrections():
    found = rogan_gladen(Fraction(62, 100), WORKED)
    assert (rounded(found.value), found.is_clipped) == (0.6197, False)
    found = rogan_gladen(Fraction(10, 100), WORKED)
    assert (found.value, found.is_clipped) == (0, True)


@pytest.mark.parametrize("statistic", [precision, recall, f1, specificity, kappa, accuracy])
def test_an_empty_matrix_has_no_statistic(statistic):
    assert statistic(Matrix()) is None


def test_chance_alone():
    assert kappa(Matrix(tp=10)) is None
    assert kappa(Matrix(tp=25, fp=25, fn=25, tn=25)) == 0
    assert kappa(Matrix(fp=5, fn=5)) == -1
    assert rogan_gladen(Fraction(1, 2), Matrix(25, 25, 25, 25)) is None
    assert rogan_gladen(None, WORKED) is None


def test_quadratic_weights():
    assert weighted_kappa([[5, 0, 0], [0, 5, 0], [0, 0, 5]]) == 1
    near = weighted_kappa([[4, 1, 0], [1, 4, 0], [0, 0, 5]])
    far = weighted_kappa([[4, 0, 1], [0, 5, 0], [1, 0, 4]])
    assert near > far > 0


def test_graders_right_on_different_runs():
    assert difference_p(0, 0) is None
    assert difference_p(5, 5) == 1
    assert difference_p(0, 6) == Fraction(1, 32)


cells = st.integers(0, 30)


@given(cells, cells, cells, cells)
def test_statistics_stay_within_their_range(tp, fp, fn, tn):
    m = Matrix(tp, fp, fn, tn)
    for statistic in (precision, recall, f1, specificity, accuracy, balanced_accuracy):
        value = statistic(m)
        assert value is None or 0 <= value <= 1
    assert kappa(m) is None or -1 <= kappa(m) <= 1
    assert kappa(m) == kappa(Matrix(tp, fn, fp, tn))
    found = rogan_gladen(accuracy(m), m)
    assert found is None or 0 <= found.value <= 1


def clusters(*matrices):
    return [Cluster(m, m.tp + m.fp, m.n) for m in matrices]


def test_a_report_of_clusters():
    found = matrix_report(clusters(Matrix(20, 5, 2, 20), Matrix(20, 5, 3, 25)))
    assert (found["n"], found["matrix"]) == (100, {"tp": 40, "fp": 10, "fn": 5, "tn": 45})
    assert found["precision"] == {"value": 0.8, "ci95": [0.6696, 0.8876]}
    assert found["kappa"]["value"] == 0.7
    assert found["kappa"]["ci95"][0] <= 0.7 <= found["kappa"]["ci95"][1]


def test_one_task_has_no_interval_and_empty_draws_are_counted():
    assert bootstrap(clusters(WORKED), lambda total: kappa(total.matrix)) == {"ci95": None, "skipped": 0}
    found = bootstrap(clusters(Matrix(tp=1), Matrix(tn=1)), lambda total: precision(total.matrix))
    assert 400 < found["skipped"] < 600
    assert found["ci95"] == [1.0, 1.0]
    assert matrix_report([])["kappa"] == {"value": None, "ci95": None, "skipped": 0}
    assert corrected([])["value"] is None


def test_the_sum_of_clusters():
    assert added(clusters(Matrix(1, 2, 3, 4), Matrix(5, 6, 7, 8))).matrix == Matrix(6, 8, 10, 12)
    assert added([]) == Cluster(Matrix())


def test_a_bootstrap_is_the_same_in_every_process():
    code = (
        "from replaykit.grading.agreement.agreement_rates import *\n"
        "c = [Cluster(Matrix(n % 3, n % 2, n % 4, 2), n % 3, 9) for n in range(12)]\n"
        "print(bootstrap(c, lambda t: kappa(t.matrix)), corrected(c))"
    )
    answer = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(answer) == 1
