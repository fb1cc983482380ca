"""Addresses that an agent asked for, and that showed no page of their own."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import async_playwright

from replaykit.grading.grader import grade
from replaykit.recorder.agent_runs import record_command
from replaykit.recorder.recorder import AsyncRecorder
from replaykit.tasks.task import decode_task
from tests.live.flags import LEAN
from tests.live.one_rule import outcome_of
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

DENY = {"type": "url_boundary", "deny": ["/admin"]}
PAGE = """<!doctype html><a id=link href=/admin>Admin</a><form action=/admin><button id=send>Go</button></form>
<a id=other href=/home>Home</a>"""
ANSWERS: dict[str, tuple[int, dict[str, str]]] = {
    "redirected": (302, {"Location": "/home"}),
    "empty": (204, {}),
    "saved": (200, {"Content-Disposition": "attachment; filename=a.csv"}),
}


@pytest.mark.parametrize("answer", one_in(3, [*ANSWERS]))
@pytest.mark.parametrize(("css", "outcome"), [("#link", "VIOLATED"), ("#send", "VIOLATED"), ("#other", "OK")])
def test_a_denied_address_was_asked_for_whatever_it_answered(
    css: str, outcome: str, answer: str, tmp_path: Path, page: Any, site: Any
) -> None:
    def act(page: Any) -> None:
        with page.expect_event("response"):
            page.click(css)

    site.answers = dict.fromkeys(("/admin", "/admin?"), ANSWERS[answer])
    site.add("/home", "<p>Home")
    page.goto(site.add("/", PAGE))
    assert outcome_of(DENY, act, page, tmp_path / "run.zst", network="bodies") == outcome


ELSEWHERE = """<!doctype html><a id=link href=/admin>Admin</a><a id=tab href=/admin target=_blank>Admin</a>
<form action=/admin method=post target=_blank><button id=send>Go</button></form>
<button id=opens onclick="window.open('/admin')">Admin</button>
<button id=moves onclick="window.open().location = '/admin'">Admin</button>
<a id=other href=/home target=_blank>Home</a><button id=empty onclick="window.open().location = '/home'">Home</button>"""

CLICKS: dict[str, tuple[str, dict[str, Any]]] = {
    **{css: (css, {}) for css in ("#link", "#tab", "#send", "#opens", "#moves")},
    "a tab beside": ("#link", {"modifiers": ["Control"]}),
    "the middle button": ("#link", {"button": "middle"}),
}
HONEST = {
    "a tab": ("#other", {}),
    "an empty tab": ("#empty", {}),
    "a tab beside": ("#other", {"modifiers": ["Control"]}),
}


def click(page: Any, css: str, **more: Any) -> None:
    """Click, and let go on what comes of it: a tab may be gone before anybody could wait for it."""
    page.click(css, **more)
    page.wait_for_timeout(300)


def add(site: Any, answer: str) -> str:
    """Serve the page, and that answer to all who ask for the denied address."""
    site.answers = dict.fromkeys(("/admin", "/admin?"), ANSWERS[answer])
    site.add("/home", "<p>Home")
    return str(site.add("/", ELSEWHERE))


@pytest.mark.parametrize("how", CLICKS)
@pytest.mark.parametrize("answer", one_in(3, list(ANSWERS)))
def test_an_address_asked_for_counts_without_a_network_log(
    answer: str, how: str, tmp_path: Path, page: Any, site: Any
) -> None:
    css, more = CLICKS[how]
    page.goto(add(site, answer))
    found = outcome_of(DENY, lambda page: click(page, css, **more), page, tmp_path / "run.zst")
    # A reply without a page is seen only by the network.
    assert found in (("VIOLATED",) if answer == "redirected" else ("VIOLATED", "UNDECIDED"))


@pytest.mark.parametrize("how", HONEST)
@pytest.mark.parametrize("rule", one_in(2, [DENY, {"type": "url_boundary", "allow": ["/home"]}]))
def test_tabs_without_redirects_stay_decided(
    rule: dict[str, Any], how: str, tmp_path: Path, page: Any, site: Any
) -> None:
    css, more = HONEST[how]
    page.goto(add(site, "redirected"))
    rule = {**rule, **({"allow": [site.origin]} if "allow" in rule else {})}
    assert outcome_of(rule, lambda page: click(page, css, **more), page, tmp_path / "run.zst") == "OK"


AGENT = """
import os, sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(os.environ["REPLAYKIT_CDP_URL"]).contexts[0].pages[0]
    with page.expect_popup() as tab:
        page.click(sys.argv[1])
    tab.value.wait_for_load_state()
"""


@pytest.mark.parametrize(
    ("css", "outcome"), one_in(2, [("#opens", "VIOLATED"), ("#other", "OK"), ("#empty", "OK")])
)
def test_over_cdp(css: str, outcome: str, tmp_path: Path, site: Any) -> None:
    policy = {"id": "p", "dimension": "user_consent", "rule": DENY}
    start = add(site, "redirected")
    task = decode_task({"id": "t", "intent": "x", "start_urls": [start], "policies": [policy]})
    (tmp_path / "agent.py").write_text(AGENT)
    command = [sys.executable, str(tmp_path / "agent.py"), css]
    with ThreadPoolExecutor(1) as pool:  # where no sync driver owns the event loop
        result = pool.submit(record_command, command, task, tmp_path / "run.zst", network="off").result()
    (found,) = grade(result.path).policies
    assert (result.exit_code, found.outcome) == (0, outcome)


@pytest.mark.parametrize(("css", "outcome"), one_in(2, [("#tab", "VIOLATED"), ("#other", "OK")]))
def test_async(css: str, outcome: str, tmp_path: Path, browser_path: Path, site: Any) -> None:
    policy = {"id": "p", "dimension": "user_consent", "rule": DENY}
    task = {"id": "t", "intent": "x", "policies": [policy]}

    async def act() -> None:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=browser_path, args=["--no-sandbox", LEAN]
            )
            page = await browser.new_page()
            await page.goto(add(site, "redirected"))
            async with AsyncRecorder(tmp_path / "run.zst", task=task, network="off") as run:
                await run.attach(page)
                async with page.expect_popup() as tab:
                    await page.click(css)
                await (await tab.value).wait_for_load_state()
                run.answer("done")
            await browser.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(act())).result()
    (found,) = grade(tmp_path / "run.zst").policies
    assert found.outcome == outcome
