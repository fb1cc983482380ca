"""Values that a text calls secret by what stands beside them: `API_KEY=…`, `"token": "…"`, `Cookie: …`.

In a running text only what looks like a credential is hidden: `Password: required` and `token = 12` stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from replaykit.patterns import lazy_pattern
from replaykit.secrets.secret_patterns import is_secret_field

Hide: TypeAlias = Callable[[str], str]
"""Returns what stands for a value."""

CREDENTIAL_MIN = 6
"""Characters of a credential in a running text: shorter values are words and numbers."""

VAGUE_MIN = 10
"""Characters of a credential without quotes behind a word such as `secret`, which is no password's name."""

RANDOM_MIN = 20
"""Letters of one value that are no word."""

ASSIGNED_MIN = 4
"""Characters of the value of a variable that is named like a secret."""

HEAD_MAX = 64
"""Characters of a name before its secret word."""

PAIR_MAX = 160
"""Characters before a name in which the name of a user may stand."""

_KEYWORD = lazy_pattern(
    r"pass(?![a-z])|pass(?:word|wd|phrase|code)|pwd|secret|token|otp(?![a-z])|cv[vc](?![a-z])|key(?![a-z])"
    r"|credentials?|authorization|signature|session_?id|passwort|kennwort|contraseña|senha(?![a-z])"
)
"""Words in names of secrets, in a text in lower case: to ignore the case takes ten times longer."""

_DAEH = lazy_pattern(r"[\w$.-]*")
_RENWO = lazy_pattern(r" [A-Za-z]+(?![\w-])")
"""Text before such a word, from its end to its beginning."""

_END = lazy_pattern(r"[\w-]{0,40}(?=[\s\"'`\\\]&%:=>])")

_BLANK = r"(?:\s|%20)"
_QUOTE = r"(?:\\{0,8}[\"'`]|&(?:amp;)*(?:quot|apos|#34|#0?39);|%(?:25)*2[27])"
_SIGN = r"[^\s\"'`<>&;,|(){}\[\]⟦⟧\\=]"
_VALUE = (
    rf"(?:(?P<quote>{_QUOTE})(?P<quoted>(?:(?!(?P=quote))[^\n]){{1,2000}})(?P=quote)"
    rf"|(?P<bare>{_SIGN}{{1,4096}}(?:={_SIGN}{{0,256}}){{0,4}}))"
)
_SET = lazy_pattern(
    rf"{_QUOTE}?\]?{_BLANK}{{0,8}}(?P<sign>:=|=>|=(?![=>])|:(?!:)|%(?:25)*3[ADad]){_BLANK}{{0,8}}{_VALUE}"
)
"""A value behind `=` or `:`, also that of a quoted key."""

_STATED = lazy_pattern(rf"\s{{1,8}}is:?\s{{1,8}}(?P<sign>){_VALUE}", re.IGNORECASE)
_BESIDE = lazy_pattern(rf"\s{{1,8}}(?P<sign>){_VALUE}")
_BEFORE_BESIDE = lazy_pattern(
    r"(?:(?<!\S)--|\bsetx |\bset -g?x "
    r"|\b(?:login|user(?:name)?):?\s\S{1,128}\s{1,4}(?:and |with |the ){0,3})\Z",
    re.IGNORECASE,
)
"""Text before a name whose value follows without a sign: an option, a shell, the name of a user."""

_ELEMENT = lazy_pattern(r"(?P<sign>)(?P<quoted>(?!))?>(?P<bare>[^<>\s]{1,2000})(?=</)")
"""The text of an XML element that has the name."""

_VARIABLE = lazy_pattern(r"[A-Z][A-Z0-9_]{2,60}")
_VARIABLE_ENDS = (
    "_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS", "APIKEY",
)  # fmt: skip
"""Ends of names of variables in capitals whose values are secret."""

_VAGUE = frozenset({"secret", "token", "signature", "credential", "credentials", "pass"})
_LOCAL = frozenset({"passwort", "kennwort", "contraseña", "senha"})

_STANDS_FOR = lazy_pattern(
    r"[$<{%*⟦#/]|https?:|your|x{4}|\.{3}|example|placeholder|change.?me|\d{4}-\d\d-\d\d"
    r"|[a-z_$][\w$]*(?:\.[a-z_$][\w$]*)+\Z",
    re.IGNORECASE,
)
"""Beginnings of values that refer to another or stand for one, of dates, and properties of a program."""

_BLANKS = lazy_pattern(r"\s")
_LETTER = lazy_pattern(r"[^\W\d_]")
_DIGIT = lazy_pattern(r"\d")

_TAG = lazy_pattern(r"<(?:input|meta|add|param)\b[^<>]{0,4000}>", re.IGNORECASE)
_ATTRIBUTE = lazy_pattern(r"(?<=[\s\"'])([\w-]{1,64})\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")

_COOKIES = lazy_pattern(
    r"((?:set-)?cookie\\{0,8}[\"']?\s*[:=]\s*\\{0,8}[\"'`]?)"
    r"((?:[\w.-]{1,256}=[^\s;,\"'`\\]{1,4096}(?:;\s?)?){1,100})",
    re.IGNORECASE,
)
"""The header of cookies, or the property of a document, and their names and values."""

_COOKIE = lazy_pattern(r"([\w.-]{1,256}=)([^\s;,\"'`\\]{1,4096})")
_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "priority"})

_AUTHORIZED = lazy_pattern(
    r"((?:proxy-)?authorization\\{0,8}[\"']?\s*[:=]\s*\\{0,8}[\"'`]?(?:basic|bearer|digest|token|apikey)\s+)"
    r"([^\s\"'`\\]{4,4096})",
    re.IGNORECASE,
)
"""A header with a credential."""

_STORED = lazy_pattern(
    r"((?:local|session)Storage(?:\.setItem\(\s*|\[\s*)(['\"`])([\w.:-]{1,128})\2\s*(?:,|\]\s*=)\s*)"
    r"(['\"`])([^'\"`\n]{4,4096})\4"
    r"|((?:local|session)Storage\.(\w{1,128})\s*=\s*)(['\"`])([^'\"`\n]{4,4096})\8"
)
"""Forms in which a script writes to the storage of a page: by a call, by a key, by a property."""

_CURL_USER = lazy_pattern(r"(\s(?:-u|--user)[ =]['\"]?[^\s:'\"]{1,128}:)([^\s'\"]{1,1024})")
_CURL_COOKIE = lazy_pattern(
    r"(\s(?:-b|--cookie)[ =]['\"]?)((?:[\w.-]{1,128}=[^\s;'\"]{1,4096}(?:;\s?)?){1,50})"
)
"""Options of curl: a name with its password, and cookies."""


def hide_named(text: str, hide: Hide, hide_cookie: Hide | None = None, *, is_program: bool = False) -> str:
    """Return a text with `hide(value)` for each value that what stands beside it calls secret.

    `hide_cookie`: the same for values of cookies and headers. `is_program`: what has no quotes is no value.
    """
    parts, at = [], 0
    for start, end in _named(text, is_program=is_program):
        parts += [text[at:start], hide(text[start:end])]
        at = end
    text = "".join([*parts, text[at:]])
    return _in_commands(_in_tags(text, hide), hide, hide_cookie or hide)


def is_credential(value: str) -> bool:
    """Whether a value in a text opens something, and is no word, number, date, address or reference."""
    if len(value) < CREDENTIAL_MIN or _STANDS_FOR.match(value) or _BLANKS.search(value):
        return False
    if _LETTER.search(value) is None:
        return False
    return _DIGIT.search(value) is not None or (value.isalpha() and len(value) >= RANDOM_MIN)


def _named(text: str, *, is_program: bool) -> Iterator[tuple[int, int]]:
    """Yield start and end of each secret value that stands behind its name."""
    lower, at = text.lower(), 0
    # A letter may be two in lower case.
    for word in _KEYWORD.finditer(lower if len(lower) == len(text) else text):
        end = _END.match(text, word.end()) if word.start() >= at else None
        found = _value_behind(text, word, end.end()) if end is not None else None
        if end is None or found is None or (is_program and found["quoted"] is None):
            continue
        first, last = _span(found)
        if _is_secret(text[_begin(text, word) : end.end()], found, text[first:last]):
            at = last
            yield first, last


def _begin(text: str, word: re.Match[str]) -> int:
    """Return where the name begins that ends with a word; before a bare `key` stands another word."""
    before = text[max(0, word.start() - HEAD_MAX) : word.start()][::-1]
    head = _DAEH.match(before)
    if word[0] == "key" and (head is None or not head[0]):
        head = _RENWO.match(before)
    return word.start() - (head.end() if head else 0)


def _value_behind(text: str, word: re.Match[str], end: int) -> re.Match[str] | None:
    found = _SET.match(text, end)
    if found is not None:
        return found
    if text[end] == ">":
        is_element = text[max(0, _begin(text, word) - 1)] == "<"
        return _ELEMENT.match(text, end) if is_element else None
    return _STATED.match(text, end) or _beside(text, word, end) if text[end].isspace() else None


def _beside(text: str, word: re.Match[str], end: int) -> re.Match[str] | None:
    """Return the value that follows a name without a sign, where an option or the like has one."""
    start = _begin(text, word)
    # `--password` is one name: its signs are part of it.
    start += 2 * text.startswith("--", start)
    before = text[max(0, start - PAIR_MAX) : start]
    is_near = before.endswith("--") or any(near in before.lower() for near in ("set", "login", "user"))
    return _BESIDE.match(text, end) if is_near and _BEFORE_BESIDE.search(before) else None


def _span(found: re.Match[str]) -> tuple[int, int]:
    """Return start and end of a value; the full stop of a sentence is no part of it."""
    if found["quoted"] is not None:
        return found.span("quoted")
    start, end = found.span("bare")
    return start, end - len(found["bare"]) + len(found["bare"].rstrip(".:?"))


def _is_secret(name: str, found: re.Match[str], value: str) -> bool:
    if "=" in found["sign"] and _VARIABLE.fullmatch(name) and name.endswith(_VARIABLE_ENDS):
        is_count = "TOKEN" in name and value.isdigit()
        return len(value) >= ASSIGNED_MIN and not is_count and not _STANDS_FOR.match(value)
    is_vague = found["quoted"] is None and name.lower() in _VAGUE
    is_long = len(value) >= (VAGUE_MIN if is_vague else CREDENTIAL_MIN)
    return is_long and is_credential(value) and (is_secret_field(name) or name.lower() in _LOCAL)


def _in_tags(text: str, hide: Hide) -> str:
    """Hide the value of each tag of HTML or XML whose name is that of a secret."""
    if "<" not in text:
        return text
    return _TAG.sub(lambda tag: _without_value(tag[0], hide), text)


def _without_value(tag: str, hide: Hide) -> str:
    attributes = {one[1].lower(): one[2] or one[3] or "" for one in _ATTRIBUTE.finditer(tag)}
    names = [attributes.get(key, "") for key in ("name", "key", "id", "property")]
    if attributes.get("type", "").lower() != "password" and not any(map(is_secret_field, names)):
        return tag
    values = {attributes.get(key, "") for key in ("value", "content")}
    for value in sorted(filter(is_credential, values)):
        tag = tag.replace(value, hide(value))
    return tag


def _in_commands(text: str, hide: Hide, hide_cookie: Hide) -> str:
    """Hide cookies, credentials of headers, stored values, and what is given to curl."""
    # Cheap tests first: the patterns are slow on long texts.
    lower = text.lower() if ":" in text or "=" in text else ""
    if "cookie" in lower:
        text = _COOKIES.sub(lambda found: _cookies(found, hide_cookie), text)
    if "authorization" in lower:
        text = _AUTHORIZED.sub(lambda found: found[1] + hide_cookie(found[2]), text)
    if "Storage" in text:
        text = _STORED.sub(lambda found: _stored(found, hide), text)
    if "curl " in text:
        text = _CURL_USER.sub(lambda found: found[1] + hide_cookie(found[2]), text)
        text = _CURL_COOKIE.sub(lambda found: _cookies(found, hide_cookie), text)
    return text


def _stored(found: re.Match[str], hide: Hide) -> str:
    begin, name, quote, value = found.group(1, 3, 4, 5) if found[1] else found.group(6, 7, 8, 9)
    return f"{begin}{quote}{hide(value)}{quote}" if is_secret_field(name) else found[0]


def _cookies(found: re.Match[str], hide: Hide) -> str:
    return str(found[1]) + _COOKIE.sub(lambda cookie: _cookie(cookie, hide), found[2])


def _cookie(found: re.Match[str], hide: Hide) -> str:
    # Attributes of a cookie look like cookies themselves.
    is_about = found[1][:-1].lower() in _ATTRIBUTES
    return found[0] if is_about or found[2].startswith("⟦") else found[1] + hide(found[2])
