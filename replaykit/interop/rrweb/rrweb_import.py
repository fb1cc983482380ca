"""Streams of rrweb: what a page looked like at every moment, and what was done on it, by whomever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from replaykit.interop.extra_fields import holds_data
from replaykit.interop.har.har_entries import stamp
from replaykit.interop.imported_run import Run
from replaykit.interop.playwright_trace.trace_contexts import as_time
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.rrweb.rrweb_gestures import RrwebGestures, recorded_kinds
from replaykit.interop.rrweb.rrweb_page import RrwebPage
from replaykit.interop.rrweb.rrweb_steps import RrwebSteps
from replaykit.interop.rrweb.rrweb_stream import (
    CUSTOM,
    DOM_LOADED,
    FULL,
    INCREMENT,
    LOADED,
    META,
    PLUGIN,
    WINDOWS,
    Event,
    address_of,
    is_event,
    packed_streams,
    read_events,
    streams,
)
from replaykit.trajectory.exchange import Console, Navigation

MUTATION, MOVE, MOUSE, SCROLL, RESIZE, INPUT, TOUCH, MEDIA = range(8)
"""Sources of increments that are distinguished; others are counted by their names."""

NAMES = (
    "Mutation", "MouseMove", "MouseInteraction", "Scroll", "ViewportResize", "Input", "TouchMove",
    "MediaInteraction", "StyleSheetRule", "CanvasMutation", "Font", "Log", "Drag", "StyleDeclaration",
    "Selection", "AdoptedStyleSheet", "CustomElement",
)  # fmt: skip
"""Names of all sources, by number."""

CLICK, MENU, DOUBLE = 2, 3, 4
"""Mouse interactions that are steps."""

INTERACTIONS = (
    "MouseUp", "MouseDown", "Click", "ContextMenu", "DblClick", "Focus", "Blur", "TouchStart",
    "TouchMoveDeparted", "TouchEnd", "TouchCancel",
)  # fmt: skip

PAUSES = ("sessionIdle",)
"""Tags of custom events after which a recorder drops events: PostHog's, once no one moved for minutes."""

KEYS_MAX = 50
"""Keys of nodes that are named where they are left out."""

_LEVELS = {"warn": "warning", "assert": "error", "trace": "log", "dir": "log", "table": "log"}
_CONSOLE = ("log", "info", "warning", "error", "debug")


def read(run: Run, candidate: Candidate) -> None:
    """Read one stream."""
    # Sorted as a whole: browsers send their parts as the network lets them.
    found = list(_ordered(run, read_events(run, candidate.file), candidate.file))
    if not found:
        run.source.malformed(
            candidate.file, "without an event of rrweb", "events with type, data and timestamp"
        )
    run.task(None)
    stream = _Stream(run, candidate.file, found)
    for place, event in enumerate(found):
        stream.take(place, event)
    stream.end()


def _ordered(run: Run, events: Iterator[Any], name: str) -> Iterator[Event]:
    """Yield whole events in order of their times, each once: parts of a stream may come late, or twice."""
    whole: list[tuple[int, Event]] = []
    batch, last = 0, None
    for place, event in enumerate(events):
        if is_event(event):
            batch += event["timestamp"] != last
            last = event["timestamp"]
            whole.append((batch, event))
        elif event is not None:
            run.cut("no event of rrweb: left out, what it changed is not known", f"{name} event {place}")
            run.keep(f"{name} event {place}", {"event": event} if holds_data(event) else {})
    same: list[tuple[int, Event]] = []
    for batch, event in sorted(whole, key=lambda one: one[1]["timestamp"]):
        same = [one for one in same if one[1]["timestamp"] == event["timestamp"]]
        # Only events of one moment are compared: all pairs would take the square.
        if any(event == other and _is_again(event, batch != before) for before, other in same):
            run.flaw("an event that is there twice: read once", f"{name} at {event['timestamp']}")
        else:
            yield event
            same.append((batch, event))


def _is_again(event: Event, is_apart: bool) -> bool:
    """Whether an event like one before it is the same: two clicks of one millisecond stand side by side."""
    data = event["data"] if isinstance(event["data"], dict) else {}
    return is_apart or event["type"] in (FULL, META) or bool(data.get("adds"))


class _Stream:
    """The events of a run, page by page."""

    def __init__(self, run: Run, name: str, found: list[Event]) -> None:
        self._run, self._name, self._start = run, name, found[0]["timestamp"]
        self._presses, self._focus = recorded_kinds(found)
        self._pages: dict[str, RrwebPage] = {}
        self._steps = RrwebSteps(run)
        self._has_console = False
        moment = as_time(self._start)
        run.header["clock"] = "source"
        if moment is not None:
            run.header["created"] = stamp(moment)

    def take(self, place: int, event: Event) -> None:
        """Take one event."""
        data = event["data"] if isinstance(event["data"], dict) else {}
        page, t = self._page(event), self._ms(event["timestamp"])
        kind = event["type"]
        if kind == META:
            self._meta(page, data, t)
        elif kind == FULL:
            self._full(page, data, t, place)
        elif kind == INCREMENT:
            self._increment(page, data, t, place)
        elif kind == PLUGIN and data.get("plugin") == "rrweb/console@1":
            self._console(page, data, t, place)
        elif kind in (CUSTOM, PLUGIN):
            self._visit(page, data, t, place)
            if data.get("tag") in PAUSES:
                page.lose(
                    "the recorder paused: what changed meanwhile is not known", f"{self._name} event {place}"
                )
            self._run.keep(
                f"{self._name} event {place}", {"data": event["data"]} if holds_data(event["data"]) else {}
            )
        else:
            # The next address after a load is a new document, even if it is equal.
            page.is_loaded = page.is_loaded or kind == LOADED
            self._run.leave_out("DomContentLoaded" if kind == DOM_LOADED else "Load")

    def _page(self, event: Event) -> RrwebPage:
        """Return the page of an event: of streams of several tabs, that of its window."""
        # Session recorders add the window by names of their own.
        window = next((event[key] for key in WINDOWS if key in event), "")
        key = str(window)
        if key not in self._pages:
            gestures = RrwebGestures(presses=self._presses, focus=self._focus)
            self._pages[key] = RrwebPage(self._run, len(self._pages), gestures)
        return self._pages[key]

    def _ms(self, at: float) -> int:
        return max(0, round(at - self._start)) if abs(at - self._start) < 1e14 else 0

    def _meta(self, page: RrwebPage, data: dict[str, Any], t: int) -> None:
        url = data.get("href")
        page.resize(data)
        # rrweb writes one with each checkpoint.
        if not isinstance(url, str) or (url == page.url and not page.is_loaded):
            return  # a full snapshot in between has one of its own
        is_new = page.url is None or url != page.url or page.is_loaded
        page.url, page.is_loaded = url, False
        if is_new:
            page.gestures.leave()
            self._steps.add(Navigation(t=t, page=page.number, url=url, kind="unknown"))

    def _visit(self, page: RrwebPage, data: dict[str, Any], t: int, place: int) -> None:
        """Take the address of a custom event, where its tag is that of `--url-event`."""
        if data.get("tag") != self._run.options.url_event or "tag" not in data:
            return
        url = address_of(data.get("payload"), page.url or "")
        if url is None:
            self._run.flaw("a custom event without an address", f"{self._name} event {place}")
        elif url != page.url:
            page.url = url
            page.change()
            self._steps.add(Navigation(t=t, page=page.number, url=url, kind="push"))

    def _full(self, page: RrwebPage, data: dict[str, Any], t: int, place: int) -> None:
        is_first = page.tree is None and not page.was_shown
        page.show(data, f"{self._name} event {place}")
        page.gestures.renumber()
        if is_first and page.tree is not None:
            self._steps.add(page.look("start", t))

    def _increment(self, page: RrwebPage, data: dict[str, Any], t: int, place: int) -> None:
        source = data.get("source")
        where = f"{self._name} event {place}"
        makers: dict[Any, Callable[[], None]] = {
            MUTATION: lambda: page.mutate(data, where),
            MOUSE: lambda: self._mouse(page, data, t),
            SCROLL: lambda: self._steps.scroll(page, data, t),
            RESIZE: lambda: page.resize(data),
            INPUT: lambda: self._steps.input(page, data, t),
        }
        if isinstance(source, int) and source in makers:
            makers[source]()
        else:
            self._run.leave_out(_named(NAMES, source, "increment"))

    def _mouse(self, page: RrwebPage, data: dict[str, Any], t: int) -> None:
        kind = data.get("type")
        if kind == CLICK and not page.gestures.is_click():
            self._run.leave_out("Click without a press")
        elif kind == CLICK:
            self._steps.click(page, data, t)
        elif kind == MENU:
            self._steps.click(page, data, t, button="right")
        elif kind == DOUBLE:
            self._steps.double(page, data, t)
        else:
            page.gestures.see(kind, data.get("id"), t)
            self._run.leave_out(_named(INTERACTIONS, kind, "MouseInteraction"))

    def _console(self, page: RrwebPage, data: dict[str, Any], t: int, place: int) -> None:
        payload = data["payload"] if isinstance(data.get("payload"), dict) else {}
        parts, level = payload.get("payload"), str(payload.get("level", "log"))
        level = _LEVELS.get(level, level)
        words = [_words(one) for one in parts] if isinstance(parts, list) else []
        self._steps.add(
            Console(t=t, page=page.number, level=level if level in _CONSOLE else "log", text=" ".join(words))
        )
        rest = {
            key: value
            for key, value in payload.items()
            if key not in ("payload", "level") and holds_data(value)
        }
        self._run.keep(f"{self._name} event {place}", {"plugin": data.get("plugin"), **rest})
        self._has_console = True

    def _leave_out(self, unread: Counter[str]) -> None:
        named = unread.most_common(KEYS_MAX)
        for key, count in named:
            self._run.leave_out(f"node.{key}", count)
        self._run.leave_out("node.*", unread.total() - sum(count for _, count in named))

    def end(self) -> None:
        """Add everything to the run."""
        run, pages = self._run, list(self._pages.values())
        self._steps.end()
        self._leave_out(sum((page.unread for page in pages), Counter()))
        last = max(pages, key=lambda page: page.touched, default=None)
        if last is not None and last.tree is not None:
            run.add(last.look("final", None))
        shown = [page.was_shown for page in pages]
        is_whole = all(shown) and all(page.is_whole for page in pages)
        shown_steps = "recorded" if is_whole else "partial" if any(shown) else "absent"
        run.fills(snapshots=shown_steps, form_state=shown_steps, actions="partial", urls="partial")
        run.fills(targets="recorded" if self._steps.are_aimed else "partial")
        run.fills(console="partial" if self._has_console else "absent")
        run.origin.update(tool="rrweb", alignment="exact")
        run.end("unknown", cause="harness")


def _named(names: tuple[str, ...], number: Any, what: str) -> str:
    is_known = isinstance(number, int) and 0 <= number < len(names)
    return names[number] if is_known else f"{what} {number!r:.40}"


def _words(value: Any) -> str:
    """Return what a console was given: the plugin writes each value as JSON."""
    if not isinstance(value, str):
        return str(value)
    return value[1:-1].replace('\\"', '"') if value[:1] == value[-1:] == '"' and len(value) > 1 else value


def find(path: Path) -> Iterator[Candidate]:
    """Yield the streams under a path."""
    for file in streams(path):
        yield Candidate(name=file.name.partition(".")[0] or file.name, root=file.parent, file=file.name)
    for archive, member in packed_streams(path):
        name = PurePosixPath(member).name.partition(".")[0] or archive.stem
        yield Candidate(name=f"{archive.stem}-{name}", root=archive, file=member)


IMPORTER = Importer(
    name="rrweb",
    reads="event streams of rrweb",
    looks_for="*.json, *.jsonl, *.ndjson (also .gz, or in a zip) with events {type, data, timestamp}",
    channels=letters("R times targets snapshots form_state; P actions urls; o console"),
    find=find,
    read=read,
    options=("url_event",),
)
