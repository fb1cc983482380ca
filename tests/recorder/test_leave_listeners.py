"""Documents that listen for their end: which of them a navigation leaves behind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.tab.cdp_frames import FrameTree
from replaykit.recorder.browser.tab.leave_listeners import PARTING_MS, LeaveListeners

FRAMES = ("M", "a", "b", "c")
EVENTS = st.sets(st.sampled_from(["click", "pagehide", "unload", "visibilitychange", "freeze", "load"]))


def tree() -> FrameTree:
    frames = FrameTree()
    frames.begin("M")
    frames.attach("a", "M")
    frames.attach("b", "a")
    frames.attach("c", "M")
    return frames


def test_page_takes_its_frames_with_it() -> None:
    leave_listeners = LeaveListeners(tree())
    leave_listeners.looked(((), "b"), {"pagehide"})
    leave_listeners.looked((("S",), "c"), {"visibilitychange", "click"})
    assert leave_listeners.left((), "M") == 2
    assert leave_listeners.left((), "M") == 0


def test_frame_leaves_others_where_they_are() -> None:
    leave_listeners = LeaveListeners(tree())
    for frame in FRAMES:
        leave_listeners.looked(((), frame), {"unload"})
    assert leave_listeners.left((), "a") == 2
    assert leave_listeners.left((), "M") == 2


def test_last_look_counts() -> None:
    leave_listeners = LeaveListeners(tree())
    leave_listeners.looked(((), "M"), {"pagehide"})
    leave_listeners.looked(((), "M"), {"click"})
    assert leave_listeners.left((), "M") == 0


def test_one_look_is_due_however_often_something_happened() -> None:
    leave_listeners = LeaveListeners(tree())
    assert not leave_listeners.take_due()
    leave_listeners.happened(("S",))
    leave_listeners.happened(("S",))
    assert leave_listeners.take_due() == {("S",)}
    assert not leave_listeners.take_due()


def test_what_happens_while_somebody_looks_is_due_afterwards() -> None:
    leave_listeners = LeaveListeners(tree())
    leave_listeners.is_looking = True
    leave_listeners.happened(())
    assert not leave_listeners.take_due()
    leave_listeners.is_looking = False
    assert leave_listeners.take_due() == {()}


def test_agent_script_may_have_changed_every_document() -> None:
    leave_listeners, looks = LeaveListeners(tree()), list[frozenset[tuple[str, ...]]]()
    leave_listeners.wake = lambda: looks.append(leave_listeners.take_due())
    leave_listeners.happened(("S",))
    leave_listeners.ask()
    assert looks == [{(), ("S",)}]


@given(st.dictionaries(st.sampled_from(FRAMES), EVENTS))
def test_each_is_left_once(events_by_frame: dict[str, set[str]]) -> None:
    leave_listeners = LeaveListeners(tree())
    for frame, events in events_by_frame.items():
        leave_listeners.looked(((), frame), events)
    listening = sum(bool(events - {"click", "load"}) for events in events_by_frame.values())
    assert sum(leave_listeners.left((), frame) for frame in reversed(FRAMES)) == listening


def test_a_document_that_can_deny_no_more_may_listen_until_it_is_asked() -> None:
    leave_listeners = LeaveListeners(tree())
    leave_listeners.doubt(((), "M"))
    assert not leave_listeners.is_listening(((), "M"))
    leave_listeners.looked(((), "M"), set())
    assert leave_listeners.left((), "M") == 0
    leave_listeners.doubt(((), "M"))
    assert leave_listeners.left((), "M") == 1


def closing(via: tuple[str, ...], *, unasked: bool = False, until: float = 0.0) -> int:
    leave_listeners = LeaveListeners(FrameTree())
    spot = (via, "F")
    if not unasked:
        leave_listeners.looked(spot, {"pagehide"})
    # The page around it reports first that it is gone, and then the browser.
    leave_listeners.removed((), "F", 10.0)
    leave_listeners.removed(via, "F", 10.0, [spot] if unasked else ())
    return leave_listeners.ended((), 10.0 + until)


@pytest.mark.parametrize("unasked", [False, True])
@pytest.mark.parametrize(
    ("via", "until", "count"), [(("S",), 0.0, 1), (("S",), PARTING_MS + 1, 0), ((), 0.0, 0)], ids=str
)
def test_frame_in_another_process_goes_with_the_tab_that_closes(
    via: tuple[str, ...], until: float, count: int, unasked: bool
) -> None:
    assert closing(via, unasked=unasked, until=until) == count


def test_all_frames_that_go_with_a_tab_count() -> None:
    leave_listeners = LeaveListeners(FrameTree())
    for at, frame in ((0.0, "A"), (5000.0, "B"), (5001.0, "C")):
        leave_listeners.looked(((frame,), frame), {"unload"})
        leave_listeners.removed((frame,), frame, at)
    assert leave_listeners.ended((), 5002.0) == 2
