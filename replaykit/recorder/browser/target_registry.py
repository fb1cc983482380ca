"""The pages of a browser, as the browser itself reports them: also those that could not be watched.

Pure: `Target.*` events of the browser's own session in, no driver and no clock of its own.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from replaykit.recorder.browser.tab.cdp_frames import PAGES, WORKERS
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.session.clock import Clock

URLS_MAX = 200
"""Addresses kept of one page that is not listened in; a page may change its own without end."""

FOREIGN_PAGES_MAX = 200
"""Pages kept of contexts that no one records so far."""

FOUND = {
    "discover": True,
    "filter": [{"type": kind} for kind in ("page", "shared_worker", *sorted(PAGES | WORKERS))],
}
"""Targets that the browser is to report: pages, workers that no page holds, and what is below frames and
workers.
"""


class FoundPage(Struct, kw_only=True, eq=False):
    """A page that the browser has reported."""

    id: str
    """Target id."""
    at: float
    """When it was first seen, ms since recording start."""
    context: str = ""
    """Browser context."""
    opener: str = ""
    """Target id of its opener."""
    opener_frame: str = ""
    """The frame in it that opened this one."""
    is_linked: bool = False
    """A link opened it, so that its opener cannot reach it, and it has no process before its document."""
    urls: list[tuple[float, str]] = []
    """Where it was before the recorder was attached: when it was reported, ms, and the address."""
    closed_at: float | None = None
    """When it was gone, ms."""
    tab: CdpTab | None = None
    """Its recorded tab."""

    @property
    def is_empty(self) -> bool:
        """Whether it went without a document, as a tab does whose link leads to a download."""
        return self.is_linked and not self.urls and self.closed_at is not None


class TargetRegistry:
    """Which pages there are, and which of them are recorded."""

    def __init__(self, clock: Clock) -> None:
        self.is_whole = False
        """The whole browser is recorded."""
        self._clock = clock
        self._contexts: set[str] = set()
        self._found: dict[str, FoundPage] = {}

    def receive(self, method: str, params: dict[str, Any]) -> FoundPage | None:
        """Handle an event; return the page that it is about, if it is one."""
        about = params.get("targetInfo", params)
        found = self._found.get(about.get("targetId", ""))
        if method == "Target.targetCreated" and found is None and about.get("type") == "page":
            found = self._create(about)
        if found is None:
            return None
        if method in ("Target.targetCreated", "Target.targetInfoChanged"):
            self._visit(found, about.get("url", ""))
        elif method == "Target.targetDestroyed":
            found.closed_at = self._clock.arrived()
        return found

    def claim(self, about: dict[str, Any], tab: CdpTab) -> FoundPage:
        """Note whose page a target (`Target.TargetInfo`) is."""
        found = self._found.get(about["targetId"]) or self._create(about)
        found.tab = tab
        return found

    def enter(self, context: str) -> None:
        """Note that all pages of a context are recorded."""
        self._contexts.add(context)

    def strays(self) -> list[FoundPage]:
        """Return pages that are to be recorded, and are not yet."""
        return [one for one in self._found.values() if one.tab is None and self.is_ours(one)]

    def get(self, target: str) -> FoundPage | None:
        """Return a page by its target id."""
        return self._found.get(target)

    def of(self, tab: CdpTab) -> FoundPage | None:
        """Return the page of a tab."""
        return next((one for one in self._found.values() if one.tab is tab), None)

    def is_held(self, tab: CdpTab, opener: CdpTab | None) -> bool:
        """Whether the driver lets a tab wait: it does so unless a frame in a process of its own opened it."""
        found = self.of(tab)
        frame: str | None = found.opener_frame if found is not None else ""
        if not frame or opener is None:
            return True
        while frame is not None and opener.frames.knows(frame) and opener.target(frame) is None:
            frame = opener.frames.parent(frame)
        return frame is None

    def is_ours(self, found: FoundPage) -> bool:
        """Whether a page is to be recorded."""
        opener = self._found.get(found.opener)
        actor = opener.tab.actor if opener is not None and opener.tab is not None else ""
        is_near = self.is_whole or found.context in self._contexts
        return actor == "agent" or (is_near and actor != "probe")

    def _create(self, about: dict[str, Any]) -> FoundPage:
        found = FoundPage(
            id=about["targetId"],
            at=self._clock.arrived(),
            context=about.get("browserContextId", ""),
            opener=about.get("openerId", ""),
            opener_frame=about.get("openerFrameId", ""),
            is_linked="openerId" in about and about.get("canAccessOpener") is False,
        )
        self._found[found.id] = found
        foreign = [one for one in self._found.values() if one.tab is None and not self.is_ours(one)]
        for one in foreign[:-FOREIGN_PAGES_MAX]:
            del self._found[one.id]
        return found

    def _visit(self, found: FoundPage, url: str) -> None:
        is_listened = found.tab is not None and found.tab.is_listening
        is_new = url and (not found.urls or found.urls[-1][1] != url)
        if is_new and not is_listened and len(found.urls) < URLS_MAX:
            found.urls.append((self._clock.arrived(), url))
