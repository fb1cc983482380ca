"""The page surface that existing evaluators call, answered from a recording by an offline Chromium."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable
from typing import Any, TypeVar

from replaykit.errors import PageNotRecorded, ReplayError, Unsupported
from replaykit.replay.offline_page.chromium import Chromium, Rebuilt, shared
from replaykit.replay.offline_page.element_handles import (
    FINDS,
    READS,
    STYLED,
    Answers,
    OfflineElement,
    OfflineFrameLocator,
    OfflineLocator,
    names_of,
    offer,
    refuse,
)
from replaykit.replay.offline_page.page_payload import blueprint_of
from replaykit.replay.player import Recording, Replay
from replaykit.replay.run_state import Page
from replaykit.trajectory.redaction_marks import MASK
from replaykit.trajectory.step import Probe

BLANK = "about:blank"
"""Address of a page that went nowhere yet."""

_WAITS = frozenset({"wait_for_timeout", "wait_for_load_state", "wait_for_url", "wait_for_function"})
_Made = TypeVar("_Made")


class OfflinePage:
    """A recorded page that answers like Playwright's `Page`; it starts on the page on which the run ended.

    `goto` opens recorded pages only, and actions raise PageInert. `missing` lists every question that could
    not be answered, even if the evaluator caught the exception. A verdict that rests on such a question must
    not count. It needs a browser: close it, or use it as a context manager.

    Example:
        with replaykit.open_bundle("run.zst") as bundle, replaykit.OfflinePage(bundle) as page:
            print(page.url, page.locator("h1").inner_text())
    """

    def __init__(
        self, bundle: Recording, *, require_strong: bool = False, chromium: Chromium | None = None
    ) -> None:
        """`require_strong`: pages that the agent itself visited are excluded.

        On first use, raises NoBrowser or MissingExtra if there is no browser.
        """
        self._history = _History(Replay(bundle), require_strong, chromium)
        self.context = OfflineContext(self, self._history)
        self._page = self._history.replay.final
        self._rebuilt: Rebuilt | None = None

    def __enter__(self) -> OfflinePage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name in _WAITS:
            return lambda *_, **__: None
        if name in READS:
            return lambda selector, *given, **_: self._short(name, selector, given)
        if name in FINDS:
            return lambda *given, **named: self._ask(lambda page: getattr(page, name)(*given, **named), name)
        return refuse(name, "OfflinePage", names_of(OfflinePage) | _WAITS | READS | FINDS)

    @property
    def url(self) -> str:
        """Recorded URL of the page."""
        return (self._page.url if self._page is not None else None) or BLANK

    @property
    def missing(self) -> tuple[str, ...]:
        """Codes of questions that no page of the context could answer so far: `page:URL`, `probe:SCRIPT`."""
        return tuple(dict.fromkeys(self._history.missing))

    @property
    def looks(self) -> tuple[Page, ...]:
        """Recorded pages that have answered so far, for all pages of the context."""
        return tuple(self._history.looks)

    @property
    def browser_version(self) -> str:
        """Version of the browser that reads the pages. Raises NoBrowser, MissingExtra."""
        return self._history.chromium.version

    def title(self) -> str:
        """Return the title of the page."""
        return str(self._ask(lambda page: page.title()))

    def content(self) -> str:
        """Return the HTML of the page."""
        return str(self._ask(lambda page: page.content()))

    def evaluate(self, expression: str, arg: Any = None) -> Any:
        """Run a script; a function is called with `arg`.

        Raises Unsupported for values that no recording holds (element boxes, storage, clocks, globals of the
        page's scripts), LocatorLimit if it takes too long, and Playwright's own `Error` for exceptions of the
        script.
        """
        given = arg._target if isinstance(arg, OfflineElement) else arg
        return self._ask(lambda page: self._run(page, expression, given))

    def eval_on_selector(self, selector: str, expression: str, arg: Any = None) -> Any:
        """Run a script on the first match. Raises the errors of `evaluate`."""
        return self._ask(lambda page: self._run(page.query_selector(selector), expression, arg), selector)

    def eval_on_selector_all(self, selector: str, expression: str, arg: Any = None) -> Any:
        """Run a script on all matches. Raises the errors of `evaluate`."""
        return self._ask(lambda page: self._run(page.query_selector_all(selector), expression, arg), selector)

    def query_selector(self, selector: str) -> OfflineElement | None:
        """Return the first match, or None."""
        found: OfflineElement | None = self._ask(lambda page: page.query_selector(selector), selector)
        return found

    def query_selector_all(self, selector: str) -> list[OfflineElement]:
        """Return all matches."""
        found: list[OfflineElement] = self._ask(lambda page: page.query_selector_all(selector), selector)
        return found

    def wait_for_selector(self, selector: str, **_: Any) -> OfflineElement | None:
        """Return the first match at once, or None: a recorded page does not change."""
        return self.query_selector(selector)

    def locator(self, selector: str, **named: Any) -> OfflineLocator:
        """Return a locator for recorded elements."""
        found: OfflineLocator = self._ask(lambda page: page.locator(selector, **named), selector)
        return found

    def frame_locator(self, selector: str) -> OfflineFrameLocator:
        """Return the frame of the first match, even one that the page cannot read.

        Raises Unsupported if its document was not recorded, or has changed since.
        """
        found: OfflineFrameLocator = self._ask(lambda page: self._framed(page, selector), selector)
        return found

    def goto(self, url: str, **_: Any) -> None:
        """Go to a recorded page. Raises PageNotRecorded.

        A page opened for a check comes first, otherwise a page that the agent saw and that nothing has
        changed since.
        """
        page = self._history.find(url)
        self._leave()
        self._page = page

    def close(self, **_: Any) -> None:
        """Close the page; the first page also closes its context."""
        self._leave()
        self.context.leave(self)

    def is_closed(self) -> bool:
        """Return whether the page was closed."""
        return self not in self.context.pages

    def awaited(self) -> AsyncOfflinePage:
        """Return the same page for evaluators that use await."""
        return AsyncOfflinePage(self)

    def _leave(self) -> None:
        if self._rebuilt is not None:
            self._rebuilt.close()
        self._rebuilt = None

    def _short(self, name: str, selector: str, given: tuple[Any, ...]) -> Any:
        def ask(page: Any) -> Any:
            found = page.query_selector(selector)
            # Without a match the locator raises what evaluators expect.
            return getattr(found if found is not None else page.locator(selector), name)(*given)

        return self._ask(ask, name, selector)

    def _ask(self, work: Callable[[Any], Any], *asked: str) -> Any:
        rebuilt = self._built()
        found = self._send(lambda: work(rebuilt.page), *asked)
        return offer(found, Answers(self._send, self._run, self._framed))

    def _send(self, work: Callable[[], _Made], *asked: str) -> _Made:
        rebuilt = self._built()

        def guarded() -> _Made:
            if any(map(STYLED.search, asked)) and not rebuilt.is_drawn:
                raise Unsupported(locator=" ".join(asked), reason="styles were not recorded")
            return work()

        try:
            return rebuilt.chromium.run(guarded, what=self.url)
        except Unsupported as error:
            self._history.missing.append(f"probe:{error.fields['locator']}")
            raise

    def _built(self) -> Rebuilt:
        if self._page is None:
            raise ReplayError(what="no page is open: call goto with a recorded URL")
        if self._rebuilt is None:
            try:
                self._rebuilt = self._history.build(self._page)
            except ReplayError:
                self._history.missing.append(self._page.missing or f"page:{self.url}")
                raise
        return self._rebuilt

    def _framed(self, outer: Any, selector: str) -> Any:
        """Return the driver's locator of a frame inside a page, frame or locator; in the browser's thread."""
        held = outer.locator(selector)
        frame = held.first.element_handle().content_frame() if held.count() else None
        if frame is not None and self._rebuilt is not None:
            self._rebuilt.admit(frame, selector)
        return outer.frame_locator(selector)

    def _run(self, target: Any, expression: str, arg: Any) -> Any:
        """Evaluate with what guards against guesses; in the browser's thread."""
        is_page = not isinstance(target, list) and type(target).__name__ != "ElementHandle"
        given = [arg] if is_page else [target, arg]
        if self._rebuilt is None:
            raise ReplayError(what="the element belongs to a page that was left")
        realm = _realm_of(target) or self._rebuilt.page
        answer = realm.evaluate("([text, given]) => __replaykit_ask.run(text, ...given)", [expression, given])
        value, touched = answer["value"], answer["touched"]
        if touched:
            raise Unsupported(locator=expression, reason=f"{', '.join(touched[:8])} is not recorded")
        if MASK in json.dumps(value, default=str, ensure_ascii=False):
            raise Unsupported(locator=expression, reason="its text is masked")
        return value


def _realm_of(target: Any) -> Any:
    """Return the driver's frame that handles stand in: they are asked there; None of what is no handle."""
    first: Any = next(iter(target), None) if isinstance(target, list) else target
    return first.owner_frame() if type(first).__name__ == "ElementHandle" else None


class OfflineContext:
    """The tabs of a finished run, as a browser context."""

    def __init__(self, first: OfflinePage, history: _History) -> None:
        self._first = first
        self._history = history
        self._pages: list[OfflinePage] | None = None

    @property
    def pages(self) -> list[OfflinePage]:
        """The tabs open at the end, in order of opening, then new ones."""
        if self._pages is None:
            self._pages = [self._tab(page) for page in self._history.tabs()] or [self._first]
        return list(self._pages)

    def new_page(self) -> OfflinePage:
        """Open a blank tab."""
        self._pages = [*self.pages, self._tab(None)]
        return self._pages[-1]

    def leave(self, page: OfflinePage) -> None:
        """Forget a tab that was closed; with the first one all are."""
        left = [one for one in self.pages if one is not page]
        self._pages = left if page is not self._first else []
        for one in left if page is self._first else []:
            one._leave()

    def _tab(self, page: Page | None) -> OfflinePage:
        if page is not None and page is self._first._page:
            return self._first
        # Without `__init__`, which would begin a history of its own.
        tab = object.__new__(OfflinePage)
        tab._history, tab.context, tab._page, tab._rebuilt = self._history, self, page, None
        return tab


class _History:
    """Recorded pages, the questions asked of them, and the browser that shows them."""

    def __init__(self, replay: Replay, require_strong: bool, chromium: Chromium | None) -> None:
        self.replay = replay
        self.missing: list[str] = []
        self.looks: list[Page] = []
        self._refused: dict[int, ReplayError] = {}
        self._require_strong = require_strong
        self._chromium = chromium

    @property
    def chromium(self) -> Chromium:
        self._chromium = self._chromium or shared()
        return self._chromium

    def tabs(self) -> list[Page]:
        final = self.replay.final
        finals = {page.tab: page for page in self.replay.pages if page.role == "final"}
        if final is not None:
            finals[final.tab] = final
        return [finals[tab] for tab in sorted(finals, key=lambda tab: -1 if tab is None else tab)]

    def find(self, url: str) -> Page:
        """Return the page that answers for an address, strongest evidence first. Raises PageNotRecorded."""
        probe = self.replay.probe(url)
        page = probe if probe is not None and _answers(probe) else None
        if page is None and not self._require_strong:
            page = self.replay.visited(url)
        if page is None:
            self.missing.append(f"page:{url}")
            raise PageNotRecorded(url=url)
        return page

    def build(self, page: Page) -> Rebuilt:
        if page.place in self._refused:
            # The traceback of one exception would grow with each time that it is raised.
            raise self._refused[page.place].with_traceback(None)
        try:
            rebuilt = self._open(page)
        except ReplayError as error:
            # To find out takes up to a minute, and evaluators ask on.
            self._refused[page.place] = error
            raise
        if page not in self.looks:
            self.looks.append(page)
        return rebuilt

    def _open(self, page: Page) -> Rebuilt:
        rebuilt = self.chromium.open(blueprint_of(page, self.replay, with_frames=True))
        if rebuilt.faults:
            rebuilt.close()
            raise ReplayError(what=f"{page.url}: the rebuilt page differs: {', '.join(rebuilt.faults)}")
        return rebuilt


def _answers(probe: Page) -> bool:
    """Return whether a probe shows its page as it is: it was opened, and no script prepared it."""
    was_prepared = any(read.prep for read in probe.reads)
    is_open = isinstance(probe.seen, Probe) and probe.seen.error is None
    return is_open and not was_prepared and probe.missing is None


class AsyncOfflinePage:
    """An OfflinePage, an element, a locator or a context whose methods are awaited."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if not callable(found) or isinstance(found, OfflinePage):
            return _awaited(found)
        # In Playwright's async API these are plain methods, no coroutines.
        if name in ("locator", "is_closed", "nth", "filter", "frame_locator", *FINDS):
            return lambda *given, **named: _awaited(found(*given, **named))

        async def answer(*given: Any, **named: Any) -> Any:
            return _awaited(await asyncio.to_thread(functools.partial(found, *given, **named)))

        return answer


def _awaited(found: Any) -> Any:
    if isinstance(found, list):
        return [_awaited(one) for one in found]
    is_ours = isinstance(
        found, OfflinePage | OfflineElement | OfflineFrameLocator | OfflineLocator | OfflineContext
    )
    return AsyncOfflinePage(found) if is_ours else found
