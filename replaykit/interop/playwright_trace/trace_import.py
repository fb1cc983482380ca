"""Traces of Playwright, versions 3 to 10: `trace.zip`, the folder it unpacks to, or a folder of sessions."""

from __future__ import annotations

import zipfile
from collections import deque
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec import Struct

from replaykit.file_types import WRITTEN_MAX, read_whole
from replaykit.interop.folder_search import HEAD, files, folders, is_litter, is_marked
from replaykit.interop.har.har_entries import Base, NotAnEntry, exchange_of, linked, moment, stamp
from replaykit.interop.har.har_files import count_unread
from replaykit.interop.imported_run import Run
from replaykit.interop.playwright_trace.trace_contexts import (
    TRACE,
    Trace,
    TraceCall,
    TraceContext,
    as_time,
    has_network,
    load,
    network,
    page_id,
    text,
)
from replaykit.interop.playwright_trace.trace_steps import TraceSteps
from replaykit.interop.playwright_trace.trace_versions import Event, number
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.untrusted_json import JsonFault, decode_json
from replaykit.trajectory.exchange import Console, Dialog, Exchange, Message, TabChange
from replaykit.trajectory.plurals import counted
from replaykit.trajectory.step import Environment
from replaykit.trajectory.step import Event as TrajectoryEvent

CHANNELS = "replaykitChannels"
"""Option of a context that an export wrote: what the bundle held of `WHOLE_CHANNELS`."""

WHOLE_CHANNELS = ("actions", "console", "dialogs", "network")
"""Channels that a Playwright trace holds completely: without such an event, none occurred."""

SIDECAR = "replaykit.json"
"""Attachment of the test runner, or a file of `--sidecar`: what a trace cannot hold."""

_LEVELS = {
    "log": "log",
    "info": "info",
    "warning": "warning",
    "error": "error",
    "debug": "debug",
    "verbose": "debug",
}


class Sidecar(Struct, kw_only=True):
    """Facts that a trace cannot hold."""

    task: dict[str, Any] | None = None
    answer: str | None = None
    thoughts: dict[str, str] = {}
    messages: list[dict[str, Any]] = []


def read(run: Run, candidate: Candidate) -> None:
    """Read one trace."""
    trace = load(run, candidate.file)
    if candidate.file and _has_session(candidate.root):
        run.warn("its session.md is a separate run: `replaykit import playwright-mcp` reads it")
    for what, count in trace.unread.items():
        run.leave_out(what, count)
    sidecar = _sidecar(run, trace)
    _header(run, trace, sidecar)
    steps = TraceSteps(run, trace, sidecar.thoughts)
    run.leave_out("*.trace calls that only read or wait", len(trace.calls) - steps.count)
    found: list[TrajectoryEvent] = [
        *steps.events(),
        *_tabs(trace, steps),
        *_dialogs(trace, steps),
        *_consoles(trace, steps),
    ]
    exchanges, is_logged, is_whole = _exchanges(run, trace, steps)
    found += exchanges
    # Sorted by time; what happened at the same moment stays in the order above.
    for one in sorted(found, key=lambda event: event.t if event.t is not None else 0):
        run.add(one)
    _messages(run, sidecar)
    run.fills(**_channels_of(trace), **steps.channels())
    run.fills(network=_network(run, trace, is_logged=is_logged, is_whole=is_whole))
    # Last, as an export knows better what its bundle lacked.
    run.fills(**_lowered(trace))
    run.fills(thoughts="partial" if sidecar.thoughts else "absent")
    run.origin["alignment"] = "exact"
    kind = "unknown" if sidecar.answer is None else "answered"
    run.end(kind, cause="agent" if sidecar.answer is not None else "harness", answer=sidecar.answer)


def _channels_of(trace: Trace) -> dict[str, str]:
    """Return how much there is of what the library writes: nothing where only the test runner wrote."""
    library = [context for context in trace.contexts if context.is_library]
    if not library:
        return dict.fromkeys(("actions", "urls", "console", "dialogs"), "absent")
    dialogs = "recorded" if all(one.has_dialog_events for one in library) else "partial"
    return {"actions": "recorded", "urls": "partial", "console": "recorded", "dialogs": dialogs}


def _lowered(trace: Trace) -> dict[str, str]:
    """Return what an export declares that it did not have whole."""
    stated = [one.options.get(CHANNELS) for one in trace.contexts]
    states = [(name, one.get(name)) for one in stated if isinstance(one, dict) for name in WHOLE_CHANNELS]
    return {name: state for name, state in states if state in ("partial", "absent")}


def _header(run: Run, trace: Trace, sidecar: Sidecar) -> None:
    library = [context for context in trace.contexts if context.is_library]
    # One that only asks for addresses, without a browser, may stand before the one that has pages.
    browsing = [context for context in library if context.options.get("browserName")]
    first = [*browsing, *library, *trace.contexts][0]
    run.origin["version"] = str(first.version)
    start = as_time(trace.start)
    run.header["clock"] = "source"
    if start is not None:
        run.header["created"] = stamp(start)
    run.header["environment"] = Environment(
        driver="playwright",
        driver_version=text(first.options.get("playwrightVersion")) or None,
        browser=text(first.options.get("browserName")) or None,
        os=text(first.options.get("platform")) or None,
    )
    task = sidecar.task or {}
    run.task(str(task["id"]) if "id" in task else None, **{k: v for k, v in task.items() if k != "id"})


def _sidecar(run: Run, trace: Trace) -> Sidecar:
    given = run.options.sidecar
    if given is not None:
        try:
            data = read_whole(given, WRITTEN_MAX)
        except OSError as error:
            run.source.malformed(given.name, f"unreadable ({error.strerror})", "a JSON file", error)
        return run.source.convert(run.source.decode(data, given.name), Sidecar, given.name)  # type: ignore[no-any-return]
    name = trace.attachments.get(SIDECAR, "")
    # Not every trace of the test runner has one.
    if name not in run.source:
        return Sidecar()
    return run.source.convert(run.source.json(name), Sidecar, SIDECAR)  # type: ignore[no-any-return]


def _messages(run: Run, sidecar: Sidecar) -> None:
    for place, one in enumerate(sidecar.messages):
        run.add(run.source.convert({"type": "message", **one}, Message, f"{SIDECAR} messages[{place}]"))
    if sidecar.messages:
        run.fills(messages="recorded", replies="recorded")


def _others(
    trace: Trace, kind: str, method: str = ""
) -> Iterator[tuple[float, TraceContext, Event, dict[str, Any]]]:
    for at, context, event in trace.others:
        params = event.get("params")
        if event.get("type") == kind and (not method or event.get("method") == method):
            yield at, context, event, params if isinstance(params, dict) else {}


def _tabs(trace: Trace, steps: TraceSteps) -> Iterator[TabChange]:
    for method, state in (("page", "opened"), ("pageClosed", "closed")):
        for at, _, event, _ in _others(trace, "event", method):
            page = page_id(event)
            if page:
                yield TabChange(t=steps.ms(at), page=steps.tab(page), state=state)


def _dialogs(trace: Trace, steps: TraceSteps) -> Iterator[Dialog]:
    # Both are in order of time: an answer before this question cannot belong to a later one.
    answers = deque(
        call for call in trace.calls if call.begin.get("class") == "Dialog" and call.method in _DONE
    )
    for at, _, event, params in _others(trace, "event", "dialog"):
        # Answers name no dialog, so time has to pair them.
        while answers and (answers[0].start or 0) < at:
            answers.popleft()
        yield _dialog(steps, at, event, params, answers.popleft() if answers else None)


_DONE = {"accept": True, "dismiss": False}


def _dialog(
    steps: TraceSteps, at: float, event: Event, params: dict[str, Any], closing: TraceCall | None
) -> Dialog:
    page = page_id(event)
    given = {} if closing is None else closing.begin.get("params")
    return Dialog(
        t=steps.ms(at),
        page=steps.tab(page) if page else None,
        kind=text(params.get("type")) or "unknown",
        message=text(params.get("message")),
        default=text(params.get("defaultValue")) or None,
        input=text(given.get("promptText")) or None if isinstance(given, dict) else None,
        accepted=None if closing is None else _DONE[closing.method],
        closed=None if closing is None or closing.over is None else steps.ms(closing.over),
    )


def _consoles(trace: Trace, steps: TraceSteps) -> Iterator[Console]:
    for at, _, event, _ in _others(trace, "console"):
        page, where = text(event.get("pageId")), event.get("location")
        place = f"{where.get('url')}:{where.get('lineNumber')}" if isinstance(where, dict) else None
        yield Console(
            t=steps.ms(at),
            page=steps.tab(page) if page else None,
            level=_LEVELS.get(text(event.get("messageType")), "log"),
            text=text(event.get("text")),
            source=place,
        )
    for at, _, event, params in _others(trace, "event", "pageError"):
        error = params.get("error")
        # Errors of pages are wrapped, those of the library are not.
        stated = error.get("error", error) if isinstance(error, dict) else {}
        words = text(stated.get("message")) if isinstance(stated, dict) else ""
        page = page_id(event)
        yield Console(t=steps.ms(at), page=steps.tab(page) if page else None, level="pageerror", text=words)


def _network(run: Run, trace: Trace, *, is_logged: bool, is_whole: bool) -> str:
    """Return how much of the network there is: without snapshots Playwright writes an empty file of it."""
    if not has_network(run, trace):
        return "partial" if is_logged else "absent"
    shown = [one.url for group in trace.shown.values() for one in group]
    if is_logged or (shown and not any(url.startswith(_WEB) for url in shown)):
        return "recorded" if is_whole else "partial"
    return "absent"


_WEB = ("http:", "https:")


_DRESS = ("stylesheet", "script", "image", "font", "media")
"""Resources of which pages are made: kept even if fetched before a chunk began, which is no action of the
run.
"""


def _exchanges(run: Run, trace: Trace, steps: TraceSteps) -> tuple[list[Exchange], bool, bool]:
    """Return the requests, whether the trace has any, and whether all of them could be read."""
    base = Base(start=as_time(trace.start))
    timed: list[tuple[int, int, Any]] = []
    bad = early = 0
    for order, (context, entry) in enumerate(network(run, trace)):
        if entry is None:
            bad += 1
            continue
        if context.is_early(entry) and entry.get("_resourceType") not in _DRESS:
            early += 1
            continue
        at = base.ms(moment(entry.get("startedDateTime")))
        if at is None:
            # Old traces have `{}` for the date.
            wall = context.at(entry.get("_monotonicTime"))
            at = None if wall is None else steps.ms(wall)
        timed.append((at or 0, order, entry))
    found: list[Exchange] = []
    targets: dict[int, str] = {}
    # Each context has a file of its own, and ids count through all of them.
    for at, _, entry in sorted(timed, key=lambda one: one[:2]):
        try:
            one = exchange_of(run, entry, len(found), base, at=at)
        except NotAnEntry:
            bad += 1
            continue
        found.append(steps.placed(one, text(entry.get("pageref"))))
        count_unread(run, entry)
        response = entry.get("response")
        if isinstance(response, dict) and isinstance(response.get("redirectURL"), str):
            targets[one.id] = response["redirectURL"]
    if early:
        run.warn(f"{counted(early, 'request')} began before this part of the trace: left out")
    if bad:
        run.warn(f"{counted(bad, 'request')} without method or URL: left out")
    return linked(found, targets), bool(found or early), not bad


def find(path: Path) -> Iterator[Candidate]:
    """Yield archives with a trace in them, then folders that hold one."""
    for file in files(path, ".zip"):
        if _holds_trace(file):
            # Every test of a suite has a `trace.zip`; its folder is named after the test.
            name = file.stem if file.stem != "trace" else file.resolve().parent.name
            yield Candidate(name=name, root=file)
    if path.is_file() and path.name.endswith(TRACE):
        yield Candidate(name=path.stem, root=path.parent, file=path.name)
    for folder in folders(path, lambda one: one.holds("*" + TRACE)):
        yield from _of_folder(folder)


_WHOLE = ("trace.trace", "[0-9]*-trace.trace", "test.trace")
"""Names of the traces in an archive that was unpacked: the folder is one run."""


def _of_folder(folder: Path) -> Iterator[Candidate]:
    """Yield the run of a folder; of sessions that a server wrote side by side each one, oldest first."""
    names = sorted(one.name for one in folder.glob("*" + TRACE) if not is_litter(one.name) and one.is_file())
    # One run may have several traces: one for each context.
    if any(fnmatchcase(name, pattern) for name in names for pattern in _WHOLE):
        yield Candidate(name=folder.resolve().name, root=folder)
        return
    for name in sorted(names, key=lambda name: (_wall(folder / name), name)):
        yield Candidate(name=name.removesuffix(TRACE), root=folder, file=name)


def _has_session(folder: Path) -> bool:
    """Whether the server that wrote the traces of a folder wrote a log of its session beside it."""
    return any(next(one.glob("session-*/session.md"), None) for one in (folder, folder.parent))


def _wall(file: Path) -> float:
    """Return when a trace began, ms; 0 where its first line does not say so."""
    try:
        with file.open("rb") as stream:
            first = decode_json(stream.readline(HEAD))
    except (OSError, JsonFault):
        return 0.0
    return number(first.get("wallTime")) or 0.0 if isinstance(first, dict) else 0.0


def _holds_trace(file: Path) -> bool:
    """Whether an archive is a trace; a broken one is where its beginning names one: reading it shows more."""
    try:
        with zipfile.ZipFile(file) as archive:
            return any(name.endswith(TRACE) for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        # The names of members stand at their beginnings too, even where the directory is cut off.
        return is_marked(file, b"PK\x03\x04", TRACE.encode())


IMPORTER = Importer(
    name="playwright-trace",
    reads="traces of Playwright, versions 3 to 10",
    looks_for="trace.zip with *.trace members, or a folder of *.trace files",
    channels=letters(
        "R actions targets snapshots form_state network console dialogs times; P screenshots urls;"
        " o task answer thoughts messages replies a11y"
    ),
    find=find,
    read=read,
    options=("sidecar",),
)
