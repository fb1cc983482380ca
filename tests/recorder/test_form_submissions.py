"""Which request a gesture on a form has led to."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.recorder.browser.witnesses.net_log import Sent
from replaykit.recorder.session import request_messages as requests
from replaykit.recorder.session.witnesses import Logged
from replaykit.trajectory.exchange import Exchange

BUY = "http://shop.test/buy"
FORM = {"url": BUY, "method": "post"}


def asks(driver: Any, url: str = BUY, method: str = "POST", **more: Any) -> str | None:
    """Return the initiator of a request that a page sends now."""
    name = str(len(driver.of(Exchange)))
    about = {"page": 0, "resource": "document", "initiator": "other", **more}
    driver.feed(
        requests.Requested(at=driver.now, request=name, method=method, url=url, **about),
        requests.Responded(at=driver.now, request=name, status=200, mime="text/html"),
        requests.Finished(at=driver.now, request=name),
    )
    # It is written once the click before it is known.
    return str(driver.wait(3000).of(Exchange)[-1].initiator)


@pytest.mark.parametrize(
    ("form", "asked", "word"),
    [
        (FORM, {}, "gesture"),
        (FORM, {"url": f"{BUY}#top"}, "gesture"),
        (FORM, {"url": f"{BUY}?other"}, "other"),
        (FORM, {"url": "http://shop.test/sell"}, "other"),
        (FORM, {"method": "GET"}, "other"),
        (FORM, {"resource": "fetch"}, "other"),
        (FORM, {"page": 7}, "other"),
        (FORM, {"initiator": "agent"}, "agent"),
        (FORM, {"initiator": "evaluated"}, "evaluated"),
        ({"url": f"{BUY}?old#top", "method": "get"}, {"url": f"{BUY}?new=1", "method": "GET"}, "gesture"),
        ({"url": f"{BUY}?a", "method": "post"}, {"url": f"{BUY}?b"}, "other"),
        ({}, {}, "other"),
        ({"url": BUY}, {}, "other"),
        ({"url": [BUY], "method": {}}, {}, "other"),
    ],
)
def test_the_first_request_to_the_address_of_a_form_is_that_of_the_gesture(
    form: dict[str, Any], asked: dict[str, Any], word: str, driver: Any
) -> None:
    assert asks(driver.click().event("sending", **form), **asked) == word


def test_one_gesture_sends_one_form(driver: Any) -> None:
    driver.click().event("sending", **FORM)
    assert [asks(driver), asks(driver)] == ["gesture", "other"]


def test_what_a_script_may_send_next_is_no_gesture(driver: Any) -> None:
    driver.click().event("sending", **FORM).event("sending")
    assert asks(driver) == "other"
    driver.click().event("sending", **FORM)
    assert asks(driver) == "gesture"


def test_another_document_has_other_forms(driver: Any) -> None:
    driver.click().event("sending", **FORM)
    driver.navigate("http://shop.test/other")
    assert asks(driver) == "other"


@pytest.mark.parametrize(("opener", "word"), [(0, "gesture"), (None, "other")])
def test_a_form_that_goes_to_a_new_tab_is_sent_by_the_one_that_opened_it(
    opener: int | None, word: str, driver: Any
) -> None:
    driver.click().event("sending", **FORM)
    driver.open(1, "about:blank", opener=opener)
    assert asks(driver, page=1) == word


@pytest.mark.parametrize("url", ["about:blank", BUY])
def test_a_new_tab_asks_once_for_what_its_opener_sent(url: str, driver: Any) -> None:
    """It waits for the recorder, and is known by its address before it asks."""
    driver.click().event("sending", **FORM)
    driver.open(1, url, opener=0)
    assert [asks(driver, page=1), asks(driver, page=1)] == ["gesture", "other"]


def test_a_form_that_a_script_sends_is_one_each_time(driver: Any) -> None:
    driver.event("sending", **FORM, sender="script")
    assert [asks(driver), asks(driver), asks(driver, method="GET")] == ["form", "form", "other"]
    driver.event("sending", **FORM)
    assert [asks(driver), asks(driver)] == ["gesture", "other"]
    driver.event("sending", **FORM, sender="script")
    driver.navigate("http://shop.test/other")
    assert asks(driver) == "other"


def logged(driver: Any, *sent: Sent) -> list[str | None]:
    """Return the initiators of requests that only the driver's log holds."""
    driver.feed(Logged(at=driver.now, sent=sent))
    return [one.initiator for one in driver.of(Exchange) if one.source == "netlog"]


def test_a_request_of_no_known_tab_is_that_of_the_last_form_with_its_address(driver: Any) -> None:
    driver.click().event("sending", **FORM)
    driver.event("sending", at=driver.now + 500, **FORM, sender="script")
    driver.event("sending", at=driver.now + 500, url="http://shop.test/sell", method="post")
    first, later, now = (
        Sent(at=driver.now - ago, method="POST", url=BUY, is_document=True) for ago in (900, 300, 0)
    )
    assert logged(driver, first, later, now) == ["gesture", "form", "form"]


def test_a_form_that_leads_to_a_download_in_a_new_tab_is_known_from_the_net_log(driver: Any) -> None:
    driver.session._run_ending.owes = ("netlog",)
    driver.event("sending", **FORM, sender="script")
    driver.replies["ReadLog"] = [Sent(at=driver.now, method="POST", url=BUY, is_document=True)]
    driver.wait(100).end()
    assert [one.initiator for one in driver.of(Exchange)] == ["form"]


@pytest.mark.parametrize(
    "more", [{"page": 0}, {"is_document": False}, {"method": "GET"}, {"url": f"{BUY}/2"}], ids=str
)
def test_other_requests_of_the_log_are_no_form_s(more: dict[str, Any], driver: Any) -> None:
    driver.click().event("sending", **FORM)
    about: dict[str, Any] = {"method": "POST", "url": BUY, "is_document": True, **more}
    assert logged(driver, Sent(at=driver.now, **about)) == [None]


def test_no_action_begins_where_a_form_is_sent(driver: Any) -> None:
    driver.event("sending", **FORM).wait(2000)
    assert driver.steps == []
