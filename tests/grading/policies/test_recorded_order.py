"""The order of a run: a page is arrived at before it is looked at, whatever a busy recorder wrote."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.policies.events.recorded_order import in_order
from replaykit.trajectory.action import Goto
from replaykit.trajectory.exchange import Exchange, Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Event, Header, Step, Trajectory

A, B = "http://h.test/a", "http://h.test/b"


def went(t: int, url: str, page: int = 0) -> Navigation:
    return Navigation(t=t, page=page, url=url, kind="link", cause="step")


def look(t: int, url: str, page: int = 0) -> Observation:
    return Observation(t=t, page=page, url=url, role="after")


def placed(*events: Event) -> list[int]:
    """Return the numbers of these lines in the order in which they happened."""
    header = Header(created="2026-01-01T00:00:00.000Z", channels={}, task={})
    return [at for at, _ in in_order(Trajectory(header=header, events=events))]


def test_a_look_at_a_page_that_arrived_late_comes_after_the_navigation() -> None:
    assert placed(went(10, A), look(20, A), went(500, B), look(400, B)) == [0, 1, 2, 3]


def test_what_happened_before_the_look_stays_before_the_navigation() -> None:
    assert placed(went(10, A), went(500, B), look(400, B), look(300, A)) == [0, 3, 1, 2]


def test_an_older_look_at_the_same_address_comes_before() -> None:
    # There and back: the first look at A is no sign of the second arrival.
    assert placed(went(10, A), went(100, B), went(500, A), look(50, A)) == [0, 3, 1, 2]
    assert placed(went(10, A), went(500, A), look(50, A)) == [0, 2, 1]


def test_a_page_has_arrived_when_the_headers_of_its_document_have() -> None:
    sent = Exchange(t=100, page=0, id=7, method="GET", url=B, received=120)
    step = Step(t=150, page=0, index=0, action=Goto(url=A))
    late = msgspec.structs.replace(went(500, B), exchange=7)
    assert placed(went(10, A), late, step, sent) == [0, 3, 1, 2]


def test_a_page_arrives_after_the_one_that_it_replaces() -> None:
    early = Exchange(t=10, page=0, id=7, method="GET", url=B, received=20)
    assert placed(early, went(100, A), msgspec.structs.replace(went(101, B), exchange=7)) == [0, 1, 2]


def test_another_tab_that_shows_the_address_is_no_sign() -> None:
    assert placed(went(10, A), went(500, B), look(400, B, page=1)) == [0, 2, 1]


TIMES = st.integers(0, 50)
EVENTS = st.lists(
    st.one_of(
        st.builds(went, TIMES, st.sampled_from([A, B]), st.integers(0, 1)),
        st.builds(look, TIMES, st.sampled_from([A, B]), st.integers(0, 1)),
    ),
    max_size=12,
)


@given(EVENTS)
def test_every_line_has_its_place_and_looks_stay_in_order(events: list[Event]) -> None:
    order = placed(*events)
    assert sorted(order) == [*range(len(events))]
    times = [events[at].t or 0 for at in order if isinstance(events[at], Observation)]
    assert times == sorted(times)
