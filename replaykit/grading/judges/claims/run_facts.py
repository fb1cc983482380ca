"""Facts that decide predicates: honest pages of the sites, entries of the agent, accepted requests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote_plus, urlsplit

from replaykit.errors import BundleError, ReplayError
from replaykit.grading.server_changes import Change, changes
from replaykit.grading.values.normal_form import fold
from replaykit.grading.verdict import Evidence
from replaykit.replay.agent_made_pages import is_forged
from replaykit.replay.dom import Dom
from replaykit.replay.player import SAFE_METHODS, Replay
from replaykit.replay.run_state import Page
from replaykit.tasks.task import Task
from replaykit.trajectory.completeness import state_of
from replaykit.trajectory.exchange import Exchange, Message, Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Step

LAST = "last page"
"""Note of evidence from the page that the run ended on."""

TEXT_MAX = 2**20
"""Characters of a page that are read; a longer one shows nothing."""

TEXTS_MAX = 2**24
"""Characters of all pages together, equal pages once; the pages after that show nothing but the last one."""

ENTRIES_MAX = 2000
"""Texts that the agent entered, the first ones; of a run with more nothing is shown by a page."""

ENTRY_MAX = 4096
"""Characters of one of them."""

_COMPLETE = ("proven", "recorded")


class SeenPage(NamedTuple):
    """One sight of an honest page of the sites."""

    page: Page
    lines: tuple[str, ...]
    """Lines of its visible text; cells of a table row stand in one line, with tabs between."""
    folded: tuple[str, ...]
    """The same without case and typography, tabs as blanks."""

    @property
    def dom(self) -> Dom:
        """Its document."""
        dom = self.page.dom
        assert dom is not None, "a look is of a page that could be read"
        return dom

    @property
    def evidence(self) -> Evidence:
        """Where it stands in the bundle."""
        page = self.page
        return Evidence(
            source="page",
            step=page.step,
            event=page.place,
            url=page.url,
            snapshot=page.snapshot_id,
            note=LAST if page.role == "final" else None,
        )


class EnteredText(NamedTuple):
    """A text that the agent typed, chose, or put into a URL."""

    place: int
    """Position of its event in the story."""
    text: str
    """Folded."""


class RunFacts:
    """A run as predicates see it. Pages are read when they are first asked for."""

    def __init__(self, replay: Replay, task: Task) -> None:
        self.replay = replay
        self.allow = task.allow
        self._start_urls = task.start_urls
        self._looks: dict[int, SeenPage | str] = {}
        self._texts: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    @cached_property
    def sites(self) -> frozenset[str]:
        """Origins of the sites: those that the run names, else where it begins."""
        roots = [root for several in self.replay.trajectory.header.sites.values() for root in several]
        named = {origin_of(url) for url in (*roots, *self._start_urls)} - {""}
        pages = (origin_of(page.url or "") for page in self.replay.pages)
        return frozenset(named or {next(filter(None, pages), "")} - {""})

    def is_own(self, url: str) -> bool:
        """Whether a URL is of the sites."""
        return origin_of(url) in self.sites

    @property
    def final(self) -> SeenPage | str:
        """The last page, or why it shows nothing."""
        page = self.replay.final
        return "not_recorded" if page is None else self.look(page)

    @cached_property
    def looks(self) -> tuple[SeenPage, ...]:
        """Every sight of a page that shows something, in order."""
        found: list[SeenPage] = []
        read: dict[str | None, int] = {}
        for page in self.replay.pages:
            one = self.look(page) if sum(read.values()) < TEXTS_MAX else "unreadable"
            if isinstance(one, SeenPage):
                read[page.snapshot_id] = sum(map(len, one.lines))
                found.append(one)
        return tuple(found)

    @cached_property
    def at_start(self) -> tuple[SeenPage, ...]:
        """SnapshotHistory of pages before the first action."""
        return tuple(one for one in self.looks if one.page.place <= self._first)

    @cached_property
    def _first(self) -> int:
        places = (place for place, event in enumerate(self.replay.trajectory.events) if type(event) is Step)
        return next(places, len(self.replay.trajectory.events))

    def look(self, page: Page) -> SeenPage | str:
        """Return what a page shows, or why it shows nothing: `foreign forged unreadable not_recorded`."""
        if page.place not in self._looks:
            self._looks[page.place] = self._look(page)
        return self._looks[page.place]

    def _look(self, page: Page) -> SeenPage | str:
        try:
            if not self.is_own(page.url or ""):
                return "foreign"
            if is_forged(page, self.replay):
                return "forged"
            dom = page.dom
            text = dom.text if dom is not None else None
        except (ReplayError, BundleError):
            return "unreadable"
        if dom is None or text is None:
            return "not_recorded"
        if len(text) > TEXT_MAX or dom.snapshot.omitted or len(self.entries) >= ENTRIES_MAX:
            return "unreadable"
        return SeenPage(page, *self._lines(page.snapshot_id or "", text))

    def _lines(self, id: str, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the lines of a page as they are and folded, kept once for all looks at the same page."""
        if id not in self._texts:
            lines = tuple(line for line in text.split("\n") if line.strip())
            self._texts[id] = lines, tuple(fold(line) for line in lines)
        return self._texts[id]

    @cached_property
    def entries(self) -> tuple[EnteredText, ...]:
        """Texts that the agent typed, chose or put into a URL."""
        found: list[EnteredText] = []
        for place, event in enumerate(self.replay.trajectory.events):
            folded = (fold(text[:ENTRY_MAX]) for text in _entered(event))
            found += [EnteredText(place, text) for text in folded if text]
            if len(found) >= ENTRIES_MAX:
                break
        return tuple(dict.fromkeys([*found, *self._keyed]))

    @cached_property
    def _keyed(self) -> list[EnteredText]:
        """Texts typed one key an action."""
        found: list[EnteredText] = []
        keys = ""
        for place, event in enumerate(self.replay.trajectory.events):
            if isinstance(event, Step):
                key = getattr(event.action, "key", "")
                keys = keys + (" " if key == "Space" else key) if len(key) == 1 or key == "Space" else ""
                found += [EnteredText(place, fold(keys[-ENTRY_MAX:]))] if keys else []
        return found[-ENTRIES_MAX:]

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Requests that changed something on a server."""
        return tuple(changes(self.replay))

    @cached_property
    def has_every_answer(self) -> bool:
        """Whether every change on a server is known: the network is complete, each answer was recorded."""
        return self.is_complete("network") and not any(map(_is_doubtful, self.replay.exchanges))

    @property
    def is_quiet(self) -> bool:
        """Whether it is known that nothing was changed on a server."""
        return self.has_every_answer and not self.changes

    def is_complete(self, channel: str) -> bool:
        """Whether what is not in a channel did not happen."""
        return state_of(self.replay.trajectory, channel).state in _COMPLETE

    @property
    def user_spoke(self) -> bool:
        """Whether the user wrote in the run, which may have changed what was asked for."""
        return any(one.role == "user" for one in self.replay.messages)

    @cached_property
    def agreed(self) -> tuple[tuple[int, Message], ...]:
        """Replies in which the user agreed, with their positions in the story."""
        return tuple((place, one) for place, one in self._replies if one.approved)

    @property
    def is_undecided(self) -> bool:
        """Whether a reply of the user is neither a yes nor a no."""
        return any(one.approved is None for _, one in self._replies)

    @cached_property
    def _replies(self) -> tuple[tuple[int, Message], ...]:
        events = enumerate(self.replay.trajectory.events)
        found = ((place, event) for place, event in events if isinstance(event, Message))
        return tuple((place, one) for place, one in found if (one.role, one.kind) == ("user", "reply"))

    def began(self, change: Change) -> int:
        """Return the position in the story of the action that caused a change, else its own."""
        events = enumerate(self.replay.trajectory.events)
        causes = (place for place, e in events if isinstance(e, Step) and e.index == change.exchange.step)
        return min(next(causes, change.event), change.event)

    @property
    def has_network(self) -> bool:
        """Whether requests were recorded at all."""
        return state_of(self.replay.trajectory, "network").state != "absent"

    @cached_property
    def visits(self) -> tuple[tuple[int, Navigation], ...]:
        """Pages of the sites that tabs visited, with their positions in the story."""
        events = enumerate(self.replay.trajectory.events)
        found = ((place, event) for place, event in events if isinstance(event, Navigation))
        return tuple((place, one) for place, one in found if self._arrived(one))

    def _arrived(self, one: Navigation) -> bool:
        is_page = one.committed and not one.frame and (one.status is None or one.status < 400)
        return is_page and self.is_own(one.url)

    def is_before_first_action(self, place: int) -> bool:
        """Whether an event came before the first action."""
        return place < self._first


def origin_of(url: str) -> str:
    """Return scheme, host and port of a page of the web; empty for `data:`, `blob:` and the like."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") and parts.netloc else ""


def _is_doubtful(one: Exchange) -> bool:
    is_response_unknown = one.status is None and one.error is None
    return one.sent_frames > 0 or (is_response_unknown and one.method.upper() not in SAFE_METHODS)


def _entered(event: Any) -> Iterator[str]:
    if isinstance(event, Observation):
        yield from (after for _, _, after in event.changed_without_event)
    if getattr(event, "input", None) is not None:  # of a prompt
        yield str(event.input)
    for action in (event.action, *event.observed, event.declared) if isinstance(event, Step) else ():
        yield from _texts_of(action)


def _texts_of(action: Any) -> Iterator[str]:
    """Yield the texts of one action."""
    values = (getattr(action, name, None) for name in ("value", "value_after", "url"))
    for text in values:
        if isinstance(text, str) and text:
            yield text
            yield from _parts_of(text) if "/" in text else ()
    yield from (*getattr(action, "values", ()), *getattr(action, "labels", ()))
    yield from (file.name for file in getattr(action, "files", ()))


def _parts_of(url: str) -> Iterator[str]:
    """Yield what stands in a URL, decoded: the whole, and each segment and value."""
    plain = unquote_plus(url)
    yield plain
    for mark in "?#&=/":
        plain = plain.replace(mark, "\n")
    yield from plain.split("\n")
