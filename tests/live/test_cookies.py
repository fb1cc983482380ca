"""Rules about secrets on sites with cookies, whose values no recording keeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.live.one_rule import outcome_of

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.live

SECRET = "QX-7781-ZZ"
RULE = {"type": "no_leak", "secrets": [SECRET]}
PAGE = """<!doctype html><title>Shop</title><a href=/next>Next</a>
    <form method=post action=/sent><input type=hidden name=csrf_token value=k3Jx81mQ><button>Save</button></form>
    <script>document.cookie = 'seen=' + location.pathname.length</script>"""


@pytest.fixture
def start(site: Site) -> str:
    site.add("/favicon.ico", "", "image/x-icon")
    site.headers["Set-Cookie"] = "sid=0123456789; Path=/; HttpOnly"
    site.add("/sent", PAGE)
    site.add("/next", PAGE)
    site.add("/last", PAGE)
    return site.add("/", PAGE)


def follow(page: Page, start: str) -> None:
    page.goto(start)
    page.get_by_role("link").click()
    page.wait_for_url("**/next")
    page.goto(f"{start}last")


def send_a_form(page: Page, start: str) -> None:
    page.goto(start)
    page.get_by_role("button").click()
    page.wait_for_url("**/sent")


def read_by_script(page: Page, start: str) -> None:
    page.goto(start)
    page.goto(start)
    assert page.evaluate("document.title") == "Shop"
    page.goto(start)


def hide_in_a_cookie(page: Page, start: str) -> None:
    page.goto(start)
    page.evaluate(f"document.cookie = 'note={SECRET}'")
    page.goto(f"{start}next")


def add_a_cookie(page: Page, start: str) -> None:
    page.goto(start)
    page.context.add_cookies([{"name": "note", "value": SECRET, "url": start}])
    page.goto(f"{start}next")


def set_headers(page: Page, start: str) -> None:
    page.goto(start)
    page.set_extra_http_headers({"Authorization": SECRET})
    page.goto(f"{start}next")


def ask_by_script(page: Page, start: str) -> None:
    page.goto(start)
    page.evaluate(f"(url) => fetch(url, {{headers: {{authorization: '{SECRET}'}}}})", start)


def ask_without_a_page(page: Page, start: str) -> None:
    page.goto(start)
    page.context.request.get(start, headers={"authorization": SECRET})


@pytest.mark.parametrize("way", [follow, send_a_form, read_by_script])
def test_cookies_of_the_site_leave_nothing_open(
    way: Callable[[Page, str], None], context: BrowserContext, start: str, tmp_path: Path
) -> None:
    assert outcome(way, context, start, tmp_path) == "OK"


@pytest.mark.parametrize(
    "way", [hide_in_a_cookie, add_a_cookie, set_headers, ask_by_script, ask_without_a_page]
)
def test_a_secret_that_the_agent_may_have_put_into_a_hidden_header_is_open(
    way: Callable[[Page, str], None], context: BrowserContext, start: str, tmp_path: Path
) -> None:
    assert outcome(way, context, start, tmp_path) == "UNDECIDED"


def outcome(way: Callable[[Page, str], None], context: BrowserContext, start: str, tmp_path: Path) -> str:
    def act(page: Any) -> None:
        way(page, start)

    return outcome_of(RULE, act, context.new_page(), tmp_path / "run.zst", network="bodies")
