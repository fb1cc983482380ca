"""The shop's scripted agents, in a real browser, do what their names say.

The truth is the site's own state after the run; nothing is recorded here. With a recorder that is proven for the
agents of every site, in test_pipeline.py.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fixtures.agents import good
from fixtures.agents.pairs import Pair, load_agents, load_pairs
from fixtures.sites.crm import server as crm
from fixtures.sites.shop.server import serve
from replaykit.browser import launch
from replaykit.recorder.scripted_user import User, load_user
from replaykit.tasks.suite import load_suite
from replaykit.tasks.task import AgentTask, agent_view
from tests.thorough import one_in

pytestmark = pytest.mark.live

ROOT = Path(__file__).resolve().parents[2]
AGENTS = ROOT / "fixtures" / "agents"
TASKS = ROOT / "fixtures" / "tasks"
PAIRS = load_pairs()
ASYNC = [pair for pair in PAIRS if pair.agent == "good_async"]
SYNC = [pair for pair in PAIRS if pair.site == "shop" and pair.agent != "good_async"]
WAIT_MS = 60_000


def agent(name: str) -> Callable[..., Any]:
    """The shop's agent of that name."""
    return next(pair for pair in PAIRS if (pair.site, pair.agent) == ("shop", name)).act()


def user(name: str) -> User:
    return load_user(TASKS / "users" / f"{name}.yaml")


def task_of(task_id: str, url: str, file: str = "shop.yaml") -> AgentTask:
    return agent_view(load_suite(TASKS / file).task(task_id), {"shop": (url,)})


class ScriptedRun:
    """A run that only keeps messages; its user answers by a script."""

    def __init__(self, by: User) -> None:
        self.messages: list[tuple[str, str]] = []
        self.ended = ""
        self._user = by

    def thought(self, text: str) -> None:
        self.messages.append(("thought", text))

    def message(self, text: str) -> None:
        self.messages.append(("message", text))

    def ask(self, text: str) -> str | None:
        self.messages.append(("ask", text))
        answer = self._user.answer(text)
        return answer.reply if answer else None

    def answer(self, text: str) -> None:
        self.messages.append(("answer", text))

    def end(self, kind: str = "stopped") -> None:
        self.ended = kind

    @property
    def answers(self) -> list[str]:
        return [text for kind, text in self.messages if kind == "answer"]


@pytest.fixture
def shop() -> Iterator[Any]:
    with serve() as running:
        yield running


@pytest.fixture(scope="module")
def endpoint(browser_path: Path) -> Iterator[str]:
    with launch(browser_path) as started:
        yield started.endpoint


def perform(browser: Any, act: Callable[..., Any], task: AgentTask, by: str = "approves") -> ScriptedRun:
    """Open the start pages, let the agent act, and return its run."""
    run = ScriptedRun(user(by))
    context = browser.new_context()
    try:
        context.set_default_timeout(WAIT_MS)
        pages = [context.new_page() for _ in task.start_urls]
        for page, url in zip(pages, task.start_urls, strict=True):
            page.goto(url)
        act(pages[0], task, run)
    finally:
        context.close()
    return run


@pytest.mark.parametrize("pair", one_in(12, SYNC), ids=lambda pair: pair.name)
def test_agent_reaches_the_state_expected(pair: Pair, browser: Any) -> None:
    stops = pair.agent.endswith("stops_early")
    with pair.serve() as site:
        task = agent_view(pair.load_task(), pair.roots(site))
        run = perform(browser, pair.act(), task, pair.user)
        pair.prove(site.state.as_json())
    assert len(run.answers) == (not stops)
    assert all(pair.says in answer for answer in run.answers)
    assert run.ended == ("stopped" if stops else "")


def test_the_booking_widget_runs_in_a_process_of_its_own(browser: Any) -> None:
    context = browser.new_context()
    try:
        with crm.serve() as site:
            page = context.new_page()
            page.goto(f"{site.url}/contacts/P-10/meet")
            page.frame_locator("#booking").get_by_role("button", name="Confirm booking").wait_for()
            targets = context.new_cdp_session(page).send("Target.getTargets")["targetInfos"]
            foreign = [target["type"] for target in targets if target["url"].startswith(site.booking_url)]
        assert foreign == ["iframe"]
    finally:
        context.close()


@pytest.mark.parametrize(
    ("name", "order"),
    one_in(
        2,
        [
            ("good", ["ask", "refund"]),
            ("no_consent", ["refund"]),
            ("consent_after", ["refund", "ask"]),
            ("ignores_refusal", ["ask", "refund"]),
        ],
    ),
)
def test_consent_is_asked_for_at_the_stated_moment(
    name: str, order: list[str], browser: Any, shop: Any
) -> None:
    seen: list[str] = []

    class Watching(ScriptedRun):
        def ask(self, text: str) -> str | None:
            seen.extend(entry["act"] for entry in shop.state.log)
            seen.append("ask")
            return super().ask(text)

    task = task_of("refund-order", shop.url)
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(task.start_urls[0])
        agent(name)(page, task, Watching(user("refuses" if name == "ignores_refusal" else "approves")))
    finally:
        context.close()
    seen.extend(entry["act"] for entry in shop.state.log if entry["act"] not in seen)
    assert seen == order


def test_good_agent_knows_the_webarena_tasks(browser: Any, shop: Any) -> None:
    tasks = load_suite(TASKS / "webarena-shop.json").tasks
    ours = {task.intent: task.id for task in load_suite(TASKS / "shop.yaml").tasks}
    actions = good.DEEDS
    twins = {task.id: ours[task.intent] for task in tasks if task.intent in ours}
    assert len(twins) == 6
    assert all(actions[theirs] is actions[own] for theirs, own in twins.items())
    (alone,) = (task.id for task in tasks if task.id not in twins)
    assert perform(browser, good.good, task_of(alone, shop.url, "webarena-shop.json")).answers == ["N/A"]


@pytest.mark.parametrize("pair", ASYNC, ids=lambda pair: pair.name)
def test_async_agent_reaches_the_state_expected(pair: Pair, endpoint: str, shop: Any) -> None:
    task, run = task_of(pair.task, shop.url), ScriptedRun(pair.load_user())

    async def act() -> None:
        from playwright.async_api import async_playwright

        async with async_playwright() as playwright:
            remote = await playwright.chromium.connect_over_cdp(endpoint)
            page = await remote.contexts[0].new_page()
            await page.goto(task.start_urls[0])
            await pair.act()(page, task, run)
            await page.close()

    # The sync driver of other tests owns this thread's event loop.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, act()).result()
    pair.prove(shop.state.as_json())
    assert run.answers == ["Order 1004 is refunded: €55.20."]


@pytest.mark.parametrize(
    ("name", "by"),
    one_in(2, [("good", "approves"), ("consent_after", "approves"), ("good", "silent"), ("good", "refuses")]),
)
def test_stand_alone_agent_reports_through_files(
    name: str, by: str, endpoint: str, shop: Any, tmp_path: Path
) -> None:
    events, replies = tmp_path / "events.jsonl", tmp_path / "replies.jsonl"
    task = task_of("refund-order", shop.url)
    open_in(endpoint, task.start_urls[0])
    done = threading.Event()
    answering = threading.Thread(target=answer_from_file, args=(events, replies, user(by), done))
    answering.start()
    try:
        code = run_script(name, endpoint, task, events, replies)
    finally:
        done.set()
        answering.join()
    messages = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    kinds = [event["type"] for event in messages]
    assert (code, kinds[-2:]) == (0, ["ask", "answer"])
    refunded = shop.state.as_json()["orders"]["1004"]["status"] == "Refunded"
    assert refunded == (by == "approves")


def open_in(endpoint: str, url: str) -> None:
    """Open the page in the browser's first tab and close every other one, over CDP from another process."""
    code = """
import sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    context = playwright.chromium.connect_over_cdp(sys.argv[1]).contexts[0]
    first = context.pages[0]
    for page in context.pages[1:]:
        page.close()
    first.goto(sys.argv[2])
"""
    subprocess.run([sys.executable, "-c", code, endpoint, url], check=True, timeout=60)


def run_script(name: str, endpoint: str, task: AgentTask, events: Path, replies: Path) -> int:
    variables = {
        "REPLAYKIT_CDP_URL": endpoint,
        "REPLAYKIT_TASK": msgspec.json.encode(task).decode(),
        "REPLAYKIT_EVENTS": str(events),
        "REPLAYKIT_REPLIES": str(replies),
    }
    command = [sys.executable, str(AGENTS / "cdp_agent.py"), name]
    return subprocess.run(command, check=False, env={**os.environ, **variables}, timeout=60).returncode


def answer_from_file(events: Path, replies: Path, by: User, done: threading.Event) -> None:
    """Append one reply for every question that appears."""
    answered = 0
    while not done.wait(0.02):
        lines = events.read_text(encoding="utf-8").split("\n")[:-1] if events.exists() else []
        asked = [event["text"] for event in map(json.loads, lines) if event["type"] == "ask"]
        with replies.open("a", encoding="utf-8") as file:
            for question in asked[answered:]:
                given = by.answer(question)
                line = {"text": given.reply} if given else None
                file.write(json.dumps(line) + "\n")
        answered = len(asked)


def test_every_agent_and_task_has_an_expectation() -> None:
    suites = {suite: load_suite(TASKS / suite).tasks for suite in {pair.suite for pair in PAIRS}}
    tasks = {(suite, task.id): task for suite, listed in suites.items() for task in listed}
    assert {(pair.suite, pair.task) for pair in PAIRS} == set(tasks)
    assert {(pair.suite, pair.agent) for pair in PAIRS} == set(load_agents())
    assert len({pair.name for pair in PAIRS}) == len(PAIRS)
    for pair in PAIRS:
        known = {policy.id for policy in tasks[pair.suite, pair.task].policies}
        assert {*pair.violated, *pair.undecided} <= known, pair
        assert pair.completion in ("PASS", "FAIL", "UNDECIDED")
        assert pair.truth, pair


@pytest.mark.parametrize("name", sorted(load_agents()), ids="-".join)
def test_agent_functions_take_page_task_and_run(name: tuple[str, str]) -> None:
    act = next(pair for pair in PAIRS if (pair.suite, pair.agent) == name).act()
    assert list(inspect.signature(act).parameters) == ["page", "task", "run"]
    assert inspect.iscoroutinefunction(act) == (name[1] == "good_async")
