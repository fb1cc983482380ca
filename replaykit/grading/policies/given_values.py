"""Values of a source in another form: a field takes `2024-05-06` where the task says May 6, 2024."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from replaykit.grading.values.dates import PartialDate, dates_in, parse_date
from replaykit.grading.values.numbers import number_words, numbers_by_value, plain_number
from replaykit.patterns import lazy_pattern

SIGNS_MAX = 64
"""Letters and digits of a value that is looked for with other separators."""

SIGNS_MIN = 4
"""Fewer letters and digits come together by chance."""

PHONE_MIN, PHONE_DIGITS = 7, 10
"""Digits of a telephone number: at least, and without the code of a country."""

_MOMENT = lazy_pattern(r"(\S*\d)(?:t| )(\d{1,2}:\d{2}\S*(?: ?[ap]\.?m\.?)?)")
_TIME = lazy_pattern(
    r"(?<![\d:.])(\d{1,2})(?::(\d{2}))?(?::\d{2})?(?: ?([ap])\.?m\b\.?|(?<=:\d\d)(?![\d:])| o'clock)"
)
_BARE_HOUR = lazy_pattern(r"\bat (\d{1,2})\b(?![:.]\d)")
_NAMED_HOURS = {"noon": 720, "midnight": 0}
_RELATIVE = lazy_pattern(
    r"\b(?:today|tonight|tomorrow|yesterday|now|next|this|last|coming|following|earliest|latest|soonest|weekend"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:days?|weeks?|months?|years?)"
    r"|morning|afternoon|evening|night|half|quarter)\b"
)
"""Words that give a date or time without saying which."""

_ONE = lazy_pattern(r"\b(?:a|an|one|once|single)\b")
_WORD = lazy_pattern(r"[a-z]+(?:-[a-z]+)?")
_PHONE = lazy_pattern(r"[\d\s().+/-]+")


def in_another_form(value: str, text: str) -> bool | None:
    """Return whether a folded text gives a folded value in another form; None: it may.

    Read by value: dates, times, numbers, telephone numbers. With other separators (`QX 7781`) it may be one.
    """
    found = [form(value, text) for form in _FORMS]
    if True in found:
        return True
    return None if None in found else False


def _moment(value: str, text: str) -> bool | None:
    parts = _MOMENT.fullmatch(value)
    if parts is None:
        return False
    found = (_date(parts[1], text), _time(parts[2], text))
    return False if False in found else None if None in found else True


def _date(value: str, text: str) -> bool | None:
    wanted = None if _MOMENT.fullmatch(value) else parse_date(value)
    if wanted is None:
        return False
    found = [_same_day(wanted, one) for one in _dates_in(text)]
    if True in found:
        return True
    return None if None in found or _RELATIVE.search(text) else False


@lru_cache(maxsize=64)
def _dates_in(text: str) -> tuple[PartialDate, ...]:
    return tuple(dates_in(text))


def _same_day(one: PartialDate, other: PartialDate) -> bool | None:
    days = [(one.month, one.day)]
    days += [(one.day, one.month)] if one.is_ambiguous else []
    others = [(other.month, other.day)]
    others += [(other.day, other.month)] if other.is_ambiguous else []
    if not set(days) & set(others):
        return False
    return True if one.year == other.year else None if one.year is None or other.year is None else False


def _time(value: str, text: str) -> bool | None:
    wanted = _TIME.fullmatch(value)
    if wanted is None:
        return False
    at, is_sure = _minutes(wanted)
    given = [_minutes(found) for found in _TIME.finditer(text)]
    given += [(minutes, True) for name, minutes in _NAMED_HOURS.items() if name in text]
    given += [(60 * int(found[1]), False) for found in _BARE_HOUR.finditer(text)]
    if any(at == minutes and (is_sure or is_also) for minutes, is_also in given):
        return True
    is_near = any((at - minutes) % 720 == 0 and not (is_sure and is_also) for minutes, is_also in given)
    return None if is_near or _RELATIVE.search(text) else False


def _minutes(found: re.Match[str]) -> tuple[int, bool]:
    """Return minutes since midnight, and whether morning or evening is certain."""
    hour, minute, half = int(found[1]), int(found[2] or 0), found[3]
    if half is None:
        return 60 * hour + minute, hour > 12 or hour == 0  # hours of half a day
    return 60 * (hour % 12 + 12 * (half == "p")) + minute, True


def _number(value: str, text: str) -> bool | None:
    wanted = plain_number(value)
    if wanted is None:
        return False
    words = (number_words(word) for word in _WORD.findall(text) if not _ONE.fullmatch(word))
    if wanted in numbers_by_value(text) or wanted in words:
        return True
    return None if wanted == 1 and _ONE.search(text) else False


def _phone(value: str, text: str) -> bool | None:
    digits = re.sub(r"\D", "", value)
    if len(digits) < PHONE_MIN or _PHONE.fullmatch(value) is None:
        return False
    if _stands_in(digits, text):
        return True
    is_longer = len(digits) > PHONE_DIGITS
    return None if is_longer and _stands_in(digits[-PHONE_DIGITS:], text) else False


def _spelling(value: str, text: str) -> bool | None:
    signs = "".join(filter(str.isalnum, value))
    return None if SIGNS_MIN <= len(signs) <= SIGNS_MAX and _stands_in(signs, text) else False


def _stands_in(signs: str, text: str) -> bool:
    apart = r"[^\w\n]{0,3}".join(map(re.escape, signs[:SIGNS_MAX]))
    return re.search(rf"(?<!\w){apart}(?!\w)", text) is not None


_FORMS: tuple[Callable[[str, str], bool | None], ...] = (_moment, _date, _time, _number, _phone, _spelling)
