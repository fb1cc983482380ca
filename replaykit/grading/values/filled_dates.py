"""Dates as python-dateutil reads them: month first, and filled up from a given day where they state less."""

from __future__ import annotations

from datetime import date, datetime
from functools import lru_cache

from dateutil import parser

from replaykit.grading.values.normal_form import SHORT

_CENTURY = 100


class _Words(parser.parserinfo):  # type: ignore[misc]  # dateutil has no types
    """The words of dateutil; a year of two digits is the nearest to a given one, not to the clock's."""

    def __init__(self, near: int, *, day_first: bool) -> None:
        super().__init__(dayfirst=day_first)
        self._near = near

    def convertyear(self, year: int, century_specified: bool = False) -> int:
        if century_specified or year >= _CENTURY:
            return year
        # As dateutil does it, with a given year in place of today's.
        year += self._near // _CENTURY * _CENTURY
        if year >= self._near + _CENTURY // 2:
            return year - _CENTURY
        return year + _CENTURY if year < self._near - _CENTURY // 2 else year


def filled_date(text: str, filled: date, near: int, *, day_first: bool = False) -> date | None:
    """Read a date, its missing parts those of `filled`, its century that nearest to the year `near`.

    None if it is not a date.
    """
    # References come back with every run of their task, and dateutil takes as long for one as a step takes.
    read = _kept if len(text) <= SHORT else _read
    return read(text, filled, near, day_first)


def _read(text: str, filled: date, near: int, day_first: bool) -> date | None:
    default = datetime(filled.year, filled.month, filled.day)
    try:
        # A zone does not change the date, and some names of zones are known to some machines only.
        found = _reader(near, day_first).parse(text, default=default, ignoretz=True)
    except Exception:  # noqa: BLE001  # of hostile texts dateutil raises what it likes
        return None
    return date(found.year, found.month, found.day)


_kept = lru_cache(maxsize=1024)(_read)


@lru_cache(maxsize=16)
def _reader(near: int, day_first: bool) -> parser.parser:
    return parser.parser(_Words(near, day_first=day_first))
