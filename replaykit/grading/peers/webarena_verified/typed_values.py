"""Typed values as WebArena-Verified (revision 6473f72) compares them, its peculiarities included.

A list of two or more stands for alternatives, on either side; values are equal when any of them are.
"""

from __future__ import annotations

import base64
import calendar
import json
import math
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

from msgspec import Struct

from replaykit.decoders import decode_as_python
from replaykit.grading.peers.webarena_verified import lengths, peer_quantities
from replaykit.grading.peers.webarena_verified.normal_text import Derender, bare, is_pattern, peer_normal
from replaykit.grading.peers.webarena_verified.peer_quantities import Unparsed
from replaykit.grading.peers.webarena_verified.peer_urls import PeerUrl, UrlOptions, peer_url, same_url
from replaykit.grading.values.bounded_regex import full_match
from replaykit.grading.values.similarity import similarity
from replaykit.patterns import lazy_pattern

SHORT = 2048
"""Most characters of a number, date, quantity or name; longer texts are rejected."""

_PAIR = 2
_SIMILAR = 80
_DEGREES = 1e-5
_CURRENCY = Decimal("0.1")


class PeerOptions(Struct, frozen=True, kw_only=True):
    """Options on which normal forms depend."""

    derender: Derender | None = None
    """Puts the name of a site in the place of its roots; None where texts keep them."""
    url: UrlOptions = UrlOptions()
    """How URLs are read."""
    today: date = date(2000, 1, 1)
    """Fills the parts that a date does not state."""


class Typed(Struct, frozen=True, kw_only=True, eq=False):
    """A value in the normal form of its type; equal to what the package takes for equal."""

    kind: str
    """Name of the type."""
    alternatives: tuple[Any, ...]
    """At least one."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and self.kind in ("string", "url"):
            return _same_as_text(self, other)
        if not isinstance(other, Typed) or other.kind != self.kind:
            return False
        return _SAME.get(self.kind, _overlap)(self.alternatives, other.alternatives)

    def __hash__(self) -> int:
        return hash(self.kind)

    def __str__(self) -> str:
        return str(self.alternatives[0])


def typed(value: Any, kind: str, options: PeerOptions) -> Typed:
    """Read a value, or each of a list of alternatives, as a type. Raises `Unparsed`."""
    if kind not in _READERS:
        raise Unparsed(f"no type {kind!r}")
    kind = "number" if kind == "integer" else kind
    read = _READERS[kind]
    is_pair = kind == "coordinates" and _is_pair(value)
    if not isinstance(value, list | tuple) or is_pair:
        return Typed(kind=kind, alternatives=(read(value, options),))
    if len(value) < _PAIR:
        raise Unparsed(f"alternatives are two or more, not {len(value)}")
    return Typed(kind=kind, alternatives=tuple(read(one, options) for one in value))


def _same_as_text(expected: Typed, actual: str) -> bool:
    if expected.kind == "url":
        return any(str(one) == actual for one in expected.alternatives)
    return _same_strings(expected.alternatives, (_string(actual, PeerOptions()),))


def _overlap(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    return any(one == other for one in left for other in right)


def _normal(value: Any, options: PeerOptions) -> Any:
    return peer_normal(value, options.derender) if isinstance(value, str) else value


def _short(value: Any, options: PeerOptions) -> str:
    """Return a value as a text that is short enough for its type."""
    text = str(_normal(value, options))
    if len(text) > SHORT:
        raise Unparsed("too long")
    return text


def _string(value: Any, options: PeerOptions) -> str:
    value = _normal(value, options)
    if not value:
        return ""
    return value.strip() if is_pattern(value) else str(value).lower().strip()


def _same_strings(left: tuple[str, ...], right: tuple[str, ...], flags: int = re.IGNORECASE) -> bool:
    if _matches_pattern(left, right, flags) or _overlap(left, right):
        return True
    return _overlap(tuple(map(bare, left)), tuple(map(bare, right)))


def _matches_pattern(left: tuple[str, ...], right: tuple[str, ...], flags: int) -> bool:
    sides = ((left, right), (right, left))
    return any(
        is_pattern(pattern) and full_match(pattern, text, flags)
        for patterns, others in sides
        for pattern in patterns
        for text in others
    )


_TRUE = ("true", "yes", "y", "1", "t", "on")
_FALSE = ("false", "no", "n", "0", "f", "off")


def _boolean(value: Any, options: PeerOptions) -> bool:
    if isinstance(value, int | float):
        return bool(value)
    text = _normal(value, options)
    if not isinstance(text, str) or text not in (*_TRUE, *_FALSE):
        raise Unparsed("no truth value")
    return text in _TRUE


_FILLED_MONTH = date(2000, 1, 1)
"""Completes a text of which only the month counts, as the package does: a bare year becomes January."""


def _date(value: Any, options: PeerOptions) -> str:
    if not isinstance(value, str) or not value:
        raise Unparsed("no text")
    return _filled(re.sub(r",(?! )", ", ", _short(value, options)), options.today, options).isoformat()


def _month(value: Any, options: PeerOptions) -> str:
    if isinstance(value, int | float):
        number = int(value) if float(value).is_integer() else 0
    else:
        number = _month_of(_short(value, options).strip(), options)
    if not 1 <= number <= 12:
        raise Unparsed("no month")
    return calendar.month_name[number]


def _month_of(text: str, options: PeerOptions) -> int:
    try:
        return int(text)
    except ValueError:
        return _filled(text, _FILLED_MONTH, options).month


def _filled(text: str, filled: date, options: PeerOptions) -> date:
    from replaykit.grading.values.filled_dates import filled_date  # most tasks expect no date

    found = filled_date(text, filled, options.today.year)
    if found is None:
        raise Unparsed("no date")
    return found


_POINT = lazy_pattern(r".*?([+-]?\d+(?:\.\d+)?)\s*[,;/\s]\s*([+-]?\d+(?:\.\d+)?)\s*", re.ASCII)
_POINT_MAX = 200


def _coordinates(value: Any, options: PeerOptions) -> tuple[float, float]:
    if isinstance(value, str):
        text = str(_normal(value, options))
        found = _POINT.fullmatch(text) if len(text) <= _POINT_MAX else None
        if found is None:
            raise Unparsed("no coordinates")
        return _point(found[1], found[2])
    if isinstance(value, dict):
        return _point(_key(value, "latitude"), _key(value, "longitude"))
    if isinstance(value, list | tuple) and len(value) == _PAIR:
        return _point(value[0], value[1])
    raise Unparsed("no coordinates")


def _is_pair(value: Any) -> bool:
    if not isinstance(value, list | tuple) or len(value) != _PAIR:
        return False
    return all(isinstance(part, int | float | str) for part in value)


def _key(value: dict[Any, Any], name: str) -> Any:
    for key in value:
        word = key.lower() if isinstance(key, str) else ""
        if (len(word) >= _PAIR and name.startswith(word)) or (word == "lng" and name == "longitude"):
            return value[key]
    raise Unparsed(f"no {name}")


def _point(latitude: Any, longitude: Any) -> tuple[float, float]:
    try:
        north, east = float(latitude or 0.0), float(longitude or 0.0)
    except (TypeError, ValueError) as error:
        raise Unparsed("no coordinates") from error
    if not (math.isfinite(north) and math.isfinite(east)) or abs(north) > 90:
        raise Unparsed("no coordinates")
    return north, (east + 180.0) % 360.0 - 180.0 if abs(east) > 180 else east


def _location(value: Any, options: PeerOptions) -> str:
    if value is None:
        raise Unparsed("null")
    value = _normal(value, options)
    return str(value).lower().strip() if value else ""


def _url(value: Any, options: PeerOptions) -> PeerUrl:
    if not isinstance(value, str):
        raise Unparsed("no text")
    try:
        return peer_url(value, options.url)
    except ValueError as error:
        raise Unparsed(str(error)) from error


def _string_list(value: Any, options: PeerOptions) -> tuple[str, ...]:
    value = _normal(value, options)
    items = [item.strip() for item in str(value).split(",") if item.strip()] if value else []
    if not items:
        raise Unparsed("empty")
    return tuple(sorted(items))


def _json(value: Any, options: PeerOptions) -> str:
    if not isinstance(value, str):
        raise Unparsed("no text")
    try:
        return json.dumps(decode_as_python(_normal(value, options)), sort_keys=True)
    except (ValueError, RecursionError) as error:
        raise Unparsed("no JSON") from error


_MARKDOWN_STEPS = (
    (lazy_pattern(r"[ \t]+$", re.MULTILINE), ""),
    (lazy_pattern(r"\n{3,}"), "\n\n"),
    (lazy_pattern(r"^(\s*)(#{1,6})[ \t]+", re.MULTILINE), r"\1\2 "),
    (lazy_pattern(r"^(\s*)[*+][ \t]+", re.MULTILINE), r"\1- "),
    (lazy_pattern(r"^[ \t]+(-)", re.MULTILINE), r"  \1"),
    (lazy_pattern(r"\[([^\]]*?)\n\s*([^\]]*?)\](\([^)]+\))"), r"[\1 \2]\3"),
)
_LINK_TEXT = lazy_pattern(r"\[([^\]]+)\]")
_LINK_URL = lazy_pattern(r"\(\s*([^)]+?)\s*\)")
_MARKDOWN_MAX = 65_536


def _markdown(value: Any, options: PeerOptions) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _MARKDOWN_MAX:
        raise Unparsed("no text")
    text = value.strip().replace("\r\n", "\n").replace("\r", "\n")
    for form, written in _MARKDOWN_STEPS:
        text = form.sub(written, text)
    text = _LINK_TEXT.sub(lambda link: "[" + " ".join(link[1].split()) + "]", text)
    return _LINK_URL.sub(r"(\1)", text).strip()


def _base64(value: Any, options: PeerOptions) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Unparsed("no text")
    if is_pattern(value.strip()):
        return value.strip()
    try:
        decoded = base64.b64decode(value.strip(), validate=True).decode("utf-8")
    except ValueError as error:
        raise Unparsed("no base64") from error
    return decoded.replace("\r\n", "\n").replace("\r", "\n").strip()


_NOTHING = ("n/a", "na", "nan", "null", "none")


def _null(value: Any, options: PeerOptions) -> None:
    if isinstance(value, str):
        value = re.sub(r"\s*/\s*", "/", re.sub(r"\s+", " ", value.strip().lower()))
    if (value and value not in _NOTHING) or (not value and isinstance(value, int | float)):
        raise Unparsed("a value")


def _near_currency(left: tuple[float, ...], right: tuple[float, ...]) -> bool:
    # Only the first alternatives count, as upstream; decimals there, so the limit itself is within.
    one, other = (Decimal(str(amounts[0])) for amounts in (left, right))
    if not (one.is_finite() and other.is_finite()):
        raise Unparsed("endless amounts")
    return abs(one - other) <= _CURRENCY


def _near(share: float, least: float) -> Callable[[tuple[float, ...], tuple[float, ...]], bool]:
    def near(left: tuple[float, ...], right: tuple[float, ...]) -> bool:
        if any(math.isnan(size) for size in (*left, *right)):
            raise Unparsed("what is no number has no order")
        return any(abs(one - other) <= max(least, max(one, other) * share) for one in left for other in right)

    return near


def _near_points(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    pairs = zip(left[0], right[0], strict=True)
    return all(abs(one - other) <= _DEGREES for one, other in pairs)


def _similar(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    pairs = ((one, other) for one in left for other in right)
    return any(
        one == other if not one or not other else similarity(one, other) >= _SIMILAR for one, other in pairs
    )


def _same_base64(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    return _matches_pattern(left, right, re.DOTALL) or _overlap(left, right)


def _same_urls(left: tuple[PeerUrl, ...], right: tuple[PeerUrl, ...]) -> bool:
    return any(same_url(one, other) for one in left for other in right)


_READERS: dict[str, Callable[[Any, PeerOptions], Any]] = {
    "string": _string,
    "number": lambda value, options: peer_quantities.number(value, _short(value, options)),
    "integer": lambda value, options: peer_quantities.number(value, _short(value, options)),
    "boolean": _boolean,
    "currency": lambda value, options: peer_quantities.currency(value, _short(value, options)),
    "date": _date,
    "month": _month,
    "duration": lambda value, options: peer_quantities.duration(value, _short(value, options)),
    "distance": lambda value, options: lengths.distance(_short(value, options)),
    "coordinates": _coordinates,
    "location-name": _location,
    "url": _url,
    "string_list": _string_list,
    "json": _json,
    "markdown": _markdown,
    "base64": _base64,
    "null": _null,
}
_SAME: dict[str, Callable[[tuple[Any, ...], tuple[Any, ...]], bool]] = {
    "string": _same_strings,
    "currency": _near_currency,
    "duration": _near(0.1, 180.0),
    "distance": _near(0.02, 10.0),
    "coordinates": _near_points,
    "location-name": _similar,
    "base64": _same_base64,
    "url": _same_urls,
}
