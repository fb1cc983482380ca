"""Every scripted agent, in a real browser on the real shop, does what its name says.

The truth is the shop's own state after the run; nothing is recorded here.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from replaykit.browser import launch
from replaykit.recorder.user import User, load_user
from replaykit.tasks.suite import load_suite
from replaykit.tasks.task import AgentTask, agent_view

pytestmark = pytest.mark.live

ROOT = Path(__file__).resolve().parents[2]
AGENTS = ROOT / "fixtures" / "agents"
TASKS = ROOT / "fixtures" / "tasks"
EXPECTED = tomllib.loads((AGENTS / "expected.toml").read_text(encoding="utf-8"))
PAIRS = EXPECTED["pair"]
ASYNC = [pair for pair in PAIRS if pair["agent"] == "good_async"]
SYNC = [pair for pair in PAIRS if pair["agent"] != "good_async"]
WAIT_MS = 10_000


def load(name: str) -> Any:
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    return importlib.import_module(name)


def agent(name: str) -> Callable[..., Any]:
    module, _, function = EXPECTED["agents"][name].partition(":")
    found: Callable[..., Any] = getattr(load(module), function)
    return found


def user(name: str) -> User:
    return load_user(TASKS / "users" / f"{name}.yaml")


def told(task_id: str, url: str, file: str = "shop.yaml") -> AgentTask:
    return agent_view(load_suite(TASKS / file).task(task_id), {"shop": (url,)})


def identity(pair: dict[str, Any]) -> str:
    return f"{pair['task']}-{pair['agent']}-{pair['user']}"


def at(state: Any, pointer: str) -> Any:
    for part in pointer.strip("/").split("/"):
        state = state[int(part)] if isinstance(state, list) else state[part]
    return state


def prove(pair: dict[str, Any], state: Any) -> None:
    found = {fact["at"]: at(state, fact["at"]) for fact in pair["truth"]}
    assert found == {fact["at"]: fact["equals"] for fact in pair["truth"]}


class Heard:
    """A run that only listens; its user answers by a script."""

    def __init__(self, by: User) -> None:
        self.said: list[tuple[str, str]] = []
        self.ended = ""
        self._user = by

    def thought(self, text: str) -> None:
        self.said.append(("thought", text))

    def message(self, text: str) -> None:
        self.said.append(("message", text))

    def ask(self, text: str) -> str | None:
        self.said.append(("ask", text))
        answer = self._user.answer(text)
        return answer.reply if answer else None

    def answer(self, text: str) -> None:
        self.said.append(("answer", text))

    def end(self, kind: str = "stopped") -> None:
        self.ended = kind

    @property
    def answers(self) -> list[str]:
        return [text for kind, text in self.said if kind == "answer"]


@pytest.fixture
def shop() -> Iterator[Any]:
    with load("fixtures.sites.shop.server").serve() as running:
        yield running


@pytest.fixture(scope="module")
def endpoint(browser_path: Path) -> Iterator[str]:
    with launch(browser_path) as started:
        yield started.endpoint


def perform(browser: Any, shop: Any, name: str, task: AgentTask, by: str = "approves") -> Heard:
    """Open the start pages, let the agent act, and return what it said."""
    run = Heard(user(by))
    context = browser.new_context()
    try:
        context.set_default_timeout(WAIT_MS)
        pages = [context.new_page() for _ in task.start_urls]
        for page, url in zip(pages, task.start_urls, strict=True):
            page.goto(url)
        agent(name)(pages[0], task, run)
    finally:
        context.close()
    return run


@pytest.mark.parametrize("pair", SYNC, ids=identity)
def test_agent_reaches_the_state_expected(pair: dict[str, Any], browser: Any, shop: Any) -> None:
    run = perform(browser, shop, pair["agent"], told(pair["task"], shop.url), pair["user"])
    prove(pair, shop.state.as_json())
    assert len(run.answers) == (pair["agent"] != "stops_early")
    assert all(pair.get("says", "") in answer for answer in run.answers)
    assert run.ended == ("stopped" if pair["agent"] == "stops_early" else "")


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("good", ["ask", "refund"]),
        ("no_consent", ["refund"]),
        ("consent_after", ["refund", "ask"]),
        ("ignores_refusal", ["ask", "refund"]),
    ],
)
def test_consent_is_asked_when_the_agent_says(name: str, order: list[str], browser: Any, shop: Any) -> None:
    seen: list[str] = []

    class Watching(Heard):
        def ask(self, text: str) -> str | None:
            seen.extend(entry["act"] for entry in shop.state.log)
            seen.append("ask")
            return super().ask(text)

    task = told("refund-order", shop.url)
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
    deeds = load("fixtures.agents.good").DEEDS
    twins = {task.id: ours[task.intent] for task in tasks if task.intent in ours}
    assert len(twins) == 6
    assert all(deeds[theirs] is deeds[own] for theirs, own in twins.items())
    (alone,) = (task.id for task in tasks if task.id not in twins)
    assert perform(browser, shop, "good", told(alone, shop.url, "webarena-shop.json")).answers == ["N/A"]


@pytest.mark.parametrize("pair", ASYNC, ids=identity)
def test_async_agent_reaches_the_state_expected(pair: dict[str, Any], endpoint: str, shop: Any) -> None:
    task, run = told(pair["task"], shop.url), Heard(user(pair["user"]))

    async def act() -> None:
        from playwright.async_api import async_playwright

        async with async_playwright() as playwright:
            remote = await playwright.chromium.connect_over_cdp(endpoint)
            page = await remote.contexts[0].new_page()
            await page.goto(task.start_urls[0])
            await agent("good_async")(page, task, run)
            await page.close()

    # The sync driver of other tests owns this thread's event loop.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, act()).result()
    prove(pair, shop.state.as_json())
    assert run.answers == ["Order 1004 is refunded: €55.20."]


@pytest.mark.parametrize(
    ("name", "by"),
    [("good", "approves"), ("good", "refuses"), ("good", "silent"), ("consent_after", "approves")],
)
def test_stand_alone_agent_speaks_through_files(
    name: str, by: str, endpoint: str, shop: Any, tmp_path: Path
) -> None:
    events, replies = tmp_path / "events.jsonl", tmp_path / "replies.jsonl"
    task = told("refund-order", shop.url)
    open_in(endpoint, task.start_urls[0])
    done = threading.Event()
    answering = threading.Thread(target=answer_from_file, args=(events, replies, user(by), done))
    answering.start()
    try:
        code = run_script(name, endpoint, task, events, replies)
    finally:
        done.set()
        answering.join()
    said = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    kinds = [event["type"] for event in said]
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
    tasks = {task.id: task for task in load_suite(TASKS / "shop.yaml").tasks}
    assert {pair["task"] for pair in PAIRS} == set(tasks)
    assert {pair["agent"] for pair in PAIRS} == set(EXPECTED["agents"])
    assert len({identity(pair) for pair in PAIRS}) == len(PAIRS)
    for pair in PAIRS:
        known = {policy.id for policy in tasks[pair["task"]].policies}
        assert set(pair["violated"]) <= known, pair
        assert pair["completion"] in ("PASS", "FAIL")
        assert pair["truth"], pair
    assert sum(pair["record"] for pair in PAIRS) == 16


@pytest.mark.parametrize("name", sorted(EXPECTED["agents"]))
def test_agent_functions_take_page_task_and_run(name: str) -> None:
    assert list(inspect.signature(agent(name)).parameters) == ["page", "task", "run"]
    assert inspect.iscoroutinefunction(agent(name)) == (name == "good_async")
