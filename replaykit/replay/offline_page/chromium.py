"""An offline Chromium that builds recorded pages again: scripts inert, nothing leaves the machine.

Playwright's objects belong to the thread that created them, and a thread with a running driver cannot start a
second one. So the browser has its own thread, and every call to it is sent there.
"""

from __future__ import annotations

import atexit
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from replaykit.decoders import NEST_MAX, convert, decode_as_python
from replaykit.errors import LocatorLimit, MissingExtra, ReplayError, Unsupported
from replaykit.replay.offline_page.frame_builder import (
    FOUND,
    Filled,
    Skeleton,
    Skeletons,
    faults_of,
    fill,
    known_of,
    readable,
    script,
    skeleton_of,
)
from replaykit.replay.offline_page.page_payload import Blueprint
from replaykit.replay.offline_page.page_question import PageQuestion
from replaykit.trajectory.observation import Read

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Connected
    from playwright.sync_api import Page, Playwright, Route

    from replaykit.browser import Browser

WORK_MAX_S = 60.0
"""Longest time for one page or one answer; the browser is ended then, whatever it is doing."""

PATIENCE_MS = 500
"""Longest wait for an element: on a page that does not change, no element will appear."""

READ_MAX_MS = 10_000
"""Longest time for one script, ms."""

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; frame-src *; "
    "form-action 'none'"
)
"""Content security policy of every page that is built.

Frames may ask, so that a blank one stays where it is: what they ask for is never answered.
"""

# Behind the walls of policy and routing stands a third: a proxy that does not exist, and no name resolves.
_OFFLINE = (
    "--proxy-server=socks5://127.0.0.1:9",
    # Without this Chromium goes past the proxy for loopback.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    # WebRTC finds ways of its own to the network beside the proxy.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # The last one of a kind counts: those of `replaykit.browser`, and no other scheme than the recorded one.
    "--disable-features=Translate,OptimizationHints,MediaRouter,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup",
)

_Made = TypeVar("_Made")
_Task = tuple[Callable[[], Any], "Future[Any]"]


class Chromium:
    """A running browser. May be used from any thread; closes at the end of the process."""

    def __init__(self, path: str | Path | None = None) -> None:
        """Start it. Raises NoBrowser, MissingExtra, RecorderError where it does not start."""
        try:
            from playwright.sync_api import sync_playwright

            # Like the driver, loaded by those who start it: all who grade load this module.
            from replaykit.browser import launch
        except ImportError:
            raise MissingExtra(
                package="playwright", extra="browser", purpose="the Chromium replay tier"
            ) from None
        self._process: Browser = launch(path, arguments=_OFFLINE)
        #: `Chrome/156.0.8078.79`.
        self.version = self._process.version
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._driver: Playwright | None = None
        self._connected: Connected | None = None
        self._thread = threading.Thread(target=self._serve, name="replaykit-chromium", daemon=True)
        self._thread.start()
        atexit.register(self.close)
        self.run(lambda: self._connect(sync_playwright))

    @property
    def is_running(self) -> bool:
        """Whether it can be asked."""
        return self._process.is_running and self._thread.is_alive()

    def open(self, plan: Blueprint) -> Rebuilt:
        """Build a page. Raises ReplayError where the browser cannot."""
        return self.run(lambda: self._build(plan), what=plan.url)

    def run(self, work: Callable[[], _Made], *, what: str = "the browser") -> _Made:
        """Call a function in the browser's thread and return its result.

        Raises what it raises; ReplayError where the browser is gone or takes longer than `WORK_MAX_S`.
        """
        if not self._thread.is_alive():
            raise ReplayError(what=f"{what}: the offline browser was closed")
        done: Future[_Made] = Future()
        self._tasks.put((work, done))
        try:
            return done.result(WORK_MAX_S)
        except Late:
            # The thread is stuck in a call: only the end of the browser frees it.
            self._process.close()
            raise ReplayError(
                what=f"{what}: no answer from the offline browser in {WORK_MAX_S:.0f} s"
            ) from None

    def close(self) -> None:
        """End the browser; harmless when done before."""
        atexit.unregister(self.close)
        self._tasks.put(None)
        # From its own thread it would wait for itself.
        if threading.current_thread() is not self._thread:
            self._thread.join(WORK_MAX_S)
        self._process.close()

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            work, done = task
            try:
                done.set_result(work())
            except BaseException as error:  # noqa: BLE001  # it belongs to whoever asked
                done.set_exception(error)
        self._part()

    def _connect(self, start: Callable[[], Any]) -> None:
        self._driver = start().start()
        self._connected = self._driver.chromium.connect_over_cdp(self._process.endpoint)

    def _part(self) -> None:
        self._process.close()
        if self._driver is not None:
            self._driver.stop()

    def _build(self, plan: Blueprint) -> Rebuilt:
        from playwright.sync_api import Error

        assert self._connected is not None
        width, height = plan.viewport
        context = self._connected.new_context(
            service_workers="block", accept_downloads=False, viewport={"width": width, "height": height}
        )
        try:
            context.set_default_timeout(PATIENCE_MS)
            context.set_default_navigation_timeout(WORK_MAX_S * 1000)
            answers = _Answers(plan)
            context.route("**/*", answers)
            page = context.new_page()
            # The document is empty, so its commit is all there is to wait for.
            page.goto(plan.url, wait_until="commit")
            return Rebuilt(self, page, plan, answers.frames)
        except Error as error:
            context.close()
            raise ReplayError(what=f"{plan.url}: the offline browser cannot build it: {error}") from error
        except BaseException:
            context.close()
            raise


class _Shared:
    """The browser of a process, and the lock that lets only one start."""

    browser: Chromium | None = None
    starting = threading.Lock()


def shared() -> Chromium:
    """Return the one browser of this process, started when it is first asked for.

    Raises NoBrowser, MissingExtra, RecorderError.
    """
    with _Shared.starting:
        if _Shared.browser is None or not _Shared.browser.is_running:
            _Shared.browser = Chromium()
        return _Shared.browser


class _Answers:
    """Answers to a page's requests: its own document once; everything else is refused.

    Frames that the page cannot read get documents of their own, while they are built.
    """

    def __init__(self, plan: Blueprint) -> None:
        self._plan = plan
        self._is_given = False
        #: Frames that are being built, and what stands in them.
        self.frames: Skeletons = {}

    def __call__(self, route: Route) -> None:
        request = route.request
        is_page = request.is_navigation_request()
        is_main = is_page and request.frame.parent_frame is None
        if is_main and not self._is_given and _scheme(request.url) == _scheme(self._plan.url):
            self._is_given = True
            _give(route, skeleton_of(self._plan))
        elif is_page and request.frame in self.frames:
            _give(route, self.frames[request.frame])
        elif is_page:
            # Whoever is refused gets a page that says so; whoever gets nothing stays where it is.
            route.fulfill(status=204)
        else:
            route.abort()


def _give(route: Route, skeleton: Skeleton) -> None:
    policy = f"{POLICY}; {skeleton.policy}" if skeleton.policy else POLICY
    headers = {"content-type": skeleton.kind, "content-security-policy": policy}
    route.fulfill(status=200, headers=headers, body=skeleton.body)


class Rebuilt:
    """A recorded page in the offline browser."""

    def __init__(self, chromium: Chromium, page: Page, plan: Blueprint, skeletons: Skeletons) -> None:
        self.chromium = chromium
        self.plan = plan
        #: Playwright's page: only for work that is sent to the browser's thread.
        self.page = page
        #: In what it differs from the recorded page; with any, nothing on it counts.
        self.faults: tuple[str, ...] = ()
        self._report = page.evaluate_handle(script("rebuild.js"), plan.plan)
        # Before styles are compared, since rules for `:hover` have to apply.
        if plan.pointer is not None:
            page.mouse.move(*plan.pointer)
        self._settle()
        #: What was built in frames that the page cannot read, frames in frames included.
        self.frames: tuple[Filled, ...] = ()
        if plan.frames:
            self.frames = tuple(fill(self._report, plan, skeletons))
            self.faults = (*self.faults, *readable(self._report, plan))
        self._known = known_of(self._report, plan, self.style)
        page.evaluate(script("asking.js"), self._known)
        self._session = page.context.new_cdp_session(page)

    def _settle(self) -> None:
        self.page.evaluate(_DRAWN)
        found = self._report.evaluate(FOUND)
        #: Styles that were set because the sheets did not produce them, and styles that still differ.
        self.style: dict[str, int] = self._report.evaluate("(report) => report.settle()")
        self.faults = tuple(faults_of(found, self.style["differing"], self.page.url, self.plan))

    def read(self, wanted: PageQuestion) -> Read:
        """Answer a locator.

        Raises Unsupported where the page differs from the recorded one, or the answer touches what no
        recording holds; LocatorLimit for an answer that takes too long or is too large; ReplayError where the
        browser is gone.
        """
        if self.faults:
            raise Unsupported(locator=wanted.locator, reason=f"the rebuilt page differs: {self.faults[0]}")
        found = self.chromium.run(lambda: self._evaluate(wanted), what=self.plan.url)
        if found["touched"]:
            raise Unsupported(
                locator=wanted.locator, reason=f"{', '.join(found['touched'][:8])} is not recorded"
            )
        if found["text"] is None:
            raise LocatorLimit(locator=wanted.locator, limit="1048576 characters of a result")
        try:
            return convert({"locator": wanted.locator, **decode_as_python(found["text"])}, Read)
        except RecursionError as error:
            raise LocatorLimit(locator=wanted.locator, limit=f"{NEST_MAX} levels of a result") from error

    def _evaluate(self, wanted: PageQuestion) -> dict[str, Any]:
        from playwright.sync_api import Error

        asked = {"expression": wanted.call, "returnByValue": True, "timeout": READ_MAX_MS}
        try:
            result = self._session.send("Runtime.evaluate", asked)
        except Error as error:
            raise LocatorLimit(locator=wanted.locator, limit=f"{READ_MAX_MS} ms") from error
        details = result.get("exceptionDetails")
        if details is None:
            found: dict[str, Any] = result["result"]["value"]
            return found
        # An exception before the locator is evaluated means that it cannot be parsed.
        message = str(details.get("exception", {}).get("description", details["text"])).splitlines()[0]
        threw = {"name": "SyntaxError", "message": message.removeprefix("SyntaxError: ")}
        return {"text": json.dumps({"kind": "exception", "threw": threw}), "touched": []}

    @property
    def is_drawn(self) -> bool:
        """Whether what shows is known (by styles, all linked sheets, or that none are linked) and the same.

        For the browser's thread.
        """
        asked = (frame for frame in self.page.frames if frame == self.page.main_frame or _is_asked(frame))
        return all(frame.evaluate("() => __replaykit_ask.isDrawn") for frame in asked)

    def admit(self, frame: Any, selector: str) -> None:
        """Let a frame be asked; for the browser's thread.

        Raises Unsupported where it is one that the page cannot read and that is not as it was recorded.
        """
        filled = next((one for one in self.frames if one.frame == frame), None)
        if filled is not None and filled.faults:
            raise Unsupported(locator=selector, reason=f"of the frame: {filled.faults[0]}")
        if filled is None and not _is_asked(frame):
            frame.evaluate(script("asking.js"), self._known)

    def readings(self, inside: Filled | None = None) -> list[list[Any]]:
        """Return tag, innerText, value, checked, selectedIndex, selected of every element in order.

        Of the page, or of what stands in a frame that it cannot read.
        """
        report = self._report if inside is None else inside.report
        read = "(report) => report.texts()"
        return self.chromium.run(lambda: report.evaluate(read), what=self.plan.url)

    def close(self) -> None:
        """Close it; harmless where the browser is gone."""
        if self.chromium.is_running:
            self.chromium.run(self.page.context.close, what=self.plan.url)


def _is_asked(frame: Any) -> bool:
    return bool(frame.evaluate("() => '__replaykit_ask' in globalThis"))


# The second frame begins after the first was drawn.
_DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def _scheme(url: str) -> str:
    return urlsplit(url).scheme
