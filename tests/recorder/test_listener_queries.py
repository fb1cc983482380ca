"""Which questions a page is asked about its listeners, and what comes of the answers."""

from __future__ import annotations

from typing import Any

from replaykit.recorder.browser.command_effects import CommandRefused, Job, Together
from replaykit.recorder.browser.listener_queries import look
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.session.clock import Clock

HANDLES = [{"result": {"objectId": "window"}}, {"result": {"objectId": "document"}}]
WHOLE_PAGE = frozenset({()})
LISTENERS = [{"listeners": [{"type": "pagehide"}]}, {"listeners": []}]


def tab() -> CdpTab:
    made = CdpTab(0, Clock())
    made.seat({"frame": {"id": "M", "url": "http://shop.test/"}})
    world = {"id": 2, "name": "", "auxData": {"frameId": "M", "isDefault": True}}
    made.note("Runtime.executionContextCreated", {"context": world})
    return made


def methods(effect: Any) -> list[str]:
    assert isinstance(effect, Together)
    return [call.method for call in effect.sends]


def test_window_and_document_are_asked_once_for_their_handles() -> None:
    page = tab()
    first = Job(look(page, WHOLE_PAGE))
    assert methods(first.step()) == ["Runtime.evaluate"] * 2
    assert methods(first.step(HANDLES)) == ["DOMDebugger.getEventListeners"] * 2
    assert first.step(LISTENERS) is None
    assert page.leave_listeners.left((), "M") == 1
    assert methods(Job(look(page, WHOLE_PAGE)).step()) == ["DOMDebugger.getEventListeners"] * 2


def test_document_that_is_gone_loses_its_handles() -> None:
    page = tab()
    first = Job(look(page, WHOLE_PAGE))
    first.step()
    first.step(HANDLES)
    first.step([{"listeners": []}, {"listeners": []}])
    again = Job(look(page, WHOLE_PAGE))
    again.step()
    assert again.step(refused=CommandRefused("gone")) is None
    assert again.error is None
    assert page.leave_listeners.handles == {}
    assert page.leave_listeners.left((), "M") == 0
