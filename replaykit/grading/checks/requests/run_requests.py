"""Requests of a run as network checks see them: in order, static files left out, bodies read on demand."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import partial
from typing import Any
from urllib.parse import unquote, urlparse

from msgspec import Struct

from replaykit.grading.checks.requests.exchange_order import is_unanswered
from replaykit.grading.values.bodies import body_fields, decoded, read_fields
from replaykit.patterns import lazy_pattern
from replaykit.replay.page_charsets import legacy_codec, readable_url
from replaykit.replay.player import Replay
from replaykit.tasks.network_checks import NO_RESPONSE, STATIC
from replaykit.trajectory.completeness import state_of
from replaykit.trajectory.exchange import Exchange, Navigation
from replaykit.trajectory.scalars import Omitted

_ORDINARY = lazy_pattern(r"https?://[a-z0-9.-]+(?::\d+)?(/[!-\"$-:<->@-~]*|)(?![^?#])", re.ASCII)
"""URLs with a path, without parameters, that every parser finds."""
_HIDDEN = "⟦"


class Missing(Exception):
    """Evidence that the bundle does not hold; the argument is its code."""


class RunRequest(Struct, frozen=True, kw_only=True):
    """One exchange with what checks ask of it."""

    exchange: Exchange
    """The exchange."""
    event: int | None
    """Position in the story."""
    replay: Replay
    """Where its bodies are."""

    @property
    def url(self) -> str:
        """Full URL."""
        return self.exchange.url

    @property
    def url_in_utf8(self) -> str:
        """Full URL, its query in UTF-8 whatever the charset of the page; `UNREAD` for what cannot be read."""
        return readable_url(self.url, self.replay)

    @property
    def status(self) -> int:
        """HTTP status, `NO_RESPONSE` = none. Raises `Missing` where the answer was not recorded."""
        if self.is_response_unknown:
            raise Missing(f"response:{self.exchange.id}")
        return NO_RESPONSE if self.exchange.status is None else self.exchange.status

    @property
    def is_response_unknown(self) -> bool:
        """Whether only the net log knows of it: neither its bodies nor its answer were recorded."""
        return self.exchange.source == "netlog"

    def may_have(self, statuses: Container[int] | None) -> bool:
        """Return whether an unrecorded response may have had one of these statuses (`is_unanswered`)."""
        needs_answer = statuses is not None and NO_RESPONSE not in statuses
        return needs_answer and not self.is_response_unknown and is_unanswered(self.exchange)

    @property
    def headers(self) -> dict[str, str]:
        """Request headers by lower-case name, the last of each. Raises `Missing`."""
        if self.exchange.request_headers is None:
            raise Missing(f"headers:{self.exchange.id}")
        return {name.lower(): value for name, value in self.exchange.request_headers}

    def header(self, name: str) -> str | None:
        """Return a request header; raises `Missing` for one that was hidden."""
        found = self.headers.get(name.lower())
        if found is not None and _HIDDEN in found:
            raise Missing(f"headers:{self.exchange.id}")
        return found

    @property
    def fields(self) -> dict[str, Any] | None:
        """Fields of the request body. Raises `Missing`."""
        if self.exchange.post is None:
            self._require_answer()
            return None
        return body_fields(self.headers.get("content-type", ""), self._text(self.exchange.post))

    @property
    def sent(self) -> dict[str, Any] | None:
        """Fields of the request body, read by what it holds; None where it has none. Raises `Missing`."""
        return self._read(self.exchange.post, self._sent_type())

    @property
    def answered(self) -> dict[str, Any] | None:
        """Fields of the response body, read by what it holds; None where it has none. Raises `Missing`."""
        return self._read(self.exchange.body, self.exchange.mime or "")

    def _read(self, blob: str | Omitted | None, media_type: str) -> dict[str, Any] | None:
        if blob is None:
            self._require_answer()
            return None
        return read_fields(
            media_type, decoded(self._bytes(blob), media_type, partial(self.replay.memo, legacy_codec))
        )

    def _sent_type(self) -> str:
        """Return the type in the headers, else the one that the body was kept with."""
        headers = self.exchange.request_headers or ()
        declared = next((value for name, value in headers if name.lower() == "content-type"), "")
        kept = self.exchange.post
        is_kept = isinstance(kept, str) and kept in self.replay.bundle
        return declared or (self.replay.bundle.blob_type(kept) if is_kept and isinstance(kept, str) else "")

    @property
    def content(self) -> dict[str, Any] | None:
        """Fields of the response body. Raises `Missing`."""
        if self.exchange.body is None:
            self._require_answer()
            return None
        return body_fields(self.exchange.mime or "", self._text(self.exchange.body))

    @property
    def cookies(self) -> dict[str, str]:
        """Cookies that the response sets, values decoded. Raises `Missing`."""
        if self.exchange.response_headers is None:
            raise Missing(f"headers:{self.exchange.id}")
        set_ones = [value for name, value in self.exchange.response_headers if name.lower() == "set-cookie"]
        if any(value.startswith(_HIDDEN) for value in set_ones):
            raise Missing(f"headers:{self.exchange.id}")
        pairs = (line.partition("=") for value in set_ones for line in value.split(";")[:1])
        return {name.strip(): unquote(value.strip()) for name, _, value in pairs}

    def require_cookies(self) -> None:
        """Raise `Missing` where an imported run shows no cookie: exports often leave them out."""
        if self.replay.trajectory.header.source is not None and not self.replay.memo(_has_cookies):
            raise Missing("cookies")

    def require_credentials(self) -> None:
        """Raise `Missing` where no request of an imported run shows credentials: exports leave them out."""
        if self.replay.trajectory.header.source is not None and not self.replay.memo(_has_credentials):
            raise Missing(f"headers:{self.exchange.id}")

    def _require_answer(self) -> None:
        if self.is_response_unknown:
            raise Missing(f"body:{self.exchange.id}")

    def _text(self, blob: str | Omitted) -> str:
        return self._bytes(blob).decode("utf-8", "replace")

    def _bytes(self, blob: str | Omitted) -> bytes:
        if not isinstance(blob, str) or blob not in self.replay.bundle:
            raise Missing(f"body:{self.exchange.id}")
        return self.replay.bundle.blob(blob)


def requests_of(replay: Replay) -> tuple[RunRequest, ...]:
    """Return the agent's requests, those of static files left out."""
    return tuple(
        RunRequest(exchange=event, event=place, replay=replay) for place, event in replay.memo(_asking)
    )


def _asking(replay: Replay) -> list[tuple[int, Exchange]]:
    return [(place, event) for place, event in _all(replay) if not _is_static(event.url)]


def last_navigation(replay: Replay) -> tuple[Navigation, RunRequest | None] | None:
    """Return the last page that the agent's tabs opened, with the request for its document."""
    pages = [
        one for one in replay.navigations if one.committed and not one.frame and one.url != "about:blank"
    ]
    if not pages:
        return None
    last = pages[-1]
    by_id = {one.id: RunRequest(exchange=one, event=place, replay=replay) for place, one in _all(replay)}
    return last, by_id.get(last.exchange) if last.exchange is not None else None


def is_complete(replay: Replay) -> bool:
    """Return whether the whole network of the run was recorded."""
    return state_of(replay.trajectory, "network").state in ("proven", "recorded")


def _all(replay: Replay) -> Iterator[tuple[int, Exchange]]:
    for place, event in enumerate(replay.trajectory.events):
        if isinstance(event, Exchange) and event.actor != "probe":
            yield place, event


def _has_cookies(replay: Replay) -> bool:
    every = [event for _, event in _all(replay)]
    headers = [header for event in every for header in event.response_headers or ()]
    headers += [header for event in every for header in event.request_headers or ()]
    return any(name.lower() in ("cookie", "set-cookie") for name, _ in headers)


def _has_credentials(replay: Replay) -> bool:
    headers = [header for _, event in _all(replay) for header in event.request_headers or ()]
    return any(name.lower() == "authorization" for name, _ in headers)


def _is_static(url: str) -> bool:
    # Splitting a URL takes longer than all the rest that is done with most requests.
    found = _ORDINARY.match(url)
    if found is not None:
        return found[1].endswith(STATIC)
    try:
        return urlparse(url).path.endswith(STATIC)  # `;x.js` names no file: parameters are no path
    except ValueError:
        return False
