"""Secrets that a text itself calls so: variables that a shell is given, headers, cookies."""

from __future__ import annotations

import re
from collections.abc import Callable

from replaykit.trajectory.redacted import MASKED

_ASSIGNED = re.compile(
    r"(?<![\w$])([A-Z][A-Z0-9_]{2,60})(\s?=\s?)"
    r"(\"[^\"\n]{1,2000}\"|'[^'\n]{1,2000}'|[^\s\"'&;|,)\\]{4,2000})"
)
"""A variable in capitals and its value."""

_SECRET_ENDS = ("_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS", "APIKEY")
"""Ends of names of variables whose values are secret."""

_COOKIES = re.compile(
    r"((?:set-)?cookie[\"']?\s*[:=]\s*[\"'`]?)((?:[\w.-]{1,256}=[^\s;,\"'`]{1,4096}(?:;\s?)?){1,100})",
    re.IGNORECASE,
)
"""The header of cookies, or the property of a document, and their names and values."""

_COOKIE = re.compile(r"([\w.-]{1,256}=)([^\s;,\"'`]{1,4096})")
_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "priority"})

_AUTHORIZED = re.compile(
    r"((?:proxy-)?authorization[\"']?\s*:\s*[\"']?(?:basic|bearer|digest|token|apikey)\s+)([^\s\"'`]{4,4096})"
    r"|(x-(?:api-key|auth-token|access-token)[\"']?\s*:\s*[\"']?)([^\s\"'`,]{4,4096})",
    re.IGNORECASE,
)
"""A header with a credential."""


def without_secrets(text: str, found: Callable[[str], None]) -> str:
    """Return a text with a mask for each value that it says is a secret; `found` is told each variable's."""
    if "=" in text and any(end in text for end in _SECRET_ENDS):
        text = _ASSIGNED.sub(lambda m: _assigned(m, found), text)
    lower = text.lower() if ":" in text or "=" in text else ""
    if "cookie" in lower:
        text = _COOKIES.sub(_cookies, text)
    if "authorization" in lower or "x-a" in lower:
        text = _AUTHORIZED.sub(lambda m: (m[1] or m[3]) + MASKED, text)
    return text


def _assigned(said: re.Match[str], found: Callable[[str], None]) -> str:
    value = said[3].strip("\"'")
    is_named = value.startswith(("$", "<", "{", "⟦", "***")) or not value
    if is_named or not said[1].endswith(_SECRET_ENDS):
        return said[0]
    found(value)
    return f"{said[1]}{said[2]}{said[3].replace(value, MASKED)}"


def _cookies(said: re.Match[str]) -> str:
    return str(said[1]) + _COOKIE.sub(_cookie, said[2])


def _cookie(said: re.Match[str]) -> str:
    is_about = said[1][:-1].lower() in _ATTRIBUTES
    return said[0] if is_about else f"{said[1]}{MASKED}"
