"""How well one grader agrees with another: pure, exact until rounded, `null` where nothing can be computed.

Positive = SUCCESS. Sources: Cohen 1960 (kappa), Wilson 1927, McNemar 1947, Rogan and Gladen 1978.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from replaykit.grading.statistics import FEW, RESAMPLES, SEED, upper_bound, weighted_kappa, wilson

DIGITS = 4
"""Decimal places of a statistic."""


class Matrix(NamedTuple):
    """Counts of (predicted, true) pairs."""

    tp: int = 0
    """SUCCESS, and it was."""
    fp: int = 0
    """SUCCESS, and it was not."""
    fn: int = 0
    """FAILURE, and it was SUCCESS."""
    tn: int = 0
    """FAILURE, and it was."""

    @property
    def n(self) -> int:
        """Pairs."""
        return sum(self)


class Cluster(NamedTuple):
    """Counts that the runs of one task contribute."""

    matrix: Matrix
    """Of labelled runs with a verdict."""
    successes: int = 0
    """Of the grader over all runs with a verdict, labelled or not."""
    n: int = 0
    """Runs with a verdict, labelled or not."""


class Corrected(NamedTuple):
    """A rate corrected for a grader's errors."""

    value: Fraction
    """Between 0 and 1."""
    is_clipped: bool
    """Whether it lay outside."""


Statistic = Callable[[Cluster], Fraction | None]
"""A number of the sum of all clusters; None where a denominator is 0."""


def added(clusters: Sequence[Cluster]) -> Cluster:
    """Return the sum of clusters."""
    cells = zip(*(cluster.matrix for cluster in clusters), strict=True)
    matrix = Matrix(*(sum(cell) for cell in cells)) if clusters else Matrix()
    return Cluster(matrix, sum(one.successes for one in clusters), sum(one.n for one in clusters))


def share(part: int, whole: int) -> Fraction | None:
    """Return a ratio; None where its denominator is 0."""
    return Fraction(part, whole) if whole else None


def precision(m: Matrix) -> Fraction | None:
    """Return how many of those called SUCCESS were."""
    return share(m.tp, m.tp + m.fp)


def recall(m: Matrix) -> Fraction | None:
    """Return how many of those that were SUCCESS were called so."""
    return share(m.tp, m.tp + m.fn)


def specificity(m: Matrix) -> Fraction | None:
    """Return how many of those that were FAILURE were called so (TNR)."""
    return share(m.tn, m.tn + m.fp)


def f1(m: Matrix) -> Fraction | None:
    """Return 2 tp / (2 tp + fp + fn)."""
    return share(2 * m.tp, 2 * m.tp + m.fp + m.fn)


def accuracy(m: Matrix) -> Fraction | None:
    """Return the share of pairs that agree."""
    return share(m.tp + m.tn, m.n)


def balanced_accuracy(m: Matrix) -> Fraction | None:
    """Return the mean of recall and specificity."""
    both = recall(m), specificity(m)
    return None if both[0] is None or both[1] is None else (both[0] + both[1]) / 2


def kappa(m: Matrix) -> Fraction | None:
    """Return Cohen's kappa, (po - pe) / (1 - pe); None if chance agreement pe is 1."""
    return weighted_kappa([[m.tn, m.fn], [m.fp, m.tp]])


def plain_kappa(counts: Sequence[Sequence[int]]) -> Fraction | None:
    """Return Cohen's kappa of a square table whose classes have no order."""
    total = sum(map(sum, counts))
    if total == 0:
        return None
    columns = [sum(column) for column in zip(*counts, strict=True)]
    expected = sum(sum(row) * column for row, column in zip(counts, columns, strict=True))
    seen = sum(row[place] for place, row in enumerate(counts))
    return None if expected == total**2 else Fraction(seen * total - expected, total**2 - expected)


def phi(m: Matrix) -> float | None:
    """Return the correlation of two yes-or-no answers, from -1 to 1; None where one of them never varies.

    It is (tp tn - fp fn) over the root of the product of the four sums (Pearson 1900).
    """
    spread = (m.tp + m.fp) * (m.fn + m.tn) * (m.tp + m.fn) * (m.fp + m.tn)
    return rounded((m.tp * m.tn - m.fp * m.fn) / math.sqrt(spread)) if spread else None


def rogan_gladen(rate: Fraction | None, m: Matrix) -> Corrected | None:
    """Return (p + TNR - 1) / (TPR + TNR - 1), clipped; None where the grader is no better than chance."""
    sensitivity, spec = recall(m), specificity(m)
    if rate is None or sensitivity is None or spec is None or sensitivity + spec <= 1:
        return None
    value = (rate + spec - 1) / (sensitivity + spec - 1)
    return Corrected(min(max(value, Fraction(0)), Fraction(1)), not 0 <= value <= 1)


def difference_p(only_first: int, only_second: int) -> Fraction | None:
    """Return McNemar's exact two-sided p of two graders right on different runs; None if absent."""
    n = only_first + only_second
    if n == 0:
        return None
    tail = sum(math.comb(n, k) for k in range(min(only_first, only_second) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**n))


def bootstrap(clusters: Sequence[Cluster], statistic: Statistic) -> dict[str, Any]:
    """Return the percentile interval over resampled tasks, each with all of its runs.

    2,000 draws, seed 0. A draw without a value is skipped and counted. The interval is None
    of fewer than 2 clusters.
    """
    if len(clusters) < 2:
        return {"ci95": None, "skipped": 0}
    draw = random.Random(SEED)
    drawn = [statistic(added(draw.choices(clusters, k=len(clusters)))) for _ in range(RESAMPLES)]
    found = sorted(float(value) for value in drawn if value is not None)
    interval = [_percentile(found, 0.025), _percentile(found, 0.975)] if found else None
    return {"ci95": interval, "skipped": len(drawn) - len(found)}


def matrix_report(clusters: Sequence[Cluster]) -> dict[str, Any]:
    """Return every statistic of a matrix: rates with Wilson's interval, the others bootstrapped.

    `few` marks a matrix of fewer than 20 runs.
    """
    total = added(clusters)
    m = total.matrix
    return {
        "matrix": m._asdict(),
        "n": m.n,
        "few": m.n < FEW,
        "fpr": {**_rate(m.fp, m.fp + m.tn), **_false_positives(clusters)},
        **{name: _rate(*parts) for name, parts in _rates(m).items()},
        **{name: _resampled(clusters, of) for name, of in _OTHERS.items()},
    }


def _false_positives(clusters: Sequence[Cluster]) -> dict[str, Any]:
    """Return how many tasks with a failure have one that was called a success, and the bound of that share.

    Runs of one task fail alike: a task counts once.
    """
    failed = [one.matrix for one in clusters if one.matrix.fp + one.matrix.tn]
    hits = sum(m.fp > 0 for m in failed)
    return {"tasks": len(failed), "tasks_wrong": hits, "high95": upper_bound(hits, len(failed), DIGITS)}


def rounded(value: Fraction | float | None) -> float | None:
    """Return a statistic as it is reported; None stays None."""
    return None if value is None else round(float(value), DIGITS)


def corrected(clusters: Sequence[Cluster]) -> dict[str, Any]:
    """Return the grader's rate over all runs, corrected for its errors on the labelled ones."""
    found = _corrected(added(clusters))
    if found is None:
        return {"value": None, "clipped": False, "ci95": None, "skipped": 0}
    again = bootstrap(clusters, lambda total: _value(_corrected(total)))
    return {"value": rounded(found.value), "clipped": found.is_clipped, **again}


def _corrected(total: Cluster) -> Corrected | None:
    return rogan_gladen(share(total.successes, total.n), total.matrix)


def _value(found: Corrected | None) -> Fraction | None:
    return None if found is None else found.value


def _rates(m: Matrix) -> Mapping[str, tuple[int, int]]:
    return {
        "precision": (m.tp, m.tp + m.fp),
        "recall": (m.tp, m.tp + m.fn),
        "tnr": (m.tn, m.tn + m.fp),
        "npv": (m.tn, m.tn + m.fn),
        "accuracy": (m.tp + m.tn, m.n),
    }


_OTHERS: Mapping[str, Statistic] = {
    "f1": lambda total: f1(total.matrix),
    "balanced_accuracy": lambda total: balanced_accuracy(total.matrix),
    "kappa": lambda total: kappa(total.matrix),
}


def _rate(hits: int, n: int) -> dict[str, Any]:
    interval = wilson(hits, n, DIGITS)
    return {"value": rounded(share(hits, n)), "ci95": list(interval) if interval else None}


def _resampled(clusters: Sequence[Cluster], statistic: Statistic) -> dict[str, Any]:
    return {"value": rounded(statistic(added(clusters))), **bootstrap(clusters, statistic)}


def _percentile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return round(ordered[below] + (ordered[above] - ordered[below]) * (place - below), DIGITS)
