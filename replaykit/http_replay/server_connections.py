"""Connections to a small HTTP server: no client that is slow or silent keeps others waiting."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress

from replaykit.patterns import lazy_pattern

CONNECTIONS_MAX = 128
"""Connections at a time; for one more, the one that has been silent longest is closed."""

SILENCE_MAX = 10.0
"""Seconds that a client has for its request, and for taking each reply."""

HEAD_MAX = 64 * 2**10
"""Bytes of a request's head."""

BODY_MAX = 8 * 2**20
"""Bytes of a request's body."""

WAITING_MAX = 64 * 2**20
"""Bytes of all bodies that are under way, and of all replies."""

_LENGTH = lazy_pattern(rb"^content-length:[ \t]*(\d{1,10})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class Reception:
    """Reads requests and writes replies, one request a connection."""

    def __init__(self, reply: Callable[[bytes, bytes], bytes]) -> None:
        """`reply` gets head and body of a request and returns the whole response, in one thread."""
        self._reply = reply
        self._open: dict[asyncio.Task[None], int] = {}
        """Connections to the bytes of their reply, the one that has been silent longest first."""
        self._waiting = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; whoever calls closes it."""
        own = asyncio.current_task()
        assert own is not None
        if len(self._open) >= CONNECTIONS_MAX:
            self._drop(next(iter(self._open)))
        # A dict keeps its order, so that its first entry is the oldest.
        self._open[own] = 0
        try:
            with suppress(OSError, EOFError, TimeoutError, ValueError, asyncio.CancelledError):
                await self._answer(own, reader, writer)
        finally:
            # Put back at the end: this client has just sent something.
            self._open.pop(own, None)

    def _make_room(self, size: int) -> None:
        """Close the connections that have been longest about taking their replies, until there is room."""
        for one in [one for one, sent in self._open.items() if sent]:
            if sum(self._open.values()) + size <= WAITING_MAX:
                return
            self._drop(one)

    def _drop(self, one: asyncio.Task[None]) -> None:
        del self._open[one]
        one.cancel()

    async def _answer(
        self, own: asyncio.Task[None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        async with asyncio.timeout(SILENCE_MAX):
            head = await _head(reader)
            body = await self._body(head, reader)
        reply = self._reply(head, body)
        self._open.pop(own, None)
        self._make_room(len(reply))
        self._open[own] = len(reply)
        writer.write(reply)
        async with asyncio.timeout(SILENCE_MAX):
            writer.close()
            await writer.wait_closed()

    async def _body(self, head: bytes, reader: asyncio.StreamReader) -> bytes:
        """Return the body, or nothing where it is too long: the reply reports it."""
        found = _LENGTH.search(head)
        length = int(found[1]) if found else 0
        if length > BODY_MAX:
            return b""
        # 128 clients with 8 MB each would take a gigabyte.
        if self._waiting + length > WAITING_MAX:
            raise EOFError
        self._waiting += length
        try:
            return await reader.readexactly(length)
        finally:
            self._waiting -= length


async def _head(reader: asyncio.StreamReader) -> bytes:
    """Read up to the empty line. Raises EOFError for more than a head may have, and where it breaks off."""
    lines: list[bytes] = []
    size = 0
    # A client may end its lines with a bare line feed.
    while lines[-1:] not in ([b"\r\n"], [b"\n"]) or len(lines) == 1:
        line = await reader.readline()
        size += len(line)
        if not line or size > HEAD_MAX:
            raise EOFError
        lines.append(line)
    return b"".join(lines)
