"""Frames that a page cannot read, in this process and in others, and workers: what the bundle then holds."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page

from replaykit.bundle.reader import open_bundle
from replaykit.errors import Unsupported
from replaykit.recorder.agent_runs import record_command
from replaykit.recorder.recorder import AsyncRecorder, Recorder
from replaykit.replay.frame_pages import FrameView
from replaykit.replay.offline_page.chromium_reader import ChromiumReader
from replaykit.replay.offline_page.fidelity import fidelity
from replaykit.replay.offline_page.offline_page import OfflinePage
from replaykit.replay.offline_page.page_payload import blueprint_of
from replaykit.replay.offline_page.page_question import PageQuestion
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page as Seen
from replaykit.tasks.task import Task, decode_task
from replaykit.trajectory.action import Click, Fill, Press, SelectOption, Type, UploadFile, tag_of
from replaykit.trajectory.exchange import Exchange, Gap, Navigation
from replaykit.trajectory.step import Trajectory
from tests.live.agent_programs import outlived
from tests.live.conftest import browser_of_sites
from tests.live.flags import LEAN
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

    from replaykit.replay.offline_page.chromium import Chromium

pytestmark = pytest.mark.live

PATIENCE_S = 60.0
"""Nothing on a page shows when the recorder listens in a frame of another process; acts before are lost, as a gap."""

POLL_MS = 20

LOADS = 3
"""Of a page whose frames race with those who listen in them."""

RUNS: WeakKeyDictionary[Page, Recorder] = WeakKeyDictionary()
"""Recorder of each page."""

INNER = """<!doctype html><title>Pay</title>
<label>Card name <input id=name></label> <select id=size><option value=s>Small<option value=l>Large</select>
<input id=file type=file> <button id=pay onclick="said.textContent = 'Paid by ' + this.previousElementSibling.id">
Pay</button> <p id=said>Nothing yet</p>"""
DEEP = "<!doctype html><title>Deep</title><input id=deep><p>Deep down</p>"


@contextmanager
def context_of(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 800, "height": 600})
    made.set_default_timeout(60_000)
    yield made
    made.close()


@pytest.fixture
def context(isolated: Browser) -> Iterator[BrowserContext]:
    with context_of(isolated) as made:
        yield made


def elsewhere(site: Site, kind: str) -> str:
    """An origin that pages of the site cannot read: of another process, or of this one."""
    return site.origin.replace("127.0.0.1", "localhost") if kind == "out" else site.other


def shop(site: Site, kind: str) -> str:
    """A page with a frame of its own, one that it cannot read, and in that another one."""
    other = elsewhere(site, kind)
    back = site.origin if kind == "out" else other.replace("127.0.0.1", "localhost")
    site.add("/favicon.ico", "", "image/x-icon")
    site.add("/deep", DEEP)
    site.add("/pay", f"{INNER}<iframe id=inner src='{back}/deep'></iframe>")
    site.add("/own", "<!doctype html><p id=own>Own</p>")
    return site.add(
        "/",
        "<!doctype html><title>Shop</title><p id=top>Shop</p><iframe src=/own></iframe>"
        f"<iframe id=pay src='{other}/pay' width=500 height=300></iframe><button id=main>Main</button>",
    )


def is_out_of_process(page: Page, url: str) -> bool:
    frame = next(frame for frame in page.frames if frame.url.endswith(url))
    try:
        page.context.new_cdp_session(frame).detach()
    except Error:
        return False
    return True


class Recorded:
    """Content of a bundle, read while it is open."""

    def __init__(self, path: Path) -> None:
        with open_bundle(path) as bundle:
            self.trajectory: Trajectory = bundle.trajectory
            self.replay = Replay(bundle)
            self.texts = {id(page): outline(page) for page in self.replay.pages}

    @property
    def steps(self) -> tuple[Any, ...]:
        return self.trajectory.steps

    def acts(self) -> list[tuple[Any, ...]]:
        return [
            (tag_of(step.action), step.action.element.css, step.action.element.frame)
            for step in self.steps
            if step.action.element is not None
        ]

    def pages(self, role: str) -> list[Any]:
        return [self.texts[id(page)] for page in self.replay.pages if page.role == role]

    def gaps(self) -> list[tuple[str, str]]:
        return [(gap.channel, gap.why) for gap in self.trajectory.of_type(Gap)]


def outline(holder: Seen | FrameView) -> Any:
    """Title, texts and live values of a page, with those of its frames."""
    dom = holder.dom
    if dom is None:
        return holder.why if isinstance(holder, FrameView) else None
    shown = [node.text_content for node in dom.select_all("p")]
    values = [node.value for node in dom.select_all("input:not([type=file], [type=password]), select")]
    return (dom.title, shown, values, [outline(frame) for frame in holder.frames])


def listens(run: Recorder | AsyncRecorder, page: Any) -> bool:
    """Whether the recorder observes every frame that its page cannot read."""
    tab = run._driver.tabs[0]
    origins = {frame: "/".join(frame.url.split("/")[:3]) for frame in page.frames}
    apart = [one for one in page.frames[1:] if origins[one] != origins[one.parent_frame]]
    return run._driver.is_settled and len(tab.frames.reporters.keys() - {tab.frames.main}) == len(apart)


def places(run: Recorder) -> list[tuple[int, ...]]:
    """Where the recorder takes the frames of other processes to stand."""
    tab = run._driver.tabs[0]
    return sorted(tab.frame(target.id) for target in tab.targets.values())


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Let events in until something holds."""
    deadline = monotonic() + PATIENCE_S
    while not holds():
        assert monotonic() < deadline, "waited in vain"
        page.wait_for_timeout(POLL_MS)


async def until_async(page: Any, holds: Callable[[], bool]) -> None:
    deadline = monotonic() + PATIENCE_S
    while not holds():
        assert monotonic() < deadline, "waited in vain"
        await page.wait_for_timeout(POLL_MS)


def record(
    out: Path, context: BrowserContext, start: str, act: Callable[[Page], Any], **options: Any
) -> Recorded:
    page = context.new_page()
    with Recorder(out, **options) as run:
        run.attach(page)
        page.goto(start)
        until(page, lambda: listens(run, page))
        RUNS[page] = run
        act(page)
        run.answer("done")
    return Recorded(out)


def fill_in(page: Page) -> None:
    pay = page.frame_locator("#pay")
    pay.locator("#name").fill("Ann")
    pay.locator("#name").press("End")
    pay.locator("#name").press_sequentially(" Bee")
    pay.locator("#size").select_option("l")
    pay.locator("#file").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"abc"})
    pay.locator("#pay").click()
    pay.locator("text=Paid by").wait_for()
    pay.frame_locator("#inner").locator("#deep").fill("down")
    page.click("#main")
    page.wait_for_timeout(400)


def check_filled_in(found: Recorded) -> None:
    assert found.acts() == [
        ("fill", "#name", (1,)),
        ("press", "#name", (1,)),
        ("type", "#name", (1,)),
        ("select_option", "#size", (1,)),
        ("upload_file", "#file", (1,)),
        ("click", "#pay", (1,)),
        ("fill", "#deep", (1, 0)),
        ("click", "#main", ()),
    ]
    assert [type(step.action) for step in found.steps[1:7]] == [
        Fill,
        Press,
        Type,
        SelectOption,
        UploadFile,
        Click,
    ]
    paid = ("Pay", ["Paid by file"], ["Ann Bee", "l"], [("Deep", ["Deep down"], ["down"], [])])
    assert found.pages("final") == [("Shop", ["Shop"], [], [paid])]


@pytest.mark.parametrize("kind", one_in(2, ["out", "in"]))
def test_actions_in_a_frame_that_the_page_cannot_read(
    kind: str, tmp_path: Path, context: BrowserContext, site: Site
) -> None:
    isolation = []

    def act(page: Page) -> None:
        isolation.append(is_out_of_process(page, "/pay"))
        fill_in(page)

    found = record(tmp_path / "run.zst", context, shop(site, kind), act)
    assert isolation == [kind == "out"]
    check_filled_in(found)
    click = found.steps[6]
    (frame,) = click.before.frames
    assert click.action.element.node.snapshot == frame.snapshot
    assert click.action.element.frame_url == frame.url == f"{elsewhere(site, kind)}/pay"
    # The page as it was inside of the action, before any handler ran; the frame inside of it, too.
    state = found.replay[6]
    assert found.texts[id(state.before)][3][0][:3] == ("Pay", ["Nothing yet"], ["Ann Bee", "l"])
    assert found.texts[id(state.after)][3][0][:3] == ("Pay", ["Paid by file"], ["Ann Bee", "l"])
    assert click.before.stale is None
    assert not [navigation for navigation in found.trajectory.of_type(Navigation) if navigation.frame]
    assert len(found.trajectory.of_type(Navigation)) == 1


def test_actions_in_a_frame_whose_world_is_older_than_its_document(
    tmp_path: Path, context: BrowserContext, site: Site
) -> None:
    """A frame that comes late is looked into while it is empty: of its drivers' scripts its world sees nothing then."""
    start, page = shop(site, "in"), context.new_page()
    gate = site.gates["/pay"] = threading.Event()
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        tab = run._driver.tabs[0]

        def early() -> list[str]:
            kept = tab.worlds._contexts.values()
            return [
                one.origin for one in kept if one.name == run.names.world and one.frame != tab.frames.main
            ]

        page.goto(start, wait_until="commit")
        until(page, lambda: "/pay" in site.asked and len(early()) == 2)
        gate.set()
        until(page, lambda: listens(run, page))
        assert site.other not in early(), "the world was made in time: nothing is tested"
        fill_in(page)
        run.answer("done")
    check_filled_in(Recorded(tmp_path / "run.zst"))


def test_boxes_and_points_are_those_of_the_page(tmp_path: Path, context: BrowserContext, site: Site) -> None:
    site.add("/pay", INNER)
    start = site.add(
        "/",
        "<!doctype html><body style='margin:0'><div style='height:900px'></div>"
        f"<iframe id=pay src='{elsewhere(site, 'out')}/pay' style='border:3px solid;padding:5px'></iframe>"
        "<div style='height:900px'></div>",
    )
    places = []

    def act(page: Page) -> None:
        page.wait_for_timeout(400)
        page.evaluate("scrollTo(0, 500)")
        frame = next(frame for frame in page.frames if frame.url.endswith("/pay"))
        x, y, width, height = frame.evaluate(
            "Object.values(pay.getBoundingClientRect().toJSON()).slice(0, 4)"
        )
        top = page.evaluate("document.getElementById('pay').getBoundingClientRect().y")
        # Border and padding lie around the frame's own viewport.
        places.append([x + 8, y + top + 8, width, height])
        page.mouse.click(x + 20, y + top + 18)
        page.wait_for_timeout(300)

    element = record(tmp_path / "run.zst", context, start, act).steps[-1].action.element
    (box,) = places
    assert element.css == "#pay"
    assert element.box == pytest.approx(box, abs=1)
    assert element.point == pytest.approx([box[0] + 12, box[1] + 10], abs=1)


async def drive_async(browser_path: Path, start: str, out: Path) -> None:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        arguments = ["--site-per-process", "--no-sandbox", "--disable-gpu", LEAN]
        browser = await playwright.chromium.launch(executable_path=browser_path, args=arguments)
        page = await browser.new_page(viewport={"width": 800, "height": 600})
        async with AsyncRecorder(out) as run:
            await run.attach(page)
            await page.goto(start)
            await until_async(page, lambda: listens(run, page))
            pay = page.frame_locator("#pay")
            file: Any = {"name": "a.txt", "mimeType": "text/plain", "buffer": b"abc"}
            await pay.locator("#name").fill("Ann")
            await pay.locator("#name").press("End")
            await pay.locator("#name").press_sequentially(" Bee")
            await pay.locator("#size").select_option("l")
            await pay.locator("#file").set_input_files(file)
            await pay.locator("#pay").click()
            await pay.locator("text=Paid by").wait_for()
            await pay.frame_locator("#inner").locator("#deep").fill("down")
            await page.click("#main")
            await page.wait_for_timeout(400)
            run.answer("done")
        await browser.close()


@pytest.mark.thorough
def test_async_driver_records_the_same(
    tmp_path: Path, context: BrowserContext, site: Site, browser_path: Path
) -> None:
    start = shop(site, "out")
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(drive_async(browser_path, start, tmp_path / "async.zst"))).result()
    one = record(tmp_path / "sync.zst", context, start, fill_in)
    other = Recorded(tmp_path / "async.zst")
    check_filled_in(other)
    assert one.acts() == other.acts()
    assert one.pages("final") == other.pages("final")
    assert [element_of(step) for step in one.steps] == [element_of(step) for step in other.steps]


def element_of(step: Any) -> Any:
    element = step.action.element
    return None if element is None else (element.frame, element.frame_url, element.name, element.node.number)


def test_frames_keep_their_places_when_others_come_before_them(
    tmp_path: Path, context: BrowserContext, site: Site
) -> None:
    def act(page: Page) -> None:
        pay = page.frame_locator("#pay")
        pay.locator("#name").fill("first")
        page.evaluate("document.body.prepend(Object.assign(document.createElement('iframe'), {src: '/own'}))")
        page.frame_locator("iframe >> nth=0").locator("#own").wait_for()
        until(page, lambda: places(RUNS[page]) == [(2,), (2, 0)])
        pay.locator("#name").fill("second")

    found = record(tmp_path / "run.zst", context, shop(site, "out"), act)
    assert found.acts() == [("fill", "#name", (1,)), ("fill", "#name", (2,))]
    assert found.pages("final")[0][3][0][:3] == ("Pay", ["Nothing yet"], ["second", "s"])


@pytest.mark.thorough
def test_frames_of_a_page_that_is_looked_at_for_a_check(
    tmp_path: Path, context: BrowserContext, site: Site
) -> None:
    start = shop(site, "out")
    empty = site.add("/empty", "<!doctype html><title>Empty</title>")
    task = decode_task(
        {
            "id": "frames",
            "intent": "Look.",
            "start_urls": [empty],
            "sites": ["shop"],
            "checks": [
                {
                    "type": "page",
                    "url": url,
                    "selector": "#top",
                    "property": "text",
                    "expect": {"equals": "Shop"},
                }
                for url in (start, "last")
            ],
        }
    )
    options = {"task": task, "sites": {"shop": site.origin}}
    found = record(tmp_path / "run.zst", context, start, lambda page: None, **options)
    frames = [("Pay", ["Nothing yet"], ["", "s"], [("Deep", ["Deep down"], [""], [])])]
    with open_bundle(tmp_path / "run.zst") as bundle:
        probes = Replay(bundle).probes
        assert [outline(page) for page in probes] == [("Shop", ["Shop"], [], frames)] * len(probes)
    assert {page.seen.requested for page in probes} >= {start}
    assert not [gap for gap in found.gaps() if gap[0] != "network"]


@pytest.mark.thorough
def test_frame_goes_elsewhere_and_back(tmp_path: Path, context: BrowserContext, site: Site) -> None:
    out, inside = elsewhere(site, "out"), site.other
    site.add("/one", "<!doctype html><title>One</title><button id=go>One</button>")
    site.add("/two", "<!doctype html><title>Two</title><button id=go>Two</button>")
    start = site.add("/", f"<!doctype html><title>Shop</title><iframe id=f src='{inside}/one'></iframe>")

    def act(page: Page) -> None:
        for url in (f"{out}/two", f"{inside}/one", f"{out}/two", "/two"):
            page.frame_locator("#f").locator("#go").click()
            page.wait_for_timeout(300)
            page.evaluate("url => f.src = url", url)
            name = url.rpartition("/")[2].title()
            page.frame_locator("#f").locator(f"text={name}").wait_for()
        page.frame_locator("#f").locator("#go").click()
        page.wait_for_timeout(400)

    found = record(tmp_path / "run.zst", context, start, act)
    assert [step.action.element.text for step in found.steps[1:]] == ["One", "Two", "One", "Two", "Two"]
    assert found.acts() == [("click", "#go", (0,))] * 5
    befores = [found.texts[id(state.before)] for state in found.replay][1:]
    assert [before[3][0][0] for before in befores[:4]] == ["One", "Two", "One", "Two"]
    # In the end the page can read it: it is a part of the page.
    assert befores[4][3] == []
    assert len(found.trajectory.of_type(Navigation)) == 1


def test_frame_that_goes_away_is_not_shown(tmp_path: Path, context: BrowserContext, site: Site) -> None:
    def act(page: Page) -> None:
        page.frame_locator("#pay").locator("#name").fill("Ann")
        page.evaluate("document.getElementById('pay').remove()")
        page.click("#main")
        page.wait_for_timeout(300)

    found = record(tmp_path / "run.zst", context, shop(site, "out"), act)
    assert found.pages("final") == [("Shop", ["Shop"], [], [])]


def again_until_idle(page: Page, frames: int) -> None:
    """Load a page again and wait until Chromium has reported all about its own frames.

    Playwright's driver dies of reports about a frame after a crash.
    Its own `networkidle` is no help, it comes from a clock of its own; nor is a session that began
    after the page: that receives at once what Playwright's receives when the page has time.
    """
    events: dict[str, set[str]] = {"init": set(), "networkIdle": set()}
    session = page.context.new_cdp_session(page)
    session.on(
        "Page.lifecycleEvent", lambda event: events.setdefault(event["name"], set()).add(event["loaderId"])
    )
    session.send("Page.enable")
    session.send("Page.setLifecycleEventsEnabled", {"enabled": True})
    page.reload()
    deadline = monotonic() + PATIENCE_S
    while len(events["init"] & events["networkIdle"]) < frames:
        assert monotonic() < deadline, f"of {frames} frames: {events}"
        page.wait_for_timeout(POLL_MS)
    session.detach()


def crash_a_frame(out: Path, browser_path: Path, start: str) -> Recorded:
    def act(page: Page) -> None:
        again_until_idle(page, frames=2)
        page.frame_locator("#pay").locator("#name").fill("Ann")
        frame = next(frame for frame in page.frames if frame.url.endswith("/pay"))
        crashing = page.context.new_cdp_session(frame)
        with pytest.raises(Error):
            crashing.send("Page.crash", timeout=2000)

    out.unlink(missing_ok=True)
    with browser_of_sites(browser_path) as browser, context_of(browser) as context:
        return record(out, context, start, act)


@pytest.mark.thorough
def test_frame_that_crashes_says_so(tmp_path: Path, browser_path: Path, site: Site) -> None:
    start = shop(site, "out")
    found = outlived(lambda: crash_a_frame(tmp_path / "run.zst", browser_path, start))
    # Playwright gives the whole page up; the page itself lives on.
    assert found.pages("final") == [("Shop", ["Shop"], [], ["crashed"])]
    assert ("snapshots", "frame.crashed") in found.gaps()


def test_frames_that_were_there_first(tmp_path: Path, context: BrowserContext, site: Site) -> None:
    page = context.new_page()
    page.goto(shop(site, "out"))
    page.frame_locator("#pay").frame_locator("#inner").locator("#deep").fill("early")
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        page.frame_locator("#pay").locator("#name").fill("late")
        page.wait_for_timeout(300)
    found = Recorded(tmp_path / "run.zst")
    deep = ("Deep", ["Deep down"], ["early"], [])
    assert found.pages("start") == [("Shop", ["Shop"], [], [("Pay", ["Nothing yet"], ["", "s"], [deep])])]
    assert found.pages("final") == [("Shop", ["Shop"], [], [("Pay", ["Nothing yet"], ["late", "s"], [deep])])]
    assert found.gaps() == []


def test_queries_on_the_page_end_at_its_frames(tmp_path: Path, context: BrowserContext, site: Site) -> None:
    counted = []

    def act(page: Page) -> None:
        page.frame_locator("#pay").locator("#name").fill("Ann")
        page.wait_for_timeout(300)
        count = "css => document.querySelectorAll(css).length"
        counted.extend((css, page.evaluate(count, css)) for css in ("p", "input", "iframe", "button"))
        counted.append(("text", page.evaluate("document.body.innerText")))

    record(tmp_path / "run.zst", context, shop(site, "out"), act)
    with open_bundle(tmp_path / "run.zst") as bundle:
        final = Replay(bundle).final
        assert final is not None and final.dom is not None and final.dom.body is not None
        for css, count in counted[:-1]:
            assert len(final.dom.select_all(css)) == count
        assert final.dom.body.inner_text == counted[-1][1]
        (frame,) = final.frames
        assert frame.owner is not None and frame.owner.attribute("id") == "pay"
        assert frame.dom is not None
        assert [node.value for node in frame.dom.select_all("#name")] == ["Ann"]


def test_secrets_in_frames_leave_with_the_rest(tmp_path: Path, context: BrowserContext, site: Site) -> None:
    site.add("/pay", "<!doctype html><input id=pin type=password><input id=name><p id=out></p>")
    start = site.add("/", f"<!doctype html><iframe id=pay src='{elsewhere(site, 'out')}/pay'></iframe>")

    def act(page: Page) -> None:
        pay = page.frame_locator("#pay")
        pay.locator("#pin").fill("4711-secret")
        pay.locator("#name").fill("harbour-42")
        page.wait_for_timeout(400)

    found = record(tmp_path / "run.zst", context, start, act, secrets={"KEY": "harbour-42"})
    with open_bundle(tmp_path / "run.zst") as bundle:
        for id in bundle.blob_ids:
            assert b"4711-secret" not in bundle.blob(id)
            assert b"harbour-42" not in bundle.blob(id)
    final = next(seen for seen in found.replay.pages if seen.role == "final")
    assert final.screenshot_id is None  # nobody knows where in the screenshot the frame's secret stands


# ---- Requests ----------------------------------------------------------------------------------------------------

WORKER = "onmessage = () => fetch('/data?worker').then((reply) => reply.text()).then(postMessage);"
SERVICE = """
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));
self.addEventListener('fetch', (event) => {
  if (event.request.url.includes('/data')) event.respondWith(fetch('/stored?by=service'));
});
"""


def exchanges(found: Recorded) -> dict[str, Exchange]:
    return {one.url.partition("://")[2].partition("/")[2]: one for one in found.trajectory.of_type(Exchange)}


def test_requests_of_frames_say_which(tmp_path: Path, context: BrowserContext, site: Site) -> None:
    site.add("/data", '{"a":1}', "application/json")

    def act(page: Page) -> None:
        page.frame_locator("#pay").frame_locator("#inner").locator("#deep").fill("x")
        frame = next(frame for frame in page.frames if frame.url.endswith("/pay"))
        deep = next(frame for frame in page.frames if frame.url.endswith("/deep"))
        frame.evaluate("fetch('/data?frame', {method: 'POST', body: 'sent'}).then((reply) => reply.text())")
        deep.evaluate("fetch('/data?deep').then((reply) => reply.text())")
        page.wait_for_timeout(300)

    found = record(tmp_path / "run.zst", context, shop(site, "out"), act)
    asked = exchanges(found)
    assert (asked["pay"].frame, asked["pay"].resource, asked["pay"].status) == ((1,), "document", 200)
    posted = asked["data?frame"]
    assert (posted.frame, posted.method, posted.status, posted.resource) == ((1,), "POST", 200, "fetch")
    assert asked["data?deep"].frame == (1, 0)
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert isinstance(posted.body, str) and bundle.blob(posted.body) == b'{"a":1}'
        assert isinstance(posted.post, str) and bundle.blob(posted.post) == b"sent"


@pytest.mark.thorough
def test_requests_of_workers(tmp_path: Path, context: BrowserContext, site: Site) -> None:
    site.add("/worker.js", WORKER, "text/javascript")
    site.add("/data", '{"a":1}', "application/json")
    start = site.add("/", "<!doctype html><script>worker = new Worker('/worker.js')</script>")

    def act(page: Page) -> None:
        page.wait_for_timeout(500)
        page.evaluate(
            "new Promise((done) => { worker.onmessage = done; worker.postMessage(1); }).then(() => 1)"
        )
        page.wait_for_timeout(300)

    found = record(tmp_path / "run.zst", context, start, act)
    asked = exchanges(found)
    fetched = asked["data?worker"]
    assert (fetched.status, fetched.resource, fetched.page, fetched.frame) == (200, "fetch", 0, ())
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert isinstance(fetched.body, str) and bundle.blob(fetched.body) == b'{"a":1}'


def test_requests_of_what_is_below_frames_and_workers(
    tmp_path: Path, context: BrowserContext, site: Site
) -> None:
    site.add("/first.js", "new Worker('/second.js')", "text/javascript")
    site.add("/second.js", "", "text/javascript")
    site.add("/data", '{"a":1}', "application/json")
    site.add("/deep", DEEP)
    frame = f"<iframe src='{site.origin}/deep'></iframe>"
    site.add("/inner", f"<!doctype html><script>new Worker('/first.js')</script>{frame}")
    start = site.add("/", f"<!doctype html><iframe src='{elsewhere(site, 'out')}/inner'></iframe>")

    def act(page: Page) -> None:
        run = RUNS[page]
        until(page, lambda: len(run._driver.tabs[0].targets) == 4 and run._driver.is_settled)
        page.frames[2].evaluate("fetch('/data?deep').then((reply) => reply.text())")
        for worker in page.workers:
            name = worker.url.rpartition("/")[2].partition(".")[0]
            worker.evaluate(f"fetch('/data?{name}').then((reply) => reply.text())")

    found = record(tmp_path / "run.zst", context, start, act)
    asked = exchanges(found)
    assert (asked["data?deep"].frame, asked["data?deep"].status) == ((0, 0), 200)
    assert [(asked[f"data?{name}"].frame, asked[f"data?{name}"].status) for name in ("first", "second")] == [
        ((0,), 200),
        ((0,), 200),
    ]


async def load(browser: Any, start: str, out: Path) -> None:
    page = await browser.new_page()
    async with AsyncRecorder(out) as run:
        await run.attach(page)
        await page.goto(start, timeout=60_000)
        await until_async(page, lambda: listens(run, page))
        await page.frame_locator("#pay").frame_locator("#inner").locator("#deep").fill("down")
        run.answer("done")
    await page.close()


async def load_often(browser_path: Path, start: str, out: Path) -> None:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        arguments = ["--site-per-process", "--no-sandbox", "--disable-gpu", LEAN]
        browser = await playwright.chromium.launch(executable_path=browser_path, args=arguments)
        for number in range(LOADS):
            await load(browser, start, out.with_suffix(f".{number}"))
        await browser.close()


@pytest.mark.thorough
def test_page_with_frames_below_frames_loads_while_it_is_recorded(
    tmp_path: Path, site: Site, browser_path: Path
) -> None:
    start, out = shop(site, "out"), tmp_path / "run"
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(load_often(browser_path, start, out))).result()
    acts = [Recorded(out.with_suffix(f".{number}")).acts() for number in range(LOADS)]
    assert acts == [[("fill", "#deep", (1, 0))]] * LOADS


@pytest.mark.thorough
def test_answers_of_a_service_worker_are_marked(tmp_path: Path, context: BrowserContext, site: Site) -> None:
    site.add("/service.js", SERVICE, "text/javascript")
    site.add("/stored", '{"b":2}', "application/json")
    start = site.add("/", "<!doctype html><p>Hi</p>")

    def act(page: Page) -> None:
        page.evaluate(
            "navigator.serviceWorker.register('/service.js').then(() => new Promise((done) =>"
            " navigator.serviceWorker.controller ? done()"
            " : navigator.serviceWorker.addEventListener('controllerchange', done))).then(() => 1)"
        )
        page.wait_for_timeout(500)
        assert page.evaluate("fetch('/data?page').then((reply) => reply.text())") == '{"b":2}'
        page.wait_for_timeout(300)

    asked = exchanges(record(tmp_path / "run.zst", context, start, act))
    assert asked["data?page"].from_worker
    assert not asked["stored?by=service"].from_worker
    assert asked["stored?by=service"].status == 200


def test_requests_that_began_before_the_recorder_listened_are_reported_as_missing(
    tmp_path: Path, context: BrowserContext, site: Site
) -> None:
    # A worker asks in its first line: now and then that is seen, and never is it lost without a word.
    site.add("/worker.js", "fetch('/data?first');", "text/javascript")
    site.add("/data", '{"a":1}', "application/json")
    start = site.add("/", "<!doctype html><script>worker = new Worker('/worker.js')</script>")
    found = record(
        tmp_path / "run.zst", context, start, lambda page: until(page, lambda: "/data?first" in site.asked)
    )
    missed = {("network", "target.late"), ("network", "target.unarmed")}
    assert ("data?first" in exchanges(found)) != bool(missed.intersection(found.gaps()))


def test_shared_workers_are_reported_as_a_gap(tmp_path: Path, context: BrowserContext, site: Site) -> None:
    site.add("/shared.js", "fetch('/data?shared')", "text/javascript")
    site.add("/data", "{}", "application/json")
    start = site.add("/", "<!doctype html><script>shared = new SharedWorker('/shared.js')</script>")
    found = record(tmp_path / "run.zst", context, start, lambda page: page.wait_for_timeout(500))
    assert "data?shared" not in exchanges(found)
    assert ("network", "worker.shared") in found.gaps()


# ---- An agent in another process ---------------------------------------------------------------------------------

AGENT = """
import os, sys
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(os.environ["REPLAYKIT_CDP_URL"])
    page = browser.contexts[0].pages[0]
    pay = page.frame_locator("#pay")
    pay.locator("#name").fill("Ann")
    pay.locator("#pay").click()
    pay.locator("text=Paid by").wait_for()
    pay.frame_locator("#inner").locator("#deep").fill("down")
    page.click("#main")
    page.wait_for_timeout(400)
"""


@pytest.mark.thorough
def test_command_s_actions_in_frames(tmp_path: Path, site: Site) -> None:
    task = Task(id="pay", intent="Pay.", start_urls=(shop(site, "out"),))
    with ThreadPoolExecutor(1) as pool:
        argv = [sys.executable, "-c", AGENT]
        pool.submit(record_command, argv, task, tmp_path / "run.zst", max_time=60).result()
    found = Recorded(tmp_path / "run.zst")
    assert found.acts() == [
        ("fill", "#name", (1,)),
        ("click", "#pay", (1,)),
        ("fill", "#deep", (1, 0)),
        ("click", "#main", ()),
    ]
    paid = ("Pay", ["Paid by file"], ["Ann", "s"], [("Deep", ["Deep down"], ["down"], [])])
    assert found.pages("final") == [("Shop", ["Shop"], [], [paid])]
    start = ("Pay", ["Nothing yet"], ["", "s"], [("Deep", ["Deep down"], [""], [])])
    assert found.pages("start") == [("Shop", ["Shop"], [], [start])]


@pytest.mark.parametrize("kind", one_in(2, ["out", "in"]))
def test_offline_a_page_cannot_read_what_it_could_not_read(
    kind: str, site: Site, context: BrowserContext, offline: Chromium, tmp_path: Path
) -> None:
    out = tmp_path / "run.zst"
    record(out, context, shop(site, kind), fill_in)
    live = context.pages[-1]
    asked = [
        "[...document.querySelectorAll('iframe')].map((frame) => frame.contentDocument === null)",
        "document.querySelector('#pay').contentDocument.body.innerText",
        "document.querySelector('#pay').contentWindow.document.title",
        "frames[1].document.title",
        "document.querySelector('iframe').contentWindow.document.querySelector('#own').innerText",
        "frames[0].document.querySelector('#own').innerText",
        "document.querySelector('#pay').getAttribute('src')",
    ]
    answers = [outcome(lambda locator=locator: live.evaluate(locator)) for locator in asked]
    assert answers[0] == [False, True]
    with open_bundle(out) as bundle:
        replay = Replay(bundle)
        with ChromiumReader(replay, offline, is_first=True) as chromium_reader:
            assert replay.final is not None
            for locator, said in zip(asked, answers, strict=True):
                read = chromium_reader.read(replay.final, PageQuestion(locator=locator))
                assert (read.threw.name if read.threw is not None else read.value) == said
            for locator in (
                "document.querySelector('#pay').contentWindow.length",
                "document.querySelector('iframe').contentWindow.app",
                "frames[0].innerWidth",
                "document.querySelector('iframe').contentDocument.cookie",
                "document.querySelector('iframe').contentDocument.defaultView.app",
            ):
                with pytest.raises(Unsupported, match="is not recorded"):
                    chromium_reader.read(replay.final, PageQuestion(locator=locator))


@pytest.mark.thorough
def test_offline_frames_hold_what_they_held(
    site: Site, context: BrowserContext, offline: Chromium, tmp_path: Path
) -> None:
    out = tmp_path / "run.zst"
    record(out, context, shop(site, "out"), fill_in)
    live = context.pages[-1]
    with open_bundle(out) as bundle, OfflinePage(bundle, chromium=offline) as page:
        for driven in (live, page):
            pay = driven.frame_locator("#pay")
            assert pay.locator("#said").inner_text() == "Paid by file"
            assert pay.locator("#name").input_value() == "Ann Bee"
            assert pay.locator("#size").evaluate("(node) => node.value") == "l"
            assert pay.get_by_role("button").all_inner_texts() == ["", "Pay"]
            inner = pay.frame_locator("#inner")
            assert inner.locator("p").all_inner_texts() == ["Deep down"]
            assert driven.locator("body").frame_locator("#pay").locator("#name").input_value() == "Ann Bee"
            assert driven.frame_locator("iframe >> nth=0").locator("#own").inner_text() == "Own"
            assert (
                driven.frame_locator("iframe >> nth=0").locator("p").evaluate_all("(all) => all.length") == 1
            )
            assert driven.locator("#top").evaluate("(node) => node.innerText") == "Shop"
        with pytest.raises(Unsupported):
            page.frame_locator("#pay").locator("#said").evaluate("() => app")
        assert [one.faults for one in page._built().frames] == [(), ()]
        assert page.missing == ("probe:() => app",)


@pytest.mark.thorough
def test_offline_frames_read_as_without_a_browser(offline: Chromium) -> None:
    recordings = Path(__file__).parents[2] / "recordings" / "conformance"
    with open_bundle(recordings / "book-visit--unasked.zst") as bundle:
        replay = Replay(bundle)
        snapshots = {page.snapshot_id: page for page in [*replay.pages, *replay.probes]}
        pages = sum(page.dom.head.elements for page in snapshots.values() if page.dom is not None)
        found = fidelity(bundle, offline)
    assert found.is_faithful
    assert found.unbuilt == ()
    assert found.elements > pages


@pytest.mark.thorough
def test_offline_a_frame_that_was_not_recorded_is_not_asked(
    site: Site, context: BrowserContext, offline: Chromium, tmp_path: Path
) -> None:
    out = tmp_path / "run.zst"
    record(out, context, shop(site, "out"), fill_in)
    with open_bundle(out) as bundle:
        replay = Replay(bundle)
        assert replay.final is not None
        rebuilt = offline.open(blueprint_of(replay.final, replay))
        frame = rebuilt.frames[0].frame
        with pytest.raises(Unsupported, match="it was not recorded"):
            offline.run(lambda: rebuilt.admit(frame, "#pay"))
        assert (rebuilt.faults, len(rebuilt.frames)) == ((), 1)
        rebuilt.close()


def outcome(ask: Callable[[], Any]) -> Any:
    """Return a live page's answer, or the name of the error that it throws."""
    try:
        return ask()
    except Error as error:
        return error.message.removeprefix("Page.evaluate: ").partition(":")[0]
