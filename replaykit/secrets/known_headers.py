"""Known headers: hidden values that an earlier request carried, or that a response set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from replaykit.secrets.secret_patterns import is_secret_header
from replaykit.trajectory.redaction_marks import KNOWN_HEADER

PARTS_MAX = 100_000
"""Cookies and other hidden values that are remembered of one recording; what comes later stays unknown."""

Headers: TypeAlias = tuple[tuple[str, str], ...]


class KnownHeaders:
    """The hidden values of one recording, in memory only.

    A value that was sent before, or that the site itself set, holds nothing that came into the browser since.
    So a hidden header whose parts are all known needs no proof that it holds no secret.
    """

    def __init__(self) -> None:
        self._parts: set[int] = set()

    def set_by(self, response: Headers) -> None:
        """Record the cookies that a response sets."""
        for name, value in response:
            if name.lower() == "set-cookie":
                self._learn(("cookie", value.partition(";")[0].strip()))

    def sent(self, request: Headers) -> Headers:
        """Return the headers of a request, known values marked; learn the others."""
        return tuple((name, self._marked(name, value)) for name, value in request)

    def _marked(self, name: str, value: str) -> str:
        if not is_secret_header(name):
            return value
        parts = list(_parts(name.lower(), value))
        is_known = all(hash(part) in self._parts for part in parts)
        for part in parts:
            self._learn(part)
        return KNOWN_HEADER if is_known else value

    def _learn(self, part: tuple[str, str]) -> None:
        if len(self._parts) < PARTS_MAX:
            self._parts.add(hash(part))


def _parts(name: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield what is known or not by itself: each cookie, or the whole value."""
    pairs = value.split(";") if name == "cookie" else [value]
    yield from ((name, pair.strip()) for pair in pairs)
