"""How a secret may be written: raw, percent-encoded, as HTML, JSON and mails escape it, in base64, in hex.

One pattern per secret: each character may stand in any of its forms, so that partly encoded values match too.
A secret of letters and digits is also found in the other case, and with signs without width in it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from functools import cache

from replaykit.charsets import in_legacy_charsets
from replaykit.errors import RecorderError

SECRET_MIN = 4
"""Shorter values would match by chance: characters."""

LATIN = 0x100
"""Characters below have an escape of two digits: `\\x51`."""

ASCII = 0x7F
"""Largest byte that means the same in every charset."""

HEX_MIN = 8
"""Bytes of a secret that is also found in hexadecimal digits."""

_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_ESCAPE = r"\\{1,64}"
"""Signs before an escape: each JSON text within another one doubles them and adds one."""

_INVISIBLE = "[\u00ad\u200b-\u200d\u2060\ufeff]{0,4}"
"""Signs without width, which change nothing on the screen."""

_HYPHENS = "\u2010\u2011\u2012\u2013\ufe63\uff0d"
_FULL_WIDTH = 0xFEE0
"""From a sign of ASCII to the same sign in full width."""

_BASE64 = {"+": r"(?:[+-]|%(?:25)*2[Bb])", "/": r"(?:\\*/|_|%(?:25)*2[Ff])"}


def secrets_pattern(secrets: Mapping[str, str]) -> re.Pattern[str] | None:
    """Return the pattern of all secrets, one group each in the order of `ordered`; None without secrets.

    Raises RecorderError for a value that is too short to be found reliably.
    """
    values = [value for _, value in ordered(secrets)]
    branches = [f"({secret_pattern(value, is_loose=_is_own(value, values))})" for value in values]
    # Most characters of a text begin no spelling: one look at each is cheaper than to try them all.
    begins = _class({"%", "&", "\\", "+", "-", "_", "/", "="}.union(*map(_begins, values)))
    return re.compile(f"(?={begins})(?:{'|'.join(branches)})") if branches else None


def _begins(value: str) -> set[str]:
    """Return the characters with which the spellings of a value begin; signs of encodings are left out."""
    encoded = (value.encode("utf-8", "surrogatepass").hex(), *base64_parts(value))
    others = (_as_text(data) for data in in_legacy_charsets(value))
    return {*_alike(value[0]), encoded[0][0].upper(), *(one[0] for one in (*encoded, *others))}


def _is_own(value: str, values: list[str]) -> bool:
    """Whether a value has letters and digits, and no other value differs from it in case only."""
    is_word = not any(map(str.isalpha, value)) or not any(map(str.isdigit, value))
    return not is_word and len({one for one in values if one.casefold() == value.casefold()}) == 1


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


def secret_pattern(value: str, *, is_loose: bool = False) -> str:
    """Return the pattern of one value in all of its forms; `is_loose`: in letters of either case as well."""
    between = _INVISIBLE if is_loose else ""
    plain = between.join(_forms(char, is_loose) for char in value)
    raw = value.encode("utf-8", "surrogatepass")
    digits = [_hex(raw.hex())] if len(raw) >= HEX_MIN else []
    packed = (_base64_pattern(part) for part in base64_parts(value))
    return "|".join([plain, *digits, *packed, *_in_other_charsets(value)])


def _in_other_charsets(value: str) -> Iterator[str]:
    """Yield patterns of a value in charsets other than UTF-8: its bytes, and those percent-encoded."""
    for data in in_legacy_charsets(value):
        yield re.escape(_as_text(data))
        yield "".join(
            f"%(?:25)*{_hex(f'{byte:02x}')}" if byte > ASCII else _forms(chr(byte), False) for byte in data
        )


def _as_text(data: bytes) -> str:
    """Return bytes as the text that bodies are searched as."""
    return data.decode("utf-8", "surrogateescape")


def _forms(char: str, is_loose: bool) -> str:
    """Return the pattern of a character in all of its forms."""
    # An escape is tried before the sign with which it begins.
    forms = f"(?:{'|'.join([*_escapes(char), _sign(char, is_loose)])})"
    # JSON, scripts, shells and Markdown escape signs, and HTML around them changes the sign once more.
    return forms if char.isalnum() or char.isspace() or char == "\\" else rf"\\{{0,64}}{forms}"


def _sign(char: str, is_loose: bool) -> str:
    """Return the pattern of a character by itself, or of all that differ in case or width only."""
    return _class(_alike(char)) if is_loose else re.escape(char)


def _alike(char: str) -> set[str]:
    cases = {one for one in (char, char.lower(), char.upper()) if len(one) == 1}
    wide = {chr(ord(one) + _FULL_WIDTH) for one in cases if "!" <= one <= "~"}
    return cases | wide | set(_HYPHENS if char == "-" else "")


def _class(signs: set[str]) -> str:
    return f"[{''.join(map(re.escape, sorted(signs)))}]"


def _escapes(char: str) -> list[str]:
    raw = char.encode("utf-8", "surrogatepass")
    return [*_of_bytes(raw), *_of_programs(char), *_of_html(char), *_of_signs(char)]


def _of_bytes(raw: bytes) -> list[str]:
    # Values in a redirect's query are encoded once for each level: `%2525`. Mails quote with `=`.
    begins = ["%(?:25)*", "="]
    # Programs print bytes in this way; of a single one it is the escape of the character itself.
    begins += [rf"{_ESCAPE}x"] if len(raw) > 1 else []
    return ["".join(begin + _hex(f"{byte:02x}") for byte in raw) for begin in begins]


def _of_programs(char: str) -> list[str]:
    code = ord(char)
    # JSON escapes characters above U+FFFF as two halves.
    units = char.encode("utf-16-be", "surrogatepass")
    escaped = "".join(rf"{_ESCAPE}u{_hex(units[at : at + 2].hex())}" for at in range(0, len(units), 2))
    forms = [escaped, rf"{_ESCAPE}u\{{0*{_hex(f'{code:x}')}\}}", rf"%u{_hex(f'{code:04x}')}"]
    return [*forms, rf"{_ESCAPE}x{_hex(f'{code:02x}')}"] if code < LATIN else forms


def _of_html(char: str) -> list[str]:
    code, names = ord(char), _entities().get(char)
    # HTML within HTML, such as `srcdoc`, escapes the ampersand again.
    forms = [f"&(?:amp;)*#0*{code};?", f"&(?:amp;)*#[xX]0*{_hex(f'{code:x}')};?"]
    return [*forms, f"&(?:amp;)*(?:{'|'.join(names)})"] if names else forms


def _of_signs(char: str) -> list[str]:
    if char in _ESCAPES:
        return [_ESCAPE + _ESCAPES[char]]
    # SQL doubles an apostrophe; a shell ends the text before it and begins it again.
    # Forms send a blank as `+`.
    by_sign = {"'": r"'(?:\\')?'", "\\": _ESCAPE, " ": r"\+"}
    return [by_sign[char]] if char in by_sign else []


@cache
def _entities() -> dict[str, list[str]]:
    """Return the names of each character in HTML, with a semicolon and, as browsers read it, without."""
    from html.entities import html5  # for whom a secret is declared

    names: dict[str, list[str]] = {}
    for name, chars in html5.items():
        # The longer one is tried first: a part of it would leave the semicolon.
        names.setdefault(chars, []).append(name)
    return {chars: sorted(found, key=lambda name: (-len(name), name)) for chars, found in names.items()}


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
