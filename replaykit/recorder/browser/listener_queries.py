"""Ask the documents of a page over CDP whether they have listeners for their own end, such as `pagehide`.

Own module: it sends commands. What is known of a tab (`tab/leave_listeners.py`) sends no command.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from replaykit.recorder.browser.command_effects import CallMethod, CommandRefused, Effect, Together
from replaykit.recorder.browser.tab.cdp_documents import Place
from replaykit.recorder.browser.tab.cdp_frames import Via
from replaykit.recorder.browser.tab.cdp_tab import CdpTab

FRAMES_MAX = 16
"""Documents of a page that are asked."""

_SEEN_BY = ("window", "document")


def look(tab: CdpTab, due: frozenset[Via]) -> Generator[Effect, Any, None] | None:
    """Return the queries to the documents of some targets and their children; None without such documents.

    A document that is gone meanwhile keeps its last answer.
    """
    places = [
        (place, frame)
        for place, frame in tab.worlds.unknown(due)[:FRAMES_MAX]
        if not tab.leave_listeners.is_listening((place[0], frame))
    ]
    return _look(tab, places) if places else None


def _look(tab: CdpTab, places: list[tuple[Place, str]]) -> Generator[Effect, Any, None]:
    tab.leave_listeners.is_looking = True
    try:
        for place, frame in places:
            yield from _look_at(tab, place, frame)
    finally:
        tab.leave_listeners.is_looking = False
    tab.leave_listeners.wake()


def _look_at(tab: CdpTab, place: Place, frame: str) -> Generator[Effect, Any, None]:
    try:
        handles = yield from _handles(tab, place)
        events = yield from _events(tab, place, handles)
        # Its world may have ended meanwhile: another document is there then.
        if place in tab.leave_listeners.handles:
            tab.leave_listeners.looked((place[0], frame), events)
    except (CommandRefused, KeyError):
        tab.leave_listeners.handles.pop(place, None)


def _handles(tab: CdpTab, place: Place) -> Generator[Effect, Any, tuple[str, str]]:
    known = tab.leave_listeners.handles.get(place)
    if known is None:
        # The page's own world: of another one the protocol lists only what that listens for.
        calls = [{"expression": name, "contextId": place[1]} for name in _SEEN_BY]
        window, document = yield _together(tab, place, "Runtime.evaluate", calls)
        known = window["result"]["objectId"], document["result"]["objectId"]
        tab.leave_listeners.handles[place] = known
    return known


def _events(tab: CdpTab, place: Place, handles: tuple[str, str]) -> Generator[Effect, Any, set[str]]:
    calls = [{"objectId": one} for one in handles]
    found = yield _together(tab, place, "DOMDebugger.getEventListeners", calls)
    return {listener["type"] for one in found for listener in one["listeners"]}


def _together(tab: CdpTab, place: Place, method: str, calls: list[dict[str, Any]]) -> Together:
    if tab.is_gone or tab.has_dialog:
        raise CommandRefused("gone")
    return Together(
        sends=tuple(CallMethod(tab=tab, method=method, params=call, via=place[0]) for call in calls)
    )
