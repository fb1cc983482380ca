"""Recordings that go wrong, or whose pages do: what was over is kept, the ending says why, the agent goes on.

What is proven elsewhere is not repeated here:

| misuse | test |
| --- | --- |
| kill -9 of the recorder | test_kill.py, test_recorder_running.py, test_pipeline.py |
| Ctrl-C | test_kill.py (command line), test_recorder.py, test_recorder_running.py |
| exception of the agent | test_recorder.py, test_recorder_running.py |
| two recorders on one file | test_kill.py |
| closed page, context or browser | test_recorder.py |
| browser of somebody else that closes | test_recorder_running.py, test_drivers.py |
| dialog that an agent elsewhere leaves open | test_recorder_running.py |
| crash of a frame | test_frames.py |
| patched prototypes, clobbered forms, too many elements, too much text, as the script in the page reads them | test_capture.py |
| pages that never rest and floods, as the script in the page reports them | test_actions.py |
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Error, Page, sync_playwright

from fixtures.sites.shop.server import serve
from replaykit.browser import launch
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import seal
from replaykit.errors import BrowserNotSupported, NotAttachable, UsageError
from replaykit.grading.grader import grade
from replaykit.recorder.agent_runs import record_agent, record_cdp
from replaykit.recorder.browser import frames_and_workers
from replaykit.recorder.browser.tab import cdp_worlds
from replaykit.recorder.page.page_script import PagePart, PageText, decode_message
from replaykit.recorder.recorder import AsyncRecorder, Recorder
from replaykit.snapshot.codec import decode
from replaykit.snapshot.snapshot_format import Snapshot
from replaykit.tasks.task import decode_task
from replaykit.trajectory.action import Click, Fill, tag_of
from replaykit.trajectory.exchange import Console, Gap, Message, TabChange
from replaykit.trajectory.exchange import Dialog as Asked
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Trajectory
from tests.live.agent_programs import (
    DRIVERS,
    SHOP_TASK,
    WAIT_S,
    action_of,
    apart,
    held,
    outlived,
    until_begun,
)
from tests.live.flags import LEAN
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
GROWTH = 200 * MIB
"""More than that no recording may take, whatever its pages do."""

FORM = """<!doctype html><title>Form</title>
<label>Name <input id=name></label> <button id=go type=button>Go</button> <p id=said></p>
<script>document.querySelector("#go").addEventListener("click", () => {
  document.querySelector("#said").textContent = "Hello, " + document.querySelector("#name").value;
});</script>
"""


@pytest.fixture
def form(site: Site) -> str:
    """The URL of a form."""
    site.add("/favicon.ico", "", "image/x-icon")
    return site.add("/", FORM)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 800, "height": 600})
    made.set_default_timeout(60_000)
    yield made
    with suppress(Error):
        made.close()


@pytest.fixture
def message_numbers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of all messages from pages, in the order of their arrival."""
    numbers: list[int] = []

    def decoded(text: str) -> PageText:
        message = decode_message(text)
        if not isinstance(message, PagePart):
            numbers.append(message.seq)
        return message

    for module in (cdp_worlds, frames_and_workers):
        monkeypatch.setattr(module, "decode_message", decoded)
    return numbers


def use(page: Page, name: str = "Ann") -> None:
    """Fill the form in, and see what it says."""
    page.fill("#name", name)
    page.click("#go")
    page.wait_for_function("name => document.querySelector('#said').textContent.endsWith(name)", arg=name)


CLICK = ("click", "#go")
USED = [("fill", "#name"), CLICK]


def acts(run: Trajectory) -> list[tuple[str, str | None]]:
    return [
        (tag_of(step.action), step.action.element.css if step.action.element else None) for step in run.steps
    ]


def record(
    out: Path, context: BrowserContext, url: str, do: Callable[[Page, Recorder], Any], **options: Any
) -> Trajectory:
    """Open a page, record what is done, within the memory that a recording may take; return what is held."""
    page = context.new_page()
    page.goto(url)
    with limited(), Recorder(out, **options) as run:
        run.attach(context)
        do(page, run)
    return held(out)


@contextmanager
def limited() -> Iterator[None]:
    """Raise AssertionError if this process takes more memory within the block than a recording may."""
    watermark = Path("/proc/self/clear_refs")
    if not watermark.exists():
        yield
        return
    watermark.write_text("5")  # the peak begins anew
    before = resident()
    yield
    assert resident() - before < GROWTH


def resident() -> int:
    """The most memory of this process so far, bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def ended(run: Trajectory) -> tuple[str, str]:
    assert run.ending is not None
    return run.ending.kind, run.ending.cause


# Faults


@contextmanager
def own_context(browser_path: Path) -> Iterator[BrowserContext]:
    """A context of a browser and a driver that may die of what is done to them."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path, chromium_sandbox=os.geteuid() != 0, args=[LEAN]
        )
        yield browser.new_context()
        browser.close()


@pytest.mark.parametrize("goes_on", one_in(2, [False, True]))
def test_page_that_crashes(goes_on: bool, browser_path: Path, form: str, tmp_path: Path) -> None:
    out = tmp_path / "run.zst"

    def do(page: Page, run: Recorder) -> None:
        use(page)
        with crashing() if goes_on else nullcontext():
            page.goto("chrome://crash")
        other = page.context.new_page()
        other.goto(form)
        use(other, "Bob")
        run.answer("Bob")

    def crash() -> None:
        out.unlink(missing_ok=True)
        with own_context(browser_path) as context, nullcontext() if goes_on else crashing():
            # Chromium itself may die where a page crashes while its screenshot is taken.
            record(out, context, form, do, screenshots="off")

    outlived(crash)
    run = held(out)
    assert acts(run)[:2] == USED
    assert acts(run)[-2:] == USED
    assert [tab.page for tab in run.of_type(TabChange) if tab.state == "crashed"] == [0]
    assert ended(run) == (("answered", "agent") if goes_on else ("crashed", "browser"))
    gaps = [("actions", "document.crashed"), ("actions", "crashed")]
    assert [(gap.channel, gap.why) for gap in run.of_type(Gap) if gap.channel == "actions"] == gaps


@contextmanager
def crashing() -> Iterator[None]:
    """Expect that a page crashes; all else that goes wrong goes on."""
    try:
        yield
    except Error as error:
        if "crash" not in str(error):
            raise
    else:
        pytest.fail("nothing has crashed")


@pytest.mark.thorough
def test_page_that_crashes_under_an_async_agent(form: str, tmp_path: Path) -> None:
    async def do(page: Any, agent_task: Any, run: Any) -> None:
        await page.goto(form)
        await page.fill("#name", "Ann")
        await page.goto("chrome://crash")

    recorded = apart(lambda: record_agent(do, None, tmp_path / "run.zst", screenshots="off"))
    assert (recorded.kind, recorded.cause) == ("crashed", "browser")
    assert acts(held(tmp_path / "run.zst"))[1:] == USED[:1]


def broken_off(out: Path, work: Callable[[], None]) -> None:
    """Raise AssertionError unless work ends for want of its browser, and its recording holds what was done."""
    with pytest.raises(Exception, match="closed") as ending:
        apart(work)
    # Playwright before 1.65 raises a plain Exception where its process ends.
    assert isinstance(ending.value, Error) or type(ending.value) is Exception
    run = held(out)
    assert acts(run) == USED
    assert ended(run) == ("crashed", "browser")


def test_browser_that_crashes(browser_path: Path, form: str, tmp_path: Path) -> None:
    out = tmp_path / "run.zst"

    def work() -> None:
        with own_context(browser_path) as context:
            assert context.browser is not None
            session = context.browser.new_browser_cdp_session()

            def do(page: Page, run: Recorder) -> None:
                use(page)
                with suppress(Error):
                    session.send("Browser.crash")
                page.click("#go")

            record(out, context, form, do)

    broken_off(out, work)


def drivers() -> set[int]:
    """The processes that drive browsers for this one."""
    listed = ["pgrep", "-P", str(os.getpid()), "-f", "playwright.driver"]
    return {int(pid) for pid in subprocess.run(listed, capture_output=True, check=False).stdout.split()}


def test_driver_that_dies(browser_path: Path, form: str, tmp_path: Path) -> None:
    out = tmp_path / "run.zst"

    def work() -> None:
        others = drivers()
        with own_context(browser_path) as context:
            (driver,) = drivers() - others

            def do(page: Page, run: Recorder) -> None:
                use(page)
                os.kill(driver, signal.SIGKILL)
                page.click("#go")

            record(out, context, form, do)

    broken_off(out, work)


def test_recorder_that_outlives_its_driver(browser_path: Path, form: str, tmp_path: Path) -> None:
    def work() -> None:
        with Recorder(tmp_path / "run.zst") as run, own_context(browser_path) as context:
            page = context.new_page()
            page.goto(form)
            run.attach(page)
            use(page)
            run.answer("done")

    apart(work)
    run = held(tmp_path / "run.zst")
    assert acts(run) == USED
    assert ended(run) == ("answered", "agent")


def test_a_message_of_another_thread_is_recorded(context: BrowserContext, form: str, tmp_path: Path) -> None:
    def do(page: Page, run: Recorder) -> None:
        apart(lambda: run.message("on my way"))
        use(page)

    run = record(tmp_path / "run.zst", context, form, do)
    assert [said.text for said in run.of_type(Message)] == ["on my way"]
    assert acts(run) == USED


FULL = """
import resource, sys
from pathlib import Path
from playwright.sync_api import sync_playwright
from replaykit.browser import find_browser
from replaykit.recorder.recorder import AsyncRecorder, Recorder

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=find_browser(), chromium_sandbox=False)
    page = browser.new_page()
    page.goto(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
    with Recorder(sys.argv[2]) as run:
        run.attach(page)
        for number in range(40):
            page.fill("#name", f"name {number}")
            page.click("#go")
            page.wait_for_timeout(120)
        Path(sys.argv[3]).touch()
"""


@pytest.mark.thorough
def test_disk_that_is_full(form: str, tmp_path: Path) -> None:
    out, end = tmp_path / "run.zst", tmp_path / "end"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-c", FULL, form, str(out), str(end)]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert end.exists(), "the agent was disturbed"
    assert done.returncode == 1
    assert "File too large" in done.stderr.splitlines()[-1], done.stderr
    assert out.stat().st_size <= 30_000
    with open_bundle(out) as journal:
        assert journal.layout == "journal"
        kept = journal.lines
    assert verify(out).findings == ()
    seal(out)
    with open_bundle(out) as bundle:
        assert (bundle.layout, bundle.lines) == ("sealed", kept)
        assert acts(bundle.trajectory)[:2] == USED
        assert bundle.trajectory.ending is None


# Recorders that do not know of each other


def test_recorder_attached_twice(context: BrowserContext, form: str, tmp_path: Path) -> None:
    def do(page: Page, run: Recorder) -> None:
        assert run.attach(page) is page
        run.attach(context)
        assert context.browser is not None
        run.attach(context.browser)
        use(page)
        other = context.new_page()
        other.goto(form)
        use(other, "Bob")

    run = record(tmp_path / "run.zst", context, form, do)
    assert acts(run)[:2] == acts(run)[-2:] == USED
    assert [tag for tag, _ in acts(run)].count("fill") == 2
    assert len([tab for tab in run.of_type(TabChange) if tab.state == "opened"]) == 2


def test_recorder_attached_to_what_it_cannot_record(context: BrowserContext, tmp_path: Path) -> None:
    page = context.new_page()
    found = {None: "NoneType", page.main_frame: "playwright.sync_api.Frame", "page": "str"}
    with Recorder(tmp_path / "run.zst") as run:
        for target, name in found.items():
            with pytest.raises(NotAttachable, match=rf"of playwright\.sync_api, found {re.escape(name)}$"):
                run.attach(cast("Any", target))

    for closed in (run, Recorder(tmp_path / "never.zst")):
        with pytest.raises(UsageError, match=r"attach inside of `with Recorder\(\.\.\.\)`"):
            closed.attach(page)

    async def attach() -> None:
        async with AsyncRecorder(tmp_path / "async.zst") as other:
            await other.attach(cast("Any", page))

    wrong = r"of playwright\.async_api, found playwright\.sync_api\.Page"
    with ThreadPoolExecutor(1) as pool, pytest.raises(NotAttachable, match=wrong):
        pool.submit(asyncio.run, attach()).result()


def test_a_browser_that_is_not_of_the_chromium_family(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(browser.browser_type), "name", "firefox")
    path = tmp_path / "run.zst"
    with pytest.raises(BrowserNotSupported, match="cannot record firefox: only"), Recorder(path) as run:
        run.attach(browser)
    assert not path.exists()


def test_recorder_that_is_done_receives_nothing_more(
    browser: Browser, form: str, tmp_path: Path, message_numbers: list[int]
) -> None:
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(browser)
    message_numbers.clear()
    context = browser.new_context()
    page = context.new_page()
    page.goto(form)
    use(page)
    context.close()
    assert message_numbers == []


def test_recorder_inside_of_a_recorder(context: BrowserContext, form: str, tmp_path: Path) -> None:
    def do(page: Page, run: Recorder) -> None:
        with Recorder(tmp_path / "inner.zst") as inner:
            inner.attach(page)
            use(page)
        use(page, "Bob")

    run = record(tmp_path / "run.zst", context, form, do)
    assert acts(held(tmp_path / "inner.zst")) == USED
    assert acts(run) == USED + USED


@pytest.mark.thorough
def test_two_recorders_on_one_browser(browser_path: Path, tmp_path: Path) -> None:
    outs = [tmp_path / "one.zst", tmp_path / "two.zst"]
    with serve() as shop, ThreadPoolExecutor(2) as pool, launch(browser_path) as running:
        recordings = [pool.submit(record_cdp, running.endpoint, None, out) for out in outs]
        for out in outs:
            until_begun(out)
        environ = {**os.environ, "REPLAYKIT_CDP_URL": running.endpoint}
        argv = [sys.executable, DRIVERS / "shop_task.py", f"{shop.url}/"]
        subprocess.run(argv, env=environ, check=True, timeout=WAIT_S)
        running.close()
        for recording in recordings:
            recording.result(WAIT_S)
    for out in outs:
        assert [action_of(step) for step in held(out).steps[1:]] == SHOP_TASK


# Pages that give no rest


NEVER = (
    FORM
    + """<ol id=log></ol><script>
setInterval(() => { document.querySelector("#log").textContent = performance.now(); }, 5);
new EventSource("/stream").onmessage = (event) => { document.querySelector("#log").title = event.data; };
</script>"""
)


@pytest.fixture
def endless() -> Iterator[str]:
    """A page that changes all the time and receives an endless stream; its URL."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            stream = self.path == "/stream"
            self.send_header("Content-Type", "text/event-stream" if stream else "text/html")
            self.end_headers()
            if not stream:
                self.wfile.write(NEVER.encode())
            with suppress(OSError):
                while stream and not over.wait(0.005):
                    self.wfile.write(b"data: " + b"x" * 200 + b"\n\n")

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    over.set()
    server.shutdown()
    thread.join()
    server.server_close()


def test_page_that_never_settles(context: BrowserContext, endless: str, tmp_path: Path) -> None:
    def do(page: Page, run: Recorder) -> None:
        for number in range(5):
            use(page, f"name {number}")
            page.wait_for_timeout(100)

    run = record(tmp_path / "run.zst", context, endless, do)
    assert acts(run) == USED * 5
    looks = [one for one in run.of_type(Observation) if one.role in ("after", "final")]
    assert looks
    assert not any(one.settled for one in looks)


@pytest.mark.thorough
def test_storm_of_dialogs(context: BrowserContext, site: Site, tmp_path: Path) -> None:
    storm = "onclick=\"for (let n = 0; n < 200; n++) confirm('Number ' + n); document.title = 'Calm'\""
    url = site.add("/", f"<!doctype html><title>Storm</title><button id=go {storm}>Go</button>")

    def do(page: Page, run: Recorder) -> None:
        answered: list[bool] = []

        def answer(dialog: Dialog) -> None:
            answered.append(len(answered) % 2 == 0)
            dialog.accept() if answered[-1] else dialog.dismiss()

        page.on("dialog", answer)
        page.click("#go")
        page.wait_for_function("document.title == 'Calm'")
        assert len(answered) == 200

    run = record(tmp_path / "run.zst", context, url, do)
    assert acts(run) == [("click", "#go")]
    dialogs = run.of_type(Asked)
    assert [one.message for one in dialogs] == [f"Number {n}" for n in range(200)]
    assert [one.accepted for one in dialogs] == [n % 2 == 0 for n in range(200)]


def test_dialog_left_open_at_the_end(context: BrowserContext, form: str, tmp_path: Path) -> None:
    def do(page: Page, run: Recorder) -> None:
        use(page)
        page.on("dialog", lambda dialog: None)
        with page.expect_event("dialog"):
            page.evaluate("setTimeout(() => alert('Still here?'))")
        run.answer("there is a dialog")

    run = record(tmp_path / "run.zst", context, form, do)
    assert acts(run) == USED
    (dialog,) = run.of_type(Asked)
    assert (dialog.message, dialog.accepted, dialog.closed) == ("Still here?", None, None)
    assert ended(run) == ("answered", "agent")


FLOOD = (
    FORM
    + """<button id=flood type=button>Flood</button><script>
document.querySelector("#flood").addEventListener("click", () => {
  const field = document.querySelector("#name");
  for (let n = 0; n < 6e4; n++) {
    field.value = n;
    field.dispatchEvent(new Event("input", {bubbles: true}));
    if (n % 5 == 0) console.log("flood", n);
  }
  document.title = "Over";
});</script>"""
)


@pytest.mark.thorough  # test_actions.py floods a page everywhere
def test_flood_of_events(context: BrowserContext, site: Site, tmp_path: Path) -> None:
    url = site.add("/", FLOOD)

    def do(page: Page, run: Recorder) -> None:
        use(page)
        page.click("#flood")
        page.wait_for_function("document.title == 'Over'")
        use(page, "Bob")

    run = record(tmp_path / "run.zst", context, url, do)
    assert [place for place in acts(run) if place[0] == "click"] == [CLICK, ("click", "#flood"), CLICK]
    assert acts(run)[:2] == acts(run)[-2:] == USED
    assert len(run.of_type(Console)) == 10_000
    gaps = run.of_type(Gap)
    assert {(gap.channel, gap.why) for gap in gaps} >= {("actions", "flood"), ("console", "flood")}
    assert sum(gap.count for gap in gaps if gap.channel == "console") == 2_000
    assert sum(gap.count for gap in gaps if gap.channel == "actions") > 50_000


# Pages that are hard to read


def last(run: Trajectory, path: Path) -> Snapshot:
    """Return the last look at the only page."""
    look = run.of_type(Observation)[-1]
    assert look.role == "final"
    assert look.snapshot
    with open_bundle(path) as bundle:
        return decode(bundle.blob(look.snapshot))


def asked(out: Path, selector: str) -> tuple[str, str | None]:
    """Return what becomes of a check that an element of the last page says "Hello" or "word"."""
    page = {"type": "page", "url": "last", "selector": selector, "expect": {"regex": "Hello|word$"}}
    with open_bundle(out) as bundle:
        (check,) = grade(bundle, decode_task({"id": "late", "intent": "Say it.", "checks": [page]})).checks
    return check.outcome, check.reason


@pytest.mark.thorough  # test_capture.py has too many of them everywhere
def test_page_of_50_000_elements(context: BrowserContext, site: Site, tmp_path: Path) -> None:
    url = site.add("/", FORM + "<ul>" + "<li><b>x</b></li>" * 25_000 + "</ul>")
    run = record(tmp_path / "run.zst", context, url, lambda page, run: use(page))
    assert acts(run) == USED
    seen = last(run, tmp_path / "run.zst")
    assert seen.head.elements > 50_000
    assert seen.head.flags == ["no_box", "composed"]
    assert asked(tmp_path / "run.zst", "#said") == ("PASS", None)


@pytest.mark.thorough  # test_capture.py has too much of it everywhere
def test_text_of_20_mib(context: BrowserContext, site: Site, tmp_path: Path) -> None:
    grow = "onclick=\"document.querySelector('pre').textContent = 'word '.repeat(4 << 20)\""
    url = site.add("/", f"{FORM}<button id=grow type=button {grow}>Grow</button><pre></pre>")

    def do(page: Page, run: Recorder) -> None:
        page.click("#grow")
        use(page)

    run = record(tmp_path / "run.zst", context, url, do)
    assert acts(run) == [("click", "#grow"), *USED]
    assert last(run, tmp_path / "run.zst").head.flags == ["cut", "composed"]
    assert asked(tmp_path / "run.zst", "pre") == ("UNDECIDED", "unsupported")  # it would take a live page
    assert asked(tmp_path / "run.zst", "#said") == ("PASS", None)
    assert (tmp_path / "run.zst").stat().st_size < MIB


HOSTILE = (
    """<script>
const broken = () => { throw new Error("patched"); };
for (const maker of [Element, Node, HTMLElement, HTMLInputElement, Document, Event, EventTarget, Window])
  for (const [name, is] of Object.entries(Object.getOwnPropertyDescriptors(maker.prototype)))
    if (is.configurable && !["constructor", "addEventListener", "value", "querySelector", "textContent"].includes(name))
      Object.defineProperty(maker.prototype, name, is.get ? {...is, get: broken} : {...is, value: broken});
for (const maker of [Array, String, Map, WeakMap, Set, Promise, RegExp, Function])
  for (const name of Object.getOwnPropertyNames(maker.prototype))
    if (!["constructor", "length", "endsWith"].includes(name) && maker !== Function)
      try { maker.prototype[name] = broken; } catch {}
JSON.stringify = broken;
performance.now = broken;
Object.defineProperty(Object.prototype, "toJSON", {get: broken, configurable: true});
</script>"""
    + FORM
)


def test_page_with_patched_prototypes(context: BrowserContext, site: Site, tmp_path: Path) -> None:
    def do(page: Page, run: Recorder) -> None:
        # Playwright asks the page itself; only its mouse and keys still work here.
        page.mouse.click(100, 20)
        page.keyboard.insert_text("Ann")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_timeout(300)

    run = record(tmp_path / "run.zst", context, site.add("/", HOSTILE), do)
    assert acts(run) == [("click", "#name"), ("fill", "#name"), ("press", "#name"), ("press", "#go")]
    assert run.of_type(Gap) == ()
    seen = last(run, tmp_path / "run.zst")
    assert any("Hello, Ann" in str(token) for token in seen.name)


@pytest.mark.parametrize("rounds", one_in(2, [2, 5]))
def test_page_that_goes_away_while_it_is_read(
    rounds: int, context: BrowserContext, site: Site, tmp_path: Path
) -> None:
    many = "<ul>" + "<li><b>x</b></li>" * 4_000 + "</ul>"
    away = site.add(
        "/away", f"{FORM}<button id=away type=button onclick='window.close()'>Away</button>{many}"
    )
    opener = site.add("/", f"<!doctype html><a href={away} target=_blank rel=opener>Open</a>")

    def do(page: Page, run: Recorder) -> None:
        for _ in range(rounds):
            with page.expect_popup() as opened:
                page.click("a")
            # The click may be reported, or the page may be gone first.
            with opened.value.expect_event("close"), suppress(Error):
                opened.value.click("#away")

    run = record(tmp_path / "run.zst", context, opener, do)
    opened = [step for step in run.steps if step.page == 0 and isinstance(step.action, Click)]
    assert [action_of(step)[2] for step in opened] == ["Open"] * rounds
    tabs = run.of_type(TabChange)
    assert [tab.state for tab in tabs if tab.page].count("opened") == rounds
    assert [tab.state for tab in tabs if tab.page].count("closed") == rounds
    missed = {gap.page for gap in run.of_type(Gap) if gap.channel == "actions"}
    clicked = {step.page for step in run.steps if step.page and isinstance(step.action, Click)}
    assert clicked | missed >= set(range(1, rounds + 1))


# A long run


CONTEXTS = 4
ROUNDS = one_in(2, [8, 40])
"""Of a fill and a click in each context: 320 acts where all are tried."""


@pytest.mark.parametrize("rounds", ROUNDS)
def test_hundreds_of_fast_actions(
    rounds: int, browser: Browser, form: str, tmp_path: Path, message_numbers: list[int]
) -> None:
    contexts = [browser.new_context(viewport={"width": 400, "height": 300}) for _ in range(CONTEXTS)]
    pages = [context.new_page() for context in contexts]
    for page in pages:
        page.goto(form)
    box = pages[0].locator("#go").bounding_box()
    assert box is not None
    place = box["x"] + 5, box["y"] + 5
    with limited(), Recorder(tmp_path / "run.zst") as run:
        for context in contexts:
            run.attach(context)
        for number in range(rounds):
            for page in pages:
                # Without Playwright's checks, which wait for two frames of the page each time.
                page.fill("#name", f"name {number}", force=True)
                page.mouse.click(*place)
    for context in contexts:
        context.close()
    trajectory = held(tmp_path / "run.zst")
    for number in range(CONTEXTS):
        done = [step for step in trajectory.steps if step.page == number]
        fills = [step.action.value for step in done if isinstance(step.action, Fill)]
        assert sum(tag_of(step.action) == "click" for step in done) == rounds
        assert set(fills) <= {f"name {number}" for number in range(rounds)}
        assert len(set(fills)) >= rounds - 1
    assert [gap for gap in trajectory.of_type(Gap) if gap.channel == "actions"] == []
    # Every document counts from 0: where no number is missing, none comes more often than the one before.
    times = Counter(message_numbers)
    assert [times[number] for number in range(len(times))] == sorted(times.values(), reverse=True)
    assert times[0] == CONTEXTS
    assert times.total() > 2 * CONTEXTS * rounds
