"""Connections of an asyncio server, and its end: it closes all connections, also those that come meanwhile.

Own module: the HTTP server on loopback and the proxy of a browser both end by it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeAlias

Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]
"""Serves one connection."""

_TURNS = 3
"""Turns of the loop in which asyncio makes a transport, reports the connection, and closes an aborted one."""


class OpenConnections:
    """The connections that a server has accepted."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._serving: set[asyncio.Task[None]] = set()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; a callback of `asyncio.start_server`."""
        serving = asyncio.ensure_future(self._serve(reader, writer))
        self._serving.add(serving)
        serving.add_done_callback(self._serving.discard)
        # Also where it is cancelled before it begins. `close` would wait for a client that never reads.
        serving.add_done_callback(lambda _: writer.transport.abort())

    async def end(self, server: asyncio.Server) -> None:
        """Close the server and all connections, and those that come at this moment."""
        # First, and by hand: a connection that asyncio accepts as the server is closed is left open.
        for listening in server.sockets:
            # The default loop of Windows watches no sockets, so there is nothing to remove.
            with suppress(NotImplementedError):
                asyncio.get_running_loop().remove_reader(listening.fileno())
        await _take_turns()
        serving = list(self._serving)
        for one in serving:
            one.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        await _take_turns()
        server.close()


async def _take_turns() -> None:
    """Let asyncio hand over connections that it has accepted, and close those that were aborted."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)
