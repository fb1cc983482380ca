"""How a secret may be written: raw, percent-encoded, escaped in HTML or JSON, inside of base64, or mixed.

One pattern per secret: each character may stand in any of its forms, so that partly encoded values match too.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

from replaykit.errors import RecorderError

SECRET_MIN = 4
"""Shorter values would match by chance: characters."""

_ENTITIES = {'"': "quot", "&": "amp", "<": "lt", ">": "gt", "'": "apos", "\xa0": "nbsp"}
_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_BASE64 = {"+": r"(?:[+-]|%(?:25)*2[Bb])", "/": r"(?:\\*/|_|%(?:25)*2[Ff])"}


def secrets_pattern(secrets: Mapping[str, str]) -> re.Pattern[str] | None:
    """Return the pattern of all secrets, one group each in the order of `ordered`; None without secrets.

    Raises RecorderError for a value that is too short to be found reliably.
    """
    branches = [f"({secret_pattern(value)})" for _, value in ordered(secrets)]
    return re.compile("|".join(branches)) if branches else None


def ordered(secrets: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the secrets, longer ones first: one may be part of another."""
    for name, value in secrets.items():
        if len(value) < SECRET_MIN:
            raise RecorderError(
                what=f"secret {name!r} has {len(value)} characters, {SECRET_MIN} are needed to find it; "
                "hide its field with --mask SELECTOR instead"
            )
    # Equal lengths go by name, so that two runs write the same marks.
    return sorted(secrets.items(), key=lambda item: (-len(item[1]), item[0]))


def secret_pattern(value: str) -> str:
    """Return the pattern of one value in all of its forms."""
    plain = "".join(f"(?:{'|'.join(_forms(char))})" for char in value)
    return "|".join([plain, *(_base64_pattern(part) for part in base64_parts(value))])


def _forms(char: str) -> list[str]:
    code = ord(char)
    # Values in a redirect's query are encoded once for each level: `%2525`.
    percent = "".join(f"%(?:25)*{_hex(f'{byte:02x}')}" for byte in char.encode("utf-8", "surrogatepass"))
    # JSON escapes characters above U+FFFF as two halves.
    units = char.encode("utf-16-be", "surrogatepass")
    escaped = "".join(rf"\\+u{_hex(units[at : at + 2].hex())}" for at in range(0, len(units), 2))
    forms = [re.escape(char), percent, escaped]
    # HTML within HTML, such as `srcdoc`, escapes the ampersand again.
    forms += [f"&(?:amp;)*#0*{code};?", f"&(?:amp;)*#[xX]0*{_hex(f'{code:x}')};?"]
    if char in _ENTITIES:
        forms.append(f"&(?:amp;)*{_ENTITIES[char]};")
    if char in _ESCAPES:
        forms.append(rf"\\+{_ESCAPES[char]}")
    # PHP and others escape slashes in JSON.
    if char in '"/':
        forms.append(rf"\\+{char}")
    if char == "\\":
        forms.append(r"\\+")
    # Forms send a blank as `+`.
    if char == " ":
        forms.append(r"\+")
    return forms


def _hex(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)


def base64_parts(value: str) -> list[str]:
    """Return what base64 makes of a value, wherever it begins, without signs that its surroundings change."""
    raw = value.encode("utf-8", "surrogatepass")
    parts = []
    # Base64 packs three bytes at a time: the value may begin at each of them.
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + raw).decode()
        first, last = -(-8 * shift // 6), 8 * (shift + len(raw)) // 6
        parts.append(encoded[first:last])
    return parts


def _base64_pattern(part: str) -> str:
    return "".join(_BASE64.get(char, char) for char in part)
