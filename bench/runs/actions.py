"""Twenty actions on each fixture site, as a careful agent would do them: each waits for what it leads to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from fixtures.agents import crm_desk, tracker_desk
from fixtures.sites.crm.server import serve as serve_crm
from fixtures.sites.shop.server import serve as serve_shop
from fixtures.sites.tracker.server import serve as serve_tracker

Actions = list[Callable[[], object]]


def shop(page: Page, url: str) -> Actions:
    """Documents of a server, and forms in them."""
    sign_in = [
        lambda: page.goto(f"{url}/login"),
        lambda: page.fill("[name=user]", "clerk"),
        lambda: page.fill("[name=password]", "harbour-42"),
        lambda: page.click("button[type=submit]"),
    ]
    pages = (
        "orders",
        "products",
        "customers",
        "settings",
        "help",
        "orders/1003",
        "orders/1004",
        "orders/1005",
    )
    look = [lambda path=path: page.goto(f"{url}/{path}") for path in pages]
    search = [
        lambda: page.goto(f"{url}/orders"),
        lambda: page.fill("input[type=search]", "Ines"),
        lambda: page.fill("input[type=search]", "Tom"),
        lambda: page.fill("input[type=search]", ""),
    ]
    settings = [
        lambda: page.goto(f"{url}/settings"),
        lambda: page.fill("#contact-email", "desk@harbour.test"),
        lambda: page.check("#weekly-digest"),
        lambda: page.uncheck("#weekly-digest"),
    ]
    return [*sign_in, *look, *search, *settings]


def crm(page: Page, url: str) -> Actions:
    """Documents, data asked for by scripts, and a frame of another site."""
    names = ("Contacts", "Companies", "Deals", "Mail", "Tags", "Activity", "Contacts")
    look = [lambda name=name: crm_desk.go(page, name) for name in names]
    form = crm_desk.widget(page)
    return [
        lambda: page.goto(url),
        *look,
        lambda: page.get_by_label("Search").fill("weber"),
        lambda: page.get_by_label("Consent").select_option("given"),
        lambda: page.get_by_role("button", name="Apply").click(),
        page.locator("#contact-table tbody a").first.click,
        lambda: crm_desk.reveal(page),
        lambda: page.get_by_text("Record a change").click(),
        lambda: page.get_by_label("Consent").select_option("withdrawn"),
        lambda: page.get_by_label("Remark").fill("By letter."),
        lambda: crm_desk.open_booking(page),
        lambda: form.get_by_label("Tuesday 10 March, 10:00").check(),
        lambda: form.get_by_label("Kind").select_option("Visit"),
        lambda: form.get_by_label("Topic").fill("Spinnaker"),
    ]


def tracker(page: Page, url: str) -> Actions:
    """One document that never leaves, with shadow roots, dragging and an event stream."""
    desk = tracker_desk
    return [
        lambda: page.goto(url),
        lambda: desk.drag(page, 7, "review"),
        lambda: desk.go(page, "Activity"),
        lambda: desk.go(page, "Burndown"),
        lambda: desk.go(page, "Settings"),
        lambda: desk.go(page, "Board"),
        lambda: desk.open_issue(page, 12),
        lambda: desk.assign(page, "Idris Bello"),
        lambda: page.get_by_label("New label").fill("bug"),
        lambda: page.get_by_role("button", name="Add label").click(),
        lambda: page.get_by_label("New comment").fill("The radio logs again."),
        lambda: page.get_by_role("button", name="Add comment").click(),
        lambda: desk.go(page, "Board"),
        lambda: desk.open_issue(page, 5),
        lambda: page.get_by_label("Title", exact=True).fill("Ferry timetable"),
        lambda: page.keyboard.press("Enter"),
        lambda: desk.go(page, "Board"),
        lambda: page.get_by_role("button", name="New issue").click(),
        lambda: page.get_by_label("Title of the issue").fill("Gangway rail is loose"),
        lambda: desk.create_issue(page),
    ]


SITES: dict[str, tuple[Callable[[], Any], Callable[[Page, str], Actions]]] = {
    "shop": (serve_shop, shop),
    "CRM": (serve_crm, crm),
    "tracker": (serve_tracker, tracker),
}
"""How each is served, and the actions on it."""
