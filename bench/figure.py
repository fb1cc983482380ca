"""Figures of a benchmark: CPU time, ratios to peers of the same run, goals, the table."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple


class Figure(NamedTuple):
    """One row: what was measured, what it is compared with, and what is asked of it."""

    name: str
    """What was measured."""
    value: float
    """What was found."""
    unit: str
    """Its unit."""
    goal: float | None = None
    """Most that is aimed at; it informs, since machines differ."""
    peer: str = ""
    """What it is compared with, measured in the same run; or a limit."""
    peer_value: float = 0
    """What was found for it, in the same unit."""
    most: float | None = None
    """Most that the ratio to the peer may be; more is a failure."""

    @property
    def ratio(self) -> float:
        """Value by peer."""
        return self.value / self.peer_value if self.peer_value else 0

    @property
    def fails(self) -> bool:
        """Whether the ratio is over what is allowed."""
        return self.most is not None and self.ratio > self.most


def cpu(*works: Callable[[], object], batch: int = 1, seconds: float = 1) -> list[float]:
    """Return CPU seconds of each work: the least of several runs, all taking turns.

    `seconds` are of CPU time, so that a busy machine does not mean fewer runs; four times as much real time
    is enough of it. Small works run `batch` times at once, or the clock and cold caches are measured.
    """
    least = [float("inf")] * len(works)
    start, spent, rounds = time.perf_counter(), 0.0, 0
    while rounds < 3 or (spent < seconds and time.perf_counter() < start + 4 * seconds):
        taken = [_spent(work, batch) for work in works]
        least = [min(pair) for pair in zip(least, taken, strict=True)]
        spent += batch * sum(taken)
        rounds += 1
    return least


def _spent(work: Callable[[], object], batch: int) -> float:
    start = time.process_time()
    for _ in range(batch):
        work()
    return (time.process_time() - start) / batch


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean."""
    found = list(values)
    return sum(found) / len(found)


def report(figures: Sequence[Figure]) -> int:
    """Print the table and return the exit code: 1 if a ratio is over what is allowed."""
    print(f"{'figure':48}{'value':>16}{'goal':>10}  {'peer':38}{'ratio':>8}{'at most':>9}")
    for figure in figures:
        print(_line(figure))
    failed = [figure.name for figure in figures if figure.fails]
    print(f"missed: {'; '.join(failed)}" if failed else "every ratio holds")
    return int(bool(failed))


def main(description: str | None, figures: Callable[[Path, float], Iterable[Figure]]) -> int:
    """Measure in a folder of its own, for as many seconds as the command line says, and report."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=float, default=2)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        return report(list(figures(Path(folder), seconds)))


def _line(figure: Figure) -> str:
    goal = "" if figure.goal is None else f"{figure.goal:,g}"
    mark = "" if figure.goal is None else " +" if figure.value <= figure.goal else " -"
    peer = f"{figure.peer} {figure.peer_value:,.4g}" if figure.peer else ""
    ratio = f"{figure.ratio:.4f}" if figure.peer else ""
    most = "" if figure.most is None else f"{figure.most:.4f} {'-' if figure.fails else '+'}"
    value = f"{figure.value:,.4g} {figure.unit}"
    return f"{figure.name:48}{value:>16}{goal + mark:>10}  {peer:38}{ratio:>8}{most:>9}".rstrip()
