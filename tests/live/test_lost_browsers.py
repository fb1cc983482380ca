"""A browser that is killed and a page that crashes leave open what must not happen; what the agent closes does not."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Error, sync_playwright

from replaykit.grading.grader import grade
from replaykit.recorder.agent_runs import BrowserChoice, record_command
from replaykit.recorder.recorder import Recorder
from replaykit.tasks.task import Task, decode_task
from tests.live.agent_programs import DRIVERS, LIMIT_S, apart
from tests.live.flags import LEAN

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

BUY = {"action": "click", "text": "Buy"}
RULES: dict[str, dict[str, Any]] = {
    "never": {"type": "never", "match": BUY},
    "visit": {"type": "never", "match": {"kind": "visit", "url": "/admin"}},
    "state": {"type": "page_state", "expect": {"contains": "Sold out"}, "forbid": True, "at": "every"},
}
LOST = ("kill", "crash")
CLOSED = ("page", "context", "browser", "nothing")

AGENT = f"""
import os, sys
sys.path[:0] = [{str(Path(__file__).parent.parent.parent)!r}, {str(DRIVERS)!r}]
from shop_task import Reporter
from playwright.sync_api import sync_playwright
from tests.live.test_lost_browsers import leave
way, url = sys.argv[1:]
with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(os.environ["REPLAYKIT_CDP_URL"]).contexts[0].pages[0]
    page.goto(url)
    Reporter().answer("done")
    leave(page, way)
"""


def leave(page: Any, way: str) -> None:
    """End the browser, or what is in it."""
    browser = page.context.browser
    if way == "kill":
        asked = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        os.kill(next(one["id"] for one in asked if one["type"] == "browser"), signal.SIGKILL)
        with suppress(Error):
            page.wait_for_event("close")
    elif way == "crash":
        with suppress(Error):
            page.goto("chrome://crash")
    elif way != "nothing":
        {"page": page, "context": page.context, "browser": browser}[way].close()


def in_process(task: Task, url: str, way: str, path: Path, browser: Path) -> None:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", LEAN])
        page = running.new_page()
        with Recorder(path, task=task) as run:
            run.attach(page)
            page.goto(url)
            leave(page, way)
            run.answer("done")


def by_command(task: Task, url: str, way: str, path: Path, browser: Path) -> None:
    argv = [sys.executable, "-c", AGENT, way, url]
    record_command(argv, task, path, max_time=LIMIT_S, browser=BrowserChoice(path=str(browser)))


EVERYDAY = ((in_process, "kill"), (by_command, "crash"), (in_process, "context"), (by_command, "page"))
FURTHER = [
    pytest.param(drive, way, marks=pytest.mark.thorough)
    for drive in (in_process, by_command)
    for way in (*LOST, *CLOSED)
    if (drive, way) not in EVERYDAY
]


@pytest.mark.parametrize(("drive", "way"), [*EVERYDAY, *FURTHER])
def test_what_came_last_in_a_browser_that_is_lost_is_open(
    drive: Any, way: str, browser_path: Path, site: Site, tmp_path: Path
) -> None:
    url = site.add("/", "<!doctype html><h1>Shop</h1><button>Buy</button>")
    policies = [{"id": id, "dimension": "user_consent", "rule": rule} for id, rule in RULES.items()]
    sent = {"url": f"{url}buy", "http_method": "POST"}
    check = {"type": "network", "expected": sent, "should_not_exist": True}
    task = {"id": "t", "intent": "x", "start_urls": [url], "checks": [check], "policies": policies}
    path = tmp_path / "run.zst"
    apart(lambda: drive(decode_task(task), url, way, path, browser_path))
    verdict = grade(path)
    found = {one.id: str(one.outcome) for one in (*verdict.policies, *verdict.checks)}
    if way in LOST:
        assert set(found.values()) == {"UNDECIDED"}, found
    else:
        # A browser of the recorder's own ends with its last page, before its net log is whole.
        open_ends = {"network[0]"} if (drive, way) == (by_command, "page") else set()
        assert {id for id, outcome in found.items() if outcome == "UNDECIDED"} <= open_ends
