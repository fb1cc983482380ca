"""A figure: one thing that was measured, what it is compared with, and what is asked of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from operator import sub
from typing import TypeAlias

from msgspec import Struct

Rounds: TypeAlias = Sequence[Sequence[float]]
"""Times of every action, round by round; actions stand in the same order in all."""


class Spread(Struct, frozen=True):
    """Several rounds of one measurement."""

    median: float
    low: float
    """Least of all rounds."""
    high: float
    """Most of all rounds."""

    @classmethod
    def of(cls, rounds: Iterable[float]) -> Spread:
        """Return the spread of at least one round."""
        found = sorted(rounds)
        return cls(statistics.median(found), found[0], found[-1])

    def times(self, factor: float) -> Spread:
        """Return the same in another unit; `factor` is not negative."""
        return Spread(self.median * factor, self.low * factor, self.high * factor)


class Figure(Struct, frozen=True, omit_defaults=True):
    """One row: what was measured, what it is compared with, and what is asked of it."""

    name: str
    """Name of the measurement. The same in every run, so it holds no result."""
    value: float
    """The measured value; less is better."""
    unit: str
    """Its unit; `ms/bundle` is also shown as a rate."""
    goal: float | None = None
    """Most that is aimed at; it informs, since machines differ."""
    peer: str = ""
    """The tool that it is compared with, measured in the same run; or a limit."""
    peer_value: float = 0.0
    """The other tool's value, in the same unit."""
    most: float | None = None
    """Most that the ratio to the peer may be; more is a failure."""
    at: float | None = None
    """Place on a curve: steps, KB of a page, bundles."""
    spread: Spread | None = None
    """Of all rounds, where several were taken."""
    runs: Spread | None = None
    """Of the ratio, or of the value where there is none, over several whole runs of the benchmark."""

    @property
    def title(self) -> str:
        """Name, and place on the curve."""
        return self.name if self.at is None else f"{self.name}, {self.at:,g}"

    @property
    def ratio(self) -> float | None:
        """Value by peer; None without one."""
        return self.value / self.peer_value if self.peer and self.peer_value else None

    @property
    def fails(self) -> bool:
        """Whether the ratio is over what is allowed."""
        return self.most is not None and self.ratio is not None and self.ratio > self.most


def least(
    name: str,
    ours: Spread,
    factor: float,
    unit: str,
    goal: float | None = None,
    peer: str = "",
    theirs: Spread | None = None,
    most: float | None = None,
    at: float | None = None,
) -> Figure:
    """Return a figure of CPU times: other work of the machine only adds to them, so the least round counts.

    `factor` leads from seconds to the unit.
    """
    found = ours.times(factor)
    beside = 0 if theirs is None else theirs.low * factor
    return Figure(name, found.low, unit, goal, peer, beside, most, at, found)


def middle(
    name: str,
    ours: Iterable[float],
    unit: str,
    goal: float | None = None,
    peer: str = "",
    theirs: Iterable[float] = (),
    most: float | None = None,
    at: float | None = None,
) -> Figure:
    """Return a figure of rounds in its own unit: the median counts."""
    found, others = Spread.of(ours), list(theirs)
    beside = statistics.median(others) if others else 0
    return Figure(name, found.median, unit, goal, peer, beside, most, at, found)


def of_actions(
    name: str, ours: Rounds, unit: str, goal: float | None = None, peer: str = "", theirs: Rounds = ()
) -> Figure:
    """Return a figure of actions: the median of all rounds; the spread is that of the medians of each."""
    value = statistics.median(_all(ours))
    beside = statistics.median(_all(theirs)) if theirs else 0
    rounds = sorted(map(statistics.median, ours))
    return Figure(name, value, unit, goal, peer, beside, spread=Spread(value, rounds[0], rounds[-1]))


def added(ours: Rounds, plain: Rounds) -> Rounds:
    """Return what each action took longer than the same action of the same round."""
    return [list(map(sub, one, other)) for one, other in zip(ours, plain, strict=True)]


def joined(parts: Iterable[Rounds]) -> Rounds:
    """Return the rounds of several sites as rounds over all of them."""
    return [_all(one) for one in zip(*parts, strict=True)]


def _all(rounds: Iterable[Iterable[float]]) -> list[float]:
    return [value for one in rounds for value in one]


def cpu(*works: Callable[[], object], batch: int = 1, seconds: float = 1) -> list[Spread]:
    """Return CPU seconds of each work in several rounds, all taking turns.

    `seconds` are of CPU time, so that a busy machine does not mean fewer runs; four times as much real time
    is enough of it. Small works run `batch` times at once, or the clock and cold caches are measured.
    """
    rounds: list[list[float]] = []
    start, spent = time.perf_counter(), 0.0
    while len(rounds) < 3 or (spent < seconds and time.perf_counter() < start + 4 * seconds):
        rounds.append([_spent(work, batch) for work in works])
        spent += batch * sum(rounds[-1])
    return [Spread.of(taken) for taken in zip(*rounds, strict=True)]


def _spent(work: Callable[[], object], batch: int) -> float:
    start = time.process_time()
    for _ in range(batch):
        work()
    return (time.process_time() - start) / batch


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean."""
    found = list(values)
    return sum(found) / len(found)
