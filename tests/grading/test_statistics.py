"""Intervals and rounding, by hand and by property."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from statistics import quantiles

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from replaykit.grading.statistics import (
    RESAMPLES,
    SEED,
    clustered_bootstrap,
    mean,
    rounded,
    total,
    upper_bound,
    wilson,
)


@pytest.mark.parametrize(
    ("hits", "n", "interval"),
    [(40, 50, (0.67, 0.888)), (0, 10, (0.0, 0.278)), (10, 10, (0.722, 1.0)), (0, 0, None)],
)
def test_wilson_by_hand(hits: int, n: int, interval: tuple[float, float] | None) -> None:
    assert wilson(hits, n) == interval


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_rate_and_stays_in_bounds(counts: tuple[int, int]) -> None:
    hits, n = counts
    low, high = wilson(hits, n) or (1.0, 0.0)
    assert 0 <= low <= hits / n + 0.0005
    assert hits / n - 0.0005 <= high <= 1


@pytest.mark.parametrize(
    ("value", "shown"), [(Fraction(1, 80), 0.012), (Fraction(25, 2000), 0.012), (Fraction(3, 8000), 0.0)]
)
def test_rounding_is_half_even_on_the_fraction(value: Fraction, shown: float) -> None:
    assert rounded(value) == shown


def test_nothing_has_no_mean() -> None:
    assert mean([]) is None
    assert rounded(None) is None


def test_fewer_than_two_clusters_have_no_interval() -> None:
    assert clustered_bootstrap([[Fraction(1)]]) is None
    assert clustered_bootstrap([]) is None


@given(
    st.lists(
        st.lists(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)]), min_size=1),
        min_size=2,
        max_size=6,
    )
)
def test_the_bootstrap_is_the_same_every_time_and_holds_its_order(clusters: list[list[Fraction]]) -> None:
    found = clustered_bootstrap(clusters)
    assert found == clustered_bootstrap(clusters)
    assert found is not None
    assert 0 <= found[0] <= found[1] <= 1


def test_runs_of_one_task_are_drawn_together() -> None:
    """Ten equal runs of two tasks know no more than one run of each."""
    many = [[Fraction(1)] * 10, [Fraction(0)] * 10]
    assert clustered_bootstrap(many) == clustered_bootstrap([[Fraction(1)], [Fraction(0)]]) == (0.0, 1.0)


@given(st.lists(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1)]), min_size=2, max_size=30))
@example([Fraction(part, 3) for part in (0, 3, 1, 1, 3, 0, 0, 1, 1, 1)])
@settings(max_examples=20)
def test_the_interval_is_that_of_a_naive_bootstrap(means: list[Fraction]) -> None:
    chance = random.Random(SEED)
    drawn = [
        math.fsum(map(float, chance.choices(means, k=len(means)))) / len(means) for _ in range(RESAMPLES)
    ]
    cuts = quantiles(drawn, n=40, method="inclusive")
    # A bound halfway between two thousandths is rounded either way.
    expected = pytest.approx((cuts[0], cuts[-1]), abs=0.0005 + 1e-9)
    assert clustered_bootstrap([[mean] for mean in means]) == expected


@given(st.lists(st.fractions(), max_size=20), st.integers(1, 3))
def test_a_total_is_the_sum(values: list[Fraction], times: int) -> None:
    assert total(values * times) == sum(values) * times


@pytest.mark.parametrize(
    ("aim", "negatives"), [(0.05, (59, 93, 124)), (0.10, (29, 46, 61)), (0.15, (19, 30, 40))]
)
def test_how_many_negatives_a_bound_needs(aim: float, negatives: tuple[int, ...]) -> None:
    """Figures of Clopper-Pearson tables: so many with 0, 1, 2 false positives, and one less is too few."""
    for hits, n in enumerate(negatives):
        least, below = upper_bound(hits, n), upper_bound(hits, n - 1)
        assert least is not None and below is not None and least <= aim < below


def test_bounds_of_nothing_and_of_all() -> None:
    assert upper_bound(0, 0) is None
    assert upper_bound(3, 3) == 1.0
    assert upper_bound(1, 2) == 0.9747


@given(st.integers(0, 40), st.integers(1, 40))
def test_a_bound_lies_above_the_rate_and_grows_with_hits(hits: int, n: int) -> None:
    hits = min(hits, n)
    bound = upper_bound(hits, n)
    assert bound is not None and hits / n <= bound <= 1
    assert hits == 0 or (upper_bound(hits - 1, n) or 0) <= bound
