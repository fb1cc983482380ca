"""Contexts of a Playwright trace: their events lifted to the newest version and put on one clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from replaykit.errors import UnsupportedVersion
from replaykit.interop.imported_run import Run
from replaykit.interop.playwright_trace.trace_snapshots import FrameSnapshots
from replaykit.interop.playwright_trace.trace_versions import NEWEST, OLDEST, Event, number, upgrade
from replaykit.interop.repaired_values import plain_number
from replaykit.interop.source_files import kind_of

TRACE, NETWORK = ".trace", ".network"
"""Endings of a context's files."""

RESOURCE = "resource-snapshot"
"""Type of an event that holds a request."""


class TraceSnapshot(Struct, frozen=True, kw_only=True):
    """One snapshot of a frame."""

    call: str
    """Call id."""
    phase: str
    """`before action after`."""
    page: str
    """Page id."""
    frame: str
    """Frame id."""
    url: str
    """Address of the document."""
    place: int
    """Place among the snapshots of its frame."""
    is_main: bool
    """Whether the frame is the page's main one."""
    viewport: tuple[int, int] | None
    """Width, height, CSS px."""
    at: float
    """Wall time, ms."""


_EVENTS = ("page", "pageClosed", "dialog")
"""Events of which one is enough to see that they are written."""


class TraceContext:
    """One `<p>.trace` file. `wall`: wall time of its first moment, ms; `zero`: the same on its own clock."""

    def __init__(self, name: str, version: int, events: list[Event]) -> None:
        self.name = name
        self.version = version
        self.options = events[0]
        self.events = events[1:]
        self.wall = number(self.options.get("wallTime")) or 0.0
        self.zero = number(self.options.get("monotonicTime"))

    @property
    def is_library(self) -> bool:
        """False: written by the test runner, whose own calls are not actions."""
        return bool(self.options.get("origin", "library") == "library")

    @property
    def has_dialog_events(self) -> bool:
        """Whether dialogs and pages would be written: Playwright 1.41 to 1.47 wrote down neither."""
        if self.version not in (6, 7):
            return True
        return any(one.get("type") == "event" and one.get("method") in _EVENTS for one in self.events)

    def is_early(self, entry: Mapping[str, Any]) -> bool:
        """Whether a request began before the context's first moment, as in the second chunk of a trace."""
        asked, began = number(entry.get("_monotonicTime")), number(self.options.get("began"))
        first = self.zero if began is None else began
        return asked is not None and first is not None and asked < first

    def at(self, time: Any) -> float | None:
        """Return a time on the context's clock as wall time, ms."""
        value = number(time)
        return None if value is None or self.zero is None else self.wall + value - self.zero


class TraceCall(Struct, kw_only=True):
    """One call with everything that hangs on it."""

    id: str
    begin: Event
    context: TraceContext
    order: int
    end: Event | None = None
    log: list[str] = []
    input: Event = {}

    @property
    def method(self) -> str:
        """Name of the called method."""
        return text(self.begin.get("method"))

    @property
    def start(self) -> float | None:
        """Wall time, ms."""
        return self.context.at(self.begin.get("startTime"))

    @property
    def over(self) -> float | None:
        """Wall time, ms; None where it never ended."""
        return None if self.end is None else self.context.at(self.end.get("endTime"))


class Trace:
    """Everything that the contexts hold, in order of time."""

    def __init__(self, contexts: list[TraceContext]) -> None:
        self.contexts = contexts
        self.calls: list[TraceCall] = []
        self.shown: dict[tuple[str, str], list[TraceSnapshot]] = {}
        self.shots: dict[tuple[str, str], str] = {}
        self.trees: dict[tuple[str, str], str] = {}
        self.screencast: dict[str, list[tuple[float, str]]] = {}
        self.others: list[tuple[float, TraceContext, Event]] = []
        self.attachments: dict[str, str] = {}
        #: Call id to its end, as the test runner saw it: a call that took too long has no other.
        self.ends_of_runner: dict[str, Event] = {}
        #: Types of events that are not read, and how many there were.
        self.unread: Counter[str] = Counter()
        self.frames = FrameSnapshots()
        for context in contexts:
            _Reading(self, context).read()
        # Where times are equal or missing, the order of lines decides.
        self.calls.sort(key=lambda call: (call.start or 0.0, call.order))
        self.others.sort(key=lambda one: one[0])

    @property
    def start(self) -> float:
        """Wall time of the first moment, ms."""
        # The first context opened is time zero; the runner starts before any browser does.
        walls = [context.wall for context in self.contexts if context.is_library and context.wall > 0]
        return min(walls, default=0.0)


class _Reading:
    """Sorts the events of one context into the trace."""

    def __init__(self, trace: Trace, context: TraceContext) -> None:
        self._trace, self._context = trace, context
        self._calls: dict[str, TraceCall] = {}

    def read(self) -> None:
        for event in self._context.events:
            handler = getattr(self, "_" + str(event.get("type")).replace("-", "_"), None)
            if handler is None:
                self._trace.unread[f"*.trace {event.get('type')!s:.64}"] += 1
            # The runner's calls repeat the library's, but only its `after` names attachments.
            elif self._context.is_library or event.get("type") == "after":
                handler(event)
            else:
                self._trace.unread[f"*.trace {event.get('type')!s:.64} of the test runner"] += 1
        if self._context.is_library:
            self._trace.calls += self._calls.values()

    def _before(self, event: Event) -> None:
        id = text(event.get("callId"))
        order = len(self._trace.calls) + len(self._calls)
        self._calls[id] = TraceCall(id=id, begin=event, context=self._context, order=order)

    def _after(self, event: Event) -> None:
        for one in event.get("attachments") or () if isinstance(event.get("attachments"), list) else ():
            if isinstance(one, dict) and isinstance(one.get("name"), str):
                file = one.get("file") or (f"resources/{one['sha1']}" if one.get("sha1") else "")
                self._trace.attachments[one["name"]] = text(file)
        call = self._calls.get(text(event.get("callId")))
        if call is not None:
            call.end = event
        elif not self._context.is_library:
            self._trace.ends_of_runner[text(event.get("callId"))] = event

    def _input(self, event: Event) -> None:
        call = self._calls.get(text(event.get("callId")))
        if call is not None:
            call.input = event

    def _log(self, event: Event) -> None:
        call = self._calls.get(text(event.get("callId")))
        if call is not None and isinstance(event.get("message"), str):
            call.log.append(event["message"])

    def _frame_snapshot(self, event: Event) -> None:
        stated = event["snapshot"]
        frame, call = text(stated.get("frameId")), text(stated.get("callId"))
        place = self._trace.frames.add(frame, stated.get("html"))
        one = TraceSnapshot(
            call=call,
            phase=text(stated.get("phase")),
            page=text(stated.get("pageId")),
            frame=frame,
            url=text(stated.get("frameUrl")),
            place=place,
            is_main=stated.get("isMainFrame") is True,
            viewport=_viewport(stated.get("viewport")),
            at=self._context.at(stated.get("timestamp")) or 0.0,
        )
        self._trace.shown.setdefault((call, one.phase), []).append(one)

    def _screenshot(self, event: Event) -> None:
        self._trace.shots[(text(event.get("callId")), text(event.get("phase")))] = text(event.get("file"))

    def _aria_snapshot(self, event: Event) -> None:
        self._trace.trees[(text(event.get("callId")), text(event.get("phase")))] = text(event.get("file"))

    def _screencast_frame(self, event: Event) -> None:
        at, file = self._context.at(event.get("timestamp")), text(event.get("file"))
        if at is not None and file:
            self._trace.screencast.setdefault(text(event.get("pageId")), []).append((at, file))

    def _console(self, event: Event) -> None:
        self._trace.others.append((self._context.at(event.get("time")) or 0.0, self._context, event))

    _event = _error = _console


def load(run: Run, file: str = "") -> Trace:
    """Read all contexts of a trace, or the one of that file. Raises InteropError."""
    if file:
        return Trace([_context(run, file)])
    # Archivers often wrap everything in one folder.
    run.source.enter(_folder([name for name in run.source.names() if name.endswith(TRACE)]))
    names = [name for name in run.source.names() if name.endswith(TRACE)]
    if not names:
        run.source.malformed("the archive", "without a *.trace member", "a trace of Playwright")
    return Trace([_context(run, name) for name in names])


def _folder(names: list[str]) -> str:
    """Return the one folder that all traces are in, as where a folder was packed again; empty for none."""
    found = {name.rpartition("/")[0] for name in names}
    return found.pop() if len(found) == 1 else ""


def _context(run: Run, name: str) -> TraceContext:
    events: list[Event] = []
    for place, event in run.source.lines(name):
        if not isinstance(event, dict):
            run.source.malformed(f"{name} line {place}", kind_of(event), "object")
        events.append(event)
    version = 6
    if events and not any(isinstance(event.get("type"), str) for event in events):
        run.source.malformed(name, "without an event that has a type", "a trace of Playwright")
    if not events or events[0].get("type") != "context-options":
        # Test runners wrote files without this event before version 7.
        events.insert(0, {"type": "context-options", "origin": "testRunner"})
    else:
        version = _version(run, name, events[0].get("version"))
    return TraceContext(name, version, upgrade(events, version))


def _version(run: Run, name: str, found: Any) -> int:
    stated = plain_number(found)
    if stated is not None and stated.is_integer() and OLDEST <= stated <= NEWEST:
        return int(stated)
    is_newer = stated is not None and stated > NEWEST
    raise UnsupportedVersion(
        format=run.source.format,
        source=run.source.name,
        place=f"{name} line 1",
        found=repr(found)[:80],
        expected=f"{OLDEST} to {NEWEST}",
        advice="Install a newer replaykit-web, or record with Playwright 1.65 or older."
        if is_newer
        else "Record with Playwright 1.15 or newer.",
    )


def network(run: Run, trace: Trace) -> Iterator[tuple[TraceContext, Mapping[str, Any] | None]]:
    """Yield context and HAR entry of every request of the library; None for an invalid line."""
    for context in trace.contexts:
        name = context.name.removesuffix(TRACE) + NETWORK
        for _, event in run.source.lines(name) if context.is_library and name in run.source else ():
            if not isinstance(event, dict) or event.get("type", RESOURCE) == RESOURCE:
                entry = event.get("snapshot") if isinstance(event, dict) else None
                yield context, entry if isinstance(entry, dict) else None


def has_network(run: Run, trace: Trace) -> bool:
    """Whether every context of the library has its requests."""
    names = [c.name.removesuffix(TRACE) + NETWORK for c in trace.contexts if c.is_library]
    return bool(names) and all(name in run.source for name in names)


def page_id(event: Event) -> str:
    """Return the page that an event is about; older versions name it by its guid."""
    stated = event.get("params")
    params = stated if isinstance(stated, dict) else {}
    named = params.get("page")
    guid = named.get("guid") if isinstance(named, dict) else None
    return text(params.get("pageId")) or text(guid) or text(event.get("pageId"))


def text(value: Any) -> str:
    """Return a text, empty for anything else."""
    return value if isinstance(value, str) else ""


def as_time(wall: float) -> datetime | None:
    """Return a wall time, ms, in UTC; None if it is not one."""
    try:
        return datetime.fromtimestamp(wall / 1000, UTC) if wall > 0 else None
    except (OverflowError, OSError, ValueError):
        return None


def _viewport(value: Any) -> tuple[int, int] | None:
    size = value if isinstance(value, dict) else {}
    width, height = number(size.get("width")), number(size.get("height"))
    return None if not width or not height or min(width, height) < 0 else (round(width), round(height))
