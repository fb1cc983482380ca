"""One page of every figure as SVG: value, ratio to what it is compared with as a bar, and the goal line.

A bar begins at a ratio of 1: to the left it is better than what it is compared with, to the right worse, each
power of ten as wide as the next. A short line on a bar is the most that its ratio may be.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log10

from bench.figures.figure import Figure
from bench.figures.plot import bar, drawing, number, text
from bench.figures.results import Result, Results

WIDTH = 1180
"""CSS px."""
VALUES, LEFT, RIGHT = 520, 540, 840
"""Where values end, and where bars begin and end."""
LOW, HIGH = 0.001, 10.0
"""Ratios at both ends; what is beyond ends there."""
TOP, ROW, HEAD = 70, 18, 44
"""Height of the head of the page, of a figure, of the head of a benchmark."""


def ratio_page(results: Results) -> str:
    """Return the page: the same bytes for the same results."""
    body, y = list(_axis()), float(TOP)
    for name, result in results.benchmarks.items():
        body += _heading(name, result, y)
        y += HEAD
        for figure in result.figures:
            body += _row(figure, y)
            y += ROW
    return drawing("Every figure, and its ratio", _summary(results), body, y + 16, WIDTH)


def place(ratio: float) -> float:
    """Return where a ratio lies, px from the left."""
    share = log10(min(max(ratio, LOW), HIGH) / LOW) / log10(HIGH / LOW)
    return LEFT + share * (RIGHT - LEFT)


def _axis() -> Iterator[str]:
    for ratio in (0.001, 0.01, 0.1, 1, 10):
        yield text(place(ratio), TOP - 8, f"{ratio:g}")
    yield text(
        16, TOP - 8, "a bar to the left of 1 is better; the short line is the most allowed", anchor="start"
    )


def _heading(name: str, result: Result, y: float) -> Iterator[str]:
    yield text(16, y + 20, name, "title", "start")
    yield text(16, y + 36, f"{result.command} | {result.date} | {result.host.line}", anchor="start")


def _row(figure: Figure, y: float) -> Iterator[str]:
    yield text(16, y + 13, figure.title, anchor="start")
    yield text(VALUES, y + 13, f"{number(figure.value)} {figure.unit}", "value", "end")
    if figure.ratio is not None:
        ends = sorted((place(1), place(figure.ratio)))
        yield bar(ends[0], y + 2, ends[1] - ends[0], "d1" if figure.fails else "d0")
        beside = f"{figure.ratio:.3g} of {figure.peer} ({number(figure.peer_value)})"
        yield text(RIGHT + 16, y + 13, beside, anchor="start")
    if figure.most is not None:
        x = place(figure.most)
        yield f'<line class="goal" x1="{x:.1f}" y1="{y:.1f}" x2="{x:.1f}" y2="{y + ROW:.1f}"/>'


def _summary(results: Results) -> str:
    figures = [figure for result in results.benchmarks.values() for figure in result.figures]
    limited = [figure for figure in figures if figure.most is not None]
    over = sum(figure.fails for figure in limited)
    return (
        f"{len(figures)} figures of {len(results.benchmarks)} benchmarks. "
        f"{len(limited)} ratios have a limit; {over} are over it."
    )
