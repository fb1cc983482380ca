"""One task in the shop, driven by clients of every make: the same actions and the same verdict, whoever drives.

The clients are programs in tests/live/drivers. Those from npm are installed by .ci/setup; where they are missing
their tests are skipped with the reason, in CI that is a failure. browser-use, too heavy for that, is tested where
REPLAYKIT_BROWSER_USE names a Python that has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import pytest

from fixtures.sites.shop.server import serve
from replaykit.browser import launch
from replaykit.recorder.agent_runs import BrowserChoice, Recorded, record_agent, record_cdp, record_command
from replaykit.trajectory.action import Goto
from tests.live.agent_programs import (
    ANSWER,
    DRIVERS,
    LIMIT_S,
    SHOP_TASK,
    TASK,
    WAIT_S,
    ActionBase,
    action_of,
    apart,
    held,
    needs,
    prove,
    saved,
    until_begun,
)
from tests.thorough import one_in

pytestmark = pytest.mark.live

Client: TypeAlias = Callable[[Path, str, Path], Recorded]
"""Records the shop task: bundle, root of the shop, browser."""


def program(*argv: str | Path) -> Client:
    """Return a client that is a program, for which a browser is started."""
    return lambda out, shop, browser: record_command(
        list(map(str, argv)),
        TASK,
        out,
        sites={"shop": shop},
        browser=BrowserChoice(path=str(browser)),
        max_time=LIMIT_S,
    )


def function(entry: str) -> Client:
    """Return a client that is a function of this process."""
    return lambda out, shop, browser: record_agent(
        entry, TASK, out, sites={"shop": shop}, browser=BrowserChoice(path=str(browser)), max_time=LIMIT_S
    )


CLIENTS = {
    "playwright, sync, in process": function("shop_task:act"),
    "playwright, async, in process": function("shop_task:act_async"),
    "playwright, another process": program(sys.executable, DRIVERS / "shop_task.py"),
    "devtools protocol alone": program(sys.executable, DRIVERS / "raw_cdp.py"),
}
"""Clients that are always there."""

TYPED = [("type" if tag == "fill" else tag, *rest) for tag, *rest in SHOP_TASK]
"""Actions of clients that type where others fill."""


def run_shop_task(client: Client, browser: Path, folder: Path, said: list[ActionBase] = SHOP_TASK) -> None:
    """Record the shop task and raise AssertionError unless it was done, recorded and graded."""
    out = folder / "run.zst"
    with serve() as shop:
        recorded = apart(lambda: client(out, shop.url, browser))
        saved(shop.state.as_json())
    assert (recorded.kind, recorded.cause, recorded.answer) == ("answered", "agent", ANSWER)
    assert recorded.exit_code in (0, None)
    prove(out, said)


@pytest.mark.parametrize("client", one_in(4, [*CLIENTS][2:] + [*CLIENTS][:2]))
def test_shop_task(client: str, browser_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DRIVERS))
    run_shop_task(CLIENTS[client], browser_path, tmp_path)


@pytest.mark.thorough  # Puppeteer below stands for programs of Node
def test_shop_task_by_playwright_for_node(browser_path: Path, tmp_path: Path) -> None:
    needs("node", package="playwright-core")
    run_shop_task(program("node", DRIVERS / "shop_task.mjs"), browser_path, tmp_path)


@pytest.mark.thorough  # it acts through the same Playwright
def test_shop_task_by_playwright_s_mcp_server(browser_path: Path, tmp_path: Path) -> None:
    needs("node", package="@playwright/mcp")
    run_shop_task(program(sys.executable, DRIVERS / "mcp.py"), browser_path, tmp_path)


def test_shop_task_by_puppeteer(browser_path: Path, tmp_path: Path) -> None:
    needs("node", package="puppeteer-core")
    run_shop_task(program("node", DRIVERS / "puppeteer.mjs"), browser_path, tmp_path, TYPED)


def test_shop_task_by_browser_use(browser_path: Path, tmp_path: Path) -> None:
    python = os.environ.get("REPLAYKIT_BROWSER_USE")
    if not python:
        pytest.skip("REPLAYKIT_BROWSER_USE names no Python that has browser-use")
    run_shop_task(program(python, DRIVERS / "browser_use_agent.py"), browser_path, tmp_path, TYPED)


@pytest.mark.thorough
def test_shop_task_in_a_browser_of_somebody_else(browser_path: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.zst"
    with serve() as shop, ThreadPoolExecutor(1) as pool, launch(browser_path) as running:
        recording = pool.submit(record_cdp, running.endpoint, TASK, out, sites={"shop": shop.url})
        until_begun(out)
        environ = {**os.environ, "REPLAYKIT_CDP_URL": running.endpoint}
        argv = [sys.executable, DRIVERS / "shop_task.py", f"{shop.url}/"]
        subprocess.run(argv, env=environ, check=True, timeout=WAIT_S)
        running.close()
        recorded = recording.result(WAIT_S)
        saved(shop.state.as_json())
    assert (recorded.kind, recorded.cause, recorded.answer) == ("stopped", "person", None)
    first, *others = held(out).steps
    assert isinstance(first.action, Goto)
    assert first.action.url == f"{shop.url}/"
    assert [action_of(step) for step in others] == SHOP_TASK
