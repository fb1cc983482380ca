"""Credentials leave no client: what a server repeats of them is replaced in its replies and errors."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from replaykit.grading.judges.clients.client import ClientAnswer
from replaykit.grading.model_request import ModelReply

MARK = "[credential]"
"""Mark in the place of a credential."""

_SHORTEST = 6


def discreet(answered: ClientAnswer, credentials: Iterable[object]) -> ClientAnswer:
    """Return an answer without the credentials: whole, escaped, or cut off at the end of a text."""
    held = {one for one in credentials if isinstance(one, str) and len(one) >= _SHORTEST}
    for key in sorted(held, key=lambda one: (-len(one), one)):
        answered = _without(answered, key)
    return answered


def _without(answered: ClientAnswer, key: str) -> ClientAnswer:
    reply = answered.reply
    names = (
        ("text", "stop_reason", "stop_detail", "model")
        if isinstance(reply, ModelReply)
        else ("message", "request_id")
    )
    fields = {name: _cleaned(getattr(reply, name), key) for name in names}
    how = {name: _cleaned(value, key) for name, value in answered.provenance.items()}
    return ClientAnswer(reply=replace(reply, **fields), provenance=how)


def _cleaned(value: object, key: str) -> object:
    if not isinstance(value, str):
        return value
    whole = re.sub("".join(map(_forms, key)), MARK, value)
    # A message is cut to its greatest length before it comes here, perhaps within the key.
    ends = (key[:size] for size in range(len(key) - 1, _SHORTEST - 1, -1))
    body = whole.rstrip("….")
    end = next((one for one in ends if body.endswith(one)), None)
    return whole if end is None else body[: -len(end)] + MARK


def _forms(character: str) -> str:
    """Return what matches a character as it is, or escaped in JSON or in a URL."""
    code = f"{ord(character):02x}"
    escaped = f"(?i:\\\\+u{code:0>4}|\\\\+x{code}|%{code})"
    return f"(?:\\\\*{re.escape(character)}|{escaped})"
