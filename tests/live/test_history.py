"""Ways back and forward after a gesture: the agent's are steps, those of the page's own buttons are not."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import async_playwright

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.agent_runs import record_command
from replaykit.recorder.recorder import AsyncRecorder, Recorder
from replaykit.tasks.task import decode_task
from replaykit.trajectory.action import tag_of
from tests.live.agent_programs import apart
from tests.live.flags import LEAN
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import BrowserContext

pytestmark = pytest.mark.live

PAGE = """<!doctype html><title>Page</title><input id=name>
<button id=still>Still</button> <a id=next href=/next>Next</a> <a id=part href=#part>Part</a>
<button id=push onclick="history.pushState(1, '', '/pushed')">Push</button>
<button id=back onclick="history.back()">Back</button>
<button id=late onclick="setTimeout(() => history.back(), 150)">Back, later</button>
<button id=much-later onclick="setTimeout(() => history.back(), 1300)">Back, much later</button>
<button id=forward onclick="history.forward()">Forward</button>"""

ELSEWHERE = "OTHER"
"""Stands for an address of another origin."""

AGENTS = {
    "a link, then back": ('c("#next"); w(300); b()', ["click", "go_back"]),
    "a gesture, then back": ('g("/next"); c("#still"); w(300); b()', ["goto", "click", "go_back"]),
    "back and forward at once": (
        'g("/next"); c("#still"); b(); c("#still"); f()',
        ["goto", "click", "go_back", "click", "go_forward"],
    ),
    "within a document": ('c("#push"); w(300); b()', ["click", "go_back"]),
    "to a part, then back": (
        'c("#part"); b(); c("#still"); f()',
        ["click", "go_back", "click", "go_forward"],
    ),
    "much later": (
        'g("/next"); c("#still"); w(1300); b(); c("#still")',
        ["goto", "click", "go_back", "click"],
    ),
    "much later within a document": ('c("#push"); w(1300); b(); c("#still")', ["click", "go_back", "click"]),
    "reload": ('c("#still"); r()', ["click", "reload"]),
}
"""Actions of an agent: c click, w wait, g goto, b f back and forward, r reload; and its steps."""

CALLED = {"from another origin": ('g(OTHER); c("#still"); b()', ["goto", "click", "go_back"])}
"""The same where only an agent in this process is known to have gone back."""

PAGES = {
    "the page goes back": ('g("/next"); c("#back"); u("/")', ["goto", "click"]),
    "the page goes back later": ('g("/next"); c("#late"); u("/")', ["goto", "click"]),
    "the page goes back much later": ('g("/next"); c("#much-later"); u("/")', ["goto", "click"]),
    "the page goes back much later after a push": (
        'c("#push"); c("#much-later"); u("/")',
        ["click", "click"],
    ),
    "the page goes back after a push": ('c("#push"); c("#back"); u("/")', ["click", "click"]),
    "the page goes to another origin": ('g(OTHER); c("#back"); u("/")', ["goto", "click"]),
    "the page goes forward": ('g("/next"); b(); c("#forward"); u("/next")', ["goto", "go_back", "click"]),
}
"""Reaction of a page to a click, which is no action of the agent: u wait for an address."""


@pytest.fixture
def start(site: Site) -> str:
    site.add("/favicon.ico", "", "image/x-icon")
    site.add("/next", PAGE)
    return site.add("/", PAGE)


def tags(path: Path) -> list[str]:
    with open_bundle(path) as bundle:
        return [tag_of(step.action) for step in bundle.trajectory.steps]


def calls(scripts: dict[str, tuple[str, list[str]]], site: Site) -> Iterator[tuple[str, list[str | int]]]:
    """Yield the method of a page and its arguments for each word of all scripts, each from the start page."""
    for script, _ in scripts.values():
        yield "goto", [site.origin + "/"]
        for word in script.split("; "):
            name, _, rest = word.partition("(")
            yield call(name, rest.rstrip(")").strip('"'), site)


def call(name: str, said: str, site: Site) -> tuple[str, list[str | int]]:
    there = site.other + "/next" if said == ELSEWHERE else site.origin + said
    found: dict[str, tuple[str, list[str | int]]] = {
        "c": ("click", [said]),
        "g": ("goto", [there]),
        "u": ("wait_for_url", [there]),
        "w": ("wait_for_timeout", [int(said)] if said.isdecimal() else []),
        "b": ("go_back", []),
        "f": ("go_forward", []),
        "r": ("reload", []),
    }
    return found[name]


def steps(scripts: dict[str, tuple[str, list[str]]]) -> list[str]:
    return [tag for _, expected in scripts.values() for tag in ("goto", *expected)]


@pytest.mark.thorough
def test_in_this_process(tmp_path: Path, context: BrowserContext, site: Site, start: str) -> None:
    page = context.new_page()
    scripts = AGENTS | CALLED | PAGES
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(context)
        for method, said in calls(scripts, site):
            getattr(page, method)(*said)
    assert tags(tmp_path / "run.zst") == steps(scripts)
    assert not hasattr(page.go_back, "__wrapped__")


@pytest.mark.thorough
def test_async(tmp_path: Path, browser_path: Path, site: Site, start: str) -> None:
    async def act() -> None:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=browser_path, args=["--no-sandbox", LEAN]
            )
            page = await browser.new_page()
            async with AsyncRecorder(tmp_path / "run.zst") as run:
                await run.attach(page)
                for method, said in calls(CALLED | PAGES, site):
                    await getattr(page, method)(*said)
            await browser.close()

    apart(lambda: asyncio.run(act()))
    assert tags(tmp_path / "run.zst") == steps(CALLED | PAGES)


AGENT = """
import os
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(os.environ["REPLAYKIT_CDP_URL"]).contexts[0].pages[0]
"""


A_FEW = {name: (AGENTS | PAGES)[name] for name in ("a link, then back", "the page goes back", "reload")}


@pytest.mark.parametrize("scripts", one_in(2, [A_FEW, AGENTS | PAGES]), ids=["a few", "all"])
def test_over_cdp(scripts: dict[str, tuple[str, list[str]]], tmp_path: Path, site: Site, start: str) -> None:
    said = calls(scripts, site)
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT + "".join(f"    page.{method}(*{given!r})\n" for method, given in said))
    task = decode_task({"id": "history", "intent": "Go back.", "start_urls": [start]})
    result = apart(lambda: record_command([sys.executable, str(agent)], task, tmp_path / "run.zst"))
    assert result.exit_code == 0
    assert tags(result.path) == steps(scripts)
