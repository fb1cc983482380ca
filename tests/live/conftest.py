"""A real browser for tests that need one, and a loopback site that serves what a test gives it.

Where no browser is found these tests are skipped with the reason; in CI that is a failure.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, sync_playwright

from replaykit.recorder.page.page_script import (
    API,
    BINDING,
    WORLD,
    PageEvent,
    PageGap,
    PageOptions,
    PagePart,
    PagePush,
    PageText,
    Parts,
    decode_message,
    page_script,
    split_number,
)
from replaykit.replay.offline_page.chromium import Chromium
from replaykit.snapshot.codec import decode
from replaykit.snapshot.snapshot_format import ElementState, Snapshot
from tests.live.flags import LEAN
from tests.live.kept_browser import KeptBrowser
from tests.live.lent import Lent
from tests.live.one_rule import Act, Rules, RulesOn, rules_of

WAIT_S = 60.0
"""Patience of a test; what it waits for takes well under a second."""


@pytest.fixture(scope="module")
def offline(browser_path: Path) -> Iterator[Chromium]:
    """An offline browser that draws recorded pages."""
    running = Chromium(browser_path)
    yield running
    running.close()


KEPT = KeptBrowser()


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    """The driver of a module: while it runs, no other can start in this thread."""
    KEPT.is_lent = True
    yield KEPT.driver()
    KEPT.is_lent = False


@pytest.fixture(scope="module")
def browser(playwright: Playwright, browser_path: Path) -> Iterator[Browser]:
    """One headless browser for a module."""
    yield KEPT.browser(browser_path)
    KEPT.empty()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None]:
    """Keep the browser of a module for the next one only if that one uses it, too."""
    yield
    if not KEPT.is_lent and "playwright" not in getattr(nextitem, "fixturenames", ()):
        KEPT.close()


@contextmanager
def browser_of_sites(browser_path: Path) -> Iterator[Browser]:
    """A browser that gives every site a process of its own."""
    arguments = ["--site-per-process", "--no-sandbox", "--disable-gpu", LEAN]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser_path, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="module")
def isolated(browser_path: Path) -> Iterator[Browser]:
    with browser_of_sites(browser_path) as browser:
        yield browser


@pytest.fixture
def lent(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever starts a browser in this thread gets a context of its own in the module's one."""
    monkeypatch.setattr("playwright.sync_api.sync_playwright", lambda: Lent(browser))


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page in a context of its own, 800 x 600; with the mark `one_page` the module's, emptied."""
    if request.node.get_closest_marker("one_page"):
        yield request.getfixturevalue("emptied")
        return
    with browser.new_context(viewport={"width": 800, "height": 600}) as context:
        yield context.new_page()


@pytest.fixture(scope="module")
def kept_page(browser: Browser) -> Iterator[Page]:
    """A page for a module's tests that only load something into it: a new one takes longer than most of them."""
    with browser.new_context(viewport={"width": 800, "height": 600}) as context:
        yield context.new_page()


@pytest.fixture(scope="session")
def nothing() -> Iterator[str]:
    """Address of an empty page: a site of the same host needs no other process of the browser."""
    made = Site(origin="", other="")
    with _serving(made) as made.origin:
        yield made.add("/", "<!doctype html>")


@pytest.fixture
def emptied(kept_page: Page, nothing: str) -> Page:
    """The module's page, with nothing in it, nothing beside it, and the pointer nowhere."""
    _forget(kept_page)
    # Not about:blank: Chromium may crash where frames follow on page after page at it.
    kept_page.goto(nothing)
    return kept_page


def _forget(page: Page) -> None:
    """Close what else is in a page's context, and leave no cookie and no pointer."""
    for one in page.context.pages:
        if one is not page:
            one.close()
    page.context.clear_cookies()
    page.mouse.move(0, 0)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A context of its own, 1280 x 800."""
    with browser.new_context(viewport={"width": 1280, "height": 800}) as made:
        yield made


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name: sockets of a browser stand in it."""
    with TemporaryDirectory(prefix="run-", ignore_cleanup_errors=True) as made:
        yield Path(made)


class Taken:
    """A pushed snapshot, asked by CSS-like ids."""

    def __init__(self, push: PagePush) -> None:
        self.push = push
        self.text = push.snapshot
        self.snapshot: Snapshot = decode(push.snapshot.encode())
        head, tokens, style, box = push.snapshot.splitlines()
        self.head: dict[str, Any] = msgspec.json.decode(head)
        self.tokens: list[Any] = msgspec.json.decode(tokens)
        self.style: list[int] = msgspec.json.decode(style)
        self.box: list[int] = msgspec.json.decode(box)

    def number(self, name: str) -> int:
        """The element number of the only element with this id."""
        rows = [
            row for row, pairs in self.snapshot.attributes.items() if _attributes(pairs).get("id") == name
        ]
        assert len(rows) == 1, f"{len(rows)} elements of id {name}"
        return self.snapshot.number[rows[0]]

    def has(self, name: str) -> bool:
        """Whether an element of this id is there."""
        return any(_attributes(pairs).get("id") == name for pairs in self.snapshot.attributes.values())

    def tag(self, number: int) -> str:
        return self.snapshot.name[self.snapshot.nodes[number]]

    def attributes(self, name: str) -> dict[str, str]:
        return _attributes(self.snapshot.attributes[self.snapshot.nodes[self.number(name)]])

    def state(self, name: str) -> ElementState:
        return self.snapshot.state.get(self.snapshot.nodes[self.number(name)], ElementState())

    def palette(self, name: str) -> str | None:
        """The palette entry of an element; None where an ancestor is not rendered."""
        index = self.style[self.number(name)]
        return None if index == -1 else self.head["styles"][index]

    def box_of(self, name: str) -> tuple[int, ...]:
        number = self.number(name)
        return tuple(self.box[4 * number : 4 * number + 4])


def _attributes(pairs: list[str]) -> dict[str, str]:
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


class Watched:
    """A page with the recorder's script in it, and its messages."""

    def __init__(self, page: Page, options: PageOptions) -> None:
        self.page = page
        self.options = options
        self.messages: list[PageText] = []
        """Messages in order of arrival, long ones whole."""
        self.raw: list[str] = []
        """The same as they came over the binding."""
        self.calls: list[str] = []
        """Calls of the binding, each with its messages."""
        self.shown = 0
        """Number of the snapshot at which the page settled."""
        self._parts = Parts()
        self._contexts: list[dict[str, Any]] = []
        self.cdp = page.context.new_cdp_session(page)
        self.cdp.on("Runtime.bindingCalled", lambda event: self._take(event["payload"]))
        self.cdp.on("Runtime.executionContextCreated", lambda event: self._contexts.append(event["context"]))
        self.cdp.send("Page.enable")
        self.cdp.send("Runtime.enable")
        self.cdp.send("Runtime.addBinding", {"name": BINDING, "executionContextName": WORLD})
        script = {"source": page_script(options), "worldName": WORLD, "runImmediately": True}
        self.cdp.send("Page.addScriptToEvaluateOnNewDocument", script)

    def leave(self) -> None:
        """Take the script out of the documents to come."""
        with suppress(Error):  # a page that is closed has none
            self.cdp.detach()

    def _take(self, payload: str) -> None:
        self.calls.append(payload)
        for text in split_number(payload)[1].split("\n"):
            self._receive(text)

    def _receive(self, text: str) -> None:
        self.raw.append(text)
        message = decode_message(text)
        if isinstance(message, PagePart):
            whole = self._parts.add(message)
            if whole is None:
                return
            message = decode_message(whole)
        self.messages.append(message)

    def events(self, *names: str) -> list[PageEvent]:
        """Events so far, of these names or all."""
        return [
            one for one in self.messages if isinstance(one, PageEvent) and (not names or one.name in names)
        ]

    def pushes(self, *purposes: str) -> list[PagePush]:
        """Pushes so far, of these purposes or all."""
        return [
            one
            for one in self.messages
            if isinstance(one, PagePush) and (not purposes or one.purpose in purposes)
        ]

    def gaps(self) -> list[PageGap]:
        return [one for one in self.messages if isinstance(one, PageGap)]

    def forget(self) -> None:
        """Discard all messages so far."""
        self.messages.clear()
        self.raw.clear()

    def until(self, condition: Callable[[], Any], what: str = "the condition") -> Any:
        """Let the browser talk until the condition holds; return its value."""
        deadline = monotonic() + WAIT_S
        while not (value := condition()):
            assert monotonic() < deadline, f"waited in vain for {what}; received {self.messages[-5:]}"
            self.page.wait_for_timeout(10)
        return value

    def settle(self) -> None:
        """Wait until the page has shown that it rests, as it is now; forget all but that snapshot's number."""
        self.until(lambda: any(push.settled for push in self.pushes("rest")) and self._is_shown(), "rest")
        self.shown = self.pushes()[-1].seq
        self.forget()

    def _is_shown(self) -> bool:
        """Whether nothing changed since the last snapshot: a first one may be of the page before the content."""
        return bool(self.answer("quiet()")["mutations"] == 0)

    def call(self, expression: str) -> Any:
        """Evaluate in the script's world of the main frame."""
        frame = self.cdp.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        ours = [
            context["id"]
            for context in self._contexts
            if context["name"] == WORLD and context["auxData"]["frameId"] == frame
        ]
        reply = self.cdp.send(
            "Runtime.evaluate", {"expression": expression, "contextId": ours[-1], "returnByValue": True}
        )
        assert "exceptionDetails" not in reply, reply
        return reply["result"].get("value")

    def ask(self, purpose: str = "asked") -> Taken:
        """Serialize now."""
        push = decode_message(self.call(f"{API}.push({purpose!r})"))
        assert isinstance(push, PagePush)
        return Taken(push)

    def answer(self, call: str) -> Any:
        """Call the script's API and decode its answer."""
        return msgspec.json.decode(self.call(f"{API}.{call}"))


@pytest.fixture
def watch(page: Page) -> Iterator[Callable[..., Watched]]:
    """Put the recorder's script into the page: `watch(mask=("#card",))`."""
    made: list[Watched] = []

    def watched(**options: Any) -> Watched:
        made.append(Watched(page, PageOptions(**options)))
        return made[-1]

    yield watched
    for one in made:
        one.leave()


@dataclass
class Site:
    """Two loopback origins that serve the same pages."""

    origin: str
    other: str
    pages: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Paths with their queries, as they were asked for."""
    gates: dict[str, threading.Event] = field(default_factory=dict)
    """Paths that are answered once theirs is set."""
    answers: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    """Status and headers of paths that are answered otherwise."""

    def add(self, path: str, body: str, mime: str = "text/html; charset=utf-8") -> str:
        """Serve `body` at `path`; return its URL."""
        self.pages[path] = (body.encode("utf-8", "surrogatepass"), mime)
        return self.origin + path


@pytest.fixture
def site() -> Iterator[Site]:
    """An empty site of two origins, up until the test ends."""
    made = Site(origin="", other="")
    with _serving(made) as made.origin, _serving(made) as made.other:
        yield made


@contextmanager
def _serving(site: Site) -> Iterator[str]:
    """Serve a site on a free port; yields its origin."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(lambda: site)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def _handler(site: Callable[[], Site]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site().asked.append(self.path)
            gate = site().gates.get(self.path)
            assert gate is None or gate.wait(WAIT_S), f"nobody opened {self.path}"
            body, mime = site().pages.get(self.path.partition("?")[0], (b"not here", "text/plain"))
            status, own = site().answers.get(self.path, (200, {}))
            self.send_response(status)
            for name, value in {
                "Content-Type": mime,
                "Content-Length": str(len(body)),
                **site().headers,
                **own,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None: ...

    return Handler


@pytest.fixture
def rules_on(kept_page: Page, site: Site, tmp_path: Path) -> RulesOn:
    """Opens a page with some markup, and returns rules with what comes of them by what is done there."""
    _forget(kept_page)

    def come_of(html: str, act: Act, rules: Rules) -> Rules:
        kept_page.goto(site.add("/", html))
        return rules_of(rules, act, kept_page, tmp_path / "run.zst")

    return come_of
