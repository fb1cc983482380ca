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
    PagePart,
    PagePush,
    Parts,
    decode_message,
)
from replaykit.recorder.cdp_network import Network
from replaykit.recorder.clock import Clock
from replaykit.recorder.history import History
from replaykit.recorder.messages import (
    ConsoleLine,
    DialogClosed,
    DialogOpened,
    Downloaded,
    Input,
    Navigated,
    PageMessage,
    Pushed,
)

Params: TypeAlias = dict[str, Any]
"""Parameters of a protocol event."""

TEXT_MAX = 4096
"""Longest console line kept, characters."""

_LEVELS = {"warning": "warning", "error": "error", "assert": "error", "debug": "debug", "info": "info"}
_DOWNLOAD_STATES = {"inProgress": "started", "completed": "completed", "canceled": "canceled"}


class Context(Struct, frozen=True, kw_only=True):
    """A JavaScript world of one document."""

    frame: str
    """Frame id."""
    name: str
    """Name of the world; empty = the page's own."""
    document: int
    """Document ordinal of the tab when it appeared."""


class Tab:
    """What is known of one tab, and the translation of its events."""

    def __init__(self, page: int, clock: Clock, *, actor: str = "agent") -> None:
        self.page = page
        """Tab ordinal; probe tabs have a negative one."""
        self.actor = actor
        """`agent probe`."""
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
        self._main = ""
        self._has_moved = False
        self._parents: dict[str, str | None] = {}
        self._contexts: dict[int, Context] = {}
        self._parts: dict[int, Parts] = {}
        self._types: dict[str, str] = {}
        self._downloads: dict[str, Downloaded] = {}
        self.gaps: list[tuple[str, str, int]] = []
        """Channel, reason, count of what could not be had; the driver takes them out."""

    def seat(self, tree: Params) -> None:
        """Take in a frame tree (`Page.getFrameTree`), before any event."""
        frame = tree["frame"]
        self._main, self.loader = frame["id"], frame.get("loaderId", "")
        self.url = frame["url"] + frame.get("urlFragment", "")
        self._seat_children(tree, None)

    def world(self, name: str = WORLD) -> int | None:
        """Return the main frame's context of that world, `""` being the page's own."""
        found = [
            number
            for number, context in self._contexts.items()
            if context.frame == self._main and context.name == name
        ]
        return found[-1] if found else None

    def frame(self, frame_id: str | None) -> tuple[int, ...]:
        """Return the ordinals of a frame among its siblings, from the main frame down; empty = main."""
        if frame_id is None or self._parents.get(frame_id) is None:
            return ()
        parent = self._parents[frame_id]
        siblings = [child for child, above in self._parents.items() if above == parent]
        return (*self.frame(parent), siblings.index(frame_id))

    @property
    def is_leaving(self) -> bool:
        """Whether another document is on its way into the main frame."""
        return self._main in self._types and "SameDocument" not in self._types[self._main]

    def take_moved(self) -> bool:
        """Return whether the main frame went elsewhere since this was asked last."""
        moved, self._has_moved = self._has_moved, False
        return moved

    def note(self, method: str, params: Params) -> None:
        """Take in what is needed to speak to the tab, from an event that is translated later."""
        if method in _NOTED:
            for _ in _HANDLERS[method](self, params):
                pass

    def translate(self, method: str, params: Params) -> Iterator[Input]:
        """Yield what a protocol event means to the session."""
        handle = _HANDLERS.get(method)
        if handle is not None:
            yield from handle(self, params)
        elif method.startswith("Network."):
            self.busy_at = self._clock.now()
            yield from self.network.translate(method, params)

    def _seat_children(self, tree: Params, parent: str | None) -> None:
        self._parents[tree["frame"]["id"]] = parent
        for child in tree.get("childFrames", ()):
            self._seat_children(child, tree["frame"]["id"])

    def _page_time(self, epoch_ms: float) -> float:
        return self._clock.witnessed(self._clock.of_epoch(epoch_ms - self.ahead))

    # Worlds and their messages

    def _context_created(self, params: Params) -> Iterator[Input]:
        context = params["context"]
        about = context.get("auxData", {})
        is_own = about.get("isDefault", False)
        name = "" if is_own else context["name"] or "?"
        seen = Context(frame=about.get("frameId", ""), name=name, document=self.document)
        self._contexts[context["id"]] = seen
        return iter(())

    def _context_destroyed(self, params: Params) -> Iterator[Input]:
        self._contexts.pop(params["executionContextId"], None)
        self._parts.pop(params["executionContextId"], None)
        return iter(())

    def _contexts_cleared(self, params: Params) -> Iterator[Input]:
        self._contexts.clear()
        self._parts.clear()
        return iter(())

    def _binding_called(self, params: Params) -> Iterator[Input]:
        number = params["executionContextId"]
        context = self._contexts.get(number)
        # A probe tab serializes; what happens in it is nobody's act.
        if params["name"] == BINDING and context is not None and self.actor == "agent":
            yield from self._said(number, context, params["payload"])

    def _said(self, number: int, context: Context, text: str) -> Iterator[Input]:
        try:
            message = decode_message(text)
            whole = self._joined(number, message) if isinstance(message, PagePart) else None
        except RecorderError:
            self.gaps.append(("actions", "message.invalid", 1))
            return
        if whole is not None:
            yield from self._said(number, context, whole)
        elif isinstance(message, PageEvent):
            at = self._page_time(message.at)
            frame = self.frame(context.frame)
            yield PageMessage(at=at, page=self.page, document=context.document, frame=frame, event=message)
        elif isinstance(message, PagePush):
            yield from self._pushed(message, context)
        elif isinstance(message, PageGap):
            self.gaps.append(("actions", message.why, message.count))

    def _joined(self, context: int, part: PagePart) -> str | None:
        return self._parts.setdefault(context, Parts()).add(part)

    def _pushed(self, push: PagePush, context: Context) -> Iterator[Input]:
        frame = self.frame(context.frame)
        if not frame:
            self.viewport = push.viewport or self.viewport
        at = self._page_time(push.at)
        yield Pushed(at=at, page=self.page, document=context.document, frame=frame, push=push)

    # Frames and navigations

    def _frame_attached(self, params: Params) -> Iterator[Input]:
        self._parents.setdefault(params["frameId"], params["parentFrameId"])
        return iter(())

    def _frame_detached(self, params: Params) -> Iterator[Input]:
        # `swap`: the frame lives on in another process, and keeps its place among its siblings.
        if params.get("reason") != "swap":
            self._parents.pop(params["frameId"], None)
        return iter(())

    def _requested(self, params: Params) -> Iterator[Input]:
        if params.get("disposition", "currentTab") == "currentTab":
            frame, url = params["frameId"], params["url"]
            yield self._navigated(frame, url, "requested", reason=params["reason"], ahead=1)

    def _started(self, params: Params) -> Iterator[Input]:
        kind = params["navigationType"]
        self._types[params["frameId"]] = kind
        ahead = 0 if "SameDocument" in kind or "sameDocument" in kind else 1
        yield self._navigated(params["frameId"], params["url"], "started", navigation_type=kind, ahead=ahead)

    def _committed(self, params: Params) -> Iterator[Input]:
        frame = params["frame"]
        is_main = frame.get("parentId") is None
        if is_main and frame["loaderId"] == self.loader:
            return  # already in the frame tree that was read while this event was on its way
        url = frame["url"] + frame.get("urlFragment", "")
        if is_main:
            self._main, self.loader, self.url = frame["id"], frame["loaderId"], url
            self.document += 1
            self._has_moved = True
            self._parents = {frame["id"]: None}
        kind = self._types.pop(frame["id"], None)
        if is_main:
            self.history.committed(url, kind)
        yield from self.network.settle(frame["loaderId"])
        if frame.get("unreachableUrl") is None:
            request = frame["loaderId"] if self.network.knows(frame["loaderId"]) else None
            way = self.history.direction if is_main and kind and kind.startswith("history") else None
            yield self._navigated(
                frame["id"], url, "committed", navigation_type=kind, request=request, direction=way
            )

    def _within(self, params: Params) -> Iterator[Input]:
        started = self._types.pop(params["frameId"], None)
        kind = started if started and started.startswith("history") else params.get("navigationType")
        if params["frameId"] == self._main:
            self.url = params["url"]
            self._has_moved = True
            self.history.within(self.url, kind)
        yield self._navigated(params["frameId"], params["url"], "within", navigation_type=kind)

    def failed_document(self, frame: str, url: str, error: str, at: float) -> Navigated:
        """Return the failure of a navigation, told by the network."""
        kind = self._types.pop(frame, None)
        return self._navigated(frame, url, "failed", navigation_type=kind, error=error, ahead=1, at=at)

    def _navigated(
        self, frame: str, url: str, stage: str, *, ahead: int = 0, at: float | None = None, **more: str | None
    ) -> Navigated:
        place = self.frame(frame)
        return Navigated(
            at=self._clock.arrived() if at is None else at,
            page=self.page,
            frame=place,
            document=self.document + (0 if place else ahead),
            url=url,
            stage=stage,
            **more,
        )

    # Dialogs, console, downloads

    def _dialog_opening(self, params: Params) -> Iterator[Input]:
        self.has_dialog = True
        yield DialogOpened(
            at=self._clock.arrived(),
            page=self.page,
            kind=params["type"],
            message=params["message"],
            default=params.get("defaultPrompt") if params["type"] == "prompt" else None,
        )

    def _dialog_closed(self, params: Params) -> Iterator[Input]:
        self.has_dialog = False
        said = params.get("userInput") or None
        at = self._clock.arrived()
        yield DialogClosed(at=at, page=self.page, accepted=params["result"], input=said)

    def _console(self, params: Params) -> Iterator[Input]:
        context = self._contexts.get(params.get("executionContextId", -1))
        if context is not None and context.name:
            return  # an isolated world: ours, or the agent's driver
        text = " ".join(_argument(value) for value in params["args"])
        yield ConsoleLine(
            at=self._clock.witnessed(self._clock.of_epoch(params["timestamp"])),
            page=self.page,
            level=_LEVELS.get(params["type"], "log"),
            text=text[:TEXT_MAX],
            source=_source(params.get("stackTrace")),
        )

    def _thrown(self, params: Params) -> Iterator[Input]:
        details = params["exceptionDetails"]
        thrown = details.get("exception", {})
        yield ConsoleLine(
            at=self._clock.of_epoch(params["timestamp"]),
            page=self.page,
            level="pageerror",
            text=str(thrown.get("description") or details["text"])[:TEXT_MAX],
            source=_source(details.get("stackTrace")),
        )

    def _download_begins(self, params: Params) -> Iterator[Input]:
        begun = Downloaded(
            at=self._clock.arrived(),
            page=self.page,
            guid=params["guid"],
            url=params["url"],
            suggested=params.get("suggestedFilename"),
            state="started",
        )
        self._downloads[begun.guid] = begun
        yield begun

    def _download_moves(self, params: Params) -> Iterator[Input]:
        begun = self._downloads.get(params["guid"])
        state = _DOWNLOAD_STATES.get(params["state"], "unknown")
        if begun is None or state == "started":
            return
        del self._downloads[begun.guid]
        yield Downloaded(
            at=self._clock.arrived(),
            page=self.page,
            guid=begun.guid,
            url=begun.url,
            suggested=begun.suggested,
            state=state,
            size=int(params["receivedBytes"]) if state == "completed" else None,
        )


def _argument(value: Params) -> str:
    if "value" in value:
        plain = value["value"]
        return plain if isinstance(plain, str) else json.dumps(plain)
    return str(value.get("unserializableValue") or value.get("description") or value.get("type", ""))


def _source(trace: Params | None) -> str | None:
    frames = trace.get("callFrames") if trace else None
    return f"{frames[0]['url']}:{frames[0]['lineNumber'] + 1}" if frames and frames[0]["url"] else None


_HANDLERS: dict[str, Callable[[Tab, Params], Iterator[Input]]] = {
    "Runtime.executionContextCreated": Tab._context_created,
    "Runtime.executionContextDestroyed": Tab._context_destroyed,
    "Runtime.executionContextsCleared": Tab._contexts_cleared,
    "Runtime.bindingCalled": Tab._binding_called,
    "Runtime.consoleAPICalled": Tab._console,
    "Runtime.exceptionThrown": Tab._thrown,
    "Page.frameAttached": Tab._frame_attached,
    "Page.frameDetached": Tab._frame_detached,
    "Page.frameRequestedNavigation": Tab._requested,
    "Page.frameStartedNavigating": Tab._started,
    "Page.frameNavigated": Tab._committed,
    "Page.navigatedWithinDocument": Tab._within,
    "Page.javascriptDialogOpening": Tab._dialog_opening,
    "Page.javascriptDialogClosed": Tab._dialog_closed,
    "Page.downloadWillBegin": Tab._download_begins,
    "Page.downloadProgress": Tab._download_moves,
}

_NOTED = frozenset(
    name for name in _HANDLERS if name.startswith(("Runtime.executionContext", "Page.javascript"))
)
