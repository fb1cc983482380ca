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

_STYLE = (
    ":root{--ink:#18202b;--muted:#566173;--line:#dfe4eb;--one:#2f55c8;--two:#b2570b;--paper:#ffffff}"
    "@media (prefers-color-scheme:dark){"
    ":root{--ink:#e3e8ef;--muted:#98a4b5;--line:#2d3541;--one:#8ba7ff;--two:#f0a35e;--paper:#12161c}}"
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:var(--muted)}"
    ".title{font-size:14px;font-weight:600;fill:var(--ink)}.value{fill:var(--ink);font-weight:600}"
    ".paper{fill:var(--paper)}.grid{stroke:var(--line)}"
    ".line{fill:none;stroke-width:2;stroke-linejoin:round}"
    ".s0{stroke:var(--one)}.s1{stroke:var(--two)}.d0{fill:var(--one)}.d1{fill:var(--two)}"
)


class Series(NamedTuple):
    """One line: what it shows, and its points from left to right."""

    name: str
    """What was measured."""
    points: Sequence[tuple[float, float]]
    """x and y, neither negative."""


class Bar(NamedTuple):
    """One bar."""

    name: str
    """What was measured."""
    value: float
    """Not negative."""


def lines(title: str, across: str, unit: str, series: Sequence[Series]) -> str:
    """Return a plot of up to two lines; `across` names the x axis, `unit` the y axis. Both begin at 0."""
    high = _ceiling(y for one in series for _, y in one.points)
    wide = _ceiling(x for one in series for x, _ in one.points)
    body = [*_scale(high, unit), *_below(wide, across), *_legend(series)]
    for number, one in enumerate(series):
        places = [(_x(x / wide), _y(y / high)) for x, y in one.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        body.append(f'<polyline class="line s{number}" points="{path}"/>')
        body += [f'<circle class="d{number}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in places]
    said = "; ".join(f"{one.name}: {_told(one.points)}" for one in series)
    return _drawing(title, f"{unit} by {across}. {said}", body)


def bars(title: str, unit: str, found: Sequence[Bar]) -> str:
    """Return a plot of bars from left to right, each with its value."""
    high = _ceiling(one.value for one in found)
    body = list(_scale(high, unit))
    step = 1 / max(1, len(found))
    for number, one in enumerate(found):
        middle, top = _x((number + 0.5) * step), _y(one.value / high)
        half = min(45.0, 0.3 * step * (WIDTH - _LEFT - _RIGHT))
        body.append(
            f'<rect class="d0" x="{middle - half:.1f}" y="{top:.1f}" width="{2 * half:.1f}"'
            f' height="{_y(0) - top:.1f}" rx="3"/>'
        )
        body.append(_text(middle, top - 7, _number(one.value), "value"))
        body.append(_text(middle, HEIGHT - _BOTTOM + 18, one.name))
    said = "; ".join(f"{one.name}: {_number(one.value)}" for one in found)
    return _drawing(title, f"{unit}. {said}", body)


def ticks(high: float) -> list[float]:
    """Return round numbers from 0 that reach `high`, at most 6: steps of 1, 2 or 5 times a power of ten."""
    rough = max(high, 1e-6) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(power * one for one in (1, 2, 5, 10) if power * one >= rough * (1 - 1e-9))
    return [step * number for number in range(max(1, ceil(high / step - 1e-9)) + 1)]


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
        yield _text(_LEFT - 8, y + 4, _number(tick), anchor="end")
    yield _text(16, 42, unit, anchor="start")


def _below(wide: float, across: str) -> Iterator[str]:
    for tick in ticks(wide):
        yield _text(_x(tick / wide), HEIGHT - _BOTTOM + 18, _number(tick))
    yield _text(_x(0.5), HEIGHT - 10, across)


def _legend(series: Sequence[Series]) -> Iterator[str]:
    x = float(WIDTH - _RIGHT)
    for number in reversed(range(len(series) if len(series) > 1 else 0)):
        yield _text(x, 42, series[number].name, anchor="end")
        # About 6.7 px a letter at this size; the mark stands before the first.
        x -= 6.7 * len(series[number].name) + 10
        yield f'<circle class="d{number}" cx="{x:.1f}" cy="38" r="4"/>'
        x -= 16


def _drawing(title: str, description: str, body: Sequence[str]) -> str:
    inside = "\n".join(body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="t d">\n'
        f'<title id="t">{escape(title)}</title>\n'
        f'<desc id="d">{escape(description)}</desc>\n<style>{_STYLE}</style>\n'
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="8"/>\n'
        f"{_text(16, 22, title, 'title', 'start')}\n{inside}\n</svg>\n"
    )


def _text(x: float, y: float, said: str, look: str = "", anchor: str = "middle") -> str:
    named = f' class="{look}"' if look else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'


def _told(points: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"{_number(y)} at {_number(x)}" for x, y in points)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
