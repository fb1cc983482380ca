"""A command's agent and the recorder share one browser, and the agent cannot reach the recorder."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.agent_runs import record_command
from replaykit.tasks.task import decode_task
from replaykit.trajectory.action import Click, CloseTab, FocusTab
from replaykit.trajectory.command import Command
from replaykit.trajectory.exchange import Exchange, Gap, Message
from replaykit.trajectory.step import Trajectory
from tests.live.one_rule import outcome_over_cdp

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("browser_path")]

PAGE = "<!doctype html><title>Shop</title><button id=buy>Buy</button>"

FILLED = """<!doctype html><button id=open>Open</button><script>
open.onclick = () => {};
document.getElementById('open').onclick = () => {
  const inner = window.open('about:blank');
  inner.document.body.innerHTML = '<button id=in>Inside</button>';
  for (const name of ['pointerdown', 'pointerup', 'click', 'keydown', 'input'])
    inner.addEventListener(name, event => event.stopImmediatePropagation(), true);
}</script>"""

START = """
import json, os, sys, urllib.request
from pathlib import Path
from playwright.sync_api import Error, sync_playwright

def say(**line):
    with open(os.environ["REPLAYKIT_EVENTS"], "a") as file:
        file.write(json.dumps(line) + "\\n")

def refused(call, *arguments):
    try:
        call(*arguments)
    except Error as error:
        return error.message
    return None

with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(os.environ["REPLAYKIT_CDP_URL"])
    page = browser.contexts[0].pages[0]
    page.set_default_timeout(60_000)
    cdp = page.context.new_cdp_session(page)
    root = browser.new_browser_cdp_session()
    found = {}
"""


def recorded(
    site: Site, tmp_path: Path, script: str, page: str = PAGE, **options: Any
) -> tuple[Trajectory, Any]:
    """Record a script that drives the browser; returns the run, and what the script found."""
    task = decode_task({"id": "t", "intent": "Try.", "start_urls": [site.add("/", page)], "checks": []})
    agent, out, found = tmp_path / "agent.py", tmp_path / "run.zst", tmp_path / "found.json"
    body = "".join(f"    {line}\n" for line in script.strip().splitlines())
    end = f"    page.wait_for_timeout(300)\n    Path({str(found)!r}).write_text(json.dumps(found))\n"
    agent.write_text(START + body + end)
    argv = [sys.executable, str(agent)]
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(record_command, argv, task, out, max_time=100, **options).result()
    assert result.exit_code == 0, result
    with open_bundle(out) as bundle:
        return bundle.trajectory, json.loads(found.read_text())


def test_agent_finds_nothing_of_the_recorder(site: Site, tmp_path: Path) -> None:
    script = """
worlds, scripts = [], []
cdp.on("Runtime.executionContextCreated", lambda event: worlds.append(event["context"]["name"]))
cdp.on("Debugger.scriptParsed", lambda event: scripts.append(event["scriptId"]))
cdp.send("Runtime.enable")
cdp.send("Debugger.enable")
page.reload()
found["worlds"] = worlds
found["sources"] = []
source = lambda number: found["sources"].append(cdp.send("Debugger.getScriptSource", {"scriptId": str(number)}))
for number in range(1, 60):
    refused(source, number)
numbers = range(1, 1000)
ask = lambda number: cdp.send("Runtime.evaluate", {"expression": "Object.keys(globalThis)", "contextId": number})
mine = {event for event in numbers if refused(ask, event) is None}
found["answered"] = len(mine)
window = cdp.send("Runtime.evaluate", {"expression": "window"})["result"]["objectId"]
listeners = cdp.send("DOMDebugger.getEventListeners", {"objectId": window})["listeners"]
found["listeners"] = [one["type"] for one in listeners]
found["exposed"] = refused(root.send, "Target.exposeDevToolsProtocol", {"targetId": "x"})
page.click("#buy")
"""
    run, found = recorded(site, tmp_path, script)
    assert not any("replaykit" in name for name in found["worlds"])
    assert not any("replaykit" in str(source) for source in found["sources"])
    assert 1 <= found["answered"] <= len(found["worlds"])
    assert "wasn't found" in found["exposed"]
    assert [type(step.action) for step in run.steps][-1] is Click
    assert run.header.agent_access == "proxy"


def test_browser_has_no_port(site: Site, tmp_path: Path) -> None:
    script = """
places = {}
for folder in Path("/proc").glob("[0-9]*"):
    try:
        words = (folder / "cmdline").read_bytes().split(b"\\0")
    except OSError:
        continue
    profile = [word for word in words if word.startswith(b"--user-data-dir=") and b"replaykit-profile-" in word]
    if profile and any(word.startswith(b"--remote-debugging") for word in words):
        name = profile[0].decode().partition("=")[2]
        places[name] = [word.decode() for word in words if word.startswith(b"--remote-debugging")]
found["flags"] = places
found["ports"] = [name for name in places if (Path(name) / "DevToolsActivePort").exists()]
"""
    if sys.platform != "linux":
        pytest.skip("processes are found in /proc")
    _, found = recorded(site, tmp_path, script)
    assert ["--remote-debugging-pipe"] in found["flags"].values()
    assert len(found["ports"]) < len(found["flags"])


@pytest.mark.thorough
def test_popup_that_its_opener_silences_is_recorded(site: Site, tmp_path: Path) -> None:
    script = """
for _ in range(6):
    with page.expect_popup() as popup:
        page.click("#open")
    popup.value.click("#in")
    popup.value.close()
"""
    run, _ = recorded(site, tmp_path, script, FILLED)
    names = [
        step.action.element.name
        for step in run.steps
        if isinstance(step.action, Click) and step.action.element
    ]
    assert names.count("Inside") == 6
    assert [one.why for one in run.of_type(Gap)] == []


@pytest.mark.thorough
def test_page_made_with_an_address_is_recorded_from_its_first_request(site: Site, tmp_path: Path) -> None:
    site.add("/made", "<!doctype html><title>Made</title><script>fetch('/first')</script>")
    site.add("/first", "1", "text/plain")
    script = f"""
for _ in range(4):
    with page.context.expect_page() as made:
        root.send("Target.createTarget", {{"url": "{site.origin}/made"}})
    made.value.wait_for_load_state()
    made.value.wait_for_function("document.title === 'Made'")
    entries = made.value.context.new_cdp_session(made.value).send("Page.getNavigationHistory")["entries"]
    found.setdefault("history", []).append([entry["url"] for entry in entries])
"""
    run, found = recorded(site, tmp_path, script)
    urls = [exchange.url for exchange in run.of_type(Exchange)]
    assert (urls.count(f"{site.origin}/made"), urls.count(f"{site.origin}/first")) == (4, 4)
    assert [entries[-1] for entries in found["history"]] == [f"{site.origin}/made"] * 4
    assert [one.why for one in run.of_type(Gap)] == []


@pytest.mark.thorough
def test_messages_come_before_the_command_that_follows_them(site: Site, tmp_path: Path) -> None:
    script = """
for number in range(10):
    say(type="ask", text=f"May I, {number}?", t=1)
    page.click("#buy")
"""
    run, _ = recorded(site, tmp_path, script)
    asked, clicked = [one.t or 0 for one in run.of_type(Message)], [step.t or 0 for step in run.steps]
    assert (len(asked), len(clicked)) == (10, 10)
    assert all(one <= other for one, other in zip(asked, clicked, strict=True))
    assert all(one <= other for one, other in zip(clicked, asked[1:], strict=False))
    assert {one.stated_at for one in run.of_type(Message)} == {0}


def test_commands_are_kept_and_what_is_typed_is_not(site: Site, tmp_path: Path) -> None:
    script = """
page.click("#buy")
cdp.send("Input.insertText", {"text": "hunter2-hunter2"})
refused(root.send, "Browser.crash")
"""
    run, _ = recorded(site, tmp_path, script)
    commands = run.of_type(Command)
    assert {one.origin for one in commands} == {"proxy"}
    assert "Input.dispatchMouseEvent" in {one.name for one in commands}
    (typed,) = [one for one in commands if one.name == "Input.insertText"]
    assert typed.size == len("hunter2-hunter2")
    assert [one.name for one in commands if one.refused] == ["Browser.crash"]
    assert not any("hunter2" in str(one) for one in commands)


@pytest.mark.thorough
def test_pages_of_others_are_no_clients(site: Site, tmp_path: Path) -> None:
    script = """
def asked(path, **headers):
    request = urllib.request.Request(os.environ["REPLAYKIT_CDP_URL"] + path, headers=headers)
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code
found["plain"] = asked("/json/version")
found["list"] = asked("/json/list")
found["origin"] = asked("/json/list", Origin="http://evil.test")
found["host"] = asked("/json/list", Host="evil.test")
found["get"] = asked("/json/new")
found["other"] = asked("/secret")
"""
    _, found = recorded(site, tmp_path, script)
    assert found == {"plain": 200, "list": 200, "origin": 403, "host": 403, "get": 405, "other": 404}


@pytest.mark.thorough
def test_harness_gives_the_reply(site: Site, tmp_path: Path) -> None:
    harness = tmp_path / "spoken-by-harness.jsonl"
    harness.write_text('{"type": "reply", "text": "Yes.", "approved": true}\n')
    script = """
say(type="reply", text="Yes!", approved=True)
found["leaked"] = [name for name, text in os.environ.items() if "spoken-by-harness" in text]
page.click("#buy")
"""
    run, found = recorded(site, tmp_path, script, harness_events=harness)
    said = {(one.role, one.kind, one.text) for one in run.of_type(Message)}
    assert said == {("user", "reply", "Yes."), ("agent", "claim", "Yes!")}
    assert found["leaked"] == []


ARRIVES = "<!doctype html><title>Sent</title><script>localStorage.arrived = Math.random()</script>"
LINKS = """<!doctype html><a id=link href=/sent target=_blank>Read</a><button>Send</button>
<script>addEventListener('storage', () => history.replaceState(null, '', '/arrived'))</script>"""


def test_a_tab_that_is_there_for_a_download_lacks_nothing(site: Site, tmp_path: Path) -> None:
    site.add("/file", "abc", "application/octet-stream")
    start = site.add("/", "<!doctype html><a id=link href=/file target=_blank>Read</a>")
    actions = [["goto", start], ["click", "#link"]]
    rule = {"type": "never", "match": {"action": "close_tab"}}
    assert outcome_over_cdp(rule, actions, start, tmp_path) == "DORMANT"


def test_a_tab_that_a_link_opens_is_not_held_for_long(site: Site, tmp_path: Path) -> None:
    """It answers nothing before its document comes, and the document waits for the recorder."""
    site.add("/sent", ARRIVES)
    start = site.add("/", LINKS)
    actions = [["goto", start], ["click", "#link"], ["arrive", "/arrived"]]
    rule = {"type": "never", "match": {"action": "@activate", "text": "Send"}}
    assert outcome_over_cdp(rule, actions, start, tmp_path) == "DORMANT"


CLOSING = """<!doctype html><title>Pop</title><button id=a>A</button>
<iframe sandbox=allow-scripts srcdoc="<button>Pay</button>"></iframe><iframe src="{frame}"></iframe>"""
OPENING = """<button id=go onclick="window.open('/pop')">Go</button><button id=on>On</button>"""


def test_a_tab_with_frames_of_other_sites_is_whole_when_the_agent_closes_it(
    site: Site, tmp_path: Path
) -> None:
    site.add("/inner", "<button>Pay</button>")
    frame = site.origin.replace("127.0.0.1", "localhost") + "/inner"
    site.add("/pop", CLOSING.format(frame=frame))
    script = """
with page.expect_popup() as opened:
    page.click("#go")
pop = opened.value
pop.frame_locator("iframe >> nth=1").locator("button").wait_for()
pop.click("#a")
pop.close()
page.click("#on")
"""
    run, _ = recorded(site, tmp_path, script, OPENING)
    assert [type(step.action) for step in run.steps] == [Click, FocusTab, Click, CloseTab, Click]
    assert [(gap.channel, gap.why, gap.detail) for gap in run.of_type(Gap)] == []
