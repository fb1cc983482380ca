"""Numbers in texts: whole values, number words, and the numbers that occur in a sentence."""

from __future__ import annotations

import re
import unicodedata
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache

from replaykit.grading.values.markdown import unmarked
from replaykit.grading.values.normal_form import fold, normal
from replaykit.grading.values.number_spelling import with_plain_numbers, without_narrow_groups
from replaykit.patterns import lazy_pattern

EXACT = Context(prec=200)
"""Arithmetic without rounding for every number that `plain_number` accepts."""

_GROUPED = r"\d{1,3}(?:(?P<sep>[,' ])\d{3})(?:(?P=sep)\d{3})*|\d{1,2}(?:,\d{2})+,\d{3}"
_PLAIN = lazy_pattern(
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
    "a$": frozenset({"aud"}),
    "c$": frozenset({"cad"}),
    "hk$": frozenset({"hkd"}),
    "nz$": frozenset({"nzd"}),
    "s$": frozenset({"sgd"}),
    "r$": frozenset({"brl"}),
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
    "|kwh|wh|v|px|hz|khz|mhz|ghz|fps|dpi|pcs|mbps|gbps|psi|kcal|kj|mph|kph"
)
UNITS = frozenset(_UNITS.split("|"))
"""Units that may stand behind a number without a blank."""

_SYMBOLS = "|".join(re.escape(symbol) for symbol in sorted(CURRENCIES, key=len, reverse=True))
_WORD = lazy_pattern(r"[^\s()\[\]{}<>\"“”|*=~#&;!?…`]+")
_FOOTNOTES = lazy_pattern("[\u2116\u00b2\u00b3\u00b9\u2070\u2074-\u2079\ufe0f]")
_JOINING_DASH = lazy_pattern(r"(?<=\S)[–—―](?=\S)")
_EAST_ASIAN_DATE = lazy_pattern(r"\d{2,4}年(?:代|\d{1,2}月(?:\d{1,2}日)?)")
_LETTERS_WITHOUT_BLANKS = lazy_pattern(
    "(?![\u767e\u5343\u4e07\u842c\u4ebf\u5104\u5146])"  # hundred, thousand and more: part of the number
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
)
_DECADE = lazy_pattern(r"\d{3}0-?s|'\d0s|\d0's")
_NAMED_DECADE = lazy_pattern(
    r"\b(?:the|early|mid|late|his|her|my|their|your|our)[ -](?:early |mid-|late )?\d0s\b"
)
_BETWEEN = lazy_pattern(r"\.{2,}|\bno\. ?(?=\d)", re.IGNORECASE)
"""Separators between two numbers, or before one, that are no part of it."""
_KEPT_SIGNS = "−⁄‐‑‒–'‘’‚‛′ʼ"
"""Signs that belong to a number: minus, fraction, hyphen, separators of thousands."""
_TOKEN = lazy_pattern(
    rf"(?P<sign>[+-]?)(?P<before>(?:{_SYMBOLS})?)(?P<number>[+-]?[\d.,']+)"
    rf"(?P<after>(?:%|{_SYMBOLS}|{_UNITS}|-[a-z]+)?)",
    re.ASCII,
)


class FoundNumber:
    """A number that occurs in a text."""

    __slots__ = ("codes", "raw", "unit", "value")

    def __init__(self, raw: str, value: Decimal, codes: frozenset[str] | None, unit: str = "") -> None:
        self.raw = raw
        self.value = value
        self.codes = codes
        #: As it is written: `%`, `km` ...; empty = none.
        self.unit = unit


def plain_number(text: str) -> Decimal | None:
    """Read a whole text as digits: groups of three, `.` as decimal sign, exponent; else None."""
    found = _PLAIN.fullmatch(text)
    if found is None or not (found["whole"] or found["fraction"]):
        return None
    whole = re.sub(r"[,' ]", "", found["whole"] or "0")
    sign, fraction, exponent = (found[name] or "" for name in ("sign", "fraction", "exponent"))
    return Decimal(sign.strip() + whole + fraction + exponent)


def with_decimal_point(amount: str) -> str:
    """Write `1.234,5` and `7,50` with a decimal point: a comma before one or two last digits is decimal."""
    whole, comma, cents = amount.rpartition(",")
    if comma and len(cents) in (1, 2) and "," not in whole:
        return whole.replace(".", ",") + "." + cents
    return amount


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


def is_decade(text: str) -> bool:
    """Return whether a normal form names ten years, and not a time in seconds: `1990s`."""
    return _DECADE.fullmatch(text.removeprefix("the ")) is not None


def is_identifier(text: str) -> bool:
    """Return whether digits name something: a leading zero, or more than 15 of them."""
    digits = re.sub(r"\D", "", text)
    return bool(re.match(r"[+-]?0\d", text)) or len(digits) > 15


def numbers_in(text: str) -> list[FoundNumber]:
    """Return the numbers that stand in a text as words of their own.

    Leading zeros, thousands separators, a currency sign, `%` and a unit are allowed, and both ends of a range
    of amounts (`$2.56-$649.99`, `5–10`); `2/3`, `1-2`, clock times, versions, dates and decades are not
    numbers.
    """
    plain = with_plain_numbers(" ".join(_apart(unmarked(text)).split()))
    words = _WORD.findall(_NAMED_DECADE.sub(" ", fold(_BETWEEN.sub(" ", plain))))
    return [number for word in words for number in _numbers_of(word)]


@lru_cache(maxsize=4)
def numbers_by_value(text: str) -> dict[Decimal, list[FoundNumber]]:
    """Return the same by their values: many parts are looked for in one answer."""
    found: dict[Decimal, list[FoundNumber]] = {}
    for number in numbers_in(text):
        found.setdefault(number.value, []).append(number)
    return found


def only_number(text: str) -> FoundNumber | None:
    """Return the number in a sentence, None where it holds none, several, or denies it."""
    found = list(numbers_by_value(text).values())
    return found[0][0] if len(found) == 1 and not denies(text) else None


def denies(text: str) -> bool:
    """Return whether a sentence denies, doubts or only bounds its number: `not 42`, `more than 42`."""
    return _DENIAL.search(fold(text)) is not None


_VALUE = (
    r"(?=(?:the )?(?:[$€£¥]?\d|[a-z]{3} ?\d"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b))"
)
"""Beginning of an amount (`USD 5` as well) or a date."""

_DENIAL = lazy_pattern(
    r"(?<=\d)\+(?!\w)|\?\s*$"
    r"|\b(?:not|no(?!\. ?\d)|never|neither|nor|cannot|unable|without|maybe|perhaps|possibly|might|unsure"
    r"|(?:more|less|fewer|greater|earlier|later|other|rather) than|at (?:least|most)|up to"
    r"|or (?:more|less|fewer))\b|n't\b|\d (?:minimum|maximum)\b"
    r"|\b(?:over|under|above|below|beyond|within|almost|nearly|before|after|until|till|prior to"
    r"|exceed(?:s|ed|ing)?|starting (?:at|from)|as (?:low|high|much|many|little|few|early|late) as"
    rf"|except(?: for)?|excluding|instead of|unlike) {_VALUE}"
    rf"|[<>≤≥] ?{_VALUE}"
)


def _apart(text: str) -> str:
    """Return the text with blanks where a number ends though no blank is written."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", _FOOTNOTES.sub(" ", without_narrow_groups(text)))
    text = _LETTERS_WITHOUT_BLANKS.sub(" ", _EAST_ASIAN_DATE.sub(" ", _JOINING_DASH.sub(" ", text)))
    return "".join(" " if _is_sign(char) else char for char in text)


def _is_sign(char: str) -> bool:
    """Whether a character is a sign that no number is written with: an arrow, a bullet, a screenshot."""
    if char.isascii() or char in _KEPT_SIGNS:
        return False
    return unicodedata.category(char) in _SIGNS


_SIGNS = frozenset({"So", "Sm", "Sk", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps"})


def shown(number: Decimal) -> str:
    """Return a number in its shortest plain form."""
    if not number:
        return "0"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def close(left: Decimal, right: Decimal, tolerance: float | Decimal) -> bool:
    """Return whether two numbers differ by no more than the tolerance."""
    try:
        # By its text: as a binary number 0.1 is a little more.
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


def _numbers_of(word: str) -> list[FoundNumber]:
    if _DECADE.fullmatch(word):
        return []
    word = word.strip("'.,:_") if not word.startswith(".") else word.rstrip("'.,:_")
    word = _PER.sub("", word).removesuffix("+")
    if (number := _token(word)) is not None:
        return [number]
    if ends := _range(word):
        return ends
    if "," in word:
        return [found for part in word.split(",") if part for found in _numbers_of(part)]
    label, colon, rest = word.rpartition(":")
    # `order:5` names a number, `3:45` is a time.
    return _numbers_of(rest) if colon and label[-1:].isalpha() else []


_PER = lazy_pattern(r"/(?:[a-z].*)?$", re.DOTALL)
"""Unit of an amount: `$20/month`."""


def _range(word: str) -> list[FoundNumber]:
    """Read a range: `$2.56-$649.99` is measured, `2.5-6.5` and `1990-1995` grow; `1-2` may be a score."""
    left, dash, right = word[1:].partition("-")
    if not dash or len(word) > _RANGE_MAX:
        return []
    low, high = _token(word[0] + left), _token(right)
    if low is None or high is None:
        return []
    is_measured = bool(low.codes or high.codes or low.unit or high.unit)
    has_form = all("." in end.raw or _YEAR.fullmatch(end.raw) for end in (low, high))
    return [low, high] if is_measured or (has_form and low.value < high.value) else []


_YEAR = lazy_pattern(r"1[0-9]{3}|20[0-9]{2}")
_RANGE_MAX = 200
"""Characters of a range."""


def _token(word: str) -> FoundNumber | None:
    found = _TOKEN.fullmatch(word)
    if found is None or (found["sign"] and found["number"][0] in "+-") or _DECADE.fullmatch(word):
        return None
    written = found["sign"] + found["number"]
    is_measured = bool(found["before"] or found["after"])
    value = plain_number(with_decimal_point(written) if is_measured else written)
    if value is None:
        return None
    codes = CURRENCIES.get(found["before"]) or CURRENCIES.get(found["after"])
    unit = "" if found["after"] in CURRENCIES or found["after"].startswith("-") else found["after"]
    return FoundNumber(word, value, codes, unit)


def whole_number(text: str) -> tuple[Decimal, str] | None:
    """Read a whole text as a number and its unit, `%` or nothing."""
    text = normal(with_plain_numbers(normal(text)))
    unit = "%" if text.endswith("%") else ""
    bare = text.removesuffix("%").rstrip()
    if bare.startswith("(") and bare.endswith(")"):
        value = plain_number(bare[1:-1].strip())
        return None if value is None else (-abs(value), unit)
    value = plain_number(bare)
    if value is None:
        value = number_words(bare)
    return None if value is None else (value, unit)
