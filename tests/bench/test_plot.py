"""Plots: well-formed, inside their frame, honest about their figures, and the same every time."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.figures.plot import HEIGHT, WIDTH, Bar, Series, bars, lines, ticks

SVG = "{http://www.w3.org/2000/svg}"
FIGURES = st.floats(0, 1e9, allow_subnormal=False)
WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"]), max_size=20)
POINTS = st.lists(st.tuples(FIGURES, FIGURES), min_size=1, max_size=8)


def inside(plot: str) -> ElementTree.Element:
    """Parse a plot and see that no mark leaves its frame."""
    root = ElementTree.fromstring(plot)
    for circle in root.iter(f"{SVG}circle"):
        assert 0 <= float(circle.attrib["cx"]) <= WIDTH
        assert 0 <= float(circle.attrib["cy"]) <= HEIGHT
    for bar in root.findall(f"{SVG}rect"):
        assert float(bar.attrib.get("y", 0)) + float(bar.attrib["height"]) <= float(root.attrib["height"])
        assert float(bar.attrib.get("x", 0)) + float(bar.attrib["width"]) <= float(root.attrib["width"])
    return root


@given(WORDS, WORDS, WORDS, st.lists(POINTS, min_size=1, max_size=2))
def test_lines_are_drawn_whatever_was_measured(
    title: str, across: str, unit: str, points: list[list[tuple[float, float]]]
) -> None:
    series = [Series(f"{title}{number}", one) for number, one in enumerate(points)]
    plot = lines(title, across, unit, series)
    assert plot == lines(title, across, unit, series)
    root = inside(plot)
    assert root.findtext(f"{SVG}title") == title
    assert len(root.findall(f"{SVG}polyline")) == len(points)


@given(WORDS, st.lists(st.tuples(WORDS, FIGURES), max_size=6))
def test_bars_stand_in_proportion(title: str, found: list[tuple[str, float]]) -> None:
    root = inside(bars(title, "ms", [Bar(*one) for one in found]))
    drawn = [float(bar.attrib["width"]) for bar in root.findall(f"{SVG}rect") if "y" in bar.attrib]
    most = max((value for _, value in found), default=0)
    for (_, value), width in zip(found, drawn, strict=True):
        assert width == pytest.approx(max(drawn) * value / most if most else 0, abs=0.2)


@given(st.floats(0, 1e12, allow_subnormal=False))
def test_a_scale_is_round_and_reaches_the_most(high: float) -> None:
    found = ticks(high)
    assert found[0] == 0
    assert found[-1] >= high * (1 - 1e-9)
    assert len(found) <= 6
    steps = {round(b - a, 9) for a, b in pairwise(found)}
    assert len(steps) <= 1 or max(steps) - min(steps) < 1e-6 * max(steps)


def test_a_plot_names_its_figures_for_those_who_do_not_see_it() -> None:
    root = inside(lines("Time", "steps", "ms", [Series("a", [(1, 2), (3, 4.5)])]))
    assert root.findtext(f"{SVG}desc") == "ms by steps. a: 2 at 1, 4.5 at 3"
    assert root.attrib["role"] == "img"


def test_it_follows_the_reader_s_light_or_dark() -> None:
    assert "prefers-color-scheme:dark" in bars("x", "ms", [Bar("a", 1)])
