"""Which questions a page is asked about its listeners, and what comes of the answers."""

from __future__ import annotations

from typing import Any

from replaykit.recorder.browser.command_effects import CommandRefused, Job, Together
from replaykit.recorder.browser.listener_queries import look
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.session.clock import Clock

HANDLES = [{"result": {"objectId": "window"}}, {"result": {"objectId": "document"}}]
WHOLE_PAGE = frozenset({()})
OURS = 3
"""Number of the recorder's world."""
LISTENERS = [{"listeners": [{"type": "pagehide"}]}, {"listeners": []}]


def tab() -> CdpTab:
    made = CdpTab(0, Clock())
    made.seat({"frame": {"id": "M", "url": "http://shop.test/"}})
    open_world(made, 2, "")
    return made


def looking(page: CdpTab) -> Job:
    carried = look(page, WHOLE_PAGE)
    assert carried is not None
    return Job(carried)


def open_world(page: CdpTab, number: int, name: str, frame: str = "M") -> None:
    about = {"frameId": frame, "isDefault": not name}
    page.note("Runtime.executionContextCreated", {"context": {"id": number, "name": name, "auxData": about}})


def report(page: CdpTab, text: str, number: int = OURS) -> None:
    said = {"name": page.names.binding, "executionContextId": number, "payload": text}
    list(page.translate("Runtime.bindingCalled", said))


def methods(effect: Any) -> list[str]:
    assert isinstance(effect, Together)
    return [call.method for call in effect.sends]


def test_window_and_document_are_asked_once_for_their_handles() -> None:
    page = tab()
    first = looking(page)
    assert methods(first.step()) == ["Runtime.evaluate"] * 2
    assert methods(first.step(HANDLES)) == ["DOMDebugger.getEventListeners"] * 2
    assert first.step(LISTENERS) is None
    assert page.leave_listeners.left((), "M") == 1
    assert methods(looking(page).step()) == ["DOMDebugger.getEventListeners"] * 2


def test_document_that_is_gone_loses_its_handles() -> None:
    page = tab()
    first = looking(page)
    first.step()
    first.step(HANDLES)
    first.step([{"listeners": []}, {"listeners": []}])
    again = looking(page)
    again.step()
    assert again.step(refused=CommandRefused("gone")) is None
    assert again.error is None
    assert page.leave_listeners.handles == {}
    assert page.leave_listeners.left((), "M") == 0


CLOSING = '{"k":"close","seq":0,"at":0,"windows":1,"received":0,"missed":0'
DENIED, LEFT_OPEN = f'{CLOSING},"listened":false}}', f"{CLOSING}}}"


def test_document_that_says_that_nothing_listens_is_not_asked() -> None:
    page = tab()
    open_world(page, OURS, page.names.world)
    report(page, f"0 {DENIED}")
    assert look(page, WHOLE_PAGE) is None


def test_document_that_no_longer_denies_listeners_is_asked_at_once() -> None:
    page = tab()
    open_world(page, OURS, page.names.world)
    report(page, f"0 {DENIED}")
    page.leave_listeners.take_due()
    report(page, f"1 {LEFT_OPEN}")
    assert page.leave_listeners.take_due() == WHOLE_PAGE
    assert look(page, WHOLE_PAGE) is not None


def test_document_that_says_that_something_listens_is_known_without_asking() -> None:
    page = tab()
    open_world(page, OURS, page.names.world)
    report(page, f'0 {CLOSING},"listened":true}}')
    assert look(page, WHOLE_PAGE) is None
    assert page.leave_listeners.left((), "M") == 1


def test_frame_beside_it_is_asked() -> None:
    page = tab()
    open_world(page, OURS, page.names.world)
    open_world(page, 4, "", frame="F")
    report(page, f"0 {DENIED}")
    asked = looking(page).step()
    assert isinstance(asked, Together)
    assert [call.params["contextId"] for call in asked.sends] == [4, 4]


def test_reports_of_the_document_before_do_not_count_for_this_one() -> None:
    page = tab()
    open_world(page, OURS, page.names.world)
    open_world(page, 5, "")
    report(page, f"0 {DENIED}")
    assert look(page, WHOLE_PAGE) is not None
    report(page, f'1 {CLOSING},"listened":true}}')
    assert page.leave_listeners.left((), "M") == 0
