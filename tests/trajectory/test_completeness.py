"""States of channels: what a header promises has to be proven, and a gap or a missing end undoes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit.testing import trajectory
from replaykit.trajectory.completeness import (
    STATES,
    assumes,
    broke_off,
    channel_lines,
    lacking,
    state_of,
    weakest,
)
from replaykit.trajectory.completeness_proof import NEEDS, WITNESSES, Proof
from replaykit.trajectory.step import CHANNELS, Source, Trajectory


def proven(*witnesses: str) -> Trajectory:
    return trajectory().proven(*witnesses).end().build()


def test_a_channel_is_proven_by_all_of_its_witnesses() -> None:
    run = proven()
    assert {name for name in CHANNELS if state_of(run, name).state == "proven"} == set(NEEDS)
    assert (
        channel_lines(run)[0]
        == "proven: actions, dialogs, messages, network, replies, snapshots, targets, urls"
    )


def test_without_a_promise_a_channel_is_recorded_and_owes_nothing() -> None:
    run = trajectory().end().build()
    assert state_of(run, "network") == ("recorded", ("witness:census", "witness:netlog", "witness:commands"))
    assert str(state_of(run, "network")) == "recorded (not watched by census, netlog, commands)"
    assert lacking(run, "network") == ()


@pytest.mark.parametrize("channel", sorted(NEEDS))
def test_a_promise_that_is_not_kept_makes_a_channel_partial(channel: str) -> None:
    for witness in NEEDS[channel]:
        run = proven()
        kept = [e for e in run.events if not (isinstance(e, Proof) and e.witness == witness)]
        open_ = [
            replace(e, closed=False) if isinstance(e, Proof) and e.witness == witness else e
            for e in run.events
        ]
        for events in (kept, open_):
            found = state_of(replace(run, events=tuple(events)), channel)
            assert found == ("partial", (f"proof:{witness}",))
            assert lacking(replace(run, events=tuple(events)), channel) == (f"proof:{witness}",)


def test_what_a_witness_lacks_is_named() -> None:
    run = trajectory(witnesses=("ledger",)).proof("ledger", lacks=("document.unclosed",)).end().build()
    assert state_of(run, "actions").why == ("proof:ledger", "document.unclosed")


def test_a_gap_concerns_its_own_channel() -> None:
    run = trajectory().gap("network", "socket.late").gap("actions", "flood").proven().end().build()
    assert state_of(run, "network") == ("partial", ("socket.late",))
    assert lacking(run, "network") == ("socket.late",)
    assert state_of(run, "urls").state == "proven"


@pytest.mark.parametrize(
    ("kind", "cause", "is_cut"),
    [
        ("answered", "agent", False),
        ("timeout", "harness", False),
        ("crashed", "agent", False),
        ("crashed", "browser", True),
        ("unknown", "harness", True),
    ],
)
def test_which_endings_leave_nothing_open(kind: str, cause: str, is_cut: bool) -> None:
    run = trajectory().proven().end(kind, cause=cause).build()
    assert broke_off(run) is is_cut
    assert ("trajectory.end" in lacking(run, "network")) is is_cut


def test_a_recording_without_an_end_lacks_it_in_every_channel() -> None:
    run = trajectory().proven().build()
    assert all(state_of(run, name) == ("partial", ("trajectory.end",)) for name in NEEDS)


@pytest.mark.parametrize(("why", "state"), [("tab.late", "recorded"), ("socket.late", "partial")])
def test_a_closed_net_log_fills_the_gaps_of_unobserved_requests(why: str, state: str) -> None:
    run = trajectory().proven("netlog").gap("network", why).end().build()
    assert state_of(run, "network").state == state
    assert state_of(trajectory().gap("network", why).end().build(), "network").state == "partial"
    unclosed = trajectory().proven("netlog").gap("network", why).end().build()
    lines = [one for one in unclosed.events if not isinstance(one, Proof)]
    assert state_of(replace(unclosed, events=tuple(lines)), "network").state == "partial"


def test_a_gap_in_words_of_its_own_is_named_by_its_channel() -> None:
    run = trajectory().gap("network", "timeout").build()
    assert lacking(run, "network") == ("network", "trajectory.end")


def test_absent_stays_absent_whatever_is_promised() -> None:
    run = trajectory(channels={"network": "absent"}).proven().end().build()
    assert (state_of(run, "network").state, state_of(run, "urls").state) == ("absent", "absent")
    assert lacking(run, "network") == ("network",)


def test_whose_tricks_would_have_been_noticed() -> None:
    assert assumes(proven("page", "ledger", "census")) == "page"
    assert assumes(proven("commands")) == "cooperative agent"
    assert assumes(trajectory(agent_access="proxy").proven("commands").end().build()) == "command agent"


@given(st.lists(st.sampled_from(WITNESSES), unique=True), st.sets(st.integers(0, 5)), st.booleans())
def test_losing_a_proof_never_strengthens_a_channel(promised: list[str], lost: set[int], ended: bool) -> None:
    builder = trajectory().proven(*promised) if promised else trajectory()
    run = (builder.end() if ended else builder).build()
    part = replace(run, events=tuple(event for at, event in enumerate(run.events) if at not in lost))
    for name in CHANNELS:
        assert STATES.index(state_of(part, name).state) >= STATES.index(state_of(run, name).state)


def test_the_weakest_counts() -> None:
    assert weakest(["proven", "recorded", "proven"]) == "recorded"
    assert weakest([]) is None


def test_an_archive_of_a_network_ends_with_its_file() -> None:
    run = trajectory(source=Source(format="har")).end("unknown").build()
    assert lacking(run, "network") == ()
    assert "trajectory.end" in lacking(run, "urls")
