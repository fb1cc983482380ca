"""Where the frames of one tab go, and which come and leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from replaykit.recorder.browser.tab.cdp_documents import Spot
from replaykit.recorder.browser.tab.cdp_frames import Via
from replaykit.recorder.browser.tab.leave_listeners import LEAVING
from replaykit.recorder.browser.tab.tab_state import Missed, TabState
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import FrameLeft, Input, Navigated

Params: TypeAlias = dict[str, Any]


class Moves:
    """Navigations of one tab."""

    def __init__(self, tab: TabState, clock: Clock) -> None:
        self._tab = tab
        self._clock = clock
        self._types: dict[str, str] = {}
        """Frame id to the type of the navigation that is under way in it."""
        self._loaders: dict[str, str] = {}
        """Frame id to the loader of the navigation that was last begun in it."""
        self._has_moved = False
        self._tabs_asked = 0

    @property
    def is_leaving(self) -> bool:
        """Whether another document is on its way into the main frame."""
        main = self._tab.frames.main
        return main in self._types and "SameDocument" not in self._types[main]

    def take_moved(self) -> bool:
        """Return whether the main frame went elsewhere since this was asked last."""
        moved, self._has_moved = self._has_moved, False
        return moved

    def take_asked(self) -> bool:
        """Return whether a link was to open a tab of its own, one that was not asked for here before."""
        self._tabs_asked -= (is_asked := self._tabs_asked > 0)
        return is_asked

    def translate(self, method: str, params: Params, via: Via) -> Iterator[Input]:
        """Yield what an event of MOVES means."""
        yield from MOVES[method](self, params, via)

    def failed(self, frame: str, url: str, error: str, at: float, loader: str) -> Iterator[Input]:
        """Yield the failure of a navigation, reported by the network."""
        # Another one may have taken its place.
        is_last = self._loaders.get(frame, loader) == loader
        kind = self._types.pop(frame, None) if is_last else None
        yield from self._navigated(
            frame, url, "failed", navigation_type=kind, loader=loader, error=error, ahead=1, at=at
        )

    def removed(self, via: Via, frame: str, unasked: Iterable[Spot] = ()) -> None:
        """Record that a frame is about to go: its messages then arrive where the page around it stays.

        `unasked`: documents that neither deny that they listen for that, nor were asked.
        """
        if self._is_moving(frame):
            self._leave(via, frame)
        else:
            self._tab.leave_listeners.removed(via, frame, self._clock.now(), unasked)

    def _attached(self, params: Params, via: Via) -> Iterator[Input]:
        self._tab.frames.attach(params["frameId"], params["parentFrameId"])
        return iter(())

    def _detached(self, params: Params, via: Via) -> Iterator[Input]:
        self._tab.documents.detached(via, params["frameId"])
        self._loaders.pop(params["frameId"], None)
        self.removed(via, params["frameId"])
        # `swap`: the frame lives on in another process, and keeps its place among its siblings.
        if params.get("reason") == "swap":
            return
        frames, page = self._tab.frames, self._tab.page
        reporters = dict(frames.reporters)
        for frame in frames.detach(params["frameId"]):
            yield FrameLeft(at=self._clock.arrived(), page=page, source=(frame, reporters[frame]))

    def _requested(self, params: Params, via: Via) -> Iterator[Input]:
        # A link that opens another tab is no navigation of this one.
        disposition = params.get("disposition", "currentTab")
        self._tabs_asked += disposition in ("newTab", "newWindow")
        if disposition in ("newTab", "newWindow"):
            yield from self._elsewhere(params, via)
        elif disposition == "currentTab":
            frame, url = params["frameId"], params["url"]
            yield from self._navigated(frame, url, "requested", reason=params["reason"], ahead=1)

    def _started(self, params: Params, via: Via) -> Iterator[Input]:
        if not via and params["loaderId"] == self._tab.loader:
            return  # the frame tree, read while this event was on its way, shows where it led
        frame, url, kind = params["frameId"], params["url"], params["navigationType"]
        self._types[frame], self._loaders[frame] = kind, params["loaderId"]
        ahead = 0 if "SameDocument" in kind or "sameDocument" in kind else 1
        loader = params["loaderId"]
        yield from self._navigated(frame, url, "started", navigation_type=kind, loader=loader, ahead=ahead)

    def _elsewhere(self, params: Params, via: Via) -> Iterator[Input]:
        tab, url = self._tab, params["url"]
        yield Navigated(
            at=self._clock.arrived(), page=tab.page, document=tab.document, url=url, stage="elsewhere"
        )

    def _committed(self, params: Params, via: Via) -> Iterator[Input]:
        frame, tab = params["frame"], self._tab
        is_main = not via and frame.get("parentId") is None
        at, loader = self._clock.arrived(), frame["loaderId"]
        tab.documents.committed(via, frame["id"], at, loader, is_top=is_main)
        self._leave(via, frame["id"], loader)
        if is_main and frame["loaderId"] == tab.loader:
            return  # already in the frame tree that was read while this event was on its way
        url, kind = frame["url"] + frame.get("urlFragment", ""), self._types.pop(frame["id"], None)
        tab.visit(url)
        if is_main:
            self._begin(frame, url, kind)
        target = tab.targets.get(via)
        if target is not None and target.id == frame["id"]:
            target.loader = frame["loaderId"]
        yield from tab.network.settle(frame["loaderId"])
        # An error page replaces a document whose failure the network has already reported.
        if frame.get("unreachableUrl") is None:
            way = tab.history.direction if is_main and kind and kind.startswith("history") else None
            yield from self._navigated(
                frame["id"],
                url,
                "committed",
                navigation_type=kind,
                request=frame["loaderId"] if tab.network.knows(frame["loaderId"]) else None,
                direction=way,
                is_kept=params.get("type") == "BackForwardCacheRestore",
            )

    def _leave(self, via: Via, frame: str, loader: str = "") -> None:
        asking = self._tab.network.asking.left(frame, loader) if self._tab.actor == "agent" else 0
        count = self._tab.leave_listeners.left(via, frame) or asking
        self._tab.gaps += [Missed("network", LEAVING, count)] if count else []

    def _is_moving(self, frame: str | None) -> bool:
        while frame is not None and "SameDocument" in self._types.get(frame, "SameDocument"):
            frame = self._tab.frames.parent(frame)
        return frame is not None

    def _begin(self, frame: Params, url: str, kind: str | None) -> None:
        """Record that the main frame has another document."""
        tab = self._tab
        tab.loader, tab.url = frame["loaderId"], url
        tab.document += 1
        self._has_moved = True
        tab.frames.begin(frame["id"])
        tab.history.committed(url, kind)

    def _within(self, params: Params, via: Via) -> Iterator[Input]:
        frame, url = params["frameId"], params["url"]
        started = self._types.pop(frame, None)
        # For a back/forward navigation this event has only the change; its start event had the kind.
        kind = started if started and started.startswith("history") else params.get("navigationType")
        if frame == self._tab.frames.main:
            self._tab.url = url
            self._has_moved = True
            self._tab.history.within(url, kind)
        yield from self._navigated(frame, url, "within", navigation_type=kind)

    def _navigated(
        self, frame: str, url: str, stage: str, *, ahead: int = 0, at: float | None = None, **more: Any
    ) -> Iterator[Input]:
        tab = self._tab
        if not tab.frames.knows(frame):
            return  # removed meanwhile: it is not the main frame, which a path of no ordinals would say
        place = tab.frame(frame)
        yield Navigated(
            at=self._clock.arrived() if at is None else at,
            page=tab.page,
            frame=place,
            document=tab.document + (0 if place else ahead),
            url=url,
            stage=stage,
            **more,
        )


MOVES: dict[str, Callable[[Moves, Params, Via], Iterator[Input]]] = {
    "Page.frameAttached": Moves._attached,
    "Page.frameDetached": Moves._detached,
    "Page.frameRequestedNavigation": Moves._requested,
    "Page.windowOpen": Moves._elsewhere,
    "Page.frameStartedNavigating": Moves._started,
    "Page.frameNavigated": Moves._committed,
    "Page.navigatedWithinDocument": Moves._within,
}
"""Protocol events that report frames and navigations."""
