"""Commands that wait until the browser shows the document that it has answered for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.proxy.handovers import COMMIT_S, HELD_MAX, Handovers, Held
from replaykit.recorder.proxy.protocol_messages import Seat, Wire

NEXT = Wire(id=2, method="Page.navigate")
LOOK = Wire(id=3, method="Runtime.evaluate")


class Tab:
    """One tab, two sessions of agents on it, and a clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.handovers = Handovers(lambda: self.now)
        self.seats = [Seat("A", 1, "T"), Seat("B", 2, "T")]

    def holds(self, wire: Wire, seat: int = 0) -> bool:
        return self.handovers.holds(self.seats[seat], wire)

    def shows(self, loader: str, frame: str = "T") -> Held:
        return self.handovers.end("T", {"id": frame, "loaderId": loader})


def test_a_navigation_waits_for_the_commit_of_the_last() -> None:
    tab = Tab()
    tab.handovers.begin("T", "L1")
    assert tab.holds(NEXT)
    assert tab.shows("L1") == [(tab.seats[0], NEXT)]
    assert not tab.holds(NEXT)


def test_other_commands_go_on_unless_their_session_waits() -> None:
    tab = Tab()
    tab.handovers.begin("T", "L1")
    assert not tab.holds(LOOK)
    assert tab.holds(NEXT)
    assert tab.holds(LOOK)
    assert not tab.holds(LOOK, seat=1)
    assert tab.shows("L1") == [(tab.seats[0], NEXT), (tab.seats[0], LOOK)]


def test_a_document_that_is_shown_before_the_answer_holds_nothing() -> None:
    tab = Tab()
    assert tab.shows("L1") == []
    tab.handovers.begin("T", "L1")
    assert not tab.holds(NEXT)


def test_documents_of_frames_and_of_others_end_no_wait() -> None:
    tab = Tab()
    tab.handovers.begin("T", "L1")
    assert tab.holds(NEXT)
    assert tab.shows("L1", frame="F") == tab.shows("L0") == []
    assert len(tab.shows("L1")) == 1


def test_a_document_that_never_comes_is_not_waited_for() -> None:
    tab = Tab()
    tab.handovers.begin("T", "L1")
    assert tab.holds(NEXT)
    assert tab.handovers.overdue() == []
    tab.now = COMMIT_S
    assert tab.handovers.overdue() == [(tab.seats[0], NEXT)]
    assert not tab.holds(NEXT)


def test_what_waits_for_a_document_waits_for_the_one_that_takes_its_place() -> None:
    tab = Tab()
    tab.handovers.begin("T", "L1")
    assert tab.holds(NEXT)
    tab.handovers.begin("T", "L2")
    assert tab.shows("L1") == []
    assert tab.shows("L2") == [(tab.seats[0], NEXT)]


def test_what_waits_is_bounded() -> None:
    tab = Tab()
    tab.handovers.begin("T", "L1")
    assert sum(tab.holds(NEXT) for _ in range(HELD_MAX + 5)) == HELD_MAX


@given(st.lists(st.sampled_from(["begin", "end", "next", "look", "tick"])))
def test_all_commands_come_out_once_and_in_order(steps: list[str]) -> None:
    tab, out, number = Tab(), list[int](), 0
    for step in steps:
        if step == "begin":
            tab.handovers.begin("T", "L")
        elif step == "end":
            out += [int(str(wire.id)) for _, wire in tab.shows("L")]
        elif step == "tick":
            tab.now += COMMIT_S / 2
            out += [int(str(wire.id)) for _, wire in tab.handovers.overdue()]
        else:
            number += 1
            wire = Wire(id=number, method=str((NEXT if step == "next" else LOOK).method))
            out += [] if tab.holds(wire) else [number]
    tab.now += COMMIT_S
    out += [int(str(wire.id)) for _, wire in tab.handovers.overdue()]
    assert out == list(range(1, number + 1))
