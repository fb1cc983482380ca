"""docs/benchmarks.md from the file of results: tables between their marks, plots, and the page of all ratios.

A mark is `<!-- figures of NAME -->`, or `<!-- figures of NAME: WORDS -->` for those whose names begin with
these words; the table ends with `<!-- end of figures -->`. The text around stays as people wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.figures.figure import Figure
from bench.figures.millions import arithmetic
from bench.figures.plot import Bar, Series, bars, lines, number
from bench.figures.ratio_page import ratio_page
from bench.figures.results import Result, Results

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
PLOTS = PAGE.with_suffix("")
RESULTS = PLOTS / "results.json"
RATIOS = "ratios.svg"

_MARK = re.compile(r"(<!-- figures of ([\w.]+)(?:: ([^>]+))? -->\n).*?(<!-- end of figures -->)", re.DOTALL)


class Plot(NamedTuple):
    """How the figures of a benchmark are drawn."""

    file: str
    title: str
    unit: str
    """Of the figures that are drawn; others stand in the table only."""
    across: str = ""
    """Title of the x axis; bars have none."""
    axis: str = ""
    """Name of the y axis; empty = the unit."""


DRAWN = {
    "scaling.whole": Plot("whole.svg", "2,000 bundles", "ms/bundle"),
    "scaling.workers": Plot("workers.svg", "Grading, by processes", "ms/bundle"),
    "scaling.steps": Plot("steps.svg", "Grading one bundle, by its steps", "ms", "steps", "CPU milliseconds"),
    "scaling.pages": Plot(
        "pages.svg", "Grading one bundle of 20 steps, by page size", "ms", "KB a page", "CPU milliseconds"
    ),
    "scaling.startup": Plot("startup.svg", "A whole command", "ms", axis="CPU milliseconds"),
    "scaling.memory": Plot("memory.svg", "Most memory of one worker", "MB", "bundles graded"),
    "long_run": Plot("long-run.svg", "Recording a long run", "ms", "steps", "CPU milliseconds per step"),
}
"""By benchmark."""

COLUMNS: tuple[tuple[str, Callable[[Figure], str]], ...] = (
    ("figure", lambda one: one.name),
    ("measured", lambda one: f"{number(one.value)} {one.unit}"),
    ("per second", lambda one: number(1000 / one.value) if one.unit == "ms/bundle" and one.value else ""),
    ("rounds", lambda one: f"{number(one.spread.low)} to {number(one.spread.high)}" if one.spread else ""),
    ("goal", lambda one: "" if one.goal is None else number(one.goal)),
    ("compared with", lambda one: f"{one.peer}, {number(one.peer_value)}" if one.peer else ""),
    ("ratio", lambda one: "" if one.ratio is None else f"{one.ratio:.2f}"),
    ("runs", lambda one: f"{number(one.runs.low)} to {number(one.runs.high)}" if one.runs else ""),
    ("at most", lambda one: "" if one.most is None else f"{one.most:.2f}"),
)
"""Of a table; columns without a word are left out."""


def write(results: Results) -> None:
    """Write the page and its plots."""
    PAGE.write_text(page(PAGE.read_text("utf-8"), results), "utf-8")
    for name, text in plots(results).items():
        (PLOTS / name).write_text(text, "utf-8")


def page(text: str, results: Results) -> str:
    """Return the page with the tables that these results give."""
    return _MARK.sub(lambda found: found[1] + _block(found[2], found[3] or "", results) + found[4], text)


def plots(results: Results) -> dict[str, str]:
    """Return the plots by file name."""
    found = {
        plot.file: _drawn(plot, results.benchmarks[name].figures)
        for name, plot in DRAWN.items()
        if name in results.benchmarks
    }
    return {**found, RATIOS: ratio_page(results)}


def _block(name: str, words: str, results: Results) -> str:
    """Return what stands between two marks: an image, tables, and where they come from."""
    result = results.benchmarks.get("scale" if name == "millions" else name)
    figures = [one for one in result.figures if one.name.startswith(words)] if result else []
    if result is None or not figures:
        return "\nNot measured yet.\n\n"
    if name == "millions":
        return f"\n{arithmetic(result)}\n"
    plot = DRAWN.get(name)
    image = [f"![{plot.title}]({PLOTS.name}/{plot.file})\n"] if plot else []
    return "\n".join(["", *image, *_tables(figures, plot), f"{source(result)}\n\n"])


def _tables(figures: Sequence[Figure], plot: Plot | None) -> Iterator[str]:
    curves = [one for one in figures if one.at is not None]
    rows = [one for one in figures if one.at is None]
    if curves:
        yield curve_table(curves, plot.across if plot else "")
    if rows:
        yield table(rows)


def source(result: Result) -> str:
    """Return where figures come from, as sentences."""
    load = "" if result.load is None else f" Load: {number(result.load)}."
    host = f" Machine: {result.host.line}." if result.host.line else ""
    runs = f", the middle one of {result.runs} runs" if result.runs > 1 else ""
    return f"`{result.command}`{runs}, {result.date}.{host}{load}"


def table(figures: Sequence[Figure]) -> str:
    """Return a row for each figure."""
    cells = {name: [cell(one) for one in figures] for name, cell in COLUMNS}
    kept = {name: column for name, column in cells.items() if any(column)}
    return _markdown(list(kept), list(zip(*kept.values(), strict=True)))


def curve_table(figures: Sequence[Figure], across: str) -> str:
    """Return a row for each place of the curves, a column for each curve."""
    curves = _curves(figures)
    places = sorted({x for points in curves.values() for x in points})
    rows = [
        (f"{x:,g}", *(number(points[x]) if x in points else "" for points in curves.values())) for x in places
    ]
    return _markdown([across, *curves], rows)


def _curves(figures: Sequence[Figure]) -> dict[str, dict[float, float]]:
    found: dict[str, dict[float, float]] = {}
    for one in figures:
        if one.at is not None:
            found.setdefault(f"{one.name}, {one.unit}", {})[one.at] = one.value
    return found


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    marks = ["---", *("---:" for _ in head[1:])]
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, marks, *rows))


def _drawn(plot: Plot, figures: Sequence[Figure]) -> str:
    shown = [one for one in figures if one.unit == plot.unit]
    axis = plot.axis or plot.unit
    if plot.across:
        return lines(plot.title, plot.across, axis, list(_series(shown)))
    return bars(plot.title, axis, [Bar(one.name, one.value) for one in shown])


def _series(figures: Sequence[Figure]) -> Iterator[Series]:
    for name in dict.fromkeys(one.name for one in figures if one.at is not None):
        yield Series(name, [(one.at or 0, one.value) for one in figures if one.name == name])
