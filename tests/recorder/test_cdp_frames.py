from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.tab.cdp_frames import MESSAGES_MAX, UNITS_MAX, Flood, FrameTree
from replaykit.recorder.session.driver_messages import MAIN


@pytest.fixture
def frames() -> FrameTree:
    """Main frame M with A, B and in B the frame C."""
    made = FrameTree()
    made.begin("M")
    for frame, parent in (("A", "M"), ("B", "M"), ("C", "B")):
        made.attach(frame, parent)
    return made


def test_places_are_those_among_siblings_in_order_of_coming(frames: FrameTree) -> None:
    assert [frames.path(name) for name in ("M", "A", "B", "C", "unknown", None)] == [
        (), (0,), (1,), (1, 0), (), (),
    ]  # fmt: skip
    assert not frames.knows("unknown")


def test_a_document_knows_better_where_its_frames_stand(frames: FrameTree) -> None:
    frames.attach("D", "M")
    frames.place("D", "M", (0,))
    assert [frames.path(name) for name in ("A", "B", "C", "D")] == [(1,), (2,), (2, 0), (0,)]


def test_a_document_counts_frames_from_itself(frames: FrameTree) -> None:
    frames.attach("D", "C")
    frames.place("D", "M", (4, 0, 7))
    assert frames.path("D") == (4, 0, 7)
    frames.place("C", "B", (2,))
    frames.place("D", "B", (2, 1))
    assert frames.path("D") == (1, 2, 1)


def test_a_frame_cannot_stand_in_itself(frames: FrameTree) -> None:
    frames.place("A", "A", (0,))
    frames.place("B", "C", (0,))
    frames.place("C", "B", (0,))
    assert len(frames.path("C")) <= 4


def test_who_goes_takes_what_is_inside_along(frames: FrameTree) -> None:
    frames.reporters |= {"A": 0, "C": 2}
    frames.owned |= {"A", "C"}
    assert frames.detach("B") == ["C"]
    assert (frames.reporters, frames.owned) == ({"A": 0}, {"A"})
    assert not frames.knows("C")


def test_the_outermost_document_that_can_read_a_frame_reports_for_it(frames: FrameTree) -> None:
    assert frames.reporter("C") == "M"
    frames.reporters["B"] = 0
    assert frames.reporter("C") == "B"
    assert frames.source("B", 0) == ("B", 0)
    assert frames.source("M", 5) == MAIN


def test_another_document_is_another_source(frames: FrameTree) -> None:
    assert [frames.renew("A"), frames.renew("A"), frames.renew("B")] == [0, 1, 0]
    frames.begin("M")
    assert not frames.knows("A")
    assert frames.renew("A") == 0


@given(st.lists(st.tuples(st.sampled_from("adpr"), st.sampled_from("MABCDE"), st.sampled_from("MABCDE"))))
def test_no_order_of_events_loops_or_gives_two_frames_one_slot(events: list[tuple[str, str, str]]) -> None:
    frames = FrameTree()
    frames.begin("M")
    for kind, one, other in events:
        if kind == "a" and frames.knows(other):
            frames.attach(one, other)
        elif kind == "d" and one != "M":
            frames.detach(one)
        elif kind == "p":
            frames.place(one, other, (len(one + other),))
        frames.path(one)
    known = [name for name in "ABCDE" if frames.knows(name)]
    if not any(kind == "p" for kind, _, _ in events):
        paths = [frames.path(name) for name in known]
        assert len(set(paths)) == len(known)
        assert all(paths)


def test_messages_of_all_frames_together_are_limited() -> None:
    flood = Flood()
    passed = [flood.admits(10, 5.0) for _ in range(MESSAGES_MAX + 3)]
    assert sum(passed) == MESSAGES_MAX
    assert flood.dropped == 0
    assert flood.admits(UNITS_MAX, 1005.0)
    assert flood.dropped == 3
    assert not flood.admits(1, 1006.0)
    assert flood.admits(1, 2100.0)
    assert flood.dropped == 4
