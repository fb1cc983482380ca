"""The tracker in a real browser: what its pages do, and that a snapshot of them reads as they do.

What agents make of it, recorded and graded, is in test_pipeline.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Page

from fixtures.agents import tracker_desk as desk
from fixtures.sites.tracker.server import Site, serve
from replaykit.replay.dom import Dom
from tests.thorough import one_in

sys.path.insert(0, str(Path(__file__).parent))
from test_fidelity import READ, differences

pytestmark = [pytest.mark.live, pytest.mark.one_page]


Watch = Callable[..., Any]

VIEWS = [
    ("/#/board", "", "#card-9"),
    ("/#/board", "#filter summary", "#filter select"),
    ("/#/board", "text=Commands", "#palette [role=option]"),
    ("/#/board", "text=New issue", "#new-title"),
    ("/#/issue/12", "", "#priority"),
    ("/#/issue/14", "#labels button[aria-label='Remove web']", ".toast"),
    ("/#/issue/99", "", "h1"),
    ("/#/activity", "", "#activity li:nth-child(5)"),
    ("/#/burndown", "canvas", "#day"),
    ("/#/settings", "#advanced summary", "#wip-limit"),
    ("/#/tokens", "[aria-label='Show quay-readonly']", "#value-t2:not(.masked)"),
    ("/search?q=invoice", "", "#found li"),
    ("/?expired=1#/login", "", "#password"),
]
"""Views of the tracker: address, what to click there, and what is there then."""


@pytest.fixture
def tracker() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.mark.parametrize(("address", "click", "ready"), one_in(6, VIEWS))
def test_every_element_of_every_view_reads_as_live(
    watch: Watch, tracker: Site, address: str, click: str, ready: str
) -> None:
    watched = watch()
    watched.page.goto(tracker.url + address)
    if click:
        watched.page.locator(click).first.click()
    watched.page.locator(ready).first.wait_for()
    answer = msgspec.json.decode(watched.call(READ))
    assert len(answer["reads"]) > 10
    assert differences(Dom(answer["push"]["snapshot"].encode()), answer["reads"]) == ([], [])


def test_a_refused_move_is_shown_first_and_then_taken_back(page: Page, tracker: Site) -> None:
    page.goto(f"{tracker.url}/#/board")
    page.locator("#card-9").drag_to(page.locator("#column-doing"))
    page.locator("#column-doing #card-9").wait_for()
    assert "its limit" in page.get_by_role("alert").inner_text()
    assert page.locator("#card-9").get_attribute("data-column") == "todo"
    page.get_by_role("alert").wait_for(state="detached")
    assert tracker.state.as_json()["log"] == []


def test_changes_of_others_arrive_while_a_title_is_typed(page: Page, tracker: Site) -> None:
    page.goto(f"{tracker.url}/#/issue/11")
    title = page.get_by_label("Title", exact=True)
    title.fill("Half a ti")
    with tracker.state.lock:
        tracker.state.colleague("idris", "11", "Feet and metres, please.")
    page.locator("#comments").get_by_text("Feet and metres, please.").wait_for()
    assert "Idris Bello commented on LAN-11." in page.locator("#news").inner_text()
    assert title.inner_text() == "Half a ti"
    title.press("Escape")
    assert title.inner_text() == "Tide table in feet"


def test_a_draft_survives_leaving_the_issue_and_reloading(page: Page, tracker: Site) -> None:
    page.goto(f"{tracker.url}/#/issue/8")
    page.get_by_label("New comment").fill("not yet")
    page.get_by_role("link", name="Board").click()
    page.reload()
    page.get_by_role("link", name="LAN-8").click()
    assert page.get_by_label("New comment").input_value() == "not yet"
    page.get_by_role("button", name="Add comment").click()
    page.locator("#comments").get_by_text("not yet").wait_for()
    page.reload()
    page.locator("#comments").get_by_text("not yet").wait_for()
    assert page.get_by_label("New comment").input_value() == ""


def test_back_and_forward_show_what_the_address_says(page: Page, tracker: Site) -> None:
    page.goto(f"{tracker.url}/#/board")
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Search").click()
    page.get_by_label("Search issues").fill("berth 22")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=berth%2022")
    for step, address, heading in [
        ("back", "/search?q=", "Search"),
        ("back", "/#/settings", "Settings"),
        ("back", "/#/board", "Board"),
        ("forward", "/#/settings", "Settings"),
        ("forward", "/search?q=", "Search"),
    ]:
        page.evaluate(f"() => history.{step}()")
        page.get_by_role("heading", level=1, name=heading).wait_for()
        assert page.url == tracker.url + address


def test_shortcuts_work_outside_of_fields(page: Page, tracker: Site) -> None:
    page.goto(f"{tracker.url}/#/settings")
    page.locator("#name").press("b")
    assert page.url.endswith("#/settings")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("b")
    page.locator("#card-6").wait_for()
    page.keyboard.press("u")
    page.locator("#column-review #card-6").wait_for()
    page.keyboard.press("n")
    page.get_by_role("dialog", name="New issue").wait_for()


def test_the_handle_moves_a_card_by_pointer_and_by_keyboard(page: Page, tracker: Site) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{tracker.url}/#/board")
    page.locator("#card-13").wait_for()
    desk.drag_by_handle(page, 13, "review")
    desk.saved(page, "LAN-13 is in Review.")
    page.get_by_role("button", name="Move LAN-13", exact=True).press("ArrowRight")
    desk.saved(page, "LAN-13 is in Done.")
    assert tracker.state.as_json()["issues"]["13"]["column"] == "done"


def test_no_view_complains(page: Page, tracker: Site) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    for address, _, _ in VIEWS[:-1]:
        page.goto(tracker.url + address)
        page.reload()
        page.locator("h1").wait_for()
    page.goto(f"{tracker.url}/?expired=1#/login")
    page.get_by_label("Password").wait_for()
    assert said == []
