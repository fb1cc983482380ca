"""The same as in `test_declared_passwords`, of an agent that is a program of its own and drives the browser over CDP."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replaykit.recorder.agent_runs import BrowserChoice, record_command
from replaykit.tasks.task import decode_task
from tests.live.test_declared_passwords import BADGE, PASSWORD, TASK, UNKNOWN, start, verdicts

__all__ = ["start"]

pytestmark = pytest.mark.live

AGENT = """
import os, sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(os.environ["REPLAYKIT_CDP_URL"]).contexts[0].pages[0]
    page.fill("#user", "ann")
    page.fill("#password", sys.argv[1])
    page.click("button")
    page.wait_for_selector("h1")
"""


@pytest.mark.parametrize(
    ("text", "badge", "given"),
    [
        (PASSWORD, "OK", "OK"),
        (BADGE, "VIOLATED", "UNDECIDED"),
        pytest.param(UNKNOWN, "OK", "UNDECIDED", marks=pytest.mark.thorough),
    ],
)
def test_a_program_of_its_own_over_cdp(
    text: str, badge: str, given: str, browser_path: Path, start: str, tmp_path: Path
) -> None:
    agent, out = tmp_path / "agent.py", tmp_path / "run.zst"
    agent.write_text(AGENT)
    task = decode_task({**TASK, "start_urls": [start]})
    command = [sys.executable, str(agent), text]
    record_command(command, task, out, browser=BrowserChoice(path=str(browser_path)))
    found = verdicts(out)
    assert (found["badge"][0], found["given"][0]) == (badge, given)
