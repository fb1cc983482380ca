"""Which screenshot shows what a step acted on, and whether its target may be drawn there."""

from __future__ import annotations

from typing import Any

from replaykit.report.html.observations import looks
from replaykit.trajectory.action import Click
from replaykit.trajectory.exchange import Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Header, Step, Trajectory

SCREENSHOT = "a" * 64
URL = "http://shop.test/"


def step(index: int, t: int | None, before: Observation | None = None) -> Step:
    return Step(index=index, action=Click(), page=0, t=t, before=before)


def look(t: int | None, url: str = URL, of: int | None = None, **more: Any) -> Observation:
    return Observation(
        role="after" if of is not None else "start",
        of=of,
        page=0,
        t=t,
        url=url,
        screenshot=SCREENSHOT,
        **more,
    )


def came(t: int | None, **more: Any) -> Navigation:
    return Navigation(url=URL, kind="link", page=0, t=t, **more)


def drawn(*events: Any) -> tuple[dict[int, int], set[int]]:
    found = looks(Trajectory(header=Header(channels={}), events=events))
    return found.shown, found.marked


def test_screenshot_of_the_look_inside_of_the_action() -> None:
    assert drawn(look(1), step(0, 5, look(4))) == ({0: 1}, {0})


def test_screenshot_of_the_same_document() -> None:
    assert drawn(came(0), look(1), step(0, 5)) == ({0: 0}, {0})


def test_no_target_on_a_screenshot_of_a_document_before_though_its_address_is_the_same() -> None:
    assert drawn(came(0), look(1), came(3), step(0, 5)) == ({0: 0}, set())


def test_a_late_screenshot_of_the_same_document_comes_before_an_earlier_one_of_another() -> None:
    events = (came(0), look(1), came(3), step(0, 5), step(1, 9), look(7, of=0), came(12))
    assert drawn(*events)[0] == {0: 0, 1: 1}
    assert drawn(*events)[1] == {1}


def test_a_late_screenshot_counts_by_when_it_was_taken() -> None:
    assert drawn(came(0), step(0, 2), step(1, 5), look(3, of=0, shot_t=9), came(8))[1] == set()


def test_what_is_no_document_of_the_tab_does_not_count() -> None:
    others = [came(3, same_document=True), came(3, frame=(0,)), came(3, committed=False)]
    others += [Navigation(url=URL, kind="link", page=1, t=3)]
    assert drawn(came(0), look(1), *others, step(0, 5)) == ({0: 0}, {0})


def test_without_times_the_order_is_unknown() -> None:
    assert drawn(came(None), look(None), step(0, None)) == ({0: 0}, set())
