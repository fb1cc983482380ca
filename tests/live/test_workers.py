"""Workers that run before the recorder listens: what they sent is recorded, or a gap; an honest one leaves none."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, Playwright

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.completeness import lacking
from replaykit.trajectory.exchange import Exchange, Gap
from tests.live.conftest import WAIT_S
from tests.live.flags import FLAGS
from tests.live.test_leave_listeners import until
from tests.live.test_proxy import recorded
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.live, pytest.mark.one_page]

TAKES_OVER = (
    "addEventListener('install', (event) => event.waitUntil(skipWaiting()));"
    "addEventListener('activate', (event) => event.waitUntil(clients.claim()));"
)
SERVICES = {
    "asks": f"{TAKES_OVER} fetch('/first')",
    "stores": "addEventListener('install', (event) => event.waitUntil(caches.open('c')"
    ".then((cache) => cache.addAll(['/first'])))); importScripts('/more.js')",
    "answers": f"{TAKES_OVER} fetch('/first');"
    "addEventListener('fetch', (event) => event.respondWith(fetch(event.request)))",
}
WORKERS = {
    "service": "navigator.serviceWorker.register('/worker.js')",
    "dedicated": "globalThis.made = new Worker('/worker.js')",
    "nested": "globalThis.made = new Worker('/nest.js')",
}


class Run:
    """Content of a run that is about its network."""

    def __init__(self, path: Path) -> None:
        with open_bundle(path) as bundle:
            run = bundle.trajectory
        self.urls = {one.url for one in run.of_type(Exchange)}
        self.gaps = {gap.why for gap in run.of_type(Gap) if gap.channel == "network"}


def think(site: Site, path: str) -> None:
    """Wait as an agent does that asks its model: the recorder has no time meanwhile."""
    deadline = monotonic() + WAIT_S
    while not any(path in asked for asked in site.asked):
        assert monotonic() < deadline, "waited in vain"
        Event().wait(0.02)


@pytest.mark.parametrize("service", one_in(3, [*SERVICES]))
def test_page_with_a_service_worker_leaves_no_gap(
    service: str, page: Page, site: Site, tmp_path: Path
) -> None:
    site.add("/worker.js", SERVICES[service], "text/javascript")
    site.add("/more.js", "1", "text/javascript")
    site.add("/first", "ok", "text/plain")
    start = site.add("/", f"<!doctype html><script>{WORKERS['service']}</script><button>Buy</button>")
    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        page.click("button")
        until(page, lambda: "/first" in site.asked)
        run.answer("done")
    found = Run(tmp_path / "run.zst")
    assert {f"{site.origin}/worker.js", f"{site.origin}/first"} <= found.urls
    assert found.gaps == set()


ASKS = "addEventListener('message', () => { registration.update() })"
READY = "navigator.serviceWorker.ready.then((one) => { %s })"
UPDATES = {
    "page": READY % "one.update()",
    "worker": READY % "one.active.postMessage('')",
    "navigation": READY % "location.href = '/two'",
    "frame": READY % "document.body.append(Object.assign(document.createElement('iframe'), {src: '/two'}))",
    "refused": READY % "one.update().catch(() => 0)",
}


@pytest.mark.parametrize("kind", one_in(2, ["classic", "module"]))
@pytest.mark.parametrize("way", one_in(5, [*UPDATES]))
def test_update_of_a_service_worker_that_the_run_installed_is_a_gap(
    way: str, kind: str, page: Page, site: Site, tmp_path: Path
) -> None:
    load = "import '/more.js';" if kind == "module" else "importScripts('/more.js');"
    site.add("/worker.js", f"{load} {ASKS}", "text/javascript")
    site.add("/more.js", "1", "text/javascript")
    site.add("/two", "<!doctype html><p>Two</p>")
    made = f"navigator.serviceWorker.register('/worker.js', {{type: '{kind}', updateViaCache: 'none'}})"
    start = site.add("/", f"<!doctype html><body><script>{made}</script><button>Buy</button>")
    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
        if way == "refused":
            site.answers["/worker.js"] = (404, {})
        page.evaluate(f"() => {{ {UPDATES[way]} }}")
        until(page, lambda: site.asked.count("/worker.js") == 2)
        run.answer("done")
    assert "worker.updates" in Run(tmp_path / "run.zst").gaps


QUIET = {
    "elsewhere": "location.href = '@/two'",
    "two": "navigator.serviceWorker.register('/worker.js?2', {scope: '/sub/'})",
    "in use": READY % "one.active.postMessage(''); fetch('/first')",
}


@pytest.mark.parametrize("way", one_in(3, [*QUIET]))
def test_service_worker_that_is_only_used_leaves_no_gap(
    way: str, page: Page, site: Site, tmp_path: Path
) -> None:
    site.add("/worker.js", TAKES_OVER, "text/javascript")
    site.add("/two", "<!doctype html><title>Two</title>")
    site.add("/first", "ok", "text/plain")
    start = site.add("/", f"<!doctype html><script>{WORKERS['service']}</script><button>Buy</button>")
    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
        page.click("button")
        page.evaluate(f"() => {{ {QUIET[way].replace('@', site.other)} }}")
        until(page, lambda: {"/two", "/worker.js?2", "/first"} & {*site.asked})
        page.wait_for_function("document.readyState === 'complete'")
        run.answer("done")
    assert "worker.updates" not in Run(tmp_path / "run.zst").gaps


SOCKETS = {
    "plain": "new WebSocket('ws://@/socket?x')",
    "stream": "new WebSocketStream('ws://@/socket?x').opened.catch(() => 0)",
    "renamed": "let made = self['Web' + 'Socket']; new made('ws://@/socket?x');"
    "Object.defineProperty(made, 'name', {value: 'x'}); delete self.WebSocket; made = null",
    "out of reach": "const made = WebSocket; new made('ws://@/socket?x'); Object.setPrototypeOf(made, null)",
    "brought back": "const made = WebSocket; new made('ws://@/socket?x'); Object.setPrototypeOf(made, null);"
    "Object.defineProperty(self, 'WebSocket', {get: () => Object.setPrototypeOf(made, EventTarget)})",
}


def think_until(asked: str, kind: str, page: Page, site: Site, path: Path) -> Run:
    """Record an agent that thinks while the page makes its worker, until that has asked for an address."""
    site.add("/nest.js", "new Worker('/worker.js')", "text/javascript")
    start = site.add(
        "/", f'<!doctype html><button onclick="setTimeout(() => {WORKERS[kind]}, 50)">Buy</button>'
    )
    with Recorder(path, screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        page.click("button")
        think(site, asked)
        run.answer("done")
    return Run(path)


@pytest.mark.parametrize("way", one_in(5, [*SOCKETS]))
@pytest.mark.parametrize("kind", one_in(3, [*WORKERS]))
def test_socket_that_a_worker_opens_while_the_agent_thinks_is_recorded_or_a_gap(
    kind: str, way: str, page: Page, site: Site, tmp_path: Path
) -> None:
    address = site.origin.removeprefix("http://")
    site.add("/worker.js", SOCKETS[way].replace("@", address), "text/javascript")
    found = think_until("/socket", kind, page, site, tmp_path / "run.zst")
    assert "target.late" in found.gaps or f"ws://{address}/socket?x" in found.urls


TRANSPORT = "new WebTransport('https://127.0.0.1:9/x').closed.catch(() => 0); fetch('/first')"


@pytest.mark.parametrize("kind", one_in(3, ["dedicated", "nested", "service"]))
def test_transport_that_a_worker_opens_while_the_agent_thinks_is_recorded_or_a_gap(
    kind: str, page: Page, site: Site, tmp_path: Path
) -> None:
    site.add("/worker.js", TRANSPORT, "text/javascript")
    site.add("/first", "ok", "text/plain")
    found = think_until("/first", kind, page, site, tmp_path / "run.zst")
    assert found.gaps or "https://127.0.0.1:9/x" in found.urls


HONEST = {"asks": "fetch('/first')", "listens": "onmessage = () => 0; fetch('/first')"}


def follow(way: str, kind: str, page: Page, site: Site, path: Path) -> Run:
    site.add("/worker.js", HONEST[way], "text/javascript")
    site.add("/nest.js", "new Worker('/worker.js')", "text/javascript")
    site.add("/first", "ok", "text/plain")
    start = site.add("/", f'<!doctype html><button onclick="{WORKERS[kind]}">Buy</button>')
    with Recorder(path, screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        page.click("button")
        until(page, lambda: "/first" in site.asked)
        run.answer("done")
    return Run(path)


@pytest.mark.parametrize("way", one_in(2, [*HONEST]))
def test_worker_without_a_socket_leaves_no_gap(way: str, page: Page, site: Site, tmp_path: Path) -> None:
    found = follow(way, "dedicated", page, site, tmp_path / "run.zst")
    assert (found.gaps, f"{site.origin}/first" in found.urls) == (set(), True)


@pytest.mark.parametrize("way", one_in(2, [*HONEST]))
def test_worker_that_a_worker_makes_is_a_gap(way: str, page: Page, site: Site, tmp_path: Path) -> None:
    # The driver does not always make it wait, and then no one reports its first request.
    assert "target.late" in follow(way, "nested", page, site, tmp_path / "run.zst").gaps


def test_redirects_of_a_worker_s_script_are_recorded(page: Page, site: Site, tmp_path: Path) -> None:
    site.answers["/worker.js"] = (302, {"Location": "/again"})
    site.answers["/again"] = (307, {"Location": "/first?x"})
    site.add("/first", "onmessage = () => 0", "text/javascript")
    start = site.add("/", f'<!doctype html><button onclick="{WORKERS["dedicated"]}">Buy</button>')
    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        page.click("button")
        until(page, lambda: "/first?x" in site.asked)
        run.answer("done")
    found = Run(tmp_path / "run.zst")
    assert found.urls == {site.origin + path for path in ("/", "/worker.js", "/again", "/first?x")}
    assert found.gaps == set()


def test_module_of_an_audio_worklet_is_a_gap(page: Page, site: Site, tmp_path: Path) -> None:
    site.add("/first", "1", "text/javascript")
    load = "new AudioContext().audioWorklet.addModule('/first')"
    start = site.add("/", f'<!doctype html><button onclick="{load}">Buy</button>')
    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page)
        page.goto(start)
        page.click("button")
        until(page, lambda: "/first" in site.asked)
        run.answer("done")
    found = Run(tmp_path / "run.zst")
    assert "target.late" in found.gaps or f"{site.origin}/first" in found.urls


@pytest.mark.thorough
def test_module_of_an_audio_worklet_loads_behind_the_proxy(
    browser_path: Path, site: Site, tmp_path: Path
) -> None:
    site.add("/first", "1", "text/javascript")
    script = """
page.evaluate("new AudioContext().audioWorklet.addModule('/first').then(() => 1)")
found["loaded"] = True
"""
    run, found = recorded(site, tmp_path, script, screenshots="off")
    assert found == {"loaded": True}
    assert f"{site.origin}/first" in {one.url for one in run.of_type(Exchange)}
    assert lacking(run, "network") == ()


@pytest.mark.parametrize("path", one_in(2, ["/", "/plain"]))
@pytest.mark.parametrize("has_worker", [True, False])
def test_service_worker_from_before_the_run_is_a_gap(
    has_worker: bool, path: str, playwright: Playwright, browser_path: Path, site: Site, tmp_path: Path
) -> None:
    site.add("/worker.js", "addEventListener('fetch', () => 0)", "text/javascript")
    make = f"<script>{WORKERS['service']}.then(() => {{ document.title = 'made' }})</script>"
    site.add("/make", f"<!doctype html>{make if has_worker else '<title>made</title>'}")
    site.add(path, "<!doctype html><button>Buy</button>")
    options: dict[str, Any] = {"executable_path": browser_path, "args": [*FLAGS, "--no-sandbox"]}
    with playwright.chromium.launch_persistent_context(tmp_path / "profile", **options) as context:
        context.pages[0].goto(f"{site.origin}/make")
        context.pages[0].wait_for_function("document.title === 'made'")
    with (
        playwright.chromium.launch_persistent_context(tmp_path / "profile", **options) as context,
        Recorder(tmp_path / "run.zst", screenshots="off") as run,
    ):
        run.attach(context)
        context.pages[0].goto(site.origin + path)
        context.pages[0].click("button")
        run.answer("done")
    assert ("worker.updates" in Run(tmp_path / "run.zst").gaps) == has_worker
