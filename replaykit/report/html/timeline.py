"""Events around the actions of a run, as data: words, requests, console lines, events, probes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from replaykit.report.html.bounded_text import ROWS_MAX, any_value, bounded, line, without_empty
from replaykit.report.html.observations import Plain
from replaykit.trajectory.completeness_proof import Proof
from replaykit.trajectory.exchange import Console, Dialog, Download, Exchange, Gap, Message, Navigation
from replaykit.trajectory.step import Probe, Trajectory


def placed(run: Trajectory) -> Iterator[tuple[Message, int | None]]:
    """Yield every message with the step before it: as recorded, else by its time where every step has one."""
    times = [step.t or 0 for step in run.steps] if run.header.clock != "none" else []
    for one in run.of_type(Message):
        if one.step is not None or one.t is None or not times:
            yield one, one.step
        else:
            at = bisect_right(times, one.t) - 1
            yield one, at if at >= 0 else None


def message(one: Message, step: int | None) -> Plain:
    """Return a message of agent or user; `step` is the one before it."""
    return without_empty(
        {
            "t": one.t,
            "step": step,
            "role": one.role,
            "kind": one.kind,
            "text": bounded(one.text),
            "approved": None if one.approved is None else str(one.approved).lower(),
        }
    )


def exchange(one: Exchange) -> Plain:
    """Return a request with its response."""
    return without_empty(
        {
            "t": one.t,
            "step": one.step,
            "method": one.method,
            "url": line(one.url),
            "status": one.status,
            "words": line(one.status_text),
            "mime": line(one.mime),
            "resource": one.resource,
            "size": one.encoded_size if one.encoded_size is not None else one.decoded_size,
            "ms": one.ended - one.t if one.ended is not None and one.t is not None else None,
            "error": line(one.error),
            "probe": one.actor == "probe",
            "cached": one.from_cache,
            "asked": _headers(one.request_headers),
            "answered": _headers(one.response_headers),
        }
    )


def _headers(headers: tuple[tuple[str, str], ...] | None) -> list[list[str | None]]:
    return [[name, line(value)] for name, value in (headers or ())[:100]]


def console(one: Console) -> Plain:
    """Return a console line."""
    return without_empty(
        {"t": one.t, "step": one.step, "level": one.level, "text": line(one.text), "source": line(one.source)}
    )


def others(run: Trajectory) -> Iterator[Plain]:
    """Yield what else happened, in order: navigations, dialogs, downloads, gaps."""
    for event in run.events[: 20 * ROWS_MAX]:
        words = _words(event)
        if words is not None:
            step = getattr(event, "step", None)
            yield without_empty({"t": event.t, "step": step, "kind": words[0], "text": line(words[1])})


def _words(event: Any) -> tuple[str, str] | None:
    match event:
        case Navigation() if not event.frame:
            state = "" if event.committed else f" (never arrived: {event.error or 'unknown'})"
            return "navigation", f"{event.kind} {event.url}{state}"
        case Dialog():
            closed = {True: "accepted", False: "dismissed", None: "not seen to close"}[event.accepted]
            return "dialog", f"{event.kind} {event.message!r}: {closed}"
        case Download():
            return "download", f"{event.suggested or event.url}: {event.state}"
        case Gap():
            count, detail = (
                f" ({event.count})" if event.count > 1 else "",
                f": {event.detail}" if event.detail else "",
            )
            return "gap", f"{event.channel}: {event.why}{count}{detail}"
        case Proof():
            lacks = f": {', '.join(event.lacks)}" if event.lacks else ""
            return "proof", f"{event.witness} {'closed' if event.closed else 'not closed'}{lacks}"
    return None


def probe(one: Probe) -> Plain:
    """Return a page that was probed, with what was read there."""
    return without_empty(
        {
            "id": one.id,
            "phase": one.phase,
            "url": line(one.url or one.path),
            "requested": line(one.requested or one.path),
            "status": one.status,
            "error": line(one.error),
            "reads": [[line(read.locator), line(any_value(_read(read)))] for read in one.reads[:50]],
        }
    )


def _read(read: Any) -> Any:
    if read.threw is not None:
        return f"{read.threw.name}: {read.threw.message}"
    return read.special or (read.value if read.value is not None else read.kind)
