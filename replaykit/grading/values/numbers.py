"""Numbers in texts: whole values, number words, and the numbers that occur in a sentence."""

from __future__ import annotations

import re
from decimal import Context, Decimal, InvalidOperation

from replaykit.grading.values.text import fold, normal

EXACT = Context(prec=200)
"""Arithmetic without rounding for every number that `plain_number` accepts."""

_GROUPED = r"\d{1,3}(?:(?P<sep>[,' ])\d{3})(?:(?P=sep)\d{3})*"
_PLAIN = re.compile(
    rf"(?P<sign>[+-]\s?)?(?P<whole>{_GROUPED}|\d{{1,60}})?(?P<fraction>\.\d{{1,60}})?(?P<exponent>e[+-]?\d{{1,2}})?",
    re.ASCII,
)
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {word: number for number, word in enumerate(_ONES)}
_SMALL |= {word: 10 * number for number, word in enumerate(_TENS, 2)}
SMALL_NUMBERS = _SMALL
"""English words for the numbers below a hundred that are one word."""

_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_CODES = (
    "usd eur gbp jpy cny inr rub krw try ils pln cad aud nzd sgd hkd mxn chf sek nok dkk czk huf brl zar"
    " thb idr myr php twd vnd aed sar egp uah ron bgn ars clp cop pen"
)

CURRENCIES: dict[str, frozenset[str]] = {
    "$": frozenset({"usd", "cad", "aud", "nzd", "sgd", "hkd", "mxn"}),
    "us$": frozenset({"usd"}),
    "€": frozenset({"eur"}),
    "£": frozenset({"gbp"}),
    "¥": frozenset({"jpy", "cny"}),
    "₹": frozenset({"inr"}),
    "₽": frozenset({"rub"}),
    "₩": frozenset({"krw"}),
    "₺": frozenset({"try"}),
    "₪": frozenset({"ils"}),
    "zł": frozenset({"pln"}),
} | {code: frozenset({code}) for code in _CODES.split()}
"""Symbol or code, casefolded, to the ISO codes it may stand for."""

_UNITS = (
    "km|m|cm|mm|mi|ft|yd|in|nmi|h|hr|hrs|min|mins|s|sec|secs|ms|kg|g|mg|lb|lbs|oz|l|ml|kb|mb|gb|tb|mah|w|kw"
    "|kwh|v|px"
)
_SYMBOLS = "|".join(re.escape(symbol) for symbol in sorted(CURRENCIES, key=len, reverse=True))
_WORD = re.compile(r"[^\s()\[\]{}<>\"“”|*=~#&;!?…]+")
_TOKEN = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>(?:{_SYMBOLS})?)(?P<number>[+-]?[\d.,']+)"
    rf"(?P<after>(?:%|{_SYMBOLS}|{_UNITS}|-[a-z]+)?)",
    re.ASCII,
)


class Found:
    """A number that occurs in a text."""

    __slots__ = ("codes", "raw", "value")

    def __init__(self, raw: str, value: Decimal, codes: frozenset[str] | None) -> None:
        self.raw = raw
        self.value = value
        self.codes = codes


def plain_number(text: str) -> Decimal | None:
    """Read a whole text as digits: groups of three, `.` as decimal sign, exponent; else None."""
    found = _PLAIN.fullmatch(text)
    if found is None or not (found["whole"] or found["fraction"]):
        return None
    whole = re.sub(r"[,' ]", "", found["whole"] or "0")
    sign, fraction, exponent = (found[name] or "" for name in ("sign", "fraction", "exponent"))
    return Decimal(sign.strip() + whole + fraction + exponent)


def number_words(text: str) -> Decimal | None:
    """Read English number words: `minus five`, `two hundred and six`; None where any word is another."""
    words = re.split(r"[\s-]+", text)
    is_negative = words[0] in ("minus", "negative")
    whole, point, decimals = _parted(words[is_negative:])
    total, digits = _sum_of_words(whole), [_SMALL.get(word, 10) for word in decimals]
    if total is None or (point and not digits) or any(digit > 9 for digit in digits):
        return None
    return Decimal(f"{'-' * is_negative}{total}{point}{''.join(map(str, digits))}")


def _parted(words: list[str]) -> tuple[list[str], str, list[str]]:
    if "point" not in words:
        return words, "", []
    place = words.index("point")
    return words[:place], ".", words[place + 1 :]


def is_identifier(text: str) -> bool:
    """Say whether digits name something: a leading zero, or more than 15 of them."""
    digits = re.sub(r"\D", "", text)
    return bool(re.match(r"[+-]?0\d", text)) or len(digits) > 15


def numbers_in(text: str) -> list[Found]:
    """Return the numbers that stand in a text as words of their own.

    Leading zeros, thousands separators, a currency sign, `%` and a unit are allowed; `2/3`, `1-2`, clock
    times, versions and dates are no numbers.
    """
    return [number for word in _WORD.findall(fold(text)) for number in _numbers_of(word)]


def shown(number: Decimal) -> str:
    """Return a number in its shortest plain form."""
    if not number:
        return "0"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def close(left: Decimal, right: Decimal, tolerance: float | Decimal) -> bool:
    """Say whether two numbers differ by no more than the tolerance."""
    try:
        allowed = EXACT.create_decimal(str(tolerance))
        return EXACT.abs(EXACT.subtract(left, right)) <= allowed
    except InvalidOperation:
        return False


def _sum_of_words(words: list[str]) -> int | None:
    total, current, slot, last = 0, 0, 100, 10**15
    seen = False
    for word in words:
        if word == "and" and seen and current % 100 == 0:
            continue
        if word in _SMALL and _SMALL[word] < slot:
            current += _SMALL[word]
            slot = 10 if _SMALL[word] >= 20 else 0
        elif word == "hundred" and 0 < current < 100:
            current, slot = current * 100, 100
        elif word in _SCALES and current and _SCALES[word] < last:
            total, current, slot, last = total + current * _SCALES[word], 0, 100, _SCALES[word]
        else:
            return None
        seen = True
    return total + current if seen else None


def _numbers_of(word: str) -> list[Found]:
    word = word.strip("'.,:").removesuffix("/") if not word.startswith(".") else word.rstrip("'.,:")
    if (number := _token(word)) is not None:
        return [number]
    if "," in word:
        return [found for part in word.split(",") if part for found in _numbers_of(part)]
    label, colon, rest = word.rpartition(":")
    # `order:5` names a number, `3:45` is a time.
    return _numbers_of(rest) if colon and label[-1:].isalpha() else []


def _token(word: str) -> Found | None:
    found = _TOKEN.fullmatch(word)
    if found is None or (found["sign"] and found["number"][0] in "+-"):
        return None
    value = plain_number(found["sign"] + found["number"])
    if value is None:
        return None
    return Found(word, value, CURRENCIES.get(found["before"]) or CURRENCIES.get(found["after"]))


def whole_number(text: str) -> tuple[Decimal, str] | None:
    """Read a whole text as a number and its unit, `%` or nothing."""
    text = normal(text)
    unit = "%" if text.endswith("%") else ""
    bare = text.removesuffix("%").rstrip()
    if bare.startswith("(") and bare.endswith(")"):
        value = plain_number(bare[1:-1].strip())
        return None if value is None else (-abs(value), unit)
    value = plain_number(bare)
    if value is None:
        value = number_words(bare)
    return None if value is None else (value, unit)
