"""Numbers as people write them, rewritten with plain digits: groups, scales, signs, currencies, percent."""

from __future__ import annotations

import re
from decimal import Context, Decimal, InvalidOperation

from replaykit.patterns import lazy_pattern

_NARROW_GROUPS = lazy_pattern(r"(?<![\d.,'])\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?!\d)")
"""Thousands that are parted by blanks that break no line."""

_ROUND_GROUPS = lazy_pattern(r"(?<![\w.,'])(?<!\d )\d{1,3}(?: \d{3})* 000(?!\d)")
"""Thousands that are parted by plain blanks: `1 000`; `1 234` may as well be two numbers."""

_MINUS = lazy_pattern(r"(?<!\d )\b(?:minus|negative) (?=[$€£¥]?\d)", re.IGNORECASE)
_PERCENT = lazy_pattern(r"(?<=\d) ?(?:%|percent\b|per cent\b|pct\b)", re.IGNORECASE)
_NUMBER = r"\d(?:[\d.,']*\d)?"

_SCALES = {"hundred": 2, "thousand": 3, "mn": 6, "million": 6, "bn": 9, "billion": 9, "trillion": 12}
_SCALED = lazy_pattern(rf"(?<![\d.,'])({_NUMBER}) ?({'|'.join(_SCALES)})\b", re.IGNORECASE)

_NAMES = {"us dollar": "usd", "dollar": "$", "euro": "eur", "pound": "gbp", "yen": "jpy", "yuan": "cny"}
"""Currencies written out, in the singular."""

_CODE = (
    "USD|EUR|GBP|JPY|CNY|INR|RUB|KRW|TRY|ILS|PLN|CAD|AUD|NZD|SGD|HKD|MXN|CHF|SEK|NOK|DKK|CZK|HUF|BRL|ZAR|THB|IDR|MYR"
    "|PHP|TWD|VND|AED|SAR|EGP|UAH|RON|BGN|ARS|CLP|COP|PEN|US\\$|A\\$|C\\$|HK\\$|NZ\\$|S\\$|R\\$|[$€£¥₹₽₩₺₪]|zł"
)
_AMOUNT = lazy_pattern(
    rf"(?:(?<!\w)(?P<before>{_CODE}) ?)?(?<![\w.,'])(?P<number>{_NUMBER})"
    rf"(?: ?(?P<after>{_CODE})(?!\w)| (?P<name>(?i:{'|'.join(_NAMES)}))s?\b)?"
)


def with_plain_numbers(text: str) -> str:
    """Return the text with its numbers in plain digits, each currency beside its amount.

    `1 000` becomes `1000`, `5 percent` `5%`, `EUR 12.50` and `12.50 euros` `12.50eur`,
    `2.5 million` `2500000`, `minus 5` `-5`. Blanks have to be single ones.
    """
    text = _ROUND_GROUPS.sub(_joined, text)
    text = _PERCENT.sub("%", _MINUS.sub("-", text))
    return _AMOUNT.sub(_amount, _SCALED.sub(_scaled, text))


def without_narrow_groups(text: str) -> str:
    """Return the text without the blanks that break no line between groups of three digits."""
    return _NARROW_GROUPS.sub(_joined, text)


def _joined(groups: re.Match[str]) -> str:
    return re.sub(r"\s", "", groups[0])


def _scaled(found: re.Match[str]) -> str:
    try:
        number = Decimal(found[1].replace(",", "")) if len(found[1]) <= _DIGITS_MAX else None
    except InvalidOperation:
        return found[0]
    power = _SCALES[found[2].lower()]
    return found[0] if number is None else format(number.scaleb(power, Context(prec=2 * _DIGITS_MAX)), "f")


_DIGITS_MAX = 60
"""Digits of a number before a scale."""


def _amount(found: re.Match[str]) -> str:
    before, number, name = found["before"], found["number"], found["name"]
    if before:
        rest = found[0][found.end("number") - found.start() :]
        sign = before.lower()
        return (sign + number if not sign.isalpha() else number + sign) + rest
    if name:
        return number + _NAMES[name.lower()]
    return number + (found["after"] or "").lower()
