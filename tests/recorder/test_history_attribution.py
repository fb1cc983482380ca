"""Moves in the history after a gesture: whose they are, by what driver and browser say."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.recorder.session import driver_messages as m
from replaykit.trajectory.action import Click, Element, GoBack, Unknown
from replaykit.trajectory.exchange import Navigation

BUTTON = Element(tag="button", css="#pay", attributes={"id": "pay"})
A = "http://shop.test/a"
SHOP = "http://shop.test"


def moved(driver: Any, at: float = 1400, **more: Any) -> Any:
    return driver.navigate(A, at, navigation_type="historyDifferentDocument", direction="back", **more)


def kinds(driver: Any) -> list[type]:
    return [type(action) for action in driver.actions]


def navigations(driver: Any) -> list[tuple[str, str, bool, int | None]]:
    return [(one.kind, one.cause, one.ambiguous, one.step) for one in driver.of(Navigation)]


AGENTS = [("back", "agent", False, 1)]
PAGES = [("back", "step", True, 0)]
OWN = [("back", "step", False, 0)]
LATE = [("back", "script", False, None)]


def test_an_agent_that_calls_its_driver_goes_back(driver: Any) -> None:
    driver.click(BUTTON, 1000).feed(m.HistoryCall(at=1390, page=0))
    moved(driver).feed(m.HistoryCall(at=1450, page=0, is_over=True)).wait(1000)
    assert (kinds(driver), navigations(driver)) == ([Click, GoBack], AGENTS)


def test_the_end_waits_for_a_move_that_was_asked_for_last(driver: Any) -> None:
    driver.click(BUTTON, 1000).wait(1000)
    driver.feed(m.HistoryCall(at=2390, page=0), m.End(at=2400, kind="stopped"))
    moved(driver, 2500).wait(2000)
    assert (kinds(driver), navigations(driver)) == ([Click, GoBack], AGENTS)


@pytest.mark.parametrize("calls", [[(1300, False), (1350, True)], [(1300, True)]])
def test_a_call_that_is_over_goes_nowhere(driver: Any, calls: list[tuple[float, bool]]) -> None:
    driver.click(BUTTON, 1000)
    for at, is_over in calls:
        driver.feed(m.HistoryCall(at=at, page=0, is_over=is_over))
    moved(driver).wait(1000)
    assert (kinds(driver), navigations(driver)) == ([Click], PAGES)


def test_one_call_goes_back_once(driver: Any) -> None:
    driver.click(BUTTON, 1000).feed(m.HistoryCall(at=1390, page=0))
    moved(driver).click(BUTTON, 1500, document=1)
    moved(driver, 1700).wait(1000)
    assert kinds(driver) == [Click, GoBack, Click]
    assert navigations(driver) == [*AGENTS, ("back", "step", True, 2)]


def test_a_call_in_another_tab_is_not_of_this_one(driver: Any) -> None:
    driver.open(1, "about:blank", existing=True).click(BUTTON, 1000).feed(m.HistoryCall(at=1390, page=1))
    moved(driver).wait(1000)
    assert GoBack not in kinds(driver)


def test_a_call_makes_no_link_the_agents(driver: Any) -> None:
    driver.click(BUTTON, 1000).feed(m.HistoryCall(at=1390, page=0))
    driver.navigate(A, 1400, reason="anchorClick").wait(1000)
    assert navigations(driver) == [("link", "step", False, 0)]


@pytest.mark.parametrize(
    ("activated", "origin", "active", "expected"),
    [
        (SHOP, SHOP, False, AGENTS),
        (SHOP, SHOP, True, OWN),
        (SHOP, "http://other.test", False, PAGES),
        (SHOP, "null", False, PAGES),
        ("", "", False, PAGES),
        (SHOP, SHOP, None, PAGES),
    ],
)
def test_a_new_document_reports_whether_it_was_activated(
    driver: Any, activated: str, origin: str, active: bool | None, expected: list[Any]
) -> None:
    driver.click(BUTTON, 1000, activated=activated)
    moved(driver).event("arrived", at=1420, active=active, origin=origin).wait(1000)
    assert navigations(driver) == expected
    assert kinds(driver) == ([Click, GoBack] if expected is AGENTS else [Click])


def test_the_report_of_another_document_does_not_count(driver: Any) -> None:
    driver.click(BUTTON, 1000, activated=SHOP)
    moved(driver).event("arrived", at=1420, document=0, active=False, origin=SHOP).wait(1000)
    assert navigations(driver) == PAGES


def test_without_a_report_of_the_page_nothing_is_certain(driver: Any) -> None:
    driver.click(BUTTON, 1000, activated=SHOP)
    moved(driver)
    assert navigations(driver) == []
    driver.wait(500)
    assert navigations(driver) == PAGES
    driver.event("arrived", at=2000, active=False, origin=SHOP).wait(1000)
    assert (kinds(driver), navigations(driver)) == ([Click], PAGES)


def test_a_report_after_another_action_has_begun_is_too_late(driver: Any) -> None:
    driver.open(1, "http://other.test/", existing=True)
    driver.click(BUTTON, 1000, activated=SHOP)
    moved(driver).click(BUTTON, 1410, page=1, document=0)
    driver.event("arrived", at=1420, active=False, origin=SHOP).wait(1000)
    assert GoBack not in kinds(driver)


def test_the_next_document_ends_the_wait(driver: Any) -> None:
    driver.click(BUTTON, 1000, activated=SHOP)
    moved(driver).navigate("http://shop.test/b", 1420)
    assert navigations(driver)[0] == PAGES[0]


def test_the_activation_of_the_page_before_is_forgotten(driver: Any) -> None:
    driver.click(BUTTON, 1000, activated=SHOP).navigate("http://shop.test/b", 1100)
    driver.click(BUTTON, 1300)
    moved(driver).event("arrived", at=1420, active=False, origin=SHOP).wait(1000)
    assert navigations(driver)[-1][1:3] == ("step", True)


@pytest.mark.parametrize(
    ("activated", "origin", "active", "expected"),
    [
        (SHOP, SHOP, True, LATE),
        (SHOP, SHOP, False, AGENTS),
        (SHOP, "http://other.test", True, AGENTS),
        (SHOP, SHOP, None, AGENTS),
        ("", SHOP, True, AGENTS),
    ],
)
def test_long_after_a_gesture_a_page_goes_back_where_that_is_certain(
    driver: Any, activated: str, origin: str, active: bool | None, expected: list[Any]
) -> None:
    driver.click(BUTTON, 1000, activated=activated)
    moved(driver, 4000).event("arrived", at=4020, active=active, origin=origin).wait(1000)
    assert navigations(driver) == expected
    assert kinds(driver) == ([Click, GoBack] if expected is AGENTS else [Click])


def test_a_page_out_of_the_cache_sends_no_first_message(driver: Any) -> None:
    driver.click(BUTTON, 1000, activated=SHOP)
    moved(driver, 4000, is_kept=True)
    assert (kinds(driver), navigations(driver)) == ([Click, GoBack], AGENTS)


@pytest.mark.parametrize("at", [1400, 4000])
def test_what_never_arrives_is_the_agents_where_no_gesture_is_near(driver: Any, at: float) -> None:
    where = {"page": 0, "document": 1, "url": A, "navigation_type": "historyDifferentDocument"}
    driver.click(BUTTON, 1000, activated=SHOP).feed(m.Navigated(at=at, stage="started", **where)).end()
    assert kinds(driver) == ([Click] if at == 1400 else [Click, Unknown])


def within(driver: Any, at: float, asked: bool | None) -> Any:
    driver.replies["history"] = "back"
    where = {"page": 0, "document": 0, "url": "http://shop.test/#x"}
    driver.feed(m.Navigated(at=at, stage="started", navigation_type="historySameDocument", **where))
    if asked is not None:
        driver.event("travelled", at=at + 1, asked=asked)
    return driver.feed(m.Navigated(at=at + 2, stage="within", navigation_type="historySameDocument", **where))


@pytest.mark.parametrize(
    ("at", "asked", "expected"),
    [
        (1400, True, AGENTS),
        (1400, False, OWN),
        (1400, None, PAGES),
        (4000, True, AGENTS),
        (4000, False, LATE),
        (4000, None, AGENTS),
    ],
)
def test_within_a_document_the_page_receives_the_traversal(
    driver: Any, at: float, asked: bool | None, expected: list[Any]
) -> None:
    driver.click(BUTTON, 1000, activated=SHOP)
    within(driver, at, asked).wait(1000)
    assert navigations(driver) == expected
    assert kinds(driver) == ([Click, GoBack] if expected is AGENTS else [Click])


def test_a_frame_says_nothing_of_its_page(driver: Any) -> None:
    driver.click(BUTTON, 1000, activated=SHOP)
    moved(driver).event("arrived", at=1420, frame=(0,), active=False, origin=SHOP).wait(1000)
    assert navigations(driver) == PAGES


def test_the_click_before_is_shown_as_it_was_left(driver: Any) -> None:
    driver.push("rest", "start", 900)
    driver.click(BUTTON, 1000, activated=SHOP)
    clicked = driver.push("early", "clicked", 1050)
    moved(driver).event("arrived", at=1420, active=False, origin=SHOP)
    driver.push("rest", "back again", 1600, document=1)
    driver.wait(1000)
    first, second = (next(look for look in driver.looks() if look.of == step) for step in (0, 1))
    assert (first.seq, first.settled, first.screenshot) == (clicked, False, None)
    assert second.t == 1600
    assert driver.steps[1].before.seq == clicked
