"""Numbers, amounts and durations as WebArena-Verified (revision 6473f72) reads them.

Texts are in the package's normal form. What it cannot read raises `Unparsed`.
"""

from __future__ import annotations

import re
from typing import Any

from replaykit.grading.values.numbers import SMALL_NUMBERS
from replaykit.patterns import lazy_pattern


class Unparsed(Exception):
    """A value that the package cannot read as its type."""


def number(value: Any, text: str) -> float:
    """Read a number, or number words among others."""
    if isinstance(value, int | float):
        return float(value)
    if not value or not text:
        raise Unparsed("empty")
    try:
        return float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        return _number_words(text)


_WORDS = {**SMALL_NUMBERS, "hundred": 100}
_SCALES = {"billion": 10**9, "million": 10**6, "thousand": 10**3}
_ALL_WORDS = {**_WORDS, **_SCALES, "point": 0}


def _number_words(text: str) -> float:
    """Read number words; other words are skipped."""
    words = [word for word in text.replace("-", " ").lower().split() if word in _ALL_WORDS]
    if not words or any(words.count(word) > 1 for word in (*_SCALES, "point")):
        raise Unparsed("no number")
    decimals: list[str] = []
    if "point" in words:
        place = words.index("point")
        words, decimals = words[:place], words[place + 1 :]
    return _whole_words(words) + _decimal_words(decimals)


def _whole_words(words: list[str]) -> float:
    places = [words.index(scale) for scale in _SCALES if scale in words]
    if places != sorted(places):
        raise Unparsed("scales in the wrong order")
    if len(words) == 1:
        return float(_ALL_WORDS[words[0]])
    total, start, ends = 0, 0, [0]
    for scale, factor in _SCALES.items():
        if scale in words:
            place = words.index(scale)
            total += _group(words[start:place]) * factor
            start = place + 1
            ends.insert(0, start)
    # Where nothing follows the last scale, upstream counts what follows the one before once more.
    rest = next((words[end:] for end in ends if end < len(words) and (end or len(ends) == 1)), [])
    return float(total + (_group(rest) if rest else 0))


def _group(words: list[str]) -> int:
    numbers = [_ALL_WORDS[word] for word in words]
    match numbers:
        case []:
            raise Unparsed("a scale without number")
        case [a, b, c, d]:
            return a * b + c + d
        case [a, b, c]:
            return a * b + c
        case [a, b]:
            return a * b if 100 in numbers else a + b
    return numbers[0]


def _decimal_words(words: list[str]) -> float:
    digits = [_WORDS.get(word, 10) for word in words]
    if not digits or any(digit > 9 for digit in digits):
        return 0.0
    return float("0." + "".join(map(str, digits)))


_AMOUNT = lazy_pattern(r"([.]?\d[\d\s.,']*)\s*?(?:[^%\d]|$)", re.ASCII)


def currency(value: Any, text: str) -> float:
    """Read the first amount in a text; what follows the later of `.` and `,` are its decimals."""
    if not text or (not value and not isinstance(value, int | float)):
        raise Unparsed("empty")
    is_negative = text.startswith("-")
    text = text.replace("-", "") if is_negative else text
    point = "." if text.rfind(".") > text.rfind(",") else ","
    amount = _amount(text, point)
    return -amount if is_negative else amount


def _amount(text: str, point: str) -> float:
    found = _AMOUNT.search(text)
    if found is None:
        if "free" in text:
            return 0.0
        raise Unparsed("no amount")
    digits = found[1].rstrip(",.").replace("'", "")
    digits = digits if digits.count(".") == 1 else digits.lstrip(",.")
    digits = re.sub(r"\s", "", digits)
    plain = digits.replace(",", "") if point == "." else digits.replace(".", "").replace(",", ".")
    try:
        return float(plain)
    except ValueError as error:
        raise Unparsed("no amount") from error


_UNITS = (
    (r"ys?|yrs?\.?|years?", 31_536_000.0),
    (r"mos?\.?|mths?\.?|months?", 2_592_000.0),
    (r"w|wks?|weeks?", 604_800.0),
    (r"d|dys?|days?", 86_400.0),
    (r"h|hrs?|hours?", 3_600.0),
    (r"m|mins?|minutes?", 60.0),
    (r"s|secs?|seconds?", 1.0),
    (r"ms|msecs?|millis|milliseconds?", 0.001),
)
_SEPARATED = r"\s*(?:[,/]\s*)?"
_QUANTITIES = lazy_pattern(
    "".join(rf"(?:([\d.]+)\s*(?:{unit}){_SEPARATED if seconds > 1 else ''})?\s*" for unit, seconds in _UNITS),
    re.ASCII,
)
_CLOCKS = (
    (lazy_pattern(r"(\d{1,2}):(\d{2}(?:\.\d+)?)", re.ASCII), (60.0, 1.0)),
    (
        lazy_pattern(
            r"(?:([\d.]+)\s*(?:w|wks?|weeks?)\s*(?:[,/]\s*)?)?\s*(?:([\d.]+)\s*(?:d|dys?|days?)\s*(?:[,/]\s*)?)?"
            r"\s*(\d+):(\d{2}):(\d{2}(?:\.\d+)?)",
            re.ASCII,
        ),
        (604_800.0, 86_400.0, 3_600.0, 60.0, 1.0),
    ),
    (lazy_pattern(r"(\d+):(\d{2}):(\d{2}):(\d{2}(?:\.\d+)?)", re.ASCII), (86_400.0, 3_600.0, 60.0, 1.0)),
    (lazy_pattern(r":(\d{2}(?:\.\d+)?)", re.ASCII), (1.0,)),
)
_HOURS = lazy_pattern(r"(\d+):(\d+)\s*hours?", re.ASCII)
_DURATION_MAX = 200


def duration(value: Any, text: str) -> float:
    """Read seconds: quantities with units in order, or a clock."""
    text = _HOURS.sub(r"\1h\2m", text) if value else ""
    if not text or len(text) > _DURATION_MAX or _is_float(text):
        raise Unparsed("no duration")
    sign = -1.0 if text.startswith("-") else 1.0
    rest = re.sub(r"^\s*[+|-]?\s*", "", text).rstrip()
    found = _QUANTITIES.fullmatch(rest) if rest else None
    if found is not None:
        return sign * _seconds(found.groups(), tuple(seconds for _, seconds in _UNITS))
    for form, seconds in _CLOCKS:
        clock = form.fullmatch(rest)
        if clock is not None:
            return sign * _seconds(clock.groups(), seconds)
    raise Unparsed("no duration")


def _seconds(digits: tuple[str | None, ...], factors: tuple[float, ...]) -> float:
    try:
        return sum(float(one) * factor for one, factor in zip(digits, factors, strict=True) if one)
    except ValueError as error:
        raise Unparsed("no duration") from error


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
