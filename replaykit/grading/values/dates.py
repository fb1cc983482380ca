"""Dates in texts: year, month and day as far as they are stated; month first where both readings fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from msgspec import Struct

from replaykit.grading.values.markdown import unmarked
from replaykit.grading.values.normal_form import normal
from replaykit.patterns import lazy_pattern

_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_MONTHS = {name[:3]: number for number, name in enumerate(_MONTH_NAMES, 1)}
_MONTHS |= {name: number for number, name in enumerate(_MONTH_NAMES, 1)} | {"sept": 9}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAYS = {name[:3]: number for number, name in enumerate(_DAYS)}
_WEEKDAYS |= {name: number for number, name in enumerate(_DAYS)} | {"tues": 1, "thur": 3, "thurs": 3}

_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_WEEKDAY = lazy_pattern(rf"(?P<weekday>{'|'.join(sorted(_WEEKDAYS, key=len, reverse=True))})\.?,?\s+")
_TIME = lazy_pattern(
    r"(?:t|,?\s+(?:at\s+)?)\d{1,2}(?::\d{2}){1,2}(?:\.\d+)?\s*(?:[ap]\.?m\.?)?\s*(?:z|utc|gmt|[+-]\d{2}:?\d{2})?"
)
_FORMS = [
    lazy_pattern(form, re.ASCII)
    for form in (
        rf"{_YEAR}[-/](?P<month>\d{{1,2}})[-/](?P<day>\d{{1,2}})",
        rf"{_YEAR}-(?P<month>\d{{2}})",
        r"(?P<first>\d{1,2})(?P<mark>[-/])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})",
        rf"(?:the\s+)?{_DAY}(?:\s+of)?[\s-]+{_MONTH}(?:,?[\s-]+{_YEAR})?",
        # With full stops the day comes first.
        rf"(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}",
        # Above 12 it is no month, wherever it stands.
        rf"(?P<month>0?[1-9]|1[0-2])\.\s?(?P<day>1[3-9]|2\d|3[01])\.\s?{_YEAR}",
        rf"{_YEAR}[年년]\s?(?P<month>\d{{1,2}})[月월](?:\s?(?P<day>\d{{1,2}})[日일])?",
        rf"{_MONTH}\s+(?:the\s+)?{_DAY}(?:(?:,\s*|\s+){_YEAR})?",
        rf"{_MONTH},?\s+{_YEAR}",
    )
]


_NAMED_DAY = lazy_pattern(rf"\b(?P<weekday>{'|'.join(sorted(_WEEKDAYS, key=len, reverse=True))})\b")

_LONGEST = 100
"""Characters of a date in other forms."""

_FILLS = (date(2000, 1, 1), date(2004, 2, 2))
"""Dates that fill up a partial date; no part is the same, so one that two readings share is stated."""

_NEAR = 2020
"""Years of two digits are 1970 to 2069."""


class PartialDate(Struct, frozen=True, kw_only=True):
    """The stated parts of a date."""

    year: int | None = None
    """Four digits."""
    month: int | None = None
    """1 to 12."""
    day: int | None = None
    """1 to 31."""
    is_ambiguous: bool = False
    """Day and month could be the other way round."""

    def covers(self, other: PartialDate) -> bool:
        """Return whether every part that the other states is stated here and equal."""
        pairs = ((other.year, self.year), (other.month, self.month), (other.day, self.day))
        return all(wanted is None or wanted == found for wanted, found in pairs)

    @property
    def shown(self) -> str:
        """ISO, with `-` for parts that are not stated."""
        return f"{_digits(self.year, 4)}-{_digits(self.month, 2)}-{_digits(self.day, 2)}"


def parse_date(text: str) -> PartialDate | None:
    """Read a whole text as a date, a time of day dropped; None if it is not one.

    A weekday must agree. Two-digit years are 1970 to 2069.
    """
    text = normal(text)
    weekday = _WEEKDAY.match(text)
    bare = text[weekday.end() :] if weekday else text
    time = next((found for found in _TIME.finditer(bare) if found.end() == len(bare)), None)
    bare = bare[: time.start()] if time else bare
    matches = (form.fullmatch(bare) for form in _FORMS)
    found = next((read for match in matches if match and (read := _read(match))), None)
    if found and weekday and not _is_weekday(found, _WEEKDAYS[weekday["weekday"]]):
        return None
    return found


def read_date(text: str) -> PartialDate | None:
    """Read what is stated to be a date: as `parse_date` does, else in any form that python-dateutil knows.

    There a month must be stated, and a day or a year.
    """
    return parse_date(text) or _in_other_forms(normal(text))


def dates_in(text: str) -> Iterator[PartialDate]:
    """Yield the dates that stand in a text, each in one of the forms that `parse_date` reads."""
    text = unmarked(normal(text))
    for form in _FORMS:
        for found in form.finditer(text):
            read = _read(found) if _is_whole(text, found) else None
            named = _NAMED_DAY.search(text[max(0, found.start() - _BEFORE) : found.start()])
            if read and not (named and not _is_weekday(read, _WEEKDAYS[named["weekday"]])):
                yield read


_BEFORE = 12
"""Characters before a date where its weekday may stand."""


def _is_whole(text: str, found: re.Match[str]) -> bool:
    """Whether a date is no part of a longer number, word or date."""
    before, after = text[max(0, found.start() - 2) : found.start()], text[found.end() : found.end() + 2]
    goes_on = re.match(rf"{_LETTER}|[-/.]\d", after) and not re.match(r"t\d", after)
    return not (re.search(rf"{_LETTER}$|\d[-/.]$", before) or goes_on)


_LETTER = "[^\\W\u3000-\u9fff\uac00-\ud7af]"
"""A letter or digit of a script that parts its words by blanks."""


def only_date(text: str) -> str | None:
    """Return the only date in a text, as ISO writes it; None where it holds none or several."""
    found = list(dates_in(text))
    whole = next((one for one in found if None not in (one.year, one.month, one.day)), None)
    return whole.shown if whole is not None and all(map(whole.covers, found)) else None


def month_number(text: str) -> int | None:
    """Read a whole text as a month, 1 to 12: a number, a name, three letters of one, or that of a date."""
    bare = normal(text)
    if bare.isascii() and bare.isdigit():
        return int(bare) if len(bare) < 3 and 1 <= int(bare) <= 12 else None
    found = None if bare in _MONTHS else read_date(bare)
    return found.month if found else _MONTHS.get(bare)


def _in_other_forms(text: str) -> PartialDate | None:
    from replaykit.grading.values.filled_dates import filled_date  # for what is stated to be a date only

    if len(text) > _LONGEST:
        return None
    text = text.replace(",", ", ")  # dateutil does not part `29,2023`
    one, other, turned = (
        filled_date(text, _FILLS[0], _NEAR),
        filled_date(text, _FILLS[1], _NEAR),
        filled_date(text, _FILLS[0], _NEAR, day_first=True),
    )
    if one is None or other is None:
        return None
    found = PartialDate(
        year=one.year if one.year == other.year else None,
        month=one.month if one.month == other.month else None,
        day=one.day if one.day == other.day else None,
        is_ambiguous=turned != one,
    )
    named = _NAMED_DAY.search(text)
    is_stated = found.month is not None and (found.year, found.day) != (None, None)
    return found if is_stated and (not named or _is_weekday(found, _WEEKDAYS[named["weekday"]])) else None


def _read(match: re.Match[str]) -> PartialDate | None:
    parts = match.groupdict()
    is_ambiguous = False
    day: int | None
    if "first" in parts:
        first, second = int(parts["first"]), int(parts["second"])
        month, day = (second, first) if first > 12 else (first, second)
        is_ambiguous = first <= 12 and second <= 12 and first != second
    else:
        month = int(parts["month"]) if parts["month"].isdigit() else _MONTHS[parts["month"]]
        day = int(parts["day"]) if parts.get("day") else None
    year = _year(parts.get("year"))
    if not _exists(year, month, day):
        return None
    return PartialDate(year=year, month=month, day=day, is_ambiguous=is_ambiguous)


def _year(text: str | None) -> int | None:
    if text is None:
        return None
    year = int(text)
    return year if len(text) > 2 else year + (1900 if year >= 70 else 2000)


def _exists(year: int | None, month: int, day: int | None) -> bool:
    try:
        date(year if year is not None else 2000, month, day if day is not None else 1)
    except ValueError:
        return False
    return True


def _is_weekday(found: PartialDate, weekday: int) -> bool:
    if found.year is None or found.month is None or found.day is None:
        return True
    return date(found.year, found.month, found.day).weekday() == weekday


def _digits(number: int | None, width: int) -> str:
    return "-" * width if number is None else f"{number:0{width}}"
