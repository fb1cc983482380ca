"""Plots of the benchmarks as SVG: lines and bars, the same bytes for the same figures, light and dark.

Written by hand because nothing that the tests and checks of this project use draws: a few marks on one scale
need no library. Colours follow the reader's; texts are drawn by the reader's own letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

WIDTH, HEIGHT = 640, 300
"""CSS px."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 20, 64, 46
"""Margins, CSS px: numbers of the scale, last label, title, names below."""

_NAMES, _VALUES, _ROW = 370, 70, 24
"""Of bars, CSS px: room for names before them and for values after them, height of each."""

_STYLE = (
    ":root{--ink:#18202b;--muted:#566173;--line:#dfe4eb;--one:#2f55c8;--two:#b2570b;--paper:#ffffff}"
    "@media (prefers-color-scheme:dark){"
    ":root{--ink:#e3e8ef;--muted:#98a4b5;--line:#2d3541;--one:#8ba7ff;--two:#f0a35e;--paper:#12161c}}"
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:var(--muted)}"
    ".title{font-size:14px;font-weight:600;fill:var(--ink)}.value{fill:var(--ink);font-weight:600}"
    ".paper{fill:var(--paper)}.grid{stroke:var(--line)}"
    ".line{fill:none;stroke-width:2;stroke-linejoin:round}"
    ".goal{stroke:var(--ink);stroke-width:2}"
    ".s0{stroke:var(--one)}.s1{stroke:var(--two)}.d0{fill:var(--one)}.d1{fill:var(--two)}"
)


class Series(NamedTuple):
    """One line: what it shows, and its points from left to right."""

    name: str
    """Name of the measurement."""
    points: Sequence[tuple[float, float]]
    """x and y, neither negative."""


class Bar(NamedTuple):
    """One bar."""

    name: str
    """Name of the measurement."""
    value: float
    """Not negative."""


def lines(title: str, across: str, unit: str, series: Sequence[Series]) -> str:
    """Return a plot of up to two lines; `across` names the x axis, `unit` the y axis. Both begin at 0."""
    high = _ceiling(y for one in series for _, y in one.points)
    wide = _ceiling(x for one in series for x, _ in one.points)
    body = [*_scale(high, unit), *_below(wide, across), *_legend(series)]
    for place, one in enumerate(series):
        places = [(_x(x / wide), _y(y / high)) for x, y in one.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        body.append(f'<polyline class="line s{place}" points="{path}"/>')
        body += [f'<circle class="d{place}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in places]
    said = "; ".join(f"{one.name}: {_told(one.points)}" for one in series)
    return drawing(title, f"{unit} by {across}. {said}", body)


def bars(title: str, unit: str, found: Sequence[Bar]) -> str:
    """Return a plot of bars from top to bottom, each with its name and value; all begin at 0."""
    high = _ceiling(one.value for one in found)
    body = [text(16, 42, unit, anchor="start")]
    for place, one in enumerate(found):
        y, length = _TOP + place * _ROW, (WIDTH - _NAMES - _VALUES) * one.value / high
        body.append(text(_NAMES - 8, y + 15, one.name, anchor="end"))
        body.append(bar(_NAMES, y + 4, length))
        body.append(text(_NAMES + length + 7, y + 15, number(one.value), "value", "start"))
    listed = "; ".join(f"{one.name}: {number(one.value)}" for one in found)
    return drawing(title, f"{unit}. {listed}", body, _TOP + len(found) * _ROW + 12)


def bar(x: float, y: float, length: float, look: str = "d0") -> str:
    """Return a bar that lies, 14 px high."""
    return f'<rect class="{look}" x="{x:.1f}" y="{y:.1f}" width="{length:.1f}" height="14" rx="3"/>'


def ticks(high: float) -> list[float]:
    """Return round numbers from 0 that reach `high`, at most 6: steps of 1, 2 or 5 times a power of ten."""
    rough = max(high, 1e-6) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(power * one for one in (1, 2, 5, 10) if power * one >= rough * (1 - 1e-9))
    return [step * place for place in range(max(1, ceil(high / step - 1e-9)) + 1)]


def _ceiling(values: Iterable[float]) -> float:
    return ticks(max(values, default=0))[-1] or 1.0


def _x(share: float) -> float:
    return _LEFT + share * (WIDTH - _LEFT - _RIGHT)


def _y(share: float) -> float:
    return HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM)


def _scale(high: float, unit: str) -> Iterator[str]:
    for tick in ticks(high):
        y = _y(tick / high)
        yield f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}"/>'
        yield text(_LEFT - 8, y + 4, number(tick), anchor="end")
    yield text(16, 42, unit, anchor="start")


def _below(wide: float, across: str) -> Iterator[str]:
    for tick in ticks(wide):
        yield text(_x(tick / wide), HEIGHT - _BOTTOM + 18, number(tick))
    yield text(_x(0.5), HEIGHT - 10, across)


def _legend(series: Sequence[Series]) -> Iterator[str]:
    x = float(WIDTH - _RIGHT)
    for place in reversed(range(len(series) if len(series) > 1 else 0)):
        yield text(x, 42, series[place].name, anchor="end")
        # About 6.7 px a letter at this size; the mark stands before the first.
        x -= 6.7 * len(series[place].name) + 10
        yield f'<circle class="d{place}" cx="{x:.1f}" cy="38" r="4"/>'
        x -= 16


def drawing(
    title: str, description: str, body: Sequence[str], height: float = HEIGHT, width: int = WIDTH
) -> str:
    """Return the whole file."""
    inside = "\n".join(body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}"'
        f' width="{width}" height="{height:.0f}" role="img" aria-labelledby="t d">\n'
        f'<title id="t">{escape(title)}</title>\n'
        f'<desc id="d">{escape(description)}</desc>\n<style>{_STYLE}</style>\n'
        f'<rect class="paper" width="{width}" height="{height:.0f}" rx="8"/>\n'
        f"{text(16, 22, title, 'title', 'start')}\n{inside}\n</svg>\n"
    )


def text(x: float, y: float, words: str, look: str = "", anchor: str = "middle") -> str:
    """Return words at a place."""
    named = f' class="{look}"' if look else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _told(points: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"{number(y)} at {number(x)}" for x, y in points)


def number(value: float) -> str:
    """Return a number with three digits that count, or all of its whole ones."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
