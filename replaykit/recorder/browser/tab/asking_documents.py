"""Documents that still ask for something while their successor comes.

Once the browser has the answer of a navigation, the protocol's session belongs to the new document. The old
one runs on until the new one is there, some 10 to 100 ms, and no client is given what its scripts ask for
meanwhile. It may have asked if data that it waited for came just then, or if a script of it asked for
something after the navigation had begun. Of an answer, its headers on the wire are still reported.

Own module: `cdp_network` says what was asked for, this says which documents may have asked unseen.
"""

from __future__ import annotations

from math import inf
from typing import Any, TypeAlias

from msgspec import Struct

from replaykit.recorder.browser.tab.cdp_frames import FrameTree

Params: TypeAlias = dict[str, Any]

DATA = frozenset({"XHR", "Fetch"})
"""Types of requests whose answer goes to a script."""

BEGUN_MAX = 1000
"""Navigations that are remembered; one that leads to a download never has a document."""

_ANSWERS = frozenset({"Network.responseReceived", "Network.responseReceivedExtraInfo"})
_ENDS = frozenset({"Network.loadingFinished", "Network.loadingFailed"})


class ScriptRequests(Struct, kw_only=True):
    """Requests by scripts of one document."""

    frame: str
    """Its frame."""
    last_at: float = 0.0
    """When it last asked for something, s by the browser's clock."""
    waiting: dict[str, bool] = {}
    """Requests for data that have not ended, and whether each is being answered."""


class AskingDocuments:
    """Documents of one tab whose scripts have asked for something, by loader."""

    def __init__(self, frames: FrameTree) -> None:
        self._frames = frames
        self._documents: dict[str, ScriptRequests] = {}
        self._begun: dict[str, float] = {}
        self._loaders: dict[str, str] = {}

    def take(self, method: str, params: Params) -> None:
        """Note an event of the Network domain."""
        name, loader = params.get("requestId", ""), params.get("loaderId", "")
        if method == "Network.requestWillBeSent" and name == loader:
            self._begun.setdefault(loader, params["wallTime"])
            while len(self._begun) > BEGUN_MAX:
                del self._begun[next(iter(self._begun))]
        elif method == "Network.requestWillBeSent" and loader and _is_of_script(params):
            self._requested(name, loader, params)
        elif method in _ENDS and (of := self._loaders.pop(name, "")) in self._documents:
            self._documents[of].waiting.pop(name, None)
        elif method in _ANSWERS and (of := self._loaders.get(name, "")) in self._documents:
            self._documents[of].waiting[name] = True

    def left(self, frame: str, loader: str = "") -> int:
        """Return how many documents in a frame and below may have asked unseen, and forget them.

        `loader`: that of the document which took their place; empty = the frame went.
        """
        begun = self._begun.pop(loader, inf)
        gone = [
            name for name, one in self._documents.items() if name != loader and self._is_in(one.frame, frame)
        ]
        left = [self._documents.pop(name) for name in gone]
        for request in [request for one in left for request in one.waiting]:
            self._loaders.pop(request, None)
        return sum(any(one.waiting.values()) or one.last_at > begun for one in left)

    def _requested(self, name: str, loader: str, params: Params) -> None:
        one = self._documents.setdefault(loader, ScriptRequests(frame=params["frameId"]))
        one.last_at = max(one.last_at, params["wallTime"])
        if params.get("type") in DATA:
            one.waiting[name] = False
            self._loaders[name] = loader

    def _is_in(self, frame: str | None, around: str) -> bool:
        while frame is not None and frame != around:
            frame = self._frames.parent(frame)
        return frame is not None


def _is_of_script(params: Params) -> bool:
    """Whether a script may have asked; the browser does not say so of images."""
    by = params.get("initiator", {}).get("type")
    return "frameId" in params and (by == "script" or (by == "other" and params.get("type") == "Image"))
