"""One tab as the Chrome DevTools Protocol tells of it: protocol events in, session inputs out.

No driver and no clock of its own: both drivers hand every event of a tab's session to `Tab.translate`. Field
names are those of the protocol (https://chromedevtools.github.io/devtools-protocol/tot/).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from msgspec import Struct

from replaykit.errors import RecorderError
from replaykit.recorder.capture import (
    BINDING,
    WORLD,
    PageEvent,
    PageGap,
    PageHello,
    PageNode,
    PagePart,
    PagePush,
    Parts,
    decode_message,
)
from replaykit.recorder.cdp_frames import (
    DEPTH_MAX,
    PAGES,
    TARGETS_MAX,
    WORKERS,
    Flood,
    Frames,
    Target,
    TargetFacts,
    Via,
    target_of,
)
from replaykit.recorder.cdp_network import Network
from replaykit.recorder.cdp_reports import REPORTS, Reports
from replaykit.recorder.clock import Clock
from replaykit.recorder.history import History
from replaykit.recorder.messages import (
    MAIN,
    FrameLeft,
    FrameOwned,
    Input,
    Navigated,
    PageMessage,
    Pushed,
    Source,
)

Params: TypeAlias = dict[str, Any]
"""Parameters of a protocol event."""

HELD_MAX = 10_000
"""Events of a target that wait until it is known; more than a page makes meanwhile."""


class Context(Struct, frozen=True, kw_only=True):
    """A JavaScript world of one document."""

    frame: str
    """Frame id."""
    name: str
    """Name of the world; empty = the page's own."""
    document: int
    """Document ordinal of the tab when it appeared."""
    source: Source = MAIN
    """What it says comes from there."""


class Tab:
    """What is known of one tab, and the translation of its events."""

    def __init__(self, page: int, clock: Clock, *, actor: str = "agent") -> None:
        self.page = page
        """Tab ordinal; probe tabs have a negative one."""
        self.actor = actor
        """`agent probe`."""
        self.wire = ""
        """Session through which the browser's own passes on what is said; empty = a session of its own."""
        self.document = 0
        """Ordinal of the main frame's document, from 0."""
        self.url = ""
        """URL of the main frame."""
        self.loader = ""
        """Loader id of the main frame's document."""
        self.ahead = 0.0
        """How far the page's clock is ahead of ours, ms."""
        self.viewport: tuple[int, int] | None = None
        """As the page last said, CSS px."""
        self.has_dialog = False
        """A native dialog is open: the page answers nothing."""
        self.is_gone = False
        """Closed or crashed."""
        self.is_heard = False
        """Its navigations are heard."""
        self.is_watched = False
        """All that was there when the recorder came is known."""
        self.busy_at = 0.0
        """When the network last moved, ms since recording start."""
        self.dpr = 1.0
        """Device pixel ratio."""
        self.history = History()
        """Where it has been."""
        self.seen_at = clock.now()
        """When it was heard of first, ms since recording start."""
        self.network = Network(self, clock)
        """Its requests."""
        self._clock = clock
        self.frames = Frames()
        """Its frames."""
        self.targets: dict[Via, Target] = {}
        """Frames in processes of their own, and workers."""
        self.errands: list[Target | str] = []
        """Targets that nobody has armed, frames whose owners nobody has told; the driver takes them out."""
        self._flood = Flood()
        self._has_moved = False
        self._contexts: dict[tuple[Via, int], Context] = {}
        self._parts: dict[tuple[Via, int], Parts] = {}
        self._types: dict[str, str] = {}
        self._reports = Reports(self, clock)
        self.told: list[Input] = []
        """What commands have found out, for the session; the driver takes it out."""
        self.gaps: list[tuple[str, str, int]] = []
        """Channel, reason, count of what could not be had; the driver takes them out."""

    def seat(self, tree: Params, via: Via = ()) -> None:
        """Take in a frame tree (`Page.getFrameTree`), before any event."""
        frame = tree["frame"]
        if not via:
            self.frames.begin(frame["id"])
            self.loader = frame.get("loaderId", "")
            self.url = frame["url"] + frame.get("urlFragment", "")
        elif via in self.targets:
            self.targets[via].loader = frame.get("loaderId", "")
        self._seat_children(tree, frame.get("parentId"))

    def world(self, name: str = WORLD, frame: str | None = None) -> tuple[Via, int] | None:
        """Return a frame's context of that world, `""` being the page's own; default: the main frame."""
        wanted = frame or self.frames.main
        found = [
            place
            for place, context in self._contexts.items()
            if context.frame == wanted and context.name == name
        ]
        return found[-1] if found else None

    def frame(self, frame_id: str | None) -> tuple[int, ...]:
        """Return the ordinals of a frame among its siblings, from the main frame down; empty = main."""
        return self.frames.path(frame_id)

    @property
    def is_leaving(self) -> bool:
        """Whether another document is on its way into the main frame."""
        main = self.frames.main
        return main in self._types and "SameDocument" not in self._types[main]

    def take_moved(self) -> bool:
        """Return whether the main frame went elsewhere since this was asked last."""
        moved, self._has_moved = self._has_moved, False
        return moved

    def take_errands(self) -> list[Target | str]:
        """Return targets to arm and frames to tell of since this was asked last."""
        errands, self.errands = self.errands, []
        return errands

    def own(self, frame: str, text: str | None) -> None:
        """Take in that the document around a frame knows whose it is, and where its last snapshot has it."""
        self.frames.owned.add(frame)
        node = json.loads(text) if text else None
        if node is None:
            return
        pusher = self.frames.speaker(self.frames.parent(frame) or "")
        source = self.frames.source(pusher, self.frames.speakers.get(pusher, 0))
        place = PageNode(push=node["push"], number=node["number"])
        self.told.append(
            FrameOwned(at=self._clock.arrived(), page=self.page, source=source, node=place, id=frame)
        )

    def meet(self, target: Target) -> None:
        """Take in what a target has told of its requests, now that its frames are known."""
        target.is_known = True
        held, target.held = target.held, []
        for method, params in held:
            self.told += self.network.translate(method, params, target.via)

    def looked_into(self, target: Target, facts: TargetFacts) -> None:
        """Take in what a target says of itself, and what of that nobody has heard."""
        late = self.network.late(target.via, facts.urls)
        if facts.is_loaded:
            self.told += self._loaded({}, target.via)
        if late and not target.is_existing:
            self.gaps.append(("network", "target.late", late))

    def take_facts(self, push: PagePush, frame: str) -> None:
        """Take in what a snapshot of a frame says of the page: its size, and where frames stand."""
        if frame == self.frames.main:
            self.viewport = push.viewport or self.viewport
        for one in push.frames:
            if one.id:
                self.frames.place(one.id, frame, one.path)

    def note(self, method: str, params: Params) -> None:
        """Take in what is needed to speak to the tab, from an event that is translated later."""
        if method in _NOTED:
            for _ in self.translate(method, params):
                pass

    def translate(self, method: str, params: Params, via: Via = ()) -> Iterator[Input]:
        """Yield what a protocol event means to the session; `via`: the target below that tells of it."""
        handle = _HANDLERS.get(method)
        if handle is not None:
            yield from handle(self, params, via)
        elif method in REPORTS:
            yield from self._reports.translate(method, params, is_own=self._is_own(params, via))
        elif method.startswith("Network."):
            self.busy_at = self._clock.now()
            target = self.targets.get(via)
            # Whose requests they are is known once its frames are.
            if target is not None and not target.is_known and len(target.held) < HELD_MAX:
                target.held.append((method, params))
            else:
                yield from self.network.translate(method, params, via)

    def _is_own(self, params: Params, via: Via) -> bool:
        """Whether the page's own world says it, and none of ours or of the agent's driver."""
        context = self._contexts.get((via, params.get("executionContextId", -1)))
        return context is None or not context.name

    def _seat_children(self, tree: Params, parent: str | None) -> None:
        self.frames.attach(tree["frame"]["id"], parent)
        for child in tree.get("childFrames", ()):
            self._seat_children(child, tree["frame"]["id"])

    def _page_time(self, epoch_ms: float, via: Via) -> float:
        target = self.targets.get(via)
        ahead = self.ahead if target is None or target.ahead is None else target.ahead
        return self._clock.witnessed(self._clock.of_epoch(epoch_ms - ahead))

    # Targets below

    def _target_attached(self, params: Params, via: Via) -> Iterator[Input]:
        target = target_of(via, params)
        if target.kind in PAGES:
            self.frames.attach(target.id, target.frame or None)
        if target.kind not in PAGES | WORKERS:
            return iter(())
        if len(target.via) > DEPTH_MAX or len(self.targets) >= TARGETS_MAX:
            channel = "snapshots" if target.kind in PAGES else "network"
            self.gaps.append((channel, "targets.cut", 1))
            return iter(())
        above = self.targets.get(via)
        # What is below one that was there, and comes while that is armed, was there as well.
        is_below = above is not None and above.is_existing and not above.is_armed
        target.is_existing = is_below or not self.is_watched
        self.targets[target.via] = target
        self.network.meet(target)
        self.errands += [target, target.id] if target.kind in PAGES else [target]
        return iter(())

    def _target_detached(self, params: Params, via: Via) -> Iterator[Input]:
        gone = (*via, params["sessionId"])
        for one in [one for one in self.targets if one[: len(gone)] == gone]:
            del self.targets[one]
        yield from self._forget_below(gone, "left")

    def _target_crashed(self, params: Params, via: Via) -> Iterator[Input]:
        if via:
            self.gaps.append(("snapshots", "frame.crashed", 1))
            yield from self._forget_below(via, "crashed")

    def _forget_below(self, via: Via, why: str) -> Iterator[Input]:
        for place in [place for place in self._contexts if place[0][: len(via)] == via]:
            yield from self._forget(place, why)

    def _forget(self, place: tuple[Via, int], why: str = "left") -> Iterator[Input]:
        context = self._contexts.pop(place, None)
        self._parts.pop(place, None)
        if context is not None and context.name == WORLD:
            frame, document = context.frame, context.source[1]
            if frame != self.frames.main and self.frames.speakers.get(frame) == document:
                del self.frames.speakers[frame]
                at = self._clock.arrived()
                yield FrameLeft(at=at, page=self.page, source=context.source, why=why)

    # Worlds and their messages

    def _context_created(self, params: Params, via: Via) -> Iterator[Input]:
        context, place = params["context"], (via, params["context"]["id"])
        about = context.get("auxData", {})
        frame, is_own = about.get("frameId", ""), about.get("isDefault", False)
        name = "" if is_own else context["name"] or "?"
        number = self.frames.renew(frame) if name == WORLD else 0
        source = self.frames.source(frame, number)
        self._contexts[place] = Context(frame=frame, name=name, document=self.document, source=source)
        return iter(())

    def _context_destroyed(self, params: Params, via: Via) -> Iterator[Input]:
        yield from self._forget((via, params["executionContextId"]))

    def _contexts_cleared(self, params: Params, via: Via) -> Iterator[Input]:
        for place in [place for place in self._contexts if place[0] == via]:
            yield from self._forget(place)

    def _binding_called(self, params: Params, via: Via) -> Iterator[Input]:
        place = (via, params["executionContextId"])
        context = self._contexts.get(place)
        if params["name"] == BINDING and context is not None and self._admits(context, params["payload"]):
            yield from self._said(place, context, params["payload"])

    def _admits(self, context: Context, text: str) -> bool:
        if context.frame == self.frames.main:
            return True
        is_admitted = self._flood.admits(len(text), self._clock.now())
        if self._flood.dropped:
            self.gaps.append(("actions", "flood", self._flood.dropped))
            self._flood.dropped = 0
        return is_admitted

    def _said(self, place: tuple[Via, int], context: Context, text: str) -> Iterator[Input]:
        try:
            message = decode_message(text)
            whole = self._joined(place, message) if isinstance(message, PagePart) else None
        except RecorderError:
            self.gaps.append(("actions", "message.invalid", 1))
            return
        if whole is not None:
            yield from self._said(place, context, whole)
        elif isinstance(message, PagePush):
            yield from self._pushed(message, context, place[0])
        elif isinstance(message, PageHello):
            self._greeted(context, message, place[0])
        elif self.actor == "agent" and isinstance(message, PageEvent):
            # A probe tab serializes; what happens in it is nobody's act.
            at = self._page_time(message.at, place[0])
            yield PageMessage(event=message, at=at, **self._whence(context))
        elif self.actor == "agent" and isinstance(message, PageGap):
            self.gaps.append(("actions", message.why, message.count))

    def _whence(self, context: Context) -> dict[str, Any]:
        frame = self.frame(context.frame)
        return {"page": self.page, "document": context.document, "frame": frame, "source": context.source}

    def _joined(self, place: tuple[Via, int], part: PagePart) -> str | None:
        return self._parts.setdefault(place, Parts()).add(part)

    def _greeted(self, context: Context, hello: PageHello, via: Via) -> None:
        if not self.frames.knows(context.frame):
            return
        self.frames.speakers[context.frame] = context.source[1]
        if context.frame not in self.frames.owned:
            self.errands.append(context.frame)
        target = self.targets.get(via)
        if hello.touched and self.actor == "agent" and target is not None and not target.is_existing:
            self.gaps.append(("actions", "target.late", 1))

    def _pushed(self, push: PagePush, context: Context, via: Via) -> Iterator[Input]:
        self.take_facts(push, context.frame)
        yield Pushed(push=push, at=self._page_time(push.at, via), **self._whence(context))

    # Frames and navigations

    def _loaded(self, params: Params, via: Via) -> Iterator[Input]:
        if via in self.targets:
            yield from self.network.complete(self.targets[via].loader, via)

    def _frame_attached(self, params: Params, via: Via) -> Iterator[Input]:
        self.frames.attach(params["frameId"], params["parentFrameId"])
        return iter(())

    def _frame_detached(self, params: Params, via: Via) -> Iterator[Input]:
        # `swap`: the frame lives on in another process, and keeps its place among its siblings.
        if params.get("reason") == "swap":
            return
        speakers = dict(self.frames.speakers)
        for frame in self.frames.detach(params["frameId"]):
            yield FrameLeft(at=self._clock.arrived(), page=self.page, source=(frame, speakers[frame]))

    def _requested(self, params: Params, via: Via) -> Iterator[Input]:
        if params.get("disposition", "currentTab") == "currentTab":
            frame, url = params["frameId"], params["url"]
            yield from self._navigated(frame, url, "requested", reason=params["reason"], ahead=1)

    def _started(self, params: Params, via: Via) -> Iterator[Input]:
        if not via and params["loaderId"] == self.loader:
            return  # the frame tree, read while this event was on its way, shows where it led
        kind = params["navigationType"]
        self._types[params["frameId"]] = kind
        ahead = 0 if "SameDocument" in kind or "sameDocument" in kind else 1
        yield from self._navigated(
            params["frameId"], params["url"], "started", navigation_type=kind, ahead=ahead
        )

    def _committed(self, params: Params, via: Via) -> Iterator[Input]:
        frame = params["frame"]
        is_main = not via and frame.get("parentId") is None
        if is_main and frame["loaderId"] == self.loader:
            return  # already in the frame tree that was read while this event was on its way
        url = frame["url"] + frame.get("urlFragment", "")
        if is_main:
            self.loader, self.url = frame["loaderId"], url
            self.document += 1
            self._has_moved = True
            self.frames.begin(frame["id"])
        target = self.targets.get(via)
        if target is not None and target.id == frame["id"]:
            target.loader = frame["loaderId"]
        kind = self._types.pop(frame["id"], None)
        if is_main:
            self.history.committed(url, kind)
        yield from self.network.settle(frame["loaderId"])
        if frame.get("unreachableUrl") is None:
            request = frame["loaderId"] if self.network.knows(frame["loaderId"]) else None
            way = self.history.direction if is_main and kind and kind.startswith("history") else None
            is_kept = params.get("type") == "BackForwardCacheRestore"
            yield from self._navigated(
                frame["id"],
                url,
                "committed",
                navigation_type=kind,
                request=request,
                direction=way,
                is_kept=is_kept,
            )

    def _within(self, params: Params, via: Via) -> Iterator[Input]:
        started = self._types.pop(params["frameId"], None)
        kind = started if started and started.startswith("history") else params.get("navigationType")
        if params["frameId"] == self.frames.main:
            self.url = params["url"]
            self._has_moved = True
            self.history.within(self.url, kind)
        yield from self._navigated(params["frameId"], params["url"], "within", navigation_type=kind)

    def failed_document(self, frame: str, url: str, error: str, at: float) -> Iterator[Input]:
        """Yield the failure of a navigation, told by the network."""
        kind = self._types.pop(frame, None)
        yield from self._navigated(frame, url, "failed", navigation_type=kind, error=error, ahead=1, at=at)

    def _navigated(
        self, frame: str, url: str, stage: str, *, ahead: int = 0, at: float | None = None, **more: Any
    ) -> Iterator[Input]:
        if not self.frames.knows(frame):
            return  # removed meanwhile: it is not the main frame, which a path of no ordinals would say
        place = self.frame(frame)
        yield Navigated(
            at=self._clock.arrived() if at is None else at,
            page=self.page,
            frame=place,
            document=self.document + (0 if place else ahead),
            url=url,
            stage=stage,
            **more,
        )


_HANDLERS: dict[str, Callable[[Tab, Params, Via], Iterator[Input]]] = {
    "Target.attachedToTarget": Tab._target_attached,
    "Target.detachedFromTarget": Tab._target_detached,
    "Inspector.targetCrashed": Tab._target_crashed,
    "Runtime.executionContextCreated": Tab._context_created,
    "Runtime.executionContextDestroyed": Tab._context_destroyed,
    "Runtime.executionContextsCleared": Tab._contexts_cleared,
    "Runtime.bindingCalled": Tab._binding_called,
    "Page.domContentEventFired": Tab._loaded,
    "Page.frameAttached": Tab._frame_attached,
    "Page.frameDetached": Tab._frame_detached,
    "Page.frameRequestedNavigation": Tab._requested,
    "Page.frameStartedNavigating": Tab._started,
    "Page.frameNavigated": Tab._committed,
    "Page.navigatedWithinDocument": Tab._within,
}

_NOTED = frozenset(
    name
    for name in (*_HANDLERS, *REPORTS)
    if name.startswith(("Runtime.executionContext", "Page.javascript"))
)
