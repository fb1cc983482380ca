"""`text-transform` as browsers apply it, language included where it matters (CSS Text 3, 2.1)."""

from __future__ import annotations

import re
import unicodedata


def transformed(data: str, transform: str, before: str, language: str) -> str:
    """Apply a computed `text-transform`; `before` is the character that precedes the text on its line."""
    if not transform or transform == "none":
        return data
    for word in transform.split():
        if word == "uppercase":
            data = _upper(data, language)
        elif word == "lowercase":
            data = _lower(data, language)
        elif word == "capitalize":
            data = _capitalized(data, before)
        elif word == "math-auto":
            data = _math(data)
    return data


def _upper(data: str, language: str) -> str:
    if _is(language, "tr", "az"):
        data = data.replace("i", "\u0130")
    if _is(language, "el"):
        data = _GREEK.sub(_without_accents, data)
    return data.upper().translate(_GEORGIAN)


def _without_accents(match: re.Match[str]) -> str:
    """Take accents off Greek letters: capitals carry none, but keep the diaeresis (Unicode CLDR el-Upper)."""
    plain = unicodedata.normalize("NFD", match[0])
    return unicodedata.normalize("NFC", _GREEK_ACCENTS.sub(r"\1", plain))


# Browsers write no Georgian capitals, which few fonts have.
_GEORGIAN = {capital: capital - 0xBC0 for capital in range(0x1C90, 0x1CC0)}

_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff][\u0300-\u036f\u0370-\u03ff\u1f00-\u1fff]*")

_GREEK_ACCENTS = re.compile("([\u0370-\u03ff\u1f00-\u1fff]\u0308?)[\u0300\u0301\u0313\u0314\u0342\u0345]+")


def _lower(data: str, language: str) -> str:
    if _is(language, "tr", "az"):
        data = data.replace("I\u0307", "i").replace("\u0130", "i").replace("I", "\u0131")
    return data.lower()


def _is(language: str, *tags: str) -> bool:
    return language.lower().split("-")[0] in tags


def _capitalized(data: str, before: str) -> str:
    text = before + data
    return "".join(
        _title(letter) if _starts_word(text, place) else letter for place, letter in enumerate(text) if place
    )


def _title(letter: str) -> str:
    # Browsers use the simple mapping: one character stays one, so a sharp s or a ligature stays as it is.
    title = letter.title()
    return title if len(title) == 1 else letter


def _starts_word(text: str, place: int) -> bool:
    if not text[place].isalpha():
        return False
    place -= 1
    while place > 0 and _extends(text[place]):
        place -= 1
    return not _joins(text, place)


def _extends(character: str) -> bool:
    return character != "\u200b" and unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")


def _joins(text: str, place: int) -> bool:
    """Whether the character belongs to the same word as a letter that follows it."""
    character = text[place]
    if character in _APOSTROPHES:
        return (
            place > 0
            and _in_word(text[place - 1])
            and not text[place - 1].isdigit()
            and text[place - 1] != "_"
        )
    return _in_word(character)


def _in_word(character: str) -> bool:
    if character == "_" or unicodedata.category(character) in ("Nd", "Pc"):
        return True
    return character.isalpha() and not _IDEOGRAPHS.match(character)


# Joiners between letters (UAX 29, MidLetter and MidNumLet); browsers split at a full stop and a colon.
_APOSTROPHES = frozenset("'\u2018\u2019\u00b7\u0387\u2027\u05f4")
# Scripts without blanks: each character is a word of its own.
_IDEOGRAPHS = re.compile("[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def _math(data: str) -> str:
    """Set a text of a single letter in mathematical italic, as `mi` shows it (MathML Core, 4.2)."""
    return _MATH.get(data, data)


_MATH = (
    {chr(65 + place): chr(0x1D434 + place) for place in range(26)}
    | {chr(97 + place): chr(0x1D44E + place) for place in range(26)}
    | {chr(0x391 + place): chr(0x1D6E2 + place) for place in range(25)}
    | {chr(0x3B1 + place): chr(0x1D6FC + place) for place in range(25)}
    | {"h": "\u210e",
       "\u03f4": "\U0001d6f3", "\u2207": "\U0001d6fb", "\u2202": "\U0001d715", "\u03f5": "\U0001d716",
       "\u03d1": "\U0001d717", "\u03f0": "\U0001d718", "\u03d5": "\U0001d719", "\u03f1": "\U0001d71a",
       "\u03d6": "\U0001d71b", "\u0131": "\U0001d6a4", "\u0237": "\U0001d6a5"}
)  # fmt: skip
