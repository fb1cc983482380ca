"""Changes of a run on servers: accepted requests, except queries and beacons without content.

A request changes something if its method is not GET, HEAD or OPTIONS and its status is 2xx or 3xx.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote_plus

import msgspec

from replaykit.decoders import decode_plain
from replaykit.errors import BundleError
from replaykit.grading.values.globs import hidden, segment, whole
from replaykit.patterns import lazy_pattern
from replaykit.replay.player import SAFE_METHODS, Replay
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.step import Step

if TYPE_CHECKING:
    from replaykit.tasks.task import AllowedChange

BODY_MAX = 2**20
"""Bytes of a request body that are looked at."""

_WORD = 3
"""Characters of the shortest entry that is looked for in a beacon."""

_WRITES = lazy_pattern(r"(?<![\w$])(?:mutation|subscription)(?![\w$])")
_STRINGS = lazy_pattern(r'"""(?:[^"]|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*')


class Change(NamedTuple):
    """A request that changed something on a server."""

    event: int
    """Its place in the story."""
    exchange: Exchange
    """The request; of a chain of redirects the first."""
    status: int
    """Of the last response of the chain."""


def changes(replay: Replay) -> Iterator[Change]:
    """Yield the requests that changed something, without GraphQL queries and beacons that carry no entry."""
    if not any(map(_may_change, replay.exchanges)):
        return
    by_id = {one.id: one for one in replay.exchanges}
    entered = list(_entered(replay.steps))
    for event, one in enumerate(replay.trajectory.events):
        if not isinstance(one, Exchange) or not _may_change(one):
            continue
        last = _last(one, by_id)
        if last.status is None or not 200 <= last.status < 400:
            continue
        body = _body(replay, one)
        if not _is_query(body) and not _is_bare_beacon(one, body, entered):
            yield Change(event, one, last.status)


def is_allowed(change: Change, allow: Sequence[AllowedChange], left: list[int]) -> bool:
    """Return whether the task expects a change, and count it: each entry explains as many as it says."""
    for place, one in enumerate(allow):
        is_method = not one.method or one.method.upper() == change.exchange.method.upper()
        if left[place] and is_method and is_at(one.url, change.exchange.url):
            left[place] -= 1
            return True
    return False


def is_at(wanted: str, found: str) -> bool:
    """Return whether a URL is the one that is wanted, which may have wildcards in its path."""
    from replaykit.grading.values.urls import parse  # for tasks that allow some

    one, other = parse(hidden(wanted)), parse(found)
    if one is None or other is None or one.host != other.host:
        return False
    is_query = Counter(one.query) <= Counter(other.query)
    return is_query and whole([segment(part) for part in one.path], other.path)


def _may_change(one: Exchange) -> bool:
    is_real = one.actor != "probe" and one.source != "agent" and one.redirect_from is None
    return is_real and one.method.upper() not in SAFE_METHODS


def _last(one: Exchange, by_id: dict[int, Exchange]) -> Exchange:
    seen: set[int] = set()
    while one.redirect_to in by_id and one.id not in seen:
        seen.add(one.id)
        one = by_id[one.redirect_to]
    return one


def _entered(steps: Sequence[Step]) -> Iterator[str]:
    """Yield what the agent typed and chose."""
    for step in steps:
        values = (getattr(step.action, "value", None), *getattr(step.action, "values", ()))
        yield from (value for value in values if isinstance(value, str) and len(value) >= _WORD)


def _body(replay: Replay, one: Exchange) -> str:
    """Return the text of a request's body; empty if it is absent or was not kept."""
    if not isinstance(one.post, str) or one.post not in replay.bundle:
        return ""
    try:
        return replay.bundle.blob(one.post)[:BODY_MAX].decode("utf-8", "replace")
    except BundleError:
        return ""


def _is_bare_beacon(one: Exchange, body: str, entered: Collection[str]) -> bool:
    """Return whether a request is a beacon that carries nothing of what the agent entered.

    Pages cannot read the reply to one: the browser says `no-cors`, which no form and no plain `fetch` has.
    """
    headers = {name.lower(): value for name, value in one.request_headers or ()}
    if headers.get("sec-fetch-mode") != "no-cors" or isinstance(one.post, msgspec.Struct):
        return False
    text = body + unquote_plus(body) + unquote_plus(one.url)
    return not any(value in text for value in entered)


def _is_query(body: str) -> bool:
    """Return whether a body is GraphQL that only reads: every document in it is known to hold no mutation."""
    if '"query"' not in body:
        return False
    try:
        plain = decode_plain(body)
    except (msgspec.DecodeError, RecursionError):
        return False
    documents = [one.get("query") for one in _requests(plain)]
    return bool(documents) and all(isinstance(one, str) and _only_reads(one) for one in documents)


def _requests(plain: Any) -> list[dict[str, Any]]:
    """Return the requests of a body: one, or a list of several; empty where it is neither."""
    rows = plain if isinstance(plain, list) else [plain]
    return rows if all(isinstance(row, dict) for row in rows) else []


def _only_reads(document: str) -> bool:
    bare = _STRINGS.sub(" ", document).strip()
    return bare.startswith(("query", "{", "fragment")) and _WRITES.search(bare) is None
