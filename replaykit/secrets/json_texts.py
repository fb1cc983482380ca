"""Strings and numbers within a text that is JSON, found without reading it: its bytes stay where they are."""

from __future__ import annotations

import re

import msgspec

from replaykit.decoders import decode, decode_plain
from replaykit.patterns import lazy_pattern

_JSON_TEXT = r'"(?:[^"\\]|\\.)*"'
_JSON_NUMBER = r"-?\d[\d.eE+-]*"
JSON_PART = lazy_pattern(
    rf"({_JSON_TEXT})(\s*:\s*(?:({_JSON_TEXT})|({_JSON_NUMBER}))?)?|({_JSON_NUMBER})", re.DOTALL
)
"""A string, a key with the string or number after it, or a number."""

JSON_BEGIN_MAX = 64
"""Characters in which a text that is JSON begins."""


def unquoted(literal: str) -> str:
    """Return what a string of JSON holds."""
    try:
        return decode(literal.encode("utf-8", "surrogateescape"), str)
    # A lone surrogate is valid in JavaScript's JSON, but not here.
    except (msgspec.DecodeError, UnicodeError):
        return literal[1:-1]


def quoted(number: str, shown: str) -> str:
    """Return a number, or what is shown in its place as a string."""
    return number if shown == number else f'"{shown}"'


def looks_like_json(text: str) -> bool:
    """Whether a text is an object or a list with a string in it."""
    begun = text[:JSON_BEGIN_MAX].lstrip()
    return begun.startswith(("{", "[")) and '"' in text and is_json(text)


def is_json(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        decode_plain(text.encode("utf-8", "surrogateescape"))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True
