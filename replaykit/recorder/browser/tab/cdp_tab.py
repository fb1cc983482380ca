"""One tab as the Chrome DevTools Protocol reports it: protocol events in, session inputs out.

No driver and no clock of its own: both drivers hand every event of a tab's session to `CdpTab.translate`.
Field names are those of the protocol (https://chromedevtools.github.io/devtools-protocol/tot/).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from replaykit.recorder.browser.tab.cdp_frame_navigation import MOVES, Moves
from replaykit.recorder.browser.tab.cdp_frames import (
    DEPTH_MAX,
    PAGES,
    TARGETS_MAX,
    WORKERS,
    Target,
    TargetFacts,
    Via,
    target_of,
)
from replaykit.recorder.browser.tab.cdp_network import TabNetwork
from replaykit.recorder.browser.tab.cdp_page_reports import REPORTS, Reports
from replaykit.recorder.browser.tab.cdp_worlds import WORLDS, Worlds
from replaykit.recorder.browser.tab.tab_state import Missed, TabState
from replaykit.recorder.browser.witnesses.earlier_workers import UPDATES
from replaykit.recorder.browser.witnesses.target_census import LATE
from replaykit.recorder.page.page_script import PageNode
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import FrameOwned, Input

Params: TypeAlias = dict[str, Any]
"""Parameters of a protocol event."""

YOUNG_MS = 1000.0
"""After this time, a request from before the recorder was attached has ended, or its end will be reported."""

BEFORE_MS = 2000.0
"""A frame may have been there so long before it is seen: events wait for the agent's next call."""

HELD_MAX = 10_000
"""Events of a target that wait until it is known; more than a page makes meanwhile."""


class CdpTab(TabState):
    """One tab: what is known of it, and the translation of its events."""

    network: TabNetwork
    """Its requests."""
    moves: Moves
    """Its navigations."""

    def __init__(self, page: int, clock: Clock, **options: Any) -> None:
        super().__init__(page, clock, **options)
        self.network = TabNetwork(self, clock)
        self.worlds = Worlds(self, clock)
        """The JavaScript worlds of its documents."""
        self.moves = Moves(self, clock)
        self._reports = Reports(self, clock)
        self._has_listed = False

    def seat(self, tree: Params, via: Via = ()) -> None:
        """Add the frames of a frame tree (`Page.getFrameTree`), before any event."""
        frame = tree["frame"]
        if not via:
            self.frames.begin(frame["id"])
            self.loader = frame.get("loaderId", "")
            self.url = frame["url"] + frame.get("urlFragment", "")
        elif via in self.targets:
            self.targets[via].loader = frame.get("loaderId", "")
        self._seat_children(tree, frame.get("parentId"))

    def own(self, frame: str, text: str | None) -> None:
        """Record that the document around a frame knows its owner, and where its last snapshot has it."""
        self.frames.owned.add(frame)
        node = json.loads(text) if text else None
        if node is None:
            return
        pusher = self.frames.reporter(self.frames.parent(frame) or "")
        source = self.frames.source(pusher, self.frames.reporters.get(pusher, 0))
        place = PageNode(push=node["push"], number=node["number"])
        self.found.append(
            FrameOwned(at=self._clock.arrived(), page=self.page, source=source, node=place, id=frame)
        )

    def meet(self, target: Target) -> None:
        """Handle what a target has reported of its requests, now that its frames are known."""
        target.is_known = True
        held, target.held = target.held, []
        for method, params in held:
            self.found += self.network.translate(method, params, target.via)

    def looked_into(self, target: Target, facts: TargetFacts) -> None:
        """Record a target's report about itself, and the part of it that no one has recorded."""
        unseen = int(target.kind in WORKERS and not (target.waits or target.is_held))
        late = max(self.network.late(target.via, facts.urls), facts.unlisted, unseen)
        if facts.is_loaded:
            self.found += self._loaded({}, target.via)
        if late and not target.is_existing:
            self.miss_requests(target, late)

    def _miss_all(self, target: Target) -> None:
        # The driver reports no WebTransport of a worker, and no WebSocket of a service worker.
        if target.kind in WORKERS and not target.is_socketless:
            self.gaps.append(Missed("network", LATE))
        else:
            self.miss_requests(target, 1)

    def miss(self, about: Params, at: float) -> None:
        """Record that a child target (`Target.TargetInfo`) was gone before the recorder could attach."""
        target = target_of((), {"sessionId": "", "targetInfo": about})
        target.met_at, target.is_existing = at, target.id in self.predecessors
        self.census.seen += 1
        self.part(target)

    def part(self, target: Target) -> None:
        """Record that a target is gone: one that ran unobserved may have done anything."""
        if target.is_held or target.is_existing or self.actor != "agent":
            return
        if not (target.is_armed or target.id in self.frames.reporters):
            self.census.late += 1
            is_touched = self.census.touched_at > target.met_at - BEFORE_MS
            self.gaps += [Missed("actions", LATE)] if target.kind in PAGES and is_touched else []
            self._miss_all(target)
        elif self._clock.now() - target.met_at < YOUNG_MS:
            self._miss_all(target)

    def note(self, method: str, params: Params) -> None:
        """Note what is needed to address the tab, from an event that is translated later."""
        if method in _NOTED:
            self.is_noting = True
            for _ in self.translate(method, params):
                pass
            self.is_noting = False

    def translate(self, method: str, params: Params, via: Via = ()) -> Iterator[Input]:
        """Yield what a protocol event means to the session; `via`: the target below that reports it."""
        handle = _HANDLERS.get(method)
        if handle is not None:
            yield from handle(self, params, via)
        elif method in WORLDS:
            yield from self.worlds.translate(method, params, via)
        elif method in MOVES:
            yield from self.moves.translate(method, params, via)
        elif method in REPORTS:
            is_own = self.worlds.is_own(params, via)
            yield from self._reports.translate(method, params, is_own=is_own)
        elif method.startswith("Network."):
            self.busy_at = self._clock.now()
            target = self.targets.get(via)
            # Whose requests they are is known once its frames are.
            if target is not None and not target.is_known and len(target.held) < HELD_MAX:
                target.held.append((method, params))
            else:
                yield from self.network.translate(method, params, via)

    def _seat_children(self, tree: Params, parent: str | None) -> None:
        self.frames.attach(tree["frame"]["id"], parent)
        self.visit(tree["frame"].get("url", ""))
        for child in tree.get("childFrames", ()):
            self._seat_children(child, tree["frame"]["id"])

    # Targets below

    def _target_attached(self, params: Params, via: Via) -> Iterator[Input]:
        target = target_of(via, params)
        if target.kind in PAGES:
            self.frames.attach(target.id, target.frame or None)
        if target.kind not in PAGES | WORKERS:
            return iter(())
        if len(target.via) > DEPTH_MAX or len(self.targets) >= TARGETS_MAX:
            channel = "snapshots" if target.kind in PAGES else "network"
            self.gaps.append(Missed(channel, "targets.cut"))
            self.census.cut += 1
            return iter(())
        above = self.targets.get(via)
        # A target below an existing one, met while that is being armed, existed before as well.
        is_below = above is not None and above.is_existing and not above.is_armed
        is_before = self.is_existing and self.is_following and not self.is_watched
        target.is_existing = is_below or is_before or target.id in self.predecessors
        holder = above or self.target(target.above)
        # The driver lets a worker go on before it asks for those that this one makes.
        target.waits &= holder is None or holder.kind not in WORKERS
        self.targets[target.via] = target
        target.met_at = self._clock.now()
        self.census.seen += 1
        self.network.meet(target)
        self.unhandled += [target, target.id] if target.kind in PAGES else [target]
        return iter(())

    def _target_detached(self, params: Params, via: Via) -> Iterator[Input]:
        gone = (*via, params["sessionId"])
        # Before its worlds are forgotten: `part` asks whether it has spoken.
        for one in [one for one in self.targets if one[: len(gone)] == gone]:
            self.moves.removed(one, self.targets[one].id, self.worlds.unasked())
            self.part(self.targets.pop(one))
        yield from self.worlds.forget_below(gone, "left")
        self.documents.gone(gone)

    def _target_crashed(self, params: Params, via: Via) -> Iterator[Input]:
        if via:
            self.gaps.append(Missed("snapshots", "frame.crashed"))
            self.documents.crashed(via)
            yield from self.worlds.forget_below(via, "crashed")

    def _loaded(self, params: Params, via: Via) -> Iterator[Input]:
        if via in self.targets:
            yield from self.network.complete(self.targets[via].loader, via)

    def _workers_listed(self, params: Params, via: Via) -> Iterator[Input]:
        is_first, self._has_listed = not self._has_listed, True
        if self.census.workers.listed(params["registrations"], is_first=is_first) and self.actor == "agent":
            self.gaps.append(Missed("network", UPDATES))
        return iter(())

    def _versions_listed(self, params: Params, via: Via) -> Iterator[Input]:
        active = [one["scriptURL"] for one in params["versions"] if one.get("status") == "activated"]
        if any(map(self.census.workers.is_own, active)):
            self.census.own_workers.is_active = True
        return iter(())


_HANDLERS: dict[str, Callable[[CdpTab, Params, Via], Iterator[Input]]] = {
    "Target.attachedToTarget": CdpTab._target_attached,
    "Target.detachedFromTarget": CdpTab._target_detached,
    "Inspector.targetCrashed": CdpTab._target_crashed,
    "Page.domContentEventFired": CdpTab._loaded,
    "ServiceWorker.workerRegistrationUpdated": CdpTab._workers_listed,
    "ServiceWorker.workerVersionUpdated": CdpTab._versions_listed,
}

_NOTED = frozenset(
    name for name in (*WORLDS, *REPORTS) if name.startswith(("Runtime.executionContext", "Page.javascript"))
)


def _nothing() -> None:
    """No one waits for it."""
