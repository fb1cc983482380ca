"""A recorded run to walk through: states step by step, and the pages that checks ask for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Protocol, TypeVar, cast, overload

from replaykit.errors import UsageError
from replaykit.replay.page_cache import Blobs, Doms
from replaykit.replay.per_object_cache import Memo
from replaykit.replay.run_state import Page, State, same_url
from replaykit.trajectory import action as actions
from replaykit.trajectory.exchange import Dialog, Exchange, Message, Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Ending, Probe, Step, Trajectory

# Methods that change nothing on a server (RFC 9110, 9.2.1), as far as its author keeps to them.
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

REST_MS = 100
"""A page is seen at rest so long after it came; what is seen sooner may still be the page before it."""

# Actions that leave a page as it was.
_TRACELESS = (
    actions.Scroll, actions.Goto, actions.NewTab, actions.GoBack, actions.GoForward, actions.Reload,
    actions.CloseTab, actions.FocusTab, actions.Wait, actions.Noop, actions.SendMsgToUser, actions.Answer,
    actions.ReportInfeasible, actions.ToolCall,
)  # fmt: skip

_Caused = TypeVar("_Caused", Message, Dialog, Navigation, Exchange)


class Recording(Blobs, Protocol):
    """Interface of the input of a replay: a story and its blobs. A bundle is one."""

    @property
    def trajectory(self) -> Trajectory:
        """The story."""


class Replay(Memo):
    """One recorded run as a sequence of states, one for each step.

    Pages and screenshots are read from the open bundle when they are needed.

    Example:
        with replaykit.open_bundle("run.zst") as bundle:
            for state in replaykit.Replay(bundle):
                print(state.line, state.url)
    """

    def __init__(self, bundle: Recording) -> None:
        """Begin to read. Raises UsageError for what is no open bundle: whoever opens one closes it."""
        if not hasattr(bundle, "trajectory"):
            is_path = isinstance(bundle, str | Path)
            given = (
                f"`with open_bundle({str(bundle)!r}) as bundle:`"
                if is_path
                else f"got {type(bundle).__name__}"
            )
            raise UsageError(what=f"Replay takes an open bundle: {given}")
        #: What is replayed: whoever needs a screenshot asks it for the blob.
        self.bundle = bundle
        self.trajectory = bundle.trajectory
        self._doms = Doms(bundle)

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[State]:
        return (self._state(step) for step in self.steps)

    @overload
    def __getitem__(self, index: int) -> State: ...

    @overload
    def __getitem__(self, index: slice) -> list[State]: ...

    def __getitem__(self, index: int | slice) -> State | list[State]:
        if isinstance(index, slice):
            return [self._state(step) for step in self.steps[index]]
        return self._state(self.steps[index])

    @property
    def steps(self) -> tuple[Step, ...]:
        """The agent's actions in order."""
        return self.trajectory.steps

    @property
    def answer(self) -> str | None:
        """The agent's answer; None if it gave no answer."""
        return self.trajectory.answer

    @property
    def ending(self) -> Ending | None:
        """How the run ended; None if the recording was interrupted."""
        return self.trajectory.ending

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """Every page observed on the agent's tabs, in order."""
        return tuple(self._pages())

    @cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Requests of the agent's pages; those of probes are left out."""
        found = self.trajectory.of_type(Exchange)
        return tuple([exchange for exchange in found if exchange.actor != "probe"])

    @cached_property
    def navigations(self) -> tuple[Navigation, ...]:
        """Navigations of the agent's tabs, frames included."""
        return self.trajectory.of_type(Navigation)

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Messages of agent and user."""
        return self.trajectory.of_type(Message)

    @cached_property
    def dialogs(self) -> tuple[Dialog, ...]:
        """Native dialogs."""
        return self.trajectory.of_type(Dialog)

    @cached_property
    def probes(self) -> tuple[Page, ...]:
        """Pages that were opened for checks, before and after the run."""
        if not self.trajectory.of_type(Probe):
            return ()
        placed = enumerate(self.trajectory.events)
        return tuple(Page(event, self._doms, place=place) for place, event in placed if type(event) is Probe)

    @cached_property
    def has_pre_state(self) -> bool:
        """Whether any page was opened for a check before the run."""
        return any(probe.phase == "pre" for probe in self.trajectory.of_type(Probe))

    @cached_property
    def final(self) -> Page | None:
        """The final page of the tab that was active at the end; None where no final page was taken."""
        finals = [page for page in self.pages if page.role == "final"]
        tab = self._active_tab()
        page = next((page for page in reversed(finals) if page.tab == tab), finals[-1] if finals else None)
        return self._last_look(page) if page is not None else None

    def _active_tab(self) -> int | None:
        for page in reversed(self.pages):
            tabs = page.seen.tabs if isinstance(page.seen, Observation) else ()
            active = next((tab.page for tab in tabs if tab.active), None)
            if active is not None:
                return active
        return self.steps[-1].page if self.steps else None

    def _last_look(self, final: Page) -> Page:
        """Return the page itself, or the last after-observation that stands in for a tab closed by others."""
        closed = isinstance(final.seen, Observation) and final.seen.from_last
        if not closed or final.snapshot_id is not None:
            return final
        looks = (page for page in reversed(self.pages) if page.role == "after" and page.tab == final.tab)
        return next(looks, final)

    def probe(self, url: str, phase: str = "post") -> Page | None:
        """Return the page that was opened for a check under a URL; None if it was not opened."""
        found = [page for page in self.probes if isinstance(page.seen, Probe) and page.seen.phase == phase]
        asked = [(page, page.seen.requested or "") for page in found if isinstance(page.seen, Probe)]
        exact = next((page for page, requested in asked if requested == url), None)
        return exact or next(
            (page for page, requested in asked if requested and same_url(requested, url)), None
        )

    def visited(self, url: str) -> Page | None:
        """Return the page that the agent last saw at a URL, as weak evidence of its current state.

        Returns None in two cases:

        - The page was only seen after an action on it: it may show text that was never saved. - The page may
        have changed since it was requested: by a request that can change something and was not refused,
          by data sent over a socket, or by traffic that was not recorded.
        """
        if self.trajectory.channel("network") != "recorded":
            return None
        wanted = self._active_root(url)
        named = (page for page in reversed(self.pages) if page.url is not None)
        same = (page for page in named if same_url(self._active_root(page.url or ""), wanted))
        # The snapshot is read last: most pages are not the one asked for.
        page = next((page for page in same if page.dom is not None and not self._acted_on(page)), None)
        return page if page is not None and not self._changed_since(page) else None

    def _active_root(self, url: str) -> str:
        """Put the active root of a site in the place of another one of it."""
        for roots in self.trajectory.header.sites.values():
            for root in roots[1:]:
                if url.startswith(root):
                    return roots[0] + url[len(root) :]
        return url

    def _acted_on(self, page: Page) -> bool:
        """Whether anything was done in a tab between its last navigation and the moment it was seen."""
        times = [
            (place if page.t is None else event.t or 0, event)
            for place, event in enumerate(self.trajectory.events)
            if isinstance(event, Navigation | Step) and _is_in(page, event)
        ]
        seen = page.place if page.t is None else page.t
        since = max((at for at, event in times if isinstance(event, Navigation) and at <= seen), default=-1)
        return any(since < at < seen for at, event in times if isinstance(event, Step))

    def _changed_since(self, page: Page) -> bool:
        since, document = self._loading(page)
        return any(
            mutates(exchange) and not _led_to(exchange, document) and _is_later(exchange, place, page, since)
            for place, exchange in self._placed
        )

    def _loading(self, page: Page) -> tuple[int, int | None]:
        """Return when the document of a page was asked for, ms, and the exchange that brought it.

        A page is as old as its document, however late it was seen.
        """
        seen = page.t or 0
        brought = [one for one in self.navigations if one.page == page.tab and _brings_document(one, seen)]
        if not brought:
            looks = (one.t for one in self.pages if one.tab == page.tab and one.t is not None)
            return min(looks, default=seen), None
        own = [one for one in brought if _is_of(one, page, seen)]
        if not own:
            return 0, None
        last = max(own, key=lambda one: one.t or 0)
        asked = next((one for _, one in self._placed if one.id == last.exchange), None)
        if asked is not None:
            # A document from the cache may be of any age.
            return (0 if asked.from_cache else asked.t or 0), asked.id
        # A page out of the history: its age is unknown.
        return (0 if last.kind in ("back", "forward") else last.t or 0), None

    @cached_property
    def _placed(self) -> tuple[tuple[int, Exchange], ...]:
        events = enumerate(self.trajectory.events)
        return tuple(
            (place, event)
            for place, event in events
            if isinstance(event, Exchange) and event.actor != "probe"
        )

    def _state(self, step: Step) -> State:
        before = [page for page in self._by_step.get(step.index, ()) if page.role == "before"]
        after = [page for page in self._by_step.get(step.index, ()) if page.role == "after"]
        return State(
            index=step.index,
            step=step,
            before=before[0] if before else None,
            after=after[-1] if after else None,
            interim=tuple(after[:-1]),
            screenshot_page=self._screenshot_page(step, before[0] if before else None),
            url=step.url,
            tabs=step.tabs,
            messages=self._caused(Message, step),
            dialogs=self._caused(Dialog, step),
            navigations=self._caused(Navigation, step),
            exchanges=self._caused(Exchange, step),
        )

    def _caused(self, kind: type[_Caused], step: Step) -> tuple[_Caused, ...]:
        return cast("tuple[_Caused, ...]", tuple(self._consequences.get((step.index, kind), ())))

    @cached_property
    def _consequences(self) -> dict[tuple[int | None, type], list[object]]:
        found: dict[tuple[int | None, type], list[object]] = {}
        caused: tuple[Message | Dialog | Navigation | Exchange, ...]
        caused = (*self.messages, *self.dialogs, *self.navigations, *self.exchanges)
        for event in caused:
            found.setdefault((event.step, type(event)), []).append(event)
        return found

    def _screenshot_page(self, step: Step, before: Page | None) -> Page | None:
        # Screenshots are taken at rest: what is seen in the action itself seldom has one.
        if before is not None and before.screenshot_id is not None:
            return before
        shown = self._screenshots.get(step.page, [])
        earlier = bisect_left(shown, self._places[step.index], key=attrgetter("place"))
        return shown[earlier - 1] if earlier else None

    @cached_property
    def _screenshots(self) -> dict[int | None, list[Page]]:
        found: dict[int | None, list[Page]] = {}
        for page in self.pages:
            if page.screenshot_id is not None:
                found.setdefault(page.tab, []).append(page)
        return found

    @cached_property
    def _places(self) -> dict[int, int]:
        placed = enumerate(self.trajectory.events)
        return {event.index: place for place, event in placed if isinstance(event, Step)}

    @cached_property
    def _by_step(self) -> dict[int, list[Page]]:
        found: dict[int, list[Page]] = {}
        for page in self.pages:
            if page.step is not None:
                found.setdefault(page.step, []).append(page)
        return found

    def _pages(self) -> Iterator[Page]:
        urls: dict[int | None, str] = {}
        for place, event in enumerate(self.trajectory.events):
            if type(event) is Step:
                if event.before is not None:
                    yield Page(event.before, self._doms, event.index, place, urls.get(event.page))
            elif type(event) is Navigation:
                if event.committed and not event.frame:
                    urls[event.page] = event.url
            elif type(event) is Observation:
                step = event.of if event.role == "after" else None
                yield Page(event, self._doms, step, place, urls.get(event.page))
                urls[event.page] = event.url or urls.get(event.page, "")


def _is_in(page: Page, event: Navigation | Step) -> bool:
    """Whether it is a navigation in the page's tab, or an action that may have left a mark there."""
    if event.page != page.tab:
        return False
    if isinstance(event, Navigation):
        return event.committed and not event.frame
    return not isinstance(event.action, _TRACELESS)


def mutates(exchange: Exchange) -> bool:
    """Return whether a request may have changed something on a server."""
    # A server that failed may have done it before; what went over a socket is unknown.
    refused = exchange.status is not None and 400 <= exchange.status < 500
    return (exchange.method.upper() not in SAFE_METHODS and not refused) or exchange.sent_frames > 0


def _brings_document(navigation: Navigation, before: int) -> bool:
    is_main = navigation.committed and not navigation.same_document and not navigation.frame
    return is_main and navigation.t is not None and navigation.t <= before


def _is_of(navigation: Navigation, page: Page, seen: int) -> bool:
    # Of another address, or only just come: what is seen may still be the document before it.
    is_there = (navigation.t or 0) + REST_MS <= seen
    return is_there and page.url is not None and same_url(navigation.url, page.url)


def _led_to(exchange: Exchange, document: int | None) -> bool:
    return document is not None and exchange.redirect_to == document


def _is_later(exchange: Exchange, place: int, page: Page, since: int) -> bool:
    if exchange.sent_frames and exchange.ended is None:
        return True
    # An exchange that was under way when the document was requested may have changed something afterwards.
    times = (exchange.ended, exchange.received, exchange.t)
    over = next((time for time in times if time is not None), None)
    if over is None or page.t is None:
        return place > page.place
    is_over = exchange.status is not None or exchange.error is not None
    return over >= since or not is_over
