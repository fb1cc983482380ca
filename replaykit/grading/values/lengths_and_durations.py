"""Lengths and durations: how they are read, and what they may differ by."""

from __future__ import annotations

import re
from decimal import Decimal

from replaykit.grading.values.normal_form import normal
from replaykit.grading.values.numbers import EXACT, close, plain_number, shown, with_decimal_point
from replaykit.patterns import lazy_pattern

UNITS_SHARE = Decimal("0.0003")
"""Share of a length that may be lost where it is given in other units: 1.609 km for a mile."""

_METRES = {
    "m": "1", "metre": "1", "meter": "1", "km": "1000", "k": "1000", "kilometre": "1000", "kilometer": "1000",
    "cm": "0.01", "centimetre": "0.01", "centimeter": "0.01", "mm": "0.001", "millimetre": "0.001",
    "millimeter": "0.001", "mi": "1609.344", "mile": "1609.344", "ft": "0.3048", "foot": "0.3048",
    "feet": "0.3048", "yd": "0.9144", "yard": "0.9144", "in": "0.0254", "inch": "0.0254", "inches": "0.0254",
    "nmi": "1852",
}  # fmt: skip
# A month is 30 days, a year 365: no certain one is meant.
_SECONDS = {
    "y": "31536000", "yr": "31536000", "year": "31536000", "mo": "2592000", "month": "2592000", "w": "604800",
    "wk": "604800", "week": "604800", "d": "86400", "day": "86400", "h": "3600", "hr": "3600", "hour": "3600",
    "m": "60", "min": "60", "minute": "60", "s": "1", "sec": "1", "second": "1", "ms": "0.001",
    "millisecond": "0.001",
}  # fmt: skip
_QUANTITY = lazy_pattern(r"(?<![\d.,'])([\d.,']+)\s?([a-z]+)\.?", re.ASCII)
_LENGTH = lazy_pattern(r"[+~]?\s?([\d.,']+)[\s-]?([a-z]+)\.?", re.ASCII)


def guessed_tolerance(kind: str, reference: str) -> float | None:
    """Return what a value of a type that no one gave may differ by; None: the default of its type."""
    if kind == "distance":
        return float(EXACT.multiply(abs(distance(reference) or Decimal(0)), UNITS_SHARE))
    return 0.0 if kind == "duration" else None


def distance(text: str) -> Decimal | None:
    """Return a length in metres, or None where the text is not a length."""
    return _metres(_QUANTITY.fullmatch(normal(text)))


def marked_distance(text: str) -> Decimal | None:
    """Read a distance that is marked as one: `+2 km`, `~2 km`, `2-km`."""
    return _metres(_LENGTH.fullmatch(normal(text)))


def _metres(found: re.Match[str] | None) -> Decimal | None:
    factor = _unit(found[2], _METRES) if found else None
    number = plain_number(with_decimal_point(found[1])) if found else None
    return None if factor is None or number is None else EXACT.multiply(number, factor)


def duration(text: str) -> Decimal | None:
    """Return a duration in seconds, or None where the text is not a duration."""
    bare = normal(text).removeprefix("+")
    parts = _QUANTITY.findall(bare)
    rest = _QUANTITY.sub("", bare)
    if not parts or re.sub(r"\band\b|[,\s]", "", rest):
        return None
    total = Decimal(0)
    for digits, unit in parts:
        number, factor = plain_number(digits.rstrip(",")), _unit(unit, _SECONDS)
        if number is None or factor is None:
            return None
        total = EXACT.add(total, EXACT.multiply(number, factor))
    return total


def _unit(word: str, factors: dict[str, str]) -> Decimal | None:
    factor = factors.get(word) or (factors.get(word.removesuffix("s")) if len(word) > 2 else None)
    return Decimal(factor) if factor else None


def equal_distances(wanted: Decimal, found: Decimal, tolerance: float | None) -> tuple[bool, str]:
    """Return whether two lengths are equal within a tolerance, metres, and in words what was allowed."""
    return _within(wanted, found, tolerance, share="0.02", least="10", unit="m")


def equal_durations(wanted: Decimal, found: Decimal, tolerance: float | None) -> tuple[bool, str]:
    """Return whether two durations are equal within a tolerance, seconds, and in words what was allowed."""
    return _within(wanted, found, tolerance, share="0.1", least="180", unit="s")


def _within(
    wanted: Decimal, found: Decimal, tolerance: float | None, *, share: str, least: str, unit: str
) -> tuple[bool, str]:
    """Allow a share of the larger value, or a least difference that half of the reference bounds."""
    if tolerance is not None:
        return close(wanted, found, tolerance), f"within {tolerance} {unit}" if tolerance else "equal"
    relative = EXACT.multiply(max(abs(wanted), abs(found)), Decimal(share))
    allowed = max(relative, min(Decimal(least), EXACT.multiply(abs(wanted), Decimal("0.5"))))
    return close(wanted, found, allowed), f"within {shown(allowed)} {unit}"
