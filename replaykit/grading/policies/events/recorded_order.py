"""The order in which the events of a run happened; a line is written later."""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.trajectory import action as actions
from replaykit.trajectory.exchange import Exchange, Message, Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Event as Recorded
from replaykit.trajectory.step import Step, Trajectory

Line = tuple[int, Recorded]
"""Place in the story, and the event."""

Moment = tuple[float, int, int]
"""Time (ms), tab and number: events sort by it."""


def in_order(trajectory: Trajectory) -> list[Line]:
    """Return the events in the order of the page's clock; where one has no time, in that of the lines."""
    lines = [(at, e) for at, e in enumerate(trajectory.events) if not isinstance(e, actions.Unknown)]
    if any(event.t is None for _, event in lines):
        return lines
    arrivals = dict(_arrivals(lines))
    return sorted(lines, key=lambda line: arrivals.get(line[0]) or _moment(line[1]))


def _moment(event: Recorded) -> Moment:
    return event.t or 0, -1 if event.page is None else event.page, event.seq


def _arrivals(lines: list[Line]) -> Iterator[tuple[int, Moment]]:
    """Yield when each navigation came, by its place; it may bear a later time.

    A recorder on a busy machine receives navigations late. The headers of a document and looks at its page
    bear the times of the browser. Navigations of one tab are written in order.
    """
    received = _received(lines)
    looks = _looks(lines)
    latest: dict[int | None, tuple[str, float]] = {}
    for place, came in lines:
        if not isinstance(came, Navigation) or came.frame or not came.committed:
            continue
        stated, page, number = _moment(came)
        left, since = latest.get(came.page, ("", 0.0))
        own = looks.get((came.page, came.url), ()) if left != came.url else ()
        shown = [t - 0.5 for at, t in own if at > place and t > since]
        first = min([stated, *received.get(came.exchange, ()), *shown])
        at = min(stated, max(since + 0.25, first))
        latest[came.page] = came.url, at
        yield place, (at, page, number)


def _received(lines: list[Line]) -> dict[int | None, tuple[float]]:
    """Return when the headers of each exchange came, by its id."""
    exchanges = (event for _, event in lines if isinstance(event, Exchange))
    return {one.id: (one.received,) for one in exchanges if one.received is not None}


def _looks(lines: list[Line]) -> dict[tuple[int | None, str | None], list[tuple[int, int]]]:
    """Return place and time of the looks at each page, by tab and address."""
    found: dict[tuple[int | None, str | None], list[tuple[int, int]]] = {}
    for place, event in lines:
        if isinstance(event, Observation):
            found.setdefault((event.page, event.url), []).append((place, event.t or 0))
    return found


def answer_place(trajectory: Trajectory) -> int | None:
    """Return the line that gave the answer which counts."""
    answer = trajectory.answer
    for story in range(len(trajectory.events) - 1, -1, -1):
        event = trajectory.events[story]
        if isinstance(event, Message) and event.kind == "answer" and event.text == answer:
            return story
        if (
            isinstance(event, Step)
            and isinstance(event.action, actions.Answer)
            and event.action.text == answer
        ):
            return story
    return None
