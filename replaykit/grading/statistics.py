"""Intervals and rounding: pure, exact, the same on every machine."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""

RESAMPLES = 2000
"""Bootstrap resamples."""

SEED = 0
"""Seed of the bootstrap: the same data give the same interval."""

Interval = tuple[float, float]
"""Lower and upper bound."""


def rounded(value: Fraction | None, digits: int = 3) -> float | None:
    """Round half to even, on the exact fraction and not on its nearest float."""
    return None if value is None else float(round(value, digits))


def total(values: Iterable[Fraction]) -> Fraction:
    """Return the exact sum; one object many times over, as most scores are, costs a product."""
    given = list(values)
    times = Counter(map(id, given))
    numerators: Counter[int] = Counter()
    for one, value in {id(value): value for value in given}.items():
        numerators[value.denominator] += value.numerator * times[one]
    return sum((Fraction(*parts) for parts in zip(numerators.values(), numerators, strict=True)), Fraction(0))


def mean(values: Sequence[Fraction]) -> Fraction | None:
    """Return the exact mean; None of nothing."""
    return total(values) / len(values) if values else None


def wilson(hits: int, n: int, digits: int = 3) -> Interval | None:
    """Return Wilson's 95 % interval of a rate (Wilson 1927); None of nothing."""
    if n == 0:
        return None
    share, z2 = hits / n, Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return _interval(max(0.0, centre - half), min(1.0, centre + half), digits)


FEW = 20
"""Below so many decided runs a rate says little: it is marked `few`."""

CONFIDENCE = Fraction(95, 100)
"""Of one-sided bounds."""


def upper_bound(hits: int, n: int, digits: int = 4) -> float | None:
    """Return the one-sided 95 % Clopper-Pearson bound of a rate (1934), rounded up; None of nothing.

    Bisection over whole multiples of 10^-digits: exact, the same on every machine.
    """
    if n == 0:
        return None
    scale: int = 10**digits
    low, high = 0, scale
    while low < high:
        middle = (low + high) // 2
        if _tail(hits, n, middle, scale) > 1 - CONFIDENCE:
            low = middle + 1
        else:
            high = middle
    return low / scale


def is_bounded(hits: int, n: int, aim: Fraction) -> bool:
    """Return whether the one-sided 95 % Clopper-Pearson bound of a rate is at most `aim`, exactly."""
    return n > 0 and _tail(hits, n, aim.numerator, aim.denominator) <= 1 - CONFIDENCE


def needed(hits: int, aim: Fraction) -> int:
    """Return the least number of tries of which so many hits bound the rate by `aim`, above 0 and below 1."""
    above = 2 * (hits + 1)
    while not is_bounded(hits, above, aim):
        above *= 2
    below = above // 2 if above > 2 * (hits + 1) else hits
    while above - below > 1:
        middle = (above + below) // 2
        if is_bounded(hits, middle, aim):
            above = middle
        else:
            below = middle
    return above


def _tail(hits: int, n: int, part: int, scale: int) -> Fraction:
    """Return the chance of at most so many hits where the rate is part / scale."""
    if hits >= n:
        return Fraction(1)
    ways: int = sum(math.comb(n, k) * part**k * (scale - part) ** (n - k) for k in range(hits + 1))
    return Fraction(ways, scale**n)


def flip_rate(votes: Iterable[Sequence[str]]) -> Fraction | None:
    """Return the share of runs whose votes disagree, among those with two verdicts; None where none has."""
    verdicts = [[vote for vote in run if vote in ("SUCCESS", "FAILURE")] for run in votes]
    several = [set(run) for run in verdicts if len(run) > 1]
    return Fraction(sum(len(distinct) > 1 for distinct in several), len(several)) if several else None


def weighted_kappa(counts: Sequence[Sequence[int]]) -> Fraction | None:
    """Return kappa with quadratic weights of a square table; of two classes that is Cohen's own."""
    size, total = len(counts), sum(map(sum, counts))
    if total == 0:
        return None
    rows = [sum(row) for row in counts]
    columns = [sum(column) for column in zip(*counts, strict=True)]
    cells = [(i, j, (i - j) ** 2) for i in range(size) for j in range(size)]
    seen = sum(weight * counts[i][j] for i, j, weight in cells)
    expected = sum(weight * rows[i] * columns[j] for i, j, weight in cells)
    return None if expected == 0 else 1 - Fraction(seen * total, expected)


def clustered_bootstrap(clusters: Sequence[Sequence[Fraction]]) -> Interval | None:
    """Return the percentile interval of the mean of cluster means; None of fewer than 2 clusters.

    Whole clusters (a task with all its runs) are drawn with replacement, 2,000 times, seed 0.
    """
    means = tuple(float(total(cluster) / len(cluster)) for cluster in clusters if cluster)
    return _bootstrap(means) if len(means) > 1 else None


# Several rates of a report have the same values, and all that have as many clusters the same draws.


@lru_cache(maxsize=32)
def _bootstrap(means: tuple[float, ...]) -> Interval:
    n = len(means)
    draws = _kept_draws(n) if n <= _KEPT_MAX else _draws(n)
    drawn = sorted(math.fsum(map(means.__getitem__, draw)) / n for draw in draws)
    return _interval(_percentile(drawn, 0.025), _percentile(drawn, 0.975))


_KEPT_MAX = 2_000
"""Clusters whose draws are kept: 16 MB."""


def _draws(n: int) -> Iterator[Sequence[int]]:
    import random  # for many runs

    chance = random.Random(SEED)
    return (array("I", chance.choices(range(n), k=n)) for _ in range(RESAMPLES))


@lru_cache(maxsize=2)
def _kept_draws(n: int) -> Sequence[Sequence[int]]:
    return list(_draws(n))


def _percentile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _interval(low: float, high: float, digits: int = 3) -> Interval:
    return round(low, digits), round(high, digits)
