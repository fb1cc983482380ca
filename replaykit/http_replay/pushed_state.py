"""Paths that hold an app's whole state: what was sent to them last is what they answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from replaykit.decoders import decode_as_python
from replaykit.http_replay.freshness import Freshness
from replaykit.trajectory.exchange import Exchange

Holding: TypeAlias = Literal["no", "likely", "yes"]
"""Whether a path holds the state. `likely`: its last push was a POST that names all of its fields."""

LOOKED_MAX = 50
"""Requests of a kind to one path that are looked at, the last ones."""

UNREAD = object()
"""Mark of a body that is no JSON."""


class PushedState(Struct, frozen=True, kw_only=True):
    """One successful PUT or POST to a path."""

    exchange: Exchange
    """The request."""
    sent: Any
    """Body of the request, `UNREAD` where that is no JSON."""


class Replied(Struct, frozen=True, kw_only=True):
    """One successful GET of the same path."""

    exchange: Exchange | None
    """The request; None of a probe."""
    body: Any
    """Body of the response, `UNREAD` where that is no JSON."""


def parsed(body: bytes | None) -> Any:
    """Return JSON as values; `UNREAD` if it is not JSON."""
    try:
        return UNREAD if body is None else decode_as_python(body)
    except (ValueError, RecursionError):
        return UNREAD


def canonical(value: Any) -> str | None:
    """Return JSON with sorted keys; None if invalid."""
    try:
        return None if value is UNREAD else json.dumps(value, sort_keys=True)
    except RecursionError:
        return None


def holding(pushes: Sequence[PushedState], replies: Sequence[Replied], fresh: Freshness) -> Holding:
    """Return whether a path answers GET with the last JSON that was sent to it.

    Every reply must be of the kind that was sent last, and an object have no fields but those sent: then a
    PUT has replaced it, and a POST likely has. A reply that is not what was just sent shows the contrary.
    """
    if not pushes or not replies:
        return "no"
    last = pushes[-1]
    # A reply with fields that were never sent comes from elsewhere.
    if not all(_is_alike(last.sent, reply.body) for reply in replies):
        return "no"
    if any(_is_refuted(push, reply, fresh) for push in pushes for reply in replies):
        return "no"
    # By its definition, PUT replaces the whole content.
    if last.exchange.method.upper() == "PUT":
        return "yes"
    # A POST may add to the content: only a body with every field of the object is likely all of it.
    return "likely" if all(isinstance(reply.body, dict) and reply.body for reply in replies) else "no"


def _is_refuted(push: PushedState, reply: Replied, fresh: Freshness) -> bool:
    """Return whether something else was read back, where nothing else may have changed anything between."""
    if reply.exchange is None or reply.exchange.from_cache:
        return False
    # With other changes between, a difference refutes nothing.
    return fresh.is_only_change(push.exchange, reply.exchange) and not _is_equal(push.sent, reply.body)


def _is_alike(sent: Any, body: Any) -> bool:
    if isinstance(sent, dict) and isinstance(body, dict):
        # A server may leave fields out, but a state has no others.
        return body.keys() <= sent.keys()
    return isinstance(sent, list) and isinstance(body, list)


def _is_equal(sent: Any, body: Any) -> bool:
    """Compare JSON values; `1` and `true`, which Python takes for equal, are not."""
    text = canonical(sent)
    return text is not None and text == canonical(body)
