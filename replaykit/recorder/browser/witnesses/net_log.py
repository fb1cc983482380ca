"""The browser's own log of its network (`--log-net-log`): every request that left it, recorded by us or not.

The file grows while the browser runs; it is read as it grows, and of its events only starts of requests are
kept. Its first line names the numbers of all events, so nothing here depends on a browser's release.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.decoders import decode_plain

FLAG = "--log-net-log"
"""The browser's option that names the file."""

READ_MAX = 512 * 2**20
"""Bytes of a log that are read: one browser writes some 20 KiB per page."""

LINE_MAX = 2**20
"""Longest line that is looked at; a start of a request has under 4 KiB."""

INTERNAL = ("other", "not an origin")
"""Kind and initiator of the browser's own requests: no page asked for them."""


STARTS = {"URL_REQUEST_START_JOB": "GET", "QUIC_SESSION_WEBTRANSPORT_CLIENT_ALIVE": "CONNECT"}
"""Events by which requests start, and the method of those that name none."""


class Sent(Struct, frozen=True, kw_only=True):
    """A request that reached the network."""

    at: float
    """When, epoch ms."""
    method: str
    url: str
    """Without fragment."""
    is_document: bool = False
    """Of a page or frame."""
    is_internal: bool = False
    """The browser's own."""
    page: int | None = None
    """Tab ordinal, where it is known."""
    post: bytes | None = None
    """Body of the request, where it is known."""
    post_type: str = ""
    """Media type of the body, where it is known."""
    initiator: str | None = None
    """Sender of the form that asked, where it is known (`Exchange.initiator`)."""


class NetLog:
    """One browser's log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sent: list[Sent] = []
        """Requests in order."""
        self.is_readable = True
        """Whether the log is one whose events are known, and was read to its end."""
        self._place = 0
        self._rest = b""
        self._starts: dict[bytes, str] | None = None
        self._offset = 0.0
        self._last: dict[Any, tuple[str, str]] = {}

    def read(self) -> list[Sent]:
        """Read what has been written since; return all requests so far."""
        with suppress(OSError), self.path.open("rb") as file:
            file.seek(self._place)
            while self._place < READ_MAX and (data := file.read(2**20)):
                self._place += len(data)
                *lines, self._rest = (self._rest + data).split(b"\n")
                for line in lines:
                    self._take(line)
        self.is_readable &= self._place < READ_MAX
        return self.sent

    def _take(self, line: bytes) -> None:
        if self._starts is None:
            self._take_constants(line)
            return
        # The cheap test comes first: few lines of a large log start a request.
        method = next((method for start, method in self._starts.items() if start in line), None)
        if method is not None and len(line) < LINE_MAX:
            with suppress(msgspec.DecodeError, KeyError, TypeError, ValueError, RecursionError):
                self._take_start(decode_plain(line.rstrip(b",\r")), method)

    def _take_constants(self, line: bytes) -> None:
        try:
            # The file is one JSON object that is still open, so its first line lacks the end.
            constants = decode_plain(line.strip().removesuffix(b",") + b"}")["constants"]
            types = constants["logEventTypes"]
            # A browser without WebTransport opens none.
            known = {
                types[name]: method for name, method in STARTS.items() if name in types or method == "GET"
            }
            self._starts = {b'"type":%d}' % number: method for number, method in known.items()}
            self._offset = float(constants["timeTickOffset"])
        except (msgspec.DecodeError, KeyError, TypeError, ValueError, RecursionError):
            self._starts, self.is_readable = {}, False

    def _take_start(self, event: Any, method: str) -> None:
        params = event.get("params", {})
        if "url" not in params:
            return  # the end of the same
        asked = params.get("method", method), params["url"].partition("#")[0]
        source = event["source"]["id"]
        if self._last.get(source) == asked:
            return  # once more with credentials, or after a connection that was closed
        self._last[source] = asked
        kind, initiator = params.get("request_type", ""), params.get("initiator", "")
        sent = Sent(
            at=float(event["time"]) + self._offset,
            method=asked[0],
            url=asked[1],
            is_document=kind in ("main frame", "subframe"),
            is_internal=(kind, initiator) == INTERNAL,
        )
        self.sent.append(sent)
