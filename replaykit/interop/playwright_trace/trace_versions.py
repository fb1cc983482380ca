"""Playwright's trace versions 3 to 10: events of older ones lifted to the newest, one version at a time.

Upgrades work on plain dicts and are tolerant: some fields appeared before the version that defines them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from replaykit.interop.repaired_values import plain_number

OLDEST, NEWEST = 3, 10
"""Versions that are read."""

Event = dict[str, Any]

_PHASES = {"before": "before", "input": "action", "action": "action", "after": "after"}


def upgrade(events: Iterable[Event], version: int) -> list[Event]:
    """Return the events of one context as version 10 writes them; the first one is `context-options`."""
    found: Iterable[Event] = list(events)
    for number in range(version, NEWEST):
        found = list(_STEPS[number](list(found)))
    return [_modern(event) for event in found]


def _calls(events: list[Event]) -> Iterator[Event]:
    """3 to 4: a call was one event, written when it was over, and all about it was in its metadata."""
    starts = [number(_part(event, "metadata").get("startTime")) for event in events]
    zero = min((start for start in starts if start is not None), default=None)
    for event in events:
        about = _part(event, "metadata")
        if event.get("type") == "context-options":
            # Releases before 1.17 write no wall time: the run begins with its first event.
            # A time that the event has itself wins.
            yield {"monotonicTime": zero, **event}
        # The tracer's own calls are no action of the run.
        elif event.get("type") == "action" and str(about.get("method")).startswith("tracing"):
            yield {"type": "call of the tracer"}
        elif event.get("type") == "action":
            yield from _call(about)
        elif event.get("type") == "event" and about.get("method") == "__create__":
            yield from _object(about)
        elif event.get("type") == "event":
            yield {**_named_parts(about), "type": "event", "time": about.get("startTime")}
        else:
            yield event


_PARTS = {"type": "class", "method": "method", "params": "params", "pageId": "pageId"}
_CALL = {**_PARTS, "apiName": "apiName", "wallTime": "wallTime", "startTime": "startTime"}


def _named_parts(about: Event, names: dict[str, str] = _PARTS) -> Event:
    return {new: about[old] for old, new in names.items() if old in about}


def _call(about: Event) -> Iterator[Event]:
    id = about.get("id")
    if about.get("internal") is True:
        yield {"type": "internal call"}
        return
    yield {"type": "before", "callId": id, **_named_parts(about, _CALL)}
    if "point" in about:
        yield {"type": "input", "callId": id, "point": about["point"]}
    over: Event = {key: about[key] for key in ("endTime", "log", "error", "result") if key in about}
    yield {"type": "after", "callId": id, **over}
    if about.get("stack"):
        yield {"type": "stack"}


def _object(about: Event) -> Iterator[Event]:
    params = _part(about, "params")
    if about.get("type") == "ConsoleMessage":
        yield {**params, "type": "object", "class": "ConsoleMessage"}
    elif about.get("type") == "Dialog":
        yield {**_named_parts(about), "type": "event", "time": about.get("startTime")}
    else:
        yield {"type": f"object {about.get('type')!s:.64}"}


def _console(events: list[Event]) -> Iterator[Event]:
    """4 to 5: console messages were objects that an event names."""
    objects: dict[str, Any] = {}
    for event in events:
        params = _part(event, "params")
        if event.get("type") == "object" and event.get("class") == "ConsoleMessage":
            objects[str(event.get("guid"))] = event.get("initializer")
        elif event.get("type") == "event" and event.get("method") == "console":
            named = objects.get(str(_part(params, "message").get("guid")))
            if isinstance(named, dict):
                yield {
                    "type": "console", "messageType": named.get("type"), "text": named.get("text"),
                    "location": named.get("location"), "time": event.get("time"),
                    "pageId": event.get("pageId"),
                }  # fmt: skip
        elif event.get("type") != "object":
            yield event


def _logs(events: list[Event]) -> Iterator[Event]:
    """5 to 6: the log of a call was a list in its end."""
    for event in events:
        log = event.pop("log", None) if event.get("type") == "after" else None
        for line in log if isinstance(log, list) else ():
            yield {"type": "log", "callId": event.get("callId"), "time": -1, "message": line}
        yield event


def _clock(events: list[Event]) -> Iterator[Event]:
    """6 to 7: calls had wall times, the context no monotonic time; events named objects by their guids."""
    events = list(_named(events))
    calls = (e for e in events if e.get("type") == "before" and isinstance(e.get("wallTime"), int | float))
    first = next(calls, None)
    for event in events:
        if event.get("type") == "context-options" and first is not None:
            yield {**event, "wallTime": first["wallTime"], "monotonicTime": first.get("startTime"),
                   "began": _began(event, first)}  # fmt: skip
        elif event.get("type") == "before" and "stepId" not in event and "wallTime" in event:
            yield {**event, "stepId": f"{event.get('apiName')}@{event['wallTime']}"}
        else:
            yield event


def _began(options: Event, first: Event) -> float | None:
    """Return when a context began, on its own clock, from wall times of it and of its first call."""
    start, began = number(first.get("startTime")), number(options.get("wallTime"))
    called = number(first["wallTime"])
    return None if start is None or began is None or called is None else start - (called - began)


def _named(events: list[Event]) -> Iterator[Event]:
    """Events of dialogs and of closed pages, whose other fields a page or an object made before holds."""
    made: dict[str, Any] = {}
    for event in events:
        params, about = _part(event, "params"), (event.get("class"), event.get("method"))
        if event.get("type") != "event":
            yield event
        elif about[1] == "__create__":
            made[str(params.get("guid"))] = _part(params, "initializer")
        elif about[1] == "dialog" and "dialog" in params:
            stated = made.get(str(_part(params, "dialog").get("guid")), {})
            yield {**event, "params": {**stated, **params}}
        elif about == ("Page", "close"):
            yield {**event, "method": "pageClosed", "params": {"pageId": event.get("pageId")}}
        else:
            yield event


def _titles(events: list[Event]) -> Iterator[Event]:
    """7 to 8: `apiName` was what became the title."""
    for event in events:
        if event.get("type") == "before":
            # Some releases wrote the new fields before the version was raised: those win.
            event = {"title": event.get("apiName"), "stepId": event.get("callId"), **event}
        yield event


def _files(events: list[Event]) -> Iterator[Event]:
    """8 to 9: payloads were digests, names of snapshots held their phase."""
    yield from events  # `_modern` does it for every version: both spellings are seen in all of them


def _steps(events: list[Event]) -> Iterator[Event]:
    """9 to 10: the test runner's step ids became the call ids."""
    ids = {str(event.get("callId")): event.get("stepId") for event in events if event.get("type") == "before"}
    for event in events:
        step = ids.get(str(event.get("callId")))
        yield {**event, "stepId": step} if step else event


_STEPS: dict[int, Callable[[list[Event]], Iterable[Event]]] = {
    3: _calls, 4: _console, 5: _logs, 6: _clock, 7: _titles, 8: _files, 9: _steps,
}  # fmt: skip


def _modern(event: Event) -> Event:
    """Rename what was renamed without a version."""
    if event.get("type") == "frame-snapshot":
        return {**event, "snapshot": _snapshot(_part(event, "snapshot"))}
    if "sha1" in event and "file" not in event:
        return {**event, "file": f"resources/{event['sha1']}"}
    return event


def _snapshot(snapshot: Event) -> Event:
    name = snapshot.get("snapshotName")
    if "phase" in snapshot or not isinstance(name, str):
        return snapshot
    phase, _, call = name.partition("@")
    # A phase that is unknown shows some later state, as `after` does.
    return {"callId": call, **snapshot, "phase": _PHASES.get(phase, "after")}


def _part(event: Event, name: str) -> Event:
    part = event.get(name)
    return part if isinstance(part, dict) else {}


def number(value: Any) -> float | None:
    """Return a finite number of sensible size, None for anything else."""
    found = plain_number(value)
    return found if found is not None and abs(found) < 1e14 else None
