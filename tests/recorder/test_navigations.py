"""Navigations as they come, stage by stage."""

from __future__ import annotations

import pytest

from replaykit.recorder.session import driver_messages as m
from replaykit.recorder.session import request_messages as requests
from replaykit.recorder.session.navigation.requested_addresses import ELSEWHERE_MAX
from replaykit.recorder.session.session import SessionOptions
from replaykit.trajectory.action import Click, DblClick, Element, GoBack, GoForward, Goto, Reload, Unknown
from replaykit.trajectory.exchange import Gap, Navigation

BUTTON = Element(tag="button", css="#pay", attributes={"id": "pay"})
A = "http://shop.test/a"


def test_a_goto_is_a_step(driver) -> None:
    driver.navigate(A, 1000)
    (step,), (navigation,) = driver.steps, driver.of(Navigation)
    assert (type(step.action), step.action.url, step.t, step.end) == (Goto, A, 1000, 1005)
    assert step.url == A and step.before is not None
    assert (navigation.kind, navigation.cause, navigation.step) == ("goto", "agent", 0)


@pytest.mark.parametrize(("direction", "kind"), [("back", GoBack), ("forward", GoForward), (None, Unknown)])
def test_the_history_shows_the_direction(driver, direction: str | None, kind: type) -> None:
    driver.replies["history"] = direction
    driver.navigate(A, 1000, navigation_type="historyDifferentDocument")
    assert [type(a) for a in driver.actions] == [kind]
    assert driver.of(Navigation)[0].kind == (direction or "unknown")


def test_a_direction_that_the_driver_knows_is_not_asked_for(driver) -> None:
    driver.navigate(A, 1000, navigation_type="historyDifferentDocument", direction="back")
    assert [type(a) for a in driver.actions] == [GoBack]
    assert [one for one in driver.commands(m.ReadPage) if one.what == "history"] == []


def test_steps_wait_for_the_direction_of_the_one_before(driver) -> None:
    driver.hold = True
    driver.navigate(A, 1000, navigation_type="historyDifferentDocument")
    driver.click(BUTTON, 1100).wait(1000)
    assert driver.steps == []
    driver.replies["history"] = "back"
    driver.answer_held()
    assert [(type(s.action), s.index) for s in driver.steps] == [(GoBack, 0), (Click, 1)]


def test_the_pages_own_back_button_is_its_step(driver) -> None:
    driver.replies["history"] = "back"
    driver.click(BUTTON, 1000)
    driver.navigate(A, 1400, navigation_type="historyDifferentDocument", direction="back")
    assert [type(a) for a in driver.actions] == [Click]
    (navigation,) = driver.of(Navigation)
    assert (navigation.kind, navigation.cause, navigation.ambiguous, navigation.step) == (
        "back",
        "step",
        True,
        0,
    )


@pytest.mark.parametrize("direction", ["back", "forward", None])
def test_the_history_shows_the_direction_within_a_document_as_well(driver, direction: str | None) -> None:
    driver.replies["history"] = direction
    driver.click(BUTTON, 1000)
    where = {"page": 0, "document": 0, "url": "http://shop.test/#x"}
    driver.feed(m.Navigated(at=1400, stage="started", navigation_type="historySameDocument", **where))
    driver.feed(m.Navigated(at=1402, stage="within", navigation_type="historySameDocument", **where))
    driver.click(BUTTON, 1500).wait(1000)
    assert [type(a) for a in driver.actions] == [Click, Click]
    (one,) = driver.of(Navigation)
    assert (one.kind, one.cause, one.ambiguous, one.step) == (direction or "unknown", "step", True, 0)


def test_a_move_that_never_arrives_has_no_direction(driver) -> None:
    driver.replies["history"] = "back"
    driver.click(BUTTON, 1000)
    where = {"page": 0, "document": 0, "url": A, "navigation_type": "historyDifferentDocument"}
    driver.feed(m.Navigated(at=1400, stage="started", **where))
    driver.feed(m.Navigated(at=1402, stage="failed", error="net::ERR_FAILED", **where)).wait(1000)
    assert [(one.kind, one.committed) for one in driver.of(Navigation)] == [("unknown", False)]


def test_a_reload_by_the_agent_and_one_by_the_page(driver) -> None:
    driver.navigate(A, 1000, navigation_type="reload")
    driver.navigate(A, 3000, navigation_type="reload", reason="reload")
    assert [type(a) for a in driver.actions] == [Reload]
    assert [(n.cause, n.step) for n in driver.of(Navigation)] == [("agent", 0), ("script", None)]


def test_a_link_long_after_the_click_is_the_scripts(driver) -> None:
    driver.click(BUTTON, 1000).wait(1000)
    driver.navigate(A, 2001, reason="anchorClick")
    assert [(n.kind, n.cause, n.step) for n in driver.of(Navigation)] == [("link", "script", None)]


def test_a_change_within_the_document(driver) -> None:
    driver.click(BUTTON, 1000)
    within = m.Navigated(at=1020, page=0, document=0, url=A, stage="within", navigation_type="historyApi")
    driver.feed(within).wait(1000)
    (navigation,) = driver.of(Navigation)
    assert (navigation.kind, navigation.same_document, navigation.step) == ("push", True, 0)
    assert driver.session._tabs.get(0).document == 0


def test_a_change_within_the_document_leaves_a_double_click_one(driver) -> None:
    driver.click(BUTTON, 1000)
    within = m.Navigated(at=1020, page=0, document=0, url=A, stage="within", navigation_type="fragment")
    driver.feed(within)
    driver.event("pointerdown", BUTTON, 1100, point=[5, 6], button=0)
    driver.event("pointerup", BUTTON, 1110, point=[5, 6], button=0)
    driver.event("click", BUTTON, 1110, button=0, detail=2)
    driver.event("dblclick", BUTTON, 1110, button=0).wait(2000)
    assert [type(action) for action in driver.actions] == [DblClick]


def test_a_goto_within_the_document_is_a_step(driver) -> None:
    where = {"page": 0, "document": 0, "url": "http://shop.test/#x"}
    driver.feed(m.Navigated(at=1000, stage="started", navigation_type="sameDocument", **where))
    driver.feed(m.Navigated(at=1001, stage="within", navigation_type="fragment", **where))
    assert [type(a) for a in driver.actions] == [Goto]


def test_a_change_within_does_not_end_another_navigation(driver) -> None:
    where = {"page": 0, "document": 1, "url": A}
    driver.feed(m.Navigated(at=1000, stage="started", navigation_type="differentDocument", **where))
    driver.feed(
        m.Navigated(at=1001, page=0, document=0, url="x", stage="within", navigation_type="historyApi")
    )
    driver.feed(m.Navigated(at=1002, stage="committed", **where))
    assert [(n.kind, n.url) for n in driver.of(Navigation)] == [("push", "x"), ("goto", A)]
    assert [a.url for a in driver.actions] == [A]


def test_a_navigation_that_never_arrives(driver) -> None:
    where = {"page": 0, "document": 1, "url": A}
    driver.feed(m.Navigated(at=1000, stage="started", navigation_type="differentDocument", **where))
    driver.feed(m.Navigated(at=1300, stage="failed", error="net::ERR_CONNECTION_REFUSED", **where))
    (step,), (navigation,) = driver.steps, driver.of(Navigation)
    assert (step.error.name, step.done, step.url) == (
        "net::ERR_CONNECTION_REFUSED",
        False,
        "http://shop.test/",
    )
    assert (navigation.committed, navigation.error, navigation.step) == (False, step.error.name, 0)


def test_a_navigation_that_another_replaces_is_still_a_step(driver) -> None:
    for at, url in ((1000, A), (1100, "http://shop.test/b")):
        where = {"page": 0, "document": 1, "url": url}
        driver.feed(m.Navigated(at=at, stage="started", navigation_type="differentDocument", **where))
    driver.feed(m.Navigated(at=1200, stage="committed", **where))
    assert [(s.action.url, s.error is None) for s in driver.steps] == [
        (A, False),
        ("http://shop.test/b", True),
    ]


def test_frames_are_no_navigations(driver) -> None:
    driver.feed(m.Navigated(at=1, page=0, frame=(0,), document=0, url=A, stage="committed"))
    assert driver.of(Navigation) == [] and driver.steps == []


def test_the_first_navigation_of_a_popup(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.open(1, "about:blank", opener=0)
    driver.feed(m.Navigated(at=1100, page=1, document=1, url=A, stage="committed", navigation_type="x"))
    assert [(n.kind, n.cause, n.page, n.step) for n in driver.wait(1000).of(Navigation)] == [
        ("popup", "step", 1, 0)
    ]


def test_the_url_of_a_new_tab_is_no_goto(driver) -> None:
    driver.wait(100).open(1, A)
    where = {"page": 1, "document": 1, "url": "http://shop.test/next"}
    driver.feed(m.Navigated(at=500, stage="started", navigation_type="differentDocument", **where))
    driver.feed(m.Navigated(at=501, stage="committed", **where))
    assert [getattr(a, "url", None) for a in driver.actions] == [A, "http://shop.test/next"]
    assert [n.url for n in driver.of(Navigation)] == [A, "http://shop.test/next"]


def test_status_and_exchange_by_address_where_no_id_is_known(driver) -> None:
    driver.feed(requests.Requested(at=900, request="7", page=0, method="GET", url=A, resource="document"))
    driver.feed(requests.Responded(at=950, request="7", status=404))
    driver.navigate(f"{A}#top", 1000)
    (navigation,) = driver.of(Navigation)
    assert (navigation.exchange, navigation.status) == (0, 404)


def loading(driver, url: str, at: float, loader: str, **more) -> None:
    """Start a navigation by a link."""
    place = {"page": 0, "document": driver.document + 1, "url": url}
    driver.feed(m.Navigated(at=at, stage="requested", reason="anchorClick", **place))
    driver.feed(
        m.Navigated(
            at=at + 1, stage="started", navigation_type="differentDocument", loader=loader, **place, **more
        )
    )


def come(driver, url: str, at: float, **more) -> None:
    driver.feed(m.Navigated(at=at, page=0, document=1, url=url, stage="committed", **more))


def asked(driver) -> list[tuple[str, str | None, bool, int | None]]:
    return [(one.url[-2:], one.requested, one.committed, one.page) for one in driver.of(Navigation)]


@pytest.mark.parametrize("network", ["off", "meta"])
def test_where_redirects_began_is_kept(new_driver, network: str) -> None:
    driver = new_driver(SessionOptions(network=network)).open()
    loading(driver, A, 1000, "L1")
    come(driver, "http://shop.test/b", 1005)
    loading(driver, "http://shop.test/c#part", 2000, "L2")
    come(driver, "http://shop.test/c", 2005)
    assert asked(driver) == [("/b", A, True, 0), ("/c", None, True, 0)]


def test_what_a_goto_asked_for_its_action_states(driver) -> None:
    place = {"page": 0, "document": 1, "url": A}
    driver.feed(m.Navigated(at=1000, stage="started", navigation_type="differentDocument", **place))
    come(driver, "http://shop.test/b", 1005)
    assert asked(driver) == [("/b", None, True, 0)]
    assert [step.action.url for step in driver.steps] == [A]


@pytest.mark.parametrize("network", ["off", "meta"])
def test_what_led_nowhere_is_reported_where_the_network_is_not_recorded(new_driver, network: str) -> None:
    driver = new_driver(SessionOptions(network=network)).open()
    loading(driver, A, 1000, "L1")
    loading(driver, "http://shop.test/b", 2000, "L2")
    come(driver, "http://shop.test/b", 2005)
    loading(driver, "http://shop.test/c", 3000, "L3")
    driver.end()
    found = [(one.url[-2:], one.t, one.error) for one in driver.of(Navigation) if not one.committed]
    assert found == ([("/a", 1000, None), ("/c", 3000, None)] if network == "off" else [])


def test_a_failure_belongs_to_the_navigation_that_failed(driver) -> None:
    loading(driver, A, 1000, "L1")
    loading(driver, "http://shop.test/b", 2000, "L2")
    gone = {"page": 0, "document": 1, "url": A, "error": "net::ERR_ABORTED", "loader": "L1"}
    driver.feed(m.Navigated(at=2001, stage="failed", **gone))
    come(driver, "http://shop.test/c", 2005)
    assert asked(driver) == [("/a", None, False, 0), ("/c", "http://shop.test/b", True, 0)]
    assert driver.steps == []


def test_an_address_for_a_tab_that_shows_nothing_is_reported_once(driver) -> None:
    for url in (A, "http://shop.test/b", "about:blank", "javascript:void 0"):
        driver.feed(m.Navigated(at=1000, page=0, document=0, url=url, stage="elsewhere"))
    driver.wait(1000)
    driver.open(1, "http://shop.test/c", opener=0, requested=(("http://shop.test/c", A),)).end()
    assert asked(driver) == [("/c", A, True, 1), ("/b", None, False, 0)]


@pytest.mark.parametrize(
    ("entries", "requested", "gaps"),
    [
        ((("http://shop.test/b", A),), A, []),
        # A page has changed its address since.
        ((("http://shop.test/changed", A),), A, []),
        ((("http://shop.test/b", "http://shop.test/b"),), None, []),
        ((), None, ["redirect.unseen"]),
    ],
)
@pytest.mark.parametrize("is_late", [False, True])
def test_a_tab_whose_start_no_one_saw_is_asked_for_its_history(
    driver, is_late: bool, entries: tuple, requested: str | None, gaps: list[str]
) -> None:
    url = "http://shop.test/b"
    if is_late:
        driver.open(1, url, opener=0, requested=entries)
    else:
        driver.replies["requested"] = list(entries)
        driver.open(1, "", opener=0)
        driver.feed(m.Navigated(at=5, page=1, document=1, url=url, stage="committed"))
    assert asked(driver) == [("/b", requested, True, 1)]
    assert [gap.why for gap in driver.of(Gap) if gap.channel == "urls"] == gaps


def test_addresses_without_a_tab_are_counted_up_to_a_limit(driver) -> None:
    for number in range(ELSEWHERE_MAX + 1):
        driver.feed(
            m.Navigated(at=1000, page=0, document=0, url=f"http://shop.test/{number}", stage="elsewhere")
        )
    driver.end()
    assert len(driver.of(Navigation)) == ELSEWHERE_MAX
    assert [gap.why for gap in driver.of(Gap) if gap.channel == "urls"] == ["flood"]


@pytest.mark.parametrize(
    ("network", "url", "opener", "goes_on", "count"),
    [
        ("off", "about:blank", 0, False, 1),
        ("off", "about:blank", 0, True, 0),
        ("off", A, 0, False, 0),
        ("off", "about:blank", None, False, 0),
        ("bodies", "about:blank", 0, False, 0),
    ],
)
def test_a_tab_that_stays_empty_may_have_asked_unseen(
    new_driver, network: str, url: str, opener: int | None, goes_on: bool, count: int
) -> None:
    """Such as for an address that answers without a page; with the network its request is known."""
    driver = new_driver(SessionOptions(network=network)).open()
    driver.open(1, url, opener=opener)
    if goes_on:
        driver.navigate(A, driver.now + 100, page=1)
    driver.end()
    gaps = [one for one in driver.of(Gap) if (one.channel, one.page) == ("urls", 1)]
    assert [one.why for one in gaps] == ["redirect.unseen"] * count
