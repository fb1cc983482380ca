"""Documents that listen for their end: which of them a navigation leaves behind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.tab.cdp_frames import FrameTree
from replaykit.recorder.browser.tab.farewells import Farewells

FRAMES = ("M", "a", "b", "c")
HEARD = st.sets(st.sampled_from(["click", "pagehide", "unload", "visibilitychange", "freeze", "load"]))


def tree() -> FrameTree:
    frames = FrameTree()
    frames.begin("M")
    frames.attach("a", "M")
    frames.attach("b", "a")
    frames.attach("c", "M")
    return frames


def test_page_takes_its_frames_with_it() -> None:
    farewells = Farewells(tree())
    farewells.looked(((), "b"), {"pagehide"})
    farewells.looked((("S",), "c"), {"visibilitychange", "click"})
    assert farewells.left((), "M") == 2
    assert farewells.left((), "M") == 0


def test_frame_leaves_others_where_they_are() -> None:
    farewells = Farewells(tree())
    for frame in FRAMES:
        farewells.looked(((), frame), {"unload"})
    assert farewells.left((), "a") == 2
    assert farewells.left((), "M") == 2


def test_last_look_counts() -> None:
    farewells = Farewells(tree())
    farewells.looked(((), "M"), {"pagehide"})
    farewells.looked(((), "M"), {"click"})
    assert farewells.left((), "M") == 0


def test_one_look_is_due_however_often_something_happened() -> None:
    farewells = Farewells(tree())
    assert not farewells.take_due()
    farewells.is_due = True
    assert farewells.take_due()
    assert not farewells.take_due()


@given(st.dictionaries(st.sampled_from(FRAMES), HEARD))
def test_each_is_left_once(heard: dict[str, set[str]]) -> None:
    farewells = Farewells(tree())
    for frame, events in heard.items():
        farewells.looked(((), frame), events)
    listening = sum(bool(events - {"click", "load"}) for events in heard.values())
    assert sum(farewells.left((), frame) for frame in reversed(FRAMES)) == listening
