"""Values with a type: what both sides mean is compared, not how it is written.

Every comparison reports what it did: raw and normal form of both sides, the rule, the tolerance.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Any

from msgspec import Struct

from replaykit.grading.values import urls
from replaykit.grading.values.dates import (
    PartialDate,
    dates_in,
    month_number,
    only_date,
    parse_date,
    read_date,
)
from replaykit.grading.values.lengths_and_durations import (
    distance,
    duration,
    equal_distances,
    equal_durations,
    guessed_tolerance,
    marked_distance,
)
from replaykit.grading.values.markdown import unmarked
from replaykit.grading.values.normal_form import SHORT, includes, normal
from replaykit.grading.values.number_spelling import with_plain_numbers
from replaykit.grading.values.numbers import (
    CURRENCIES,
    close,
    denies,
    is_decade,
    is_identifier,
    numbers_by_value,
    only_number,
    plain_number,
    shown,
    whole_number,
    with_decimal_point,
)
from replaykit.grading.values.quantities import has_quantity, one_decade, only_quantity, spelled, tight
from replaykit.grading.verdict import Value
from replaykit.patterns import lazy_pattern

CURRENCY_TOLERANCE = 0.005
"""Half of the smallest coin."""

_YES = frozenset({"true", "yes"})
_NO = frozenset({"false", "no"})
_BOOLEANS = dict.fromkeys((*_YES, "t", "y", "1", "on"), True)
_BOOLEANS |= dict.fromkeys((*_NO, "f", "n", "0", "off"), False)

_CLOCK = lazy_pattern(r"(\d{1,3}):(\d{2})(?::(\d{2}))?", re.ASCII)
_HOURS = lazy_pattern(r"(\d{1,3}):(\d{2})\s?(?:h|hrs?|hours?)", re.ASCII)
_SYMBOLS = "|".join(re.escape(symbol) for symbol in sorted(CURRENCIES, key=len, reverse=True))
_AMOUNT = r"[\d.,' ]*\d"
_MONEY = lazy_pattern(
    rf"(?P<open>\()?\s?(?P<sign>[+-]\s?)?(?P<before>{_SYMBOLS})?\s?(?P<sign2>[+-]\s?)?(?P<amount>{_AMOUNT})"
    rf"\s?(?P<after>{_SYMBOLS})?\)?",
    re.ASCII,
)

_NAMES = {
    "us dollar": "usd",
    "dollar": "$",
    "euro": "eur",
    "british pound": "gbp",
    "pound": "gbp",
    "yen": "jpy",
}
"""Currencies written out, in the singular."""
_NAMED = lazy_pattern(rf"\s(?P<name>{'|'.join(_NAMES)})s?$")


class Money(Struct, frozen=True, kw_only=True):
    """An amount with the currencies it may be in."""

    amount: Decimal
    """Signed."""
    codes: frozenset[str] | None
    """ISO codes, lower case; None = not stated."""


class ValueComparison(Struct, frozen=True, kw_only=True):
    """Result of comparing a value with its reference."""

    matches: bool
    """Whether it is what the reference demands."""
    rule: str
    """The comparison, with its tolerance."""
    expected: Value
    """The reference."""
    found: Value
    """The value."""
    reason: str | None = None
    """Why not, in a word."""
    notes: tuple[str, ...] = ()
    """Peculiarities met on the way."""


def detect(reference: str) -> str:
    """Return the type that a whole reference has; `text` where it has none."""
    # Many runs are of one task.
    return _kept(reference) if len(reference) <= SHORT else _detect(reference)


def _detect(reference: str) -> str:
    bare = normal(reference)
    if bare in _YES | _NO:
        return "boolean"
    if re.match(r"[a-z][a-z0-9+.-]*://\S+$", bare):
        return "url"
    if is_decade(bare):
        return "text"
    if is_identifier(bare):
        return "date" if parse_date(reference) else "text"
    for name, parse in _UNMISTAKABLE.items():
        if parse(reference) is not None and not (name == "currency" and not _has_code(reference)):
            return name
    return "text"


_kept = lru_cache(maxsize=1024)(_detect)


def compare(
    reference: str, found: str, value_type: str = "auto", tolerance: float | None = None
) -> ValueComparison:
    """Compare a whole value with its reference, by the type given or the one the reference has.

    Lengths and durations may differ a little only where the type is given: no route is measured alike twice.
    """
    kind = detect(reference) if value_type == "auto" else value_type
    if value_type == "auto" and tolerance is None:
        tolerance = guessed_tolerance(kind, reference)
    if kind == "text":
        return _compare_text(reference, found)
    if kind == "url":
        return _compare_url(reference, found)
    if kind == "duration":
        return _compare_durations(reference, found, tolerance)
    wanted, actual = _PARSERS[kind](reference), _PARSERS[kind](found)
    if kind == "boolean" and actual is None:
        actual = _leading_boolean(found)
    if wanted is None or actual is None:
        return _unparsed(kind, reference, found, wanted, actual)
    matches, rule = _EQUAL[kind](wanted, actual, tolerance)
    return ValueComparison(
        matches=matches,
        rule=f"{kind}: {rule}",
        expected=_value(reference, wanted, kind),
        found=_value(found, actual, kind),
        reason=None if matches else "differs",
        notes=_notes(wanted, actual),
    )


def only_value(answer: str, kind: str) -> str | None:
    """Return the only value of a kind in a sentence; None: it holds none or several, or denies it."""
    number = only_number(answer)
    match kind:
        case "number" | "currency":
            return None if number is None else number.raw
        case "distance" | "duration":
            return None if number is None else only_quantity(normal(answer))
        case "date":
            return None if denies(answer) else only_date(answer)
    return None


def compare_part(reference: str, text: str, value_type: str = "auto") -> ValueComparison:
    """Look for a reference inside a text.

    A number is looked for as a number, a date as a date where it is marked as one, a quantity with its unit;
    anything else by its normal form.
    """
    if value_type == "date":
        return _compare_date_part(reference, text)
    wanted = None if value_type == "text" else _as_amount(reference)
    if wanted is None:
        return _compare_text_part(reference, text, is_plain=value_type == "text")
    equal = numbers_by_value(text).get(wanted.amount, [])
    hit = next((number for number in equal if _same_codes(wanted.codes, number.codes)), None)
    return ValueComparison(
        matches=hit is not None,
        rule="number: contained as a number of its own",
        expected=_value(reference, wanted, "number"),
        found=Value(raw=text, normal=hit.raw if hit else None, type="number" if hit else "text"),
        reason=None if hit else "not_contained",
    )


def _compare_text_part(reference: str, text: str, *, is_plain: bool) -> ValueComparison:
    part, whole = normal(reference), normal(text)
    shown_part, shown_whole = unmarked(part), _unmarked(whole)
    # `**cat**alogue` has no word `cat`; a part with marks of its own is looked for as it is.
    matches = includes(shown_part, shown_whole) or (shown_part != part and includes(part, whole))
    matches = matches or (not is_plain and _holds(tight(part), _tight(whole)))
    return ValueComparison(
        matches=matches,
        rule="text: contained, whole words",
        expected=Value(raw=reference, normal=part, type="text"),
        found=Value(raw=text, normal=whole, type="text"),
        reason=None if matches else "not_contained",
    )


def _holds(part: str, text: str) -> bool:
    return includes(part, text) or has_quantity(part, text)


# Many parts are looked for in one answer.
_unmarked = lru_cache(maxsize=4)(unmarked)
_tight = lru_cache(maxsize=4)(tight)


def _compare_date_part(reference: str, text: str) -> ValueComparison:
    wanted = read_date(reference)
    if wanted is None:
        return _unparsed("date", reference, text, None, None)
    hit = next((found for found in dates_in(text) if found.covers(wanted)), None)
    return ValueComparison(
        matches=hit is not None,
        rule="date: contained, every part of the reference is stated and equal",
        expected=_value(reference, wanted, "date"),
        found=Value(raw=text, normal=hit.shown if hit else None, type="date" if hit else "text"),
        reason=None if hit else "not_contained",
        notes=_notes(wanted, *([hit] if hit else [])),
    )


def _as_amount(reference: str) -> Money | None:
    bare = normal(reference)
    if is_identifier(bare):
        return None
    number = plain_number(bare)
    if number is not None:
        return Money(amount=number, codes=None)
    return _money(reference) if _has_code(reference) else None


def _compare_text(reference: str, found: str) -> ValueComparison:
    wanted, actual = normal(reference), normal(found)
    # `1990 seconds` are no decade, though their unit is short for it.
    in_one_way = one_decade if is_decade(one_decade(wanted)) else spelled
    matches = wanted == actual or in_one_way(wanted) == in_one_way(normal(unmarked(found)))
    return ValueComparison(
        matches=matches,
        rule="text: equal normal forms",
        expected=Value(raw=reference, normal=wanted, type="text"),
        found=Value(raw=found, normal=actual, type="text"),
        reason=None if matches else "differs",
    )


def _compare_url(reference: str, found: str) -> ValueComparison:
    wanted, actual = urls.parse(reference), urls.parse(found)
    if wanted is None or actual is None:
        return _unparsed("url", reference, found, wanted, actual)
    matches = urls.matches(reference, found)
    return ValueComparison(
        matches=matches,
        rule="url: equal parts, exact query",
        expected=Value(raw=reference, normal=urls.shown(wanted), type="url"),
        found=Value(raw=found, normal=urls.shown(actual), type="url"),
        reason=None if matches else "differs",
    )


def _compare_durations(reference: str, found: str, tolerance: float | None) -> ValueComparison:
    """Compare durations; `a:bb` without unit is hours and minutes, or minutes and seconds."""
    wanted, actual = _durations(reference), _durations(found)
    if not wanted or not actual:
        return _unparsed("duration", reference, found, wanted or None, actual or None)
    pairs = [(one, other) for one in wanted for other in actual]
    hit = next((pair for pair in pairs if equal_durations(*pair, tolerance)[0]), None)
    one, other = hit or pairs[0]
    return ValueComparison(
        matches=hit is not None,
        rule=f"duration: {equal_durations(one, other, tolerance)[1]}",
        expected=_value(reference, one, "duration"),
        found=_value(found, other, "duration"),
        reason=None if hit else "differs",
        notes=("ambiguous_clock",) if len(pairs) > 1 else (),
    )


def _durations(text: str) -> tuple[Decimal, ...]:
    """Return the readings of a duration, seconds."""
    hours = _HOURS.fullmatch(normal(text))
    if hours is not None:
        return (Decimal(3600 * int(hours[1]) + 60 * int(hours[2])),)
    clock = _CLOCK.fullmatch(normal(text))
    if clock is None:
        plain = duration(text)
        return () if plain is None else (plain,)
    first, second = int(clock[1]), int(clock[2])
    if clock[3] is not None:
        return (Decimal(3600 * first + 60 * second + int(clock[3])),)
    return Decimal(3600 * first + 60 * second), Decimal(60 * first + second)


def _unparsed(kind: str, reference: str, found: str, wanted: object, actual: object) -> ValueComparison:
    is_reference = wanted is None
    return ValueComparison(
        matches=False,
        rule=f"{kind}: both sides must be readable",
        expected=Value(raw=reference, type=None if is_reference else kind),
        found=Value(raw=found, type=None if actual is None else kind),
        reason="bad_reference" if is_reference else f"not_a_{kind}",
    )


def _money(text: str) -> Money | None:
    if normal(text) == "free":
        return Money(amount=Decimal(0), codes=None)
    text = normal(with_plain_numbers(normal(text)))
    found = _MONEY.fullmatch(text)
    if found is None or (found["sign"] and found["sign2"]):
        return None
    amount = plain_number(with_decimal_point(found["amount"].strip()))
    if amount is None or bool(found["open"]) != text.endswith(")"):
        return None
    is_negative = bool(found["open"]) or "-" in f"{found['sign']}{found['sign2']}"
    stated = [CURRENCIES[found[side]] for side in ("before", "after") if found[side]]
    codes = frozenset.intersection(*stated) if stated else None
    return None if codes == frozenset() else Money(amount=-amount if is_negative else amount, codes=codes)


def _named_money(text: str) -> Money | None:
    """Read an amount whose currency may be written out, `12 US dollars`."""
    bare = normal(text)
    named = _NAMED.search(bare)
    return _money(bare[: named.start()] + _NAMES[named["name"]]) if named else _money(text)


def _has_code(text: str) -> bool:
    money = _money(text)
    return money is not None and money.codes is not None


def _boolean(text: str) -> bool | None:
    return _BOOLEANS.get(normal(text))


def _leading_boolean(text: str) -> bool | None:
    """Read `Yes, since 2019`: the first word decides, but not in a question or beside the opposite one."""
    words = re.findall(r"\w+", normal(text))
    is_torn = bool(_YES & set(words) and _NO & set(words))
    if not words or words[0] not in _YES | _NO or is_torn or text.rstrip().endswith("?"):
        return None
    return words[0] in _YES


_UNMISTAKABLE: dict[str, Any] = {
    "number": whole_number,
    "currency": _money,
    "date": parse_date,
    # Before durations: `5 m` are metres.
    "distance": distance,
    "duration": duration,
}
"""Types that show in the text itself, in the order they are tried."""

_PARSERS: dict[str, Any] = {
    **_UNMISTAKABLE,
    "currency": _named_money,
    "date": read_date,
    "distance": marked_distance,
    "boolean": _boolean,
    "month": month_number,
}


def _equal_numbers(
    wanted: tuple[Decimal, str], found: tuple[Decimal, str], tolerance: float | None
) -> tuple[bool, str]:
    rule = f"equal, tolerance {tolerance}" if tolerance else "equal"
    return close(wanted[0], found[0], tolerance or 0) and wanted[1] == found[1], rule


def _equal_money(wanted: Money, found: Money, tolerance: float | None) -> tuple[bool, str]:
    allowed = CURRENCY_TOLERANCE if tolerance is None else tolerance
    matches = close(wanted.amount, found.amount, allowed) and _same_codes(wanted.codes, found.codes)
    return matches, f"equal, tolerance {allowed}; codes where both state one"


def _same_codes(left: frozenset[str] | None, right: frozenset[str] | None) -> bool:
    return left is None or right is None or bool(left & right)


def _equal_dates(wanted: PartialDate, found: PartialDate, _: float | None) -> tuple[bool, str]:
    return found.covers(wanted), "every part of the reference is stated and equal"


def _equal_booleans(wanted: bool, found: bool, _: float | None) -> tuple[bool, str]:
    return wanted == found, "equal"


_EQUAL: dict[str, Any] = {
    "number": _equal_numbers,
    "currency": _equal_money,
    "date": _equal_dates,
    "boolean": _equal_booleans,
    "distance": equal_distances,
    "duration": equal_durations,
    "month": lambda wanted, found, _: (wanted == found, "equal"),
}


def _value(raw: str, parsed: Any, kind: str) -> Value:
    return Value(raw=raw, normal=_normal_form(parsed, kind), type=kind)


def _normal_form(parsed: Any, kind: str) -> Any:
    match parsed:
        case bool():
            return parsed
        case Decimal():
            return f"{shown(parsed)} {'m' if kind == 'distance' else 's'}"
        case Money(amount=amount, codes=codes):
            return f"{shown(amount)} {'/'.join(sorted(codes))}" if codes else shown(amount)
        case PartialDate():
            return parsed.shown
        case (Decimal() as number, unit):
            return shown(number) + unit
    return parsed


def _notes(*sides: Any) -> tuple[str, ...]:
    is_ambiguous = any(isinstance(side, PartialDate) and side.is_ambiguous for side in sides)
    return ("ambiguous_date",) if is_ambiguous else ()
