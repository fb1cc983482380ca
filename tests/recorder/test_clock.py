"""Ms since start, from four kinds of time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.session.clock import BACKLOG_MS, LAG_MAX_MS, Clock, offset


class Hands:
    """A clock that is turned by hand, in ms since recording start."""

    def __init__(self) -> None:
        self.ms = 0.0
        self.clock = Clock(wall=lambda: 1_000.0, ticks=lambda: self.ms / 1000)


def test_times_of_the_wall_are_counted_from_the_start() -> None:
    clock = Hands().clock
    assert clock.started == 1_000_000
    assert clock.of_epoch(1_000_250) == 250
    assert clock.of_epoch(999_000) == 0


def test_now_does_not_follow_the_wall() -> None:
    hands = Hands()
    hands.ms = 1234
    assert hands.clock.now() == 1234


def test_event_without_time_happened_on_arrival_while_events_come_at_once() -> None:
    hands = Hands()
    hands.ms = 500
    hands.clock.witnessed(490)
    hands.ms = 520
    assert hands.clock.arrived() == 520


def test_event_without_time_in_a_backlog_happened_with_its_neighbour() -> None:
    hands = Hands()
    hands.ms = 5000
    hands.clock.witnessed(5000 - LAG_MAX_MS - 1)
    assert hands.clock.arrived() == 5000 - LAG_MAX_MS - 1
    hands.clock.witnessed(5000)
    assert hands.clock.arrived() == 5000


def test_event_long_after_one_that_was_late_is_no_neighbour_of_it() -> None:
    hands = Hands()
    hands.ms = 5000
    hands.clock.witnessed(4000)
    hands.ms += BACKLOG_MS
    assert hands.clock.arrived() == 4000
    hands.ms += BACKLOG_MS
    assert hands.clock.arrived() == 4000
    hands.ms += BACKLOG_MS + 1
    assert hands.clock.arrived() == hands.ms
    hands.ms += 1
    assert hands.clock.arrived() == hands.ms


@given(st.floats(-1e6, 1e6), st.lists(st.tuples(st.floats(0, 100), st.floats(0, 1)), min_size=1))
def test_offset_errs_by_half_of_the_quickest_round_trip_at_most(
    ahead: float, trips: list[tuple[float, float]]
) -> None:
    samples = [(1e6, 1e6 + trip * share + ahead, 1e6 + trip) for trip, share in trips]
    quickest = min(trip for trip, _ in trips)
    assert abs(offset(samples) - ahead) <= quickest / 2 + 1e-6
