"""Frames, workers and popups that live for milliseconds: what they ask for is known, or said to be missing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import BrowserContext

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.agent_runs import record_agent, record_command
from replaykit.recorder.recorder import Recorder
from replaykit.tasks.task import Task, decode_task
from replaykit.trajectory.completeness import state_of
from replaykit.trajectory.completeness_proof import Proof
from replaykit.trajectory.exchange import Exchange, Gap
from replaykit.trajectory.step import Trajectory
from tests.live.conftest import browser_of_sites
from tests.live.test_frames import context_of
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

SEND = "fetch('@order', {method: 'POST', mode: 'no-cors', body: 'one'})"

BRIEF = {
    "frame in a sandbox": "frame(f => { f.sandbox = 'allow-scripts'; f.srcdoc = `<script>SEND<\\/script>` }, 40)",
    "frame of another site": "frame(f => { f.src = '@elsewhere' }, 200)",
    "frame that leaves a beacon": (
        "frame(f => { f.sandbox = 'allow-scripts'; f.srcdoc = `<script>addEventListener('pagehide', "
        "() => navigator.sendBeacon('@order', 'one'))<\\/script>` }, 90)"
    ),
    "worker": "work(`SEND`, 30)",
    "worker of a worker": "work(`new Worker(URL.createObjectURL(new Blob([\"SEND\"])))`, 400)",
    "worker whose answer nobody waits for": "work(`fetch('@slow', {method: 'POST'})`, 120)",
    "worker with a socket": "work(`new WebSocket('@live'.replace('http', 'ws'))`, 60)",
    "popup": "const p = open('/in'); setTimeout(() => p.close(), 150)",
    "popup without an address": "const p = open(''); p.eval(`SEND`); setTimeout(() => p.close(), 20)",
}  # fmt: skip

TOOLS = """<!doctype html><title>Desk</title><button id=go>Go</button><script>
function frame(fill, ms) {
  const made = document.createElement('iframe');
  fill(made);
  document.body.append(made);
  setTimeout(() => made.remove(), ms);
}
function work(source, ms) {
  const worker = new Worker(URL.createObjectURL(new Blob([source])));
  setTimeout(() => worker.terminate(), ms);
}
go.onclick = () => { ACT };
</script>"""

LASTING = {
    "frame in a sandbox": "<iframe sandbox=allow-scripts srcdoc='<p>one<script>1</" + "script>'></iframe>",
    "frame of another site": "<iframe src='@elsewhere'></iframe>",
    "worker": "<script>onload = () => new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])))</script>",
    "popup": "<script>go.onclick = () => open('/next')</script>",
    "page left behind": "<iframe src='@elsewhere'></iframe><script>go.onclick = () => { location = '/next' }</script>",
}  # fmt: skip


@pytest.fixture(scope="module")
def context(browser_path: Path) -> Iterator[BrowserContext]:
    with browser_of_sites(browser_path) as browser, context_of(browser) as made:
        yield made


def filled(site: Site, text: str) -> str:
    other = site.origin.replace("127.0.0.1", "localhost")
    return text.replace("SEND", SEND).replace("@elsewhere", f"{other}/in").replace("@", f"{site.origin}/")


def served(site: Site, page: str) -> str:
    for path in ("/order", "/slow"):
        site.add(path, "ok", "text/plain")
    site.add("/in", filled(site, "<!doctype html><title>In</title><script>SEND</script>"))
    site.add("/next", "<!doctype html><title>Next</title>")
    site.add("/favicon.ico", "", "image/x-icon")
    return site.add("/", filled(site, page))


def recorded(context: BrowserContext, start: str, out: Path) -> Trajectory:
    page = context.new_page()
    with Recorder(out) as run:
        run.attach(page)
        page.goto(start)
        page.click("#go")
        page.wait_for_timeout(900)
        run.answer("done")
    page.close()
    return held(out)


def held(out: Path) -> Trajectory:
    with open_bundle(out) as bundle:
        return bundle.trajectory


def ordered(run: Trajectory) -> bool:
    return any(one.method == "POST" or one.url.startswith("ws:") for one in run.of_type(Exchange))


@pytest.mark.parametrize("kind", one_in(5, [*BRIEF]))
def test_request_of_what_lives_for_milliseconds(
    kind: str, context: BrowserContext, site: Site, tmp_path: Path
) -> None:
    run = recorded(context, served(site, TOOLS.replace("ACT", BRIEF[kind])), tmp_path / "run.zst")
    # On a busy machine a frame may be gone before its script runs.
    was_asked = not {"/order", "/slow", "/live"}.isdisjoint(site.asked)
    assert ordered(run) or not was_asked or state_of(run, "network").state == "partial"


def test_a_request_whose_answer_is_never_read_is_known_or_missing(
    context: BrowserContext, site: Site, tmp_path: Path
) -> None:
    stays = "frame(f => { f.sandbox = 'allow-scripts'; f.srcdoc = `<script>SEND<\\/script>` }, 9000)"
    site.answers["/order"] = (200, {"Cache-Control": "no-store"})
    start = served(site, TOOLS.replace("ACT", stays))
    run = recorded(context, start, tmp_path / "run.zst")
    assert "/order" in site.asked
    assert ordered(run) or state_of(run, "network").state == "partial"


@pytest.mark.parametrize("kind", one_in(2, [*LASTING]))
def test_what_goes_on_living_leaves_the_network_whole(
    kind: str, context: BrowserContext, site: Site, tmp_path: Path
) -> None:
    page = "<!doctype html><title>Desk</title><button id=go>Go</button>" + LASTING[kind]
    start = served(site, page)
    site.add("/in", "<!doctype html><title>In</title><p>In</p>")
    run = recorded(context, start, tmp_path / "run.zst")
    assert state_of(run, "network").state == "recorded"
    assert [gap.why for gap in run.of_type(Gap) if gap.channel == "actions"] == []


EVERY = "; ".join(f"setTimeout(() => {{ {act} }}, {100 * at})" for at, act in enumerate(BRIEF.values()))
EVERY += "; setTimeout(() => { document.title = 'Done'; }, 2400)"
DONE = "document.title === 'Done'"


def act(page: Any, task: Any, run: Any) -> None:
    page.click("#go")
    page.wait_for_function(DONE)
    run.answer("done")


AGENT = """
import os
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    page = playwright.chromium.connect_over_cdp(os.environ["REPLAYKIT_CDP_URL"]).contexts[0].pages[0]
    page.click("#go")
    page.wait_for_function("document.title === 'Done'")
"""


def by_agent(task: Task, out: Path) -> None:
    record_agent(act, task, out)


def by_command(task: Task, out: Path) -> None:
    record_command([sys.executable, "-c", AGENT], task, out)


@pytest.mark.parametrize("way", one_in(2, [by_command, by_agent]))
def test_network_of_a_browser_that_the_recorder_starts_is_proven(
    way: Callable[[Task, Path], None], site: Site, tmp_path: Path
) -> None:
    start = served(site, TOOLS.replace("ACT", EVERY))
    task = decode_task({"id": "t", "intent": "Try.", "start_urls": [start]})
    with ThreadPoolExecutor(1) as pool:
        pool.submit(way, task, tmp_path / "run.zst").result()
    run = held(tmp_path / "run.zst")
    assert state_of(run, "network") == ("proven", ())
    (census,) = [one for one in run.of_type(Proof) if one.witness == "census"]
    assert (census.closed, census.lacks) == (True, ())
    # How many live long enough to be seen depends on the machine.
    assert census.counts["seen"] >= census.counts["armed"] + census.counts["late"] > 1
    assert (census.counts["held"] > 0) is (way is by_command)
    asked = [one.url for one in run.of_type(Exchange) if one.method == "POST"]
    assert len([url for url in asked if url.endswith("/order")]) >= site.asked.count("/order") > 1
    # A worker that is ended after a moment may not have asked by then.
    assert len([url for url in asked if url.endswith("/slow")]) >= site.asked.count("/slow")


def test_browser_of_an_agent_lacks_what_playwright_turns_off_and_three_features_more(
    site: Site, tmp_path: Path
) -> None:
    found: list[list[set[str]]] = []

    def look(page: Any, task: Any, run: Any) -> None:
        session = page.context.browser.new_browser_cdp_session()
        words = session.send("SystemInfo.getInfo")["commandLine"].split()
        flags = [word.partition("=")[2] for word in words if word.startswith("--disable-features=")]
        found.append([set(flag.split(",")) for flag in flags])

    task = decode_task({"id": "t", "intent": "Try.", "start_urls": [served(site, "<h1>x</h1>")]})
    with ThreadPoolExecutor(1) as pool:
        pool.submit(record_agent, look, task, tmp_path / "run.zst").result()
    (theirs, ours) = found[0]
    assert ours == theirs | {"IsolateSandboxedIframes", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup"}


def test_every_recording_draws_names_of_its_own(context: BrowserContext, site: Site, tmp_path: Path) -> None:
    start, worlds = served(site, "<!doctype html><button id=go>Go</button>"), list[str]()
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.on("Runtime.executionContextCreated", lambda event: worlds.append(event["context"]["name"]))
    session.send("Runtime.enable")
    for number in range(2):
        with Recorder(tmp_path / f"{number}.zst") as run:
            run.attach(page)
            page.goto(start)
            page.click("#go")
            run.answer("done")
        assert len(held(tmp_path / f"{number}.zst").steps) == 2
    page.close()
    assert len({name for name in worlds if name.startswith("w")}) == 2
