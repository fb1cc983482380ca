"""Numbers with a unit, however the two are parted and the unit is spelled: `557 m`, `557 metres`, `5 %`."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from replaykit.grading.values.markdown import unmarked
from replaykit.grading.values.numbers import UNITS, plain_number, with_decimal_point
from replaykit.patterns import lazy_pattern

_SPELLED = {
    "m": "metre meter", "km": "kilometre kilometer", "cm": "centimetre centimeter",
    "mm": "millimetre millimeter", "mi": "mile", "ft": "foot feet", "yd": "yard", "in": "inch inche",
    "h": "hr hour", "min": "minute", "s": "sec second", "ms": "millisecond",
    "d": "day", "w": "wk week", "mo": "month", "y": "yr year",
    "kg": "kilogram kilo", "g": "gram", "mg": "milligram", "lb": "pound", "oz": "ounce", "l": "litre liter",
    "ml": "millilitre milliliter", "gb": "gigabyte", "mb": "megabyte", "kb": "kilobyte", "tb": "terabyte",
    "%": "percent pct",
}  # fmt: skip
_SHORT = {word: short for short, words in _SPELLED.items() for word in words.split()}
_SHORT |= {f"{word}s": short for word, short in _SHORT.items()} | {"per cent": "%"}
_KNOWN = "|".join(sorted({*_SHORT, *UNITS, *_SPELLED} - {"%"}, key=len, reverse=True))
_UNIT_OF_NUMBER = lazy_pattern(rf"(?<=\d)[ -]?(%|°(?: ?[cfnsew]\b)?|[ap](?:m\b|\.m\b\.?)|(?:{_KNOWN})\b)")
_AMOUNT = r"[$€£¥]?\d(?:[\d.,]*\d)?%?"
_RANGE = lazy_pattern(
    rf"(?:from )?({_AMOUNT}) ?(?:-|to|until) ?({_AMOUNT})|between ({_AMOUNT}) and ({_AMOUNT})"
)
_LISTED = lazy_pattern(r"(?<=\d) ?([/,]) ?(?=[+-]?\d)")
_DECADE = lazy_pattern(r"(?<=\d0)'s\b")
_QUANTITY = lazy_pattern(r"(?<![\w.,'/:-])([\d.,']*\d)([a-z]+|%)(?![a-z\d])")


def tight(text: str) -> str:
    """Return a normal form with each number beside its unit, units in short, without marks of Markdown."""
    return one_decade(_UNIT_OF_NUMBER.sub(_short, unmarked(text)))


def spelled(text: str) -> str:
    """Return a whole normal form with ranges and lists of numbers in one spelling.

    `from $2 to $5` is `$2-$5`, and `40.4, -79.9` is `40.4,-79.9`.
    """
    text = tight(text)
    found = _RANGE.fullmatch(text)
    return "-".join(filter(None, found.groups())) if found else _LISTED.sub(r"\1", text)


def one_decade(text: str) -> str:
    """Return a normal form with decades in one spelling: `1990's` is `1990s`."""
    return _DECADE.sub("s", text)


def only_quantity(text: str) -> str | None:
    """Return the only number with a unit in a normal form, None where it holds none or several."""
    found = [one[0] for one in _QUANTITY.finditer(tight(text)) if _read(one)]
    return found[0] if len(found) == 1 else None


def has_quantity(part: str, text: str) -> bool:
    """Return whether a tight text holds a number with unit, given as a tight part: `557.0m` has `557m`."""
    wanted = _QUANTITY.fullmatch(part)
    return wanted is not None and _read(wanted) is not None and _read(wanted) in _quantities(text)


@lru_cache(maxsize=4)
def _quantities(text: str) -> frozenset[tuple[Decimal, str] | None]:
    # Many parts are looked for in one answer.
    return frozenset(map(_read, _QUANTITY.finditer(text)))


def _read(found: re.Match[str]) -> tuple[Decimal, str] | None:
    number = plain_number(with_decimal_point(found[1]))
    return None if number is None or found[2] not in _UNITS else (number, found[2])


_UNITS = UNITS | set(_SPELLED)


def _short(found: re.Match[str]) -> str:
    unit = found[1].replace(" ", "") if found[1].startswith("°") else found[1]
    unit = unit.replace(".", "")
    return _SHORT.get(unit, unit)
