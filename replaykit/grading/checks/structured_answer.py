"""Structured values compared strictly: by the types of a schema, lists by the best assignment.

Alternatives and expressions come from the expected side only: what was found is literal.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from replaykit.decoders import decode_as_python
from replaykit.grading.peers.webarena_verified.normal_text import bare, is_pattern, peer_normal
from replaykit.grading.peers.webarena_verified.peer_urls import repository, site_names
from replaykit.grading.peers.webarena_verified.readable_forms import is_refused, is_same, reads, rewritten
from replaykit.grading.values import urls as urls
from replaykit.grading.values.bounded_regex import full_match
from replaykit.grading.values.dates import month_number
from replaykit.grading.values.similarity import similarity
from replaykit.grading.values.typed_comparison import compare
from replaykit.patterns import lazy_pattern

_AROUND = ",;.+-/' "
"""Signs around a month that say nothing: what begins a point of a list, ends it, or quotes."""
_PAIR = 2
_SIMILAR = 80
_DEGREES = 1e-5
_DEPTH_MAX = 64


class ValueDifference(NamedTuple):
    """Whether two values are equal, and where they differ."""

    matches: bool
    """Equal."""
    reason: str | None = None
    """Why not, in a word."""
    at: str = "$"
    """Where, as a JSONPath."""
    notes: tuple[str, ...] = ()
    """Peculiarities met on the way."""


def compare_data(
    expected: Any, found: Any, schema: Mapping[str, Any], sites: urls.Sites, *, is_ordered: bool = False
) -> ValueDifference:
    """Compare a value with what is expected, typed by a JSON Schema. Raises `RegexRefused`."""
    return _compare(expected, found, _Terms(sites, is_ordered), schema, "$", 0)


def best_assignment(possible: Sequence[Sequence[int]]) -> int:
    """Return how many rows can have a column of their own, where `possible` lists the columns of each row.

    Augmenting paths (Kuhn, 1955).
    """
    owner: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column in possible[row]:
            if column not in tried:
                tried.add(column)
                if column not in owner or place(owner[column], tried):
                    owner[column] = row
                    return True
        return False

    return sum(place(row, set()) for row in range(len(possible)))


class _Terms(NamedTuple):
    sites: urls.Sites
    is_ordered: bool


def _compare(
    expected: Any, found: Any, terms: _Terms, schema: Mapping[str, Any], at: str, depth: int
) -> ValueDifference:
    if depth > _DEPTH_MAX:
        return ValueDifference(False, "too_deep", at)
    if expected is None or found is None:
        return ValueDifference(expected is found, None if expected is found else "null", at)
    kind = schema.get("type")
    if kind == "array" and isinstance(expected, list | tuple):
        return _compare_lists(expected, _read(found, list), terms, schema.get("items", {}), at, depth)
    if schema.get("format") != "coordinates" and (kind == "object" or isinstance(expected, Mapping)):
        return _compare_objects(expected, _read(found, dict), terms, schema, at, depth)
    return _compare_scalars(expected, found, terms, str(schema.get("format") or kind or "string"), at)


def _read(found: Any, kind: type) -> Any:
    """Return a text read as JSON, where that is of the kind looked for."""
    read = _json(found) if isinstance(found, str) else found
    return read if isinstance(read, kind) else found


def _compare_lists(
    expected: Sequence[Any], found: Any, terms: _Terms, items: Mapping[str, Any], at: str, depth: int
) -> ValueDifference:
    if not isinstance(found, list | tuple):
        return ValueDifference(False, "not_a_list", at)
    if len(expected) != len(found):
        return ValueDifference(False, "length", at)
    if terms.is_ordered:
        pairs = enumerate(zip(expected, found, strict=True))
        results = [_compare(one, other, terms, items, f"{at}[{n}]", depth + 1) for n, (one, other) in pairs]
        return _all(results)
    results = []
    possible = []
    for one in expected:
        row = [_compare(one, other, terms, items, f"{at}[*]", depth + 1) for other in found]
        possible.append([place for place, result in enumerate(row) if result.matches])
        results += row
    notes = tuple(dict.fromkeys(note for result in results for note in result.notes))
    if best_assignment(possible) == len(expected):
        return ValueDifference(True, notes=notes)
    missing = next((place for place, row in enumerate(possible) if not row), 0)
    return ValueDifference(False, "differs", f"{at}[{missing}]", notes)


def _compare_objects(
    expected: Any, found: Any, terms: _Terms, schema: Mapping[str, Any], at: str, depth: int
) -> ValueDifference:
    if isinstance(expected, list | tuple):
        return _any([_compare_objects(one, found, terms, schema, at, depth + 1) for one in expected])
    if not isinstance(expected, Mapping) or not isinstance(found, Mapping):
        return ValueDifference(False, "not_an_object", at)
    fields = schema.get("properties", {})
    results = [
        _compare(value, found.get(name), terms, fields.get(name, {}), f"{at}.{name}", depth + 1)
        for name, value in expected.items()
    ]
    more = ("extra_keys",) if found.keys() - expected.keys() else ()
    result = _all(results)
    return result._replace(notes=(*result.notes, *more))


def _compare_scalars(expected: Any, found: Any, terms: _Terms, kind: str, at: str) -> ValueDifference:
    is_pair = kind == "coordinates" and _point(expected) is not None
    if isinstance(expected, list | tuple) and not is_pair:
        if isinstance(found, list | tuple):
            return _compare_lists(expected, found, terms, {"format": kind}, at, 0)
        return _any([_compare_scalars(one, found, terms, kind, at) for one in expected])
    if is_pattern(expected) and kind not in ("url", "base64"):
        is_text = isinstance(found, str | int | float)
        matches = is_text and full_match(expected, peer_normal(_written(found)), re.IGNORECASE)
        return ValueDifference(matches, None if matches else "no_match", at)
    if isinstance(found, dict) and kind == "location-name":
        return _result(is_same(expected, found, kind), "differs")
    if isinstance(found, list | tuple | dict) and kind not in ("coordinates", "string_list"):
        return ValueDifference(False, f"not_a_{kind}", at)
    return _SCALARS.get(kind, _texts)(expected, found, terms, kind)._replace(at=at)


def _texts(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    if not isinstance(expected, str) and isinstance(found, str):
        expected = _written(expected)
    if not isinstance(found, str | int | float) or (isinstance(found, bool) and isinstance(expected, bool)):
        return _result(expected is found, "differs")
    if not any(isinstance(side, str | bool) for side in (expected, found)):
        return _result(expected == found, "differs")
    one, other = (_below_a_site(_written(side), terms) for side in (expected, found))
    return _result(is_same_text(one, other), "differs")


def _below_a_site(text: str, terms: _Terms) -> str:
    """Write the name of a site in the place of its roots: all of them are equal."""
    return site_names(terms.sites)(text) if "http" in text else text


def is_same_text(one: str, other: str) -> bool:
    """Compare texts as the package does: case, accents, marks, hyphens, punctuation around do not count."""
    left, right = peer_normal(one), peer_normal(other)
    return left == right or bare(left) == bare(right)


def _values(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    kind = "number" if kind == "integer" else kind
    if isinstance(found, bool) or is_refused(found, kind):
        return ValueDifference(False, f"not_a_{kind}")
    wanted, text = _written(expected), _written(found)
    # Signs of currencies would be spelled out.
    comparison = compare(wanted, text if kind == "currency" else peer_normal(text), kind)
    if comparison.reason == f"not_a_{kind}" and (plain := rewritten(text, kind)) is not None:
        comparison = compare(wanted, plain, kind)
    return ValueDifference(comparison.matches, comparison.reason, notes=comparison.notes)


def _read_values(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    return (
        _values(expected, found, terms, kind)
        if reads(found, kind)
        else ValueDifference(False, f"not_a_{kind}")
    )


def _booleans(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    return _result(is_same(expected, found, kind), "differs" if reads(found, kind) else "not_a_boolean")


def _months(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    if isinstance(found, int | float):
        return _result(is_same(expected, found, kind), "differs")
    one, other = month_number(_written(expected)), month_number(peer_normal(_written(found)).strip(_AROUND))
    is_read = other is not None and reads(found, kind)
    matches = is_read and one == other and is_same(expected, found, kind)
    return _result(matches, "differs" if is_read else "not_a_month")


def _urls(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    one, other = _written(expected), _written(found)
    if repository(one) is not None:
        return _result(repository(one) == repository(other), "differs")
    if is_pattern(one):
        return _result(full_match(one, other), "no_match")
    return _result(urls.matches(one, other, urls.EXACT, terms.sites), "differs")


_NUMBER = r"([+-]?\d{1,3}(?:\.\d{1,20})?)"
_MINUTES = r"(?:\s*°\s*(?:(\d{1,2}(?:\.\d{1,20})?)\s*['′]\s*)?(?:(\d{1,2}(?:\.\d{1,20})?)\s*[\"″]\s*)?)?"
_POINT = lazy_pattern(
    rf"\(?\s*{_NUMBER}{_MINUTES}\s*([NS])?\s*[,;/\s]\s*{_NUMBER}{_MINUTES}\s*([EW])?\s*\)?",
    re.ASCII | re.IGNORECASE,
)
_POINT_MAX = 200


def _points(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    one, other = _point(expected), _point(found)
    if one is None or other is None:
        return ValueDifference(False, "bad_reference" if one is None else "not_coordinates")
    east = (one[1] - other[1] + 180) % 360 - 180  # 280 degrees east are 80 west
    return _result(abs(one[0] - other[0]) <= _DEGREES and abs(east) <= _DEGREES, "differs")


def _point(value: Any) -> tuple[float, float] | None:
    """Read latitude and longitude: a pair, an object, or a text with degrees or points of the compass."""
    if isinstance(value, str):
        found = _POINT.fullmatch(value.strip()) if len(value) <= _POINT_MAX else None
        return None if found is None else (_degrees(found, 1), _degrees(found, 5))
    if isinstance(value, Mapping):
        value = [_named(value, "latitude"), _named(value, "longitude")]
    if not isinstance(value, list | tuple) or len(value) != _PAIR:
        return None
    try:
        north, east = (float(part) for part in value)
    except (TypeError, ValueError):
        return None
    return (north, east) if abs(north) <= 90 else None


def _degrees(found: re.Match[str], group: int) -> float:
    whole, minutes, seconds, compass = found[group], found[group + 1], found[group + 2], found[group + 3]
    size = abs(float(whole)) + float(minutes or 0) / 60 + float(seconds or 0) / 3600
    is_negative = whole.startswith("-") is not ((compass or "").upper() in ("S", "W"))
    return -size if is_negative else size


def _named(value: Mapping[str, Any], name: str) -> Any:
    keys = (key for key in value if len(key) >= _PAIR and name.startswith(key.lower()))
    key = next(keys, "lng" if name == "longitude" else None)
    return value.get(key) if key is not None else None


def _places(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    one, other = (peer_normal(_written(side)) for side in (expected, found))
    return _result(one == other or similarity(one, other) >= _SIMILAR, "differs")


def _lists(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    one, other = _items(expected), _items(found)
    return _result(sorted(map(peer_normal, one)) == sorted(map(peer_normal, other)), "differs")


def _items(value: Any) -> list[str]:
    if isinstance(value, str):
        parsed = _json(value) if value.lstrip().startswith("[") else None
        value = parsed if isinstance(parsed, list) else re.split(r"[\n;,]", value)
    parts = value if isinstance(value, list | tuple) else [value]
    return [text for text in (_written(part).strip() for part in parts) if text]


def _documents(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    sides = (expected, found)
    one, other = (_json(_below_a_site(side, terms)) if isinstance(side, str) else side for side in sides)
    return _result(one is not _BROKEN and one == other, "not_json" if other is _BROKEN else "differs")


def _markdowns(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    one, other = (_markdown(_below_a_site(_written(side), terms)) for side in (expected, found))
    return _result(one == other, "differs")


def _markdown(text: str) -> str:
    """Return a text whose marks are written in one way; its words and their case stay."""
    lines: list[str] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n"):
        plain = re.sub(r"^(\s*#{1,6})[ \t]+", r"\1 ", line.rstrip())
        plain = re.sub(r"^\s*[*+-][ \t]+", "- ", plain)
        if plain or (lines and lines[-1]):
            lines.append(plain)
    joined = "\n".join(lines)
    return re.sub(r"\[([^\[\]]{1,2000})\]", lambda link: f"[{' '.join(link[1].split())}]", joined)


def _decodings(expected: Any, found: Any, terms: _Terms, kind: str) -> ValueDifference:
    wanted = _written(expected).strip()
    other = _decoded(_written(found))
    if other is None:
        return ValueDifference(False, "not_a_base64")
    if is_pattern(wanted):
        return _result(full_match(wanted, other, re.DOTALL), "no_match")
    return _result(_decoded(wanted) == other, "differs")


def _decoded(text: str) -> str | None:
    try:
        whole = base64.b64decode(text.strip(), validate=True).decode("utf-8")
    except (ValueError, binascii.Error):
        return None
    return whole.replace("\r\n", "\n").replace("\r", "\n").strip()


_BROKEN = object()


def _json(text: str) -> Any:
    try:
        return decode_as_python(text)
    except (ValueError, RecursionError):
        return _BROKEN


def _written(value: Any) -> str:
    """Return a value as a person would write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _result(matches: bool, reason: str) -> ValueDifference:
    return ValueDifference(matches, None if matches else reason)


def _all(results: Sequence[ValueDifference]) -> ValueDifference:
    notes = tuple(dict.fromkeys(note for result in results for note in result.notes))
    failed = next((result for result in results if not result.matches), None)
    return failed._replace(notes=notes) if failed is not None else ValueDifference(True, notes=notes)


def _any(results: Sequence[ValueDifference]) -> ValueDifference:
    if not results:
        return ValueDifference(False, "no_alternative")
    return next((result for result in results if result.matches), results[0])


_SCALARS: dict[str, Callable[[Any, Any, _Terms, str], ValueDifference]] = {
    **dict.fromkeys(("number", "integer", "currency", "duration"), _values),
    **dict.fromkeys(("date", "distance"), _read_values),
    "boolean": _booleans,
    "month": _months,
    "url": _urls,
    "coordinates": _points,
    "location-name": _places,
    "string_list": _lists,
    "json": _documents,
    "markdown": _markdowns,
    "base64": _decodings,
}

TYPES = (*_SCALARS, "string", "text", "object", "array", "null")
"""Types of a schema that are compared in a way of their own."""
