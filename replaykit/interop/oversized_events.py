"""Events that no bundle takes: their longest texts are cut, and say so; halves of characters are replaced."""

from __future__ import annotations

from typing import Any

import msgspec

from replaykit.bundle.bundle_format import EVENT_MAX
from replaykit.decoders import convert
from replaykit.interop.untrusted_json import whole_text
from replaykit.trajectory.step import Event

ROOM = 64 * 1024
"""Bytes of an event that are left for what surrounds it."""

SHORTEST = 1024
"""Characters that a text keeps at least."""


def storable(event: Event) -> tuple[Event, bool]:
    """Return an event as a bundle takes it, and whether long texts of it are cut.

    Halves of surrogate pairs, which no file could hold, become U+FFFD.
    """
    try:
        data = msgspec.json.encode(event)
    # Half a surrogate pair is rare, and looking for it costs as much as the encoding.
    except UnicodeEncodeError:
        event = convert(_whole(msgspec.to_builtins(event)), type(event))
        data = msgspec.json.encode(event)
    if len(data) <= EVENT_MAX - ROOM:
        return event, False
    plain, kept = msgspec.json.decode(data), len(data) // 4
    while len(data) > EVENT_MAX - ROOM and kept >= SHORTEST:
        # Tried, not computed: a character may take one byte or six.
        kept //= 2
        plain = cut(plain, kept)
        data = msgspec.json.encode(plain)
    return convert(plain, type(event)), True


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {key: _whole(part) for key, part in value.items()}
    return [_whole(part) for part in value] if isinstance(value, list | tuple) else value


def cut(value: Any, kept: int) -> Any:
    """Return a JSON value whose texts have at most so many characters, and what each lacks."""
    if isinstance(value, str) and len(value) > kept:
        return f"{value[:kept]} [... {len(value) - kept} characters left out]"
    if isinstance(value, dict):
        return {key: cut(part, kept) for key, part in value.items()}
    return [cut(part, kept) for part in value] if isinstance(value, list) else value
