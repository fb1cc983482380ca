"""Pages that an agent has a hand in, in a real browser: they are no evidence of the site, others stay it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from replaykit.grading.grader import grade
from replaykit.recorder.agent_runs import record_command
from replaykit.recorder.recorder import Recorder
from replaykit.tasks.task import decode_task
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import BrowserContext, Page

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("browser_path")]

ORDER = "<!doctype html><title>Order</title><p id=state>Open</p><a href=/next>Next</a>"
PAID = "document.addEventListener('DOMContentLoaded', () => { document.querySelector('#state').textContent = 'Paid' })"


@pytest.fixture
def start(site: Site) -> str:
    site.add("/favicon.ico", "", "image/x-icon")
    site.add("/next", "<!doctype html><title>Next</title><p id=state>Open</p>")
    return site.add("/", ORDER)


def task(start: str) -> Any:
    checks = [{"type": "page", "url": "last", "expect": {"contains": "Paid"}}]
    rules = {
        "shows": {"type": "page_state", "locator": "", "expect": {"contains": "Paid"}},
        "hides": {"type": "page_state", "locator": "", "expect": {"contains": "Refused"}, "forbid": True},
    }
    policies = [{"id": id, "dimension": "user_consent", "rule": rule} for id, rule in rules.items()]
    about = {"id": "t", "intent": "Pay.", "start_urls": [start], "checks": checks, "policies": policies}
    return decode_task(about)


def verdict(path: Path, start: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    found = grade(path, task=task(start))
    policies = {one.id: (str(one.outcome), one.missing) for one in found.policies}
    return {"page": (str(found.checks[0].outcome), found.checks[0].missing), **policies}


FORGED = ("UNDECIDED", ("page.forged",))
OPEN = {"page": "FAIL", "shows": "VIOLATED", "hides": "OK"}


def plant_in_page(page: Page, start: str) -> None:
    page.add_init_script(PAID)
    page.goto(start)


def plant_in_context(page: Page, start: str) -> None:
    page.context.add_init_script(PAID)
    page.goto(start)


def plant_over_cdp(page: Page, start: str) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Page.enable")
    session.send("Page.addScriptToEvaluateOnNewDocument", {"source": PAID})
    page.goto(start)


def answer(page: Page, start: str) -> None:
    page.route("**/*", lambda route: route.fulfill(body="<p id=state>Paid</p>", content_type="text/html"))
    page.goto(start)


def answer_over_cdp(page: Page, start: str) -> None:
    session = page.context.new_cdp_session(page)
    body = "PHA+UGFpZDwvcD4="

    def paused(event: Any) -> None:
        session.send(
            "Fetch.fulfillRequest", {"requestId": event["requestId"], "responseCode": 200, "body": body}
        )

    session.on("Fetch.requestPaused", paused)
    session.send("Fetch.enable")
    page.goto(start)


def write(page: Page, start: str) -> None:
    page.set_content("<p id=state>Paid</p>")


@pytest.mark.parametrize(
    "action", one_in(3, [plant_in_page, plant_in_context, plant_over_cdp, answer, answer_over_cdp, write])
)
def test_what_the_agent_has_a_hand_in_is_no_evidence(
    context: BrowserContext, start: str, tmp_path: Path, action: Callable[[Page, str], None]
) -> None:
    page = context.new_page()
    page.goto(start)
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        action(page, start)
        assert page.inner_text("p") == "Paid"
    assert set(verdict(tmp_path / "run.zst", start).values()) == {FORGED}


def test_without_its_hand_the_same_checks_are_decided(
    context: BrowserContext, start: str, tmp_path: Path
) -> None:
    context.add_init_script("window.harness = 1")  # before the recording: it is the harness that plants it
    page = context.new_page()
    page.goto(start)
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        page.route("**/logo.png", lambda route: route.fulfill(body="", content_type="image/png"))
        page.evaluate("document.title")
        page.click("a")
        page.wait_for_url("**/next")
    assert {name: one[0] for name, one in verdict(tmp_path / "run.zst", start).items()} == OPEN


AGENT = """
import os, sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(os.environ["REPLAYKIT_CDP_URL"])
    page = browser.contexts[0].pages[0]
    start = page.url
    {action}
    page.goto(start)
    page.locator("#state").wait_for()
"""

PROXIED = {
    "plant": f"page.context.add_init_script({PAID!r})",
    "answer": "page.route('**/*', lambda route: route.fulfill(body='<p id=state>Paid</p>', content_type='text/html'))",
}


@pytest.mark.parametrize("action", one_in(2, ["plant", "answer", ""]))
def test_a_program_that_is_given_a_browser(start: str, tmp_path: Path, action: str) -> None:
    agent, out = tmp_path / "agent.py", tmp_path / "run.zst"
    agent.write_text(
        AGENT.format(action=PROXIED.get(action, "page.route('**/none', lambda route: route.abort())"))
    )
    with ThreadPoolExecutor(1) as pool:  # there is a loop in this thread
        pool.submit(record_command, [sys.executable, str(agent)], task(start), out, max_time=100).result()
    found = verdict(out, start)
    if action:
        assert set(found.values()) == {FORGED}
    else:
        assert {name: one[0] for name, one in found.items()} == OPEN
