"""Values as people write them: templates by type, filled from a few values each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

DAYS = (date(2023, 1, 29), date(2022, 12, 4), date(2022, 3, 2), date(2023, 5, 31))
DATES = """
{B} {d},{Y}|{b} {d},{Y}|{b}{d}, {Y}|{b}. {d}, {Y}|{d} {B} {Y}|{d}{th} {B} {Y}|{d}{th} of {B}, {Y}|{B} {d}{th}, {Y}
{Y}-{mm}-{dd}|{Y}/{mm}/{dd}|{Y}.{mm}.{dd}|{Y}{mm}{dd}|{m}/{d}/{Y}|{m}-{d}-{Y}|{m}.{d}.{Y}|{m}/{d}/{yy}|{d}/{m}/{Y}
{d}.{m}.{Y}|{dd}-{b}-{Y}|{d}-{b}-{yy}|{b}-{d}-{Y}|{Y} {B} {d}|{Y}, {B} {d}|{Y}-{b}-{dd}|{W}, {B} {d}, {Y}
{W}, {d} {b} {Y}|{B} {d}, {Y} ({W})|{B} {d}, {Y}, {W}|on {B} {d}, {Y}|{B} {d}, {Y} at 3pm|{B} {d}, {Y} 3 PM
{B} {d}, {Y} 15:00|{B} {d}, {Y}, 3:15 PM|{B} {d}, {Y} at 3:15:22 PM|{Y}-{mm}-{dd}T10:00:00Z|{m}/{d}/{Y} 10:30 AM
{Y}-{mm}-{dd}T10:00:00.123+02:00|{Y}-{mm}-{dd} 10:00|10:30 {m}/{d}/{Y}|3pm {B} {d}, {Y}|{w} {b} {d} 10:00:00 {Y}
{w}, {d} {b} {Y} 10:00:00 +0000|{b} {d} '{yy}|{B} {d} of {Y}|{B}, {d} {Y}|{d} {b}. {Y}|{d}. {B} {Y}|{B} {d} {Y}.
 {B}  {d} ,  {Y}|the {d}{th} of {B} {Y}|{Y}-{mm}-{dd} 10:00:00 UTC|Moonday, {B} {d}, {Y}|{B} {Y} and {d}
"""
MONTHS = """
{B}|{b}|{b}.|{m}|{mm}|{B} 2022|{b} 2022|2022-{mm}|{mm}/2022|{m}/2022|{B} 5|{B} 5th, 2022|5 {b}|in {B}|{b}, 2022|{b} '22
{m}/15/2022|2022/{m}|{B} (2022)|the month of {B}|{m}th month
"""
TIMES = ((1, 35), (5, 47), (2, 0))
DURATIONS = """
{h}h {m}m|{h}h{m}m|{h} h {m} min|{h} hours {m} minutes|{h} hour, {m} minutes|{h} hr {m} mins|{h}hrs {m}mins|{h}:{mm}:00
{h}:{mm} hours|{t} minutes|{t}min|{t}m|{s} seconds|{s}s|{t}|about {t} minutes|~{t} min|PT{h}H{m}M|{h} HOURS {m} MINUTES
+{t} min|-{t} min|{t} mins|{h} hours and {m} minutes|{h}:{mm}|{m} minutes {h} hours|{h} h. {m} min.|1 day
"""
LENGTHS = ((748, "m"), (2, "km"), (4.5, "km"))
DISTANCES = """
{v}{u}|{v} {u}|{v} {long}|{v}{u}.|{m}m|{m:,.0f} m|{km} km|{mi:.3f} miles|{mi:.3f}mi|{ft:.1f} ft|{ft:.1f} feet|{yd:.1f} yards
{cm} cm|about {v} {u}|~{v}{u}|{v}|{v} {u} away|{km}k|{v}-{u}|{nmi:.3f} nmi|+{v}{u}|-{v}{u}|--{v}{u}|1 km 500 m|{km} kms
"""
PRICES = (406, 365.42, 1234.5)
CURRENCIES = """
${v}|{v}$|${v:.2f}|{v:,.2f}|USD {v}|{v} USD|US${v}|{v} dollars|{v:.2f} US dollars|€{v}|{v} €|£{v}|EUR {v}|{v} euros|¥{v}
{v} yen|$ {v}|+{v}|${v}.|-{v}|free|${v:.2f} USD|({v})|about ${v}|total: ${v}|${v}/month|{v} cents|{v}k
"""
NUMBERS = """
{v}|{v:,}|{v}.0|+{v}|-{v}| {v} |{v}%|{v} items|about {v}|{v:e}|#{v}|0{v}|{v}.|'{v}'|{v}_000
"""
WORDS = (
    (21, "twenty one|Twenty-One|a score"),
    (3.5, "three point five|three and a half|three point|point five"),
)
POINTS = ((40.4432, -79.9428), (-33.5, 151.25))
COORDINATES = """
{a},{o}|{a} {o}|{a}; {o}|{a}/{o}|{a}0, {o}0|{o}, {a}|lat: {a}, lon: {o}|({a}, {o})|{a}°, {o}°
"""


def written() -> Iterator[tuple[str, Any, str, str]]:
    """Yield type, expected value, template, and the template filled."""
    for kind, expected, templates, values in _filled():
        for template in templates.strip("\n").replace("\n", "|").split("|"):
            yield kind, expected, template, template.format(**values)
    for number, words in WORDS:
        yield from (("number", number, word, word) for word in words.split("|"))


def _filled() -> Iterator[tuple[str, Any, str, dict[str, Any]]]:
    yield from (("date", f"{day:%m/%d/%Y}", DATES, _of_day(day)) for day in DAYS)
    yield from (("month", f"{day:%B}", MONTHS, _of_day(day)) for day in DAYS)
    for h, m in TIMES:
        values = {"h": h, "m": m, "mm": f"{m:02}", "t": 60 * h + m, "s": 60 * (60 * h + m)}
        yield "duration", f"{h}h {m}min", DURATIONS, values
    yield from (("distance", f"{v}{u}", DISTANCES, _of_length(v, u)) for v, u in LENGTHS)
    yield from (("currency", v, CURRENCIES, {"v": v}) for v in PRICES)
    yield from (("number", v, NUMBERS, {"v": v}) for v in (7, 1200))
    yield from (("coordinates", f"{a}, {o}", COORDINATES, {"a": a, "o": o}) for a, o in POINTS)


def _of_day(day: date) -> dict[str, Any]:
    th = {1: "st", 2: "nd", 3: "rd", 31: "st"}.get(day.day, "th")
    names = {name: day.strftime(f"%{name}") for name in "BbYW"} | {"W": f"{day:%A}", "w": f"{day:%a}"}
    return {
        **names, "d": day.day, "dd": f"{day:%d}", "m": day.month, "mm": f"{day:%m}", "yy": f"{day:%y}", "th": th
    }  # fmt: skip


def _of_length(v: float, unit: str) -> dict[str, Any]:
    m = v * (1000 if unit == "km" else 1)
    sizes = {"km": 1000, "mi": 1609.344, "ft": 0.3048, "yd": 0.9144, "cm": 0.01, "nmi": 1852}
    long = "kilometers" if unit == "km" else "meters"
    return {"v": v, "u": unit, "m": m, "long": long, **{name: m / size for name, size in sizes.items()}}
