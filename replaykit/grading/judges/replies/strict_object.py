"""A reply that ends with one JSON object, read strictly: nothing after it, no key twice, no depth."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from replaykit.decoders import decode_within
from replaykit.grading.model_request import cut_short
from replaykit.patterns import lazy_pattern

REPLY_MAX = 64 * 1024
"""Bytes of a reply in UTF-8."""

DEPTH_MAX = 8
"""Objects and lists inside each other."""

STARTS_MAX = 200
"""Opening braces that are tried: each failed try may read the rest of the reply."""

_FENCE = "```"

_BEGUN = lazy_pattern(r'\{\s*"')
"""How an object begins that names something, unlike a brace in prose."""


class _RepeatedKey(Exception):
    """An object names a key twice."""


def last_object(text: str, stop_reason: str) -> dict[str, Any] | str:
    """Return the JSON object that a reply ends with, or why it is missing, in a word of a judgement.

    Words before it are allowed, and a fence around it. `truncated refused context_full stopped`: the reply
    is not whole. `not_final`: words come after the object. `ambiguous`: a key occurs twice. `no_object`: no
    object, one larger than 64 KiB, or one deeper than 8 levels.
    """
    found = all_objects(text, stop_reason)
    return found if isinstance(found, str) else found[-1]


def all_objects(text: str, stop_reason: str) -> list[dict[str, Any]] | str:
    """Return every top-level object of a reply that ends with one, in order; else see `last_object`."""
    stopped = cut_short(stop_reason)
    if stopped is not None:
        return stopped
    if len(text.encode("utf-8", "replace")) > REPLY_MAX:
        return "no_object"
    try:
        found, rest = _read(text)
    except _RepeatedKey:
        return "ambiguous"
    if not found or not _is_flat(found[-1], DEPTH_MAX):
        return "no_object"
    return "not_final" if rest.strip() not in ("", _FENCE) else found


def _read(text: str) -> tuple[list[dict[str, Any]], str]:
    """Return the top-level objects and what follows the last one."""
    reader = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse)
    found: list[dict[str, Any]] = []
    at, end = 0, 0
    for _ in range(STARTS_MAX):
        start = text.find("{", at)
        if start < 0:
            return found, text[end:]
        try:
            one, end = decode_within(text, start, reader)
            found.append(one)
            at = end
        except (ValueError, RecursionError):
            if _BEGUN.match(text, start):
                # Text inside a broken object is part of it, and may be quoted from a page.
                return found, text[end:]
            at = start + 1
    return [], ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedKey
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _is_flat(value: Any, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_flat(part, depth - 1) for part in parts)
