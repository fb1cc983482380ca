"""Requests as the driver's own events report them: a second source.

Playwright lets a popup, frame or worker wait until it listens to its requests. The recorder is a client,
comes later, and may miss the first ones; what only the driver has seen is compared at the end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from replaykit.recorder.browser.witnesses.net_log import Sent
from replaykit.recorder.session.clock import Clock

FOREIGN_PAGE = -1
"""Stands for the tab of a page that is not the agent's; so does that of a probe."""

REQUESTS_MAX = 50_000
"""Requests kept of one run."""

_DEAF = "PLAYWRIGHT_DISABLE_SERVICE_WORKER_NETWORK"
"""A variable with which Playwright reports no request of a service worker."""


class DriverRequests:
    """Requests of the contexts of one recording's pages since they were attached."""

    def __init__(self, clock: Clock, *, is_on: bool = True) -> None:
        self.is_whole = True
        """Nothing was left out."""
        self._is_on = is_on
        self._clock = clock
        self._contexts: list[Any] = []
        self._there: list[Any] = []
        self._sockets: dict[Any, Callable[[Any], None]] = {}
        self._received: list[tuple[Any, Sent]] = []

    @property
    def is_listening(self) -> bool:
        """Whether it listens to any context."""
        return bool(self._contexts)

    @property
    def is_whole_source(self) -> bool:
        """Whether it reports the requests of every target that waits for the driver."""
        return self.is_listening and _DEAF not in os.environ

    def listen(self, context: Any) -> None:
        """Listen to the requests of a context."""
        if self._is_on and context not in self._contexts:
            self._contexts.append(context)
            self._there += context.pages
            context.on("request", self._take)

    def listen_to(self, page: Any) -> None:
        """Listen to the WebSockets of a page and its frames; no context reports them."""
        if self._is_on and page not in self._sockets:

            def take(socket: Any) -> None:
                self._keep(page, "GET", socket.url)

            self._sockets[page] = take
            page.on("websocket", take)

    def was_there(self, page: Any) -> bool:
        """Whether a page was open before the recorder was attached; those that open later are the agent's."""
        return page in self._there

    def close(self) -> None:
        """Stop listening. A driver that died reports nothing more, and cannot be asked to stop."""
        listening: list[tuple[Any, str, Any]] = [
            (context, "request", self._take) for context in self._contexts
        ]
        listening += [(page, "websocket", take) for page, take in self._sockets.items()]
        for one, event, take in listening:
            with suppress(Exception):
                one.remove_listener(event, take)
        self._contexts.clear()
        self._sockets.clear()

    def sent(self, tab_of: Callable[[Any], int | None]) -> Iterator[Sent]:
        """Yield the requests of the agent's pages; `tab_of` returns a page's tab, below 0 that of others."""
        for page, one in self._received:
            tab = tab_of(page)
            if tab is None or tab >= 0:
                yield replace(one, page=tab)

    def _take(self, request: Any) -> None:
        page = None
        with suppress(Exception):  # a service worker has no frame, and a new page none yet
            page = request.frame.page
        self._keep(
            page,
            request.method,
            request.url,
            is_document=request.resource_type == "document",
            post=request.post_data_buffer,
            post_type=request.headers.get("content-type", ""),
        )

    def _keep(self, page: Any, method: str, url: str, **more: Any) -> None:
        if len(self._received) >= REQUESTS_MAX:
            self.is_whole = False
            return
        sent = Sent(at=self._clock.now(), method=method, url=url.partition("#")[0], **more)
        self._received.append((page, sent))
