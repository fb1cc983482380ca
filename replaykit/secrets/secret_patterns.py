"""Secrets known by their name, and patterns that a user gave."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from replaykit.errors import UsageError
from replaykit.patterns import lazy_pattern
from replaykit.tasks.grammar.regex_matcher import Matcher, RegexRefused, matcher
from replaykit.tasks.grammar.regexes import regex_fault

HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"})
"""Headers whose values are never kept, lower-case."""

HEADER_WORDS = ("token", "secret", "session", "csrf", "api-key", "apikey", "access-key", "auth-key")
"""Parts of header names whose values are never kept."""

HEADER_ENDS = ("auth", "authorization", "authentication", "password", "passwd", "credential", "credentials")
"""Ends of such names: sites name headers of their own after `Authorization`."""

FIELD_WORDS = frozenset({
    "pass", "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "otp", "cvv", "cvc",
    "apikey", "credential", "credentials", "authorization", "signature", "sig", "sid", "sessionid",
})  # fmt: skip
"""Words of field names whose values are never kept."""

KEY_OWNERS = frozenset({
    "api", "access", "secret", "private", "auth", "app", "client", "subscription", "signing", "encryption",
    "master", "account", "service", "license", "shared",
})  # fmt: skip
"""Words before `key` in names of fields whose values are never kept: `api_key`."""

ABOUT = frozenset({
    "type", "types", "kind", "count", "limit", "limits", "length", "size", "policy", "strength", "required",
    "expires", "expiry", "expiration", "expired", "ttl", "age", "min", "max", "label", "hint", "enabled",
    "valid", "usage", "used", "rate", "url", "uri", "endpoint", "format", "version", "algorithm", "rules",
    "placeholder", "status", "method", "visible", "field", "name", "mode", "budget", "price", "cost", "santa",
})  # fmt: skip
"""Words after a secret's name that make it one about secrets: `tokenType`, `password_policy`."""

ASKS = frozenset({"is", "has", "show", "hide", "forgot", "max", "min", "num", "total", "requires", "allow"})
"""First words that do the same: `showPassword`, `max_token`."""

FIELD_ENDS = ("password", "passwd", "pwd", "secret", "token")
"""Ends of words of field names, likewise: `newpassword`, `csrftoken`."""

WINDOW = 4096
"""Characters that a given pattern is tried on at a time: what it costs grows with the text, not faster."""

SPAN_MAX = 1024
"""Longest match of a given pattern that a long text is sure to show, characters."""

Look: TypeAlias = re.Pattern[str] | Matcher
"""A pattern: our own, or one of a user, which takes bounded steps."""

Looks = tuple[tuple[str, Look], ...]
"""Patterns by name."""


def given_looks(patterns: Iterable[str]) -> Looks:
    """Return patterns that a user gave, by the names `given_1`, `given_2` ...

    Raises UsageError for what is no regular expression, could take forever, or matches the empty text.
    """
    return tuple((f"given_{number}", _given(pattern)) for number, pattern in enumerate(patterns, 1))


def spans(look: Look, text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of a given pattern's matches between two places, in windows that overlap.

    A window that takes too many steps counts as a match from there on: what cannot be searched is hidden.
    """
    at, end = first, first
    while end < last:
        end = min(last, at + WINDOW)
        limit = end if end == last else end - SPAN_MAX
        for start, stop in _in_window(look, text, at, end):
            # A match this near the window's end may be longer: the next window begins there.
            if start >= limit:
                break
            if stop > start:
                yield start, stop
                at = stop
        at = max(at, limit)


def _in_window(look: Look, text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    if not isinstance(look, Matcher):
        yield from (match.span() for match in look.finditer(text, first, last))
        return
    at = first
    try:
        for at, stop in look.spans(text, first, last):
            yield at, stop
            at = stop
    except RegexRefused:
        # A pattern that gives up may have missed a secret, so the rest counts as one.
        yield at, last


def is_secret_header(name: str) -> bool:
    """Whether a header's value is never kept."""
    lower = name.lower()
    return lower in HEADERS or lower.endswith(HEADER_ENDS) or any(word in lower for word in HEADER_WORDS)


def is_secret_field(name: str) -> bool:
    """Whether a form, query or JSON field is named like a password."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
    # `showPassword` and `max_tokens` are settings, not secrets.
    if not words or words[0] in ASKS:
        return False
    places = [at for at in range(len(words)) if _is_secret_word(words, at)]
    # Only words after the last secret word show what the field is about.
    return bool(places) and not any(word in ABOUT for word in words[places[-1] + 1 :])


def is_secret_value(name: str, value: str) -> bool:
    """Whether a value under the bare name `key` looks like one that opens something, not like a word."""
    # Many APIs call anything `key`, and only long random values open something.
    if name.lower() != "key" or not _RANDOM.fullmatch(value):
        return False
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def sent_names(*called: str | None) -> Iterator[str]:
    """Yield what a field of this name and id may be called where its value is sent, lower-case.

    The last part of `user[pw]` too, as JSON has it. No single letters: half of all queries have some.
    """
    for name in called:
        # Rails and PHP send `user[password]`; a server's log or JSON calls it `password`.
        parts = (name, *re.findall(r"\[([^\[\]]+)\]\Z", name)) if name else ()
        yield from (part.lower() for part in parts if len(part) > 1)


_RANDOM = lazy_pattern(r"[A-Za-z0-9_.~+/=-]{16,512}")


def _is_secret_word(words: Sequence[str], at: int) -> bool:
    word = words[at]
    is_key = word == "key" and at > 0 and words[at - 1] in KEY_OWNERS
    return is_key or word in FIELD_WORDS or word.endswith(FIELD_ENDS)


def _given(pattern: str) -> Matcher:
    fault = regex_fault(pattern)
    if fault is not None:
        raise UsageError(what=f"pattern {pattern!r:.80}: {fault[1]}")
    look = matcher(pattern)
    # Such a pattern would put its mark between all characters.
    if look.search(""):
        raise UsageError(what=f"pattern {pattern!r:.80}: it matches the empty text")
    return look
