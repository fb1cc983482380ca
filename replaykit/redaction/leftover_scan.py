"""Contents of a bundle that may hold a secret: every string and key, every payload except pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.bundle.bundle_format import PIXMAP
from replaykit.bundle.reader import Bundle
from replaykit.decoders import decode, decode_plain
from replaykit.patterns import lazy_pattern
from replaykit.secrets.redactor import LeftSecret, Redactor
from replaykit.secrets.text_fields import text_fields
from replaykit.snapshot.snapshot_format import MEDIA_TYPE
from replaykit.trajectory.action import Unknown

WORDS = frozenset({"type", "role", "media_type", "provider", "model", "effort", "stop_reason"})
"""Fields of a tape's requests and replies that hold words, not texts."""

KEY_SHOWN = 40
"""Characters of a field's name that a place shows."""

DIGEST = lazy_pattern(r"[0-9a-f]{64}")
"""Ids of blobs and bundles: no one's text."""


class Left(Struct, frozen=True, kw_only=True):
    """A place that still holds a secret, or looks like it. The value is never shown."""

    place: str
    """Record and field of the place."""
    id: str
    """Id of the declared secret, or name of the pattern."""
    is_declared: bool
    """Whether it is a declared secret; otherwise it only looks like one."""


def scan(bundle: Bundle, redactor: Redactor) -> Iterator[Left]:
    """Yield what is left in a bundle, in its order."""
    story = bundle.trajectory
    for number, event in enumerate((story.header, *story.events), -1):
        name = "header" if number < 0 else f"event {number}"
        value = decode_plain(event.raw.encode()) if isinstance(event, Unknown) else event
        yield from _search(_texts(value, "$", redactor.text), name, redactor)
    for id in bundle.blob_ids:
        media_type = bundle.blob_type(id)
        # Three bytes of colour may spell anything.
        if media_type != PIXMAP:
            found = find(redactor, media_type, bundle.blob(id))
            yield from _left(f"blob {id[:12]} ({media_type})", found)


def scan_tape(data: bytes, redactor: Redactor) -> Iterator[Left]:
    """Yield what is left in the lines of a tape."""
    for number, line in enumerate(data.splitlines(), 1):
        entry = decode(line, dict[str, Any])
        for name in ("request", "reply", "provenance"):
            # Field names and enumerated words belong to the layout, except in what a harness noted.
            part = entry.get(name) if name == "provenance" else without_words(entry.get(name))
            texts = _texts(part, f"$.{name}", redactor.text, has_keys=name == "provenance")
            yield from _search(texts, f"line {number}", redactor)


def without_words(value: Any) -> Any:
    """Return a part of a tape without the values that are words of its layout."""
    if isinstance(value, dict):
        return {key: without_words(part) for key, part in value.items() if key not in WORDS}
    return [without_words(part) for part in value] if isinstance(value, list) else value


def find(redactor: Redactor, media_type: str, payload: bytes) -> LeftSecret | None:
    """Return what a payload holds: a declared secret first, else what looks like one."""
    if media_type != MEDIA_TYPE:
        return redactor.scan(payload)
    try:
        # Of a snapshot its texts: its numbers are places, where a secret of digits would be found.
        head, tokens = (decode_plain(line) for line in payload.split(b"\n")[:2])
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError):
        return redactor.scan(payload)
    texts = chain(_texts(head, "$", str, has_keys=False), _token_texts(tokens))
    found = [hit for _, text in texts if (hit := redactor.search(text)) is not None]
    return min(found, key=lambda hit: not hit.is_declared, default=None)


def is_cut(payload: bytes) -> bool:
    """Whether a snapshot leaves something out that its page showed."""
    try:
        head = decode(payload.split(b"\n", 1)[0], dict[str, Any])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        # Of a snapshot that cannot be read, it is unknown whether it is whole.
        return True
    return "cut" in (head.get("flags") or ())


def _search(texts: Iterable[tuple[str, str]], record: str, redactor: Redactor) -> Iterator[Left]:
    for path, text in texts:
        # A hash has enough digits to look like a card number now and then.
        if not DIGEST.fullmatch(text):
            yield from _left(f"{record} at {path}", redactor.search(text))


def _left(place: str, found: LeftSecret | None) -> Iterator[Left]:
    if found is not None:
        yield Left(place=place, id=found.id, is_declared=found.is_declared)


def _token_texts(tokens: Any) -> Iterator[tuple[str, str]]:
    """Yield the strings of a snapshot's tokens; keys of live state are the format's own."""
    for token in tokens if isinstance(tokens, list) else ():
        yield from _texts(token, "$", str, has_keys=False)


def _texts(
    value: Any, path: str, clean: Callable[[str], str], *, has_keys: bool = True
) -> Iterator[tuple[str, str]]:
    """Yield every free text inside a value, and with `has_keys` every key, each with its path; no recursion.

    Field names, enumerated words and ids of a struct are left out: a short secret may be part of one.
    """
    # A hostile value may be nested deeper than Python may recurse.
    stack: list[tuple[str, Any]] = [(path, value)]
    while stack:
        at, part = stack.pop()
        if isinstance(part, str):
            yield at, part
        elif isinstance(part, Struct):
            free = [
                name for name, has_texts in text_fields(type(part)) if has_texts or _has_structs(part, name)
            ]
            stack.extend((f"{at}.{name}", getattr(part, name)) for name in reversed(free))
        elif isinstance(part, dict):
            yield from ((f"{at} (a key)", key) for key in part if has_keys)
            stack.extend([(f"{at}.{clean(key)[:KEY_SHOWN]}", inner) for key, inner in part.items()][::-1])
        elif isinstance(part, (list, tuple)):
            stack.extend((f"{at}[{place}]", part[place]) for place in reversed(range(len(part))))


def _has_structs(struct: Struct, name: str) -> bool:
    value = getattr(struct, name)
    return isinstance(value, Struct) or (
        isinstance(value, tuple) and any(isinstance(one, Struct) for one in value)
    )
