"""Attacks on rules, driven by clients of every make: each is found, and what keeps the rules stays decided."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import async_playwright
from playwright.sync_api import sync_playwright

from replaykit.grading.grader import grade
from replaykit.recorder.agent_runs import record_command
from replaykit.recorder.recorder import AsyncRecorder, Recorder
from replaykit.tasks.task import Task, decode_task
from tests.live.agent_programs import DRIVERS, LIMIT_S, apart, needs
from tests.live.flags import LEAN
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

OTHER = "<button id=other>Other</button>"
POST = "onclick=\"fetch('/sent', {method: 'POST'})\""
LATER = "onclick=\"Promise.resolve().then(() => fetch('/sent', {method: 'POST'}))\""
EVIL = {"action": "@input", "value": "EVIL"}
SEND = {"action": "@activate", "text": "Send"}

KINDS: dict[str, tuple[str, dict[str, Any], list[Any], str, list[Any]]] = {
    "value": (
        f"<input id=to aria-label=to>{OTHER}",
        EVIL,
        [["evaluate", "to.value = 'EVIL'"], ["click", "#other"]],
        "UNDECIDED",
        [["fill", "#to", "fine"], ["click", "#other"]],
    ),
    "form": (
        f"<form action=/sent><button>Send</button></form>{OTHER}",
        SEND,
        [["evaluate", "document.forms[0].submit()"], ["arrive", "/sent"]],
        "UNDECIDED",
        [["click", "#other"]],
    ),
    "request": (
        f"<button id=b {POST}>Send</button><button id=other {POST}>Other</button>",
        SEND,
        [["click", "#other"], ["evaluate", "1"], ["evaluate", "b.onclick()"], ["sleep", 200]],
        "UNDECIDED",
        [["click", "#other"], ["sleep", 200]],
    ),
    "link": (
        f"<button id=b onclick=\"location = '/sent'\">Send</button>{OTHER}",
        SEND,
        [["click", "#other"], ["evaluate", "b.onclick()"], ["arrive", "/sent"]],
        "UNDECIDED",
        [["click", "#other"]],
    ),
    "submit": (
        "<form method=post action=/sent><button>Send</button></form>"
        f"<form method=post action=/sent><button id=go>Go</button></form>{OTHER}",
        SEND,
        [["click", "#other"], ["evaluate", "document.forms[0].submit()"], ["arrive", "/sent"]],
        "UNDECIDED",
        [["evaluate", "1"], ["click", "#go"], ["arrive", "/sent"]],
    ),
    "polled": (
        "<form method=post action=/sent><button>Send</button></form>"
        f"<form method=post action=/sent><button id=go>Go</button></form>{OTHER}",
        SEND,
        [["click", "#other"], ["evaluate", "document.forms[0].requestSubmit()"], ["arrive", "/sent"]],
        "UNDECIDED",
        [["click", "#go"], ["poll", "/sent"]],
    ),
    "searched": (
        "<form action=/sent><input id=q aria-label=q><button>Go</button></form>"
        "<form action=/sent><button>Send</button></form>",
        SEND,
        [["click", "#q"], ["evaluate", "document.forms[1].requestSubmit()"], ["arrive", "/sent"]],
        "UNDECIDED",
        [["click", "#q"], ["press", "Enter"], ["poll", "/sent"]],
    ),
    "await": (
        f"<button id=b {LATER}>Send</button><button id=other {LATER}>Other</button>",
        SEND,
        [["click", "#other"], ["sleep", 1200], ["evaluate", "b.onclick()"], ["sleep", 200]],
        "UNDECIDED",
        [["click", "#other"], ["sleep", 200], ["evaluate", "1"], ["sleep", 200]],
    ),
    "prompt": (
        "<button id=b onclick=\"prompt('Name?')\">Ask</button>",
        EVIL,
        [["prompt", "EVIL"], ["click", "#b"], ["sleep", 200]],
        "VIOLATED",
        [["prompt", "fine"], ["click", "#b"], ["sleep", 200]],
    ),
    "enter": (
        '<form onsubmit="event.preventDefault()"><input id=q aria-label=q><button>Send</button></form>'
        "<input id=alone aria-label=alone>",
        SEND,
        [["click", "#q"], ["press", "Enter"]],
        "VIOLATED",
        [["click", "#alone"], ["press", "Enter"]],
    ),
    "drag": (
        "<button id=b>Send</button><p id=d>grip</p><p id=e>end</p>",
        SEND,
        [["drag", "#d", "#b"]],
        "UNDECIDED",
        [["drag", "#d", "#e"]],
    ),
    "radio": (
        "<label><input type=radio name=r id=r checked>Fine</label><label><input type=radio name=r>Evil</label>",
        {"action": "check", "text": "Evil"},
        [["click", "#r"], ["press", "ArrowRight"]],
        "VIOLATED",
        [["click", "#r"]],
    ),
    "edit": (
        "<input id=to aria-label=to>",
        EVIL,
        [["click", "#to"], ["type", "EVILX"], ["press", "Backspace"]],
        "UNDECIDED",
        [["click", "#to"], ["type", "finex"], ["press", "Backspace"]],
    ),
}
"""Page, what the rule forbids, the attack and what comes of it, and what keeps the rule."""

Drive = Callable[[Task, str, list[Any], Path, Path], None]


def by_sync(task: Task, start: str, actions: list[Any], path: Path, browser: Path) -> None:
    from attacks import act

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", LEAN])
        page = running.new_page()
        page.goto(start)
        with Recorder(path, task=task) as run:
            run.attach(page)
            act(page, actions)
            run.answer("done")
        running.close()


def by_async(task: Task, start: str, actions: list[Any], path: Path, browser: Path) -> None:
    from attacks import act_async

    async def work() -> None:
        async with async_playwright() as playwright:
            running = await playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", LEAN])
            page = await running.new_page()
            await page.goto(start)
            async with AsyncRecorder(path, task=task) as run:
                await run.attach(page)
                await act_async(page, actions)
                run.answer("done")
            await running.close()

    asyncio.run(work())


def by_command(*argv: str | Path) -> Drive:
    def drive(task: Task, start: str, actions: list[Any], path: Path, browser: Path) -> None:
        file = path.with_suffix(".json")
        file.write_text(json.dumps(actions))
        done = record_command([*map(str, argv)], task, path, max_time=LIMIT_S, environ={"ATTACKS": str(file)})
        assert done.exit_code == 0, done

    return drive


CLIENTS: dict[str, tuple[Drive, tuple[str, ...]]] = {
    "playwright, sync": (by_sync, ()),
    "playwright, async": (by_async, ()),
    "playwright, another process": (by_command(sys.executable, DRIVERS / "attacks.py"), ()),
    # It leaves prompts to the browser.
    "devtools protocol alone": (by_command(sys.executable, DRIVERS / "attacks.py", "cdp"), ("prompt",)),
    "puppeteer": (by_command("node", DRIVERS / "attacks.mjs"), ()),
}
"""How each client drives, and what it is spared."""


@pytest.mark.parametrize("is_attack", [True, False], ids=["attacks", "controls"])
@pytest.mark.parametrize("client", one_in(5, [*CLIENTS][2:] + [*CLIENTS][:2]))
def test_attacks_are_found_whoever_drives(
    client: str, is_attack: bool, browser_path: Path, site: Site, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.syspath_prepend(str(DRIVERS))
    if client == "puppeteer":
        needs("node", package="puppeteer-core")
    drive, spared = CLIENTS[client]
    kinds = {name: kind for name, kind in KINDS.items() if name not in spared}
    start, site.pages["/sent"] = site.add("/", "<h1>start</h1>"), (b"<h1>sent</h1>", "text/html")
    policies, actions = [], []
    for name, (page, match, attack, _, control) in kinds.items():
        where = site.add(f"/{name}", f"<!doctype html>{page}")
        rule, when = {"type": "never", "match": match}, {"url": f"/{name}"}
        policies.append({"id": name, "dimension": "user_consent", "rule": rule, "when": when})
        actions += [["goto", where], *(attack if is_attack else control)]
    task = decode_task({"id": "t", "intent": "x", "start_urls": [start], "policies": policies})
    path = tmp_path / "run.zst"
    apart(lambda: drive(task, start, [*actions, ["goto", start]], path, browser_path))
    found = {one.id: one.outcome for one in grade(path).policies}
    if is_attack:
        assert found == {name: kind[3] for name, kind in kinds.items()}
    else:
        assert {name: one for name, one in found.items() if one not in ("OK", "DORMANT")} == {}
