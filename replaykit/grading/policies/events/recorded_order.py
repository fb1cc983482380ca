"""The order in which the events of a run happened; a line is written later."""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.trajectory import action as actions
from replaykit.trajectory.exchange import Exchange, Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Event as Recorded
from replaykit.trajectory.step import Trajectory

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
    """Yield the navigations that came before the time that they bear, and when that was.

    A recorder on a busy machine receives them late. The headers of a document and looks at its page bear the
    times of the browser. Navigations of one tab are written in order.
    """
    received = {one.id: one.received for _, one in lines if isinstance(one, Exchange)}
    looks: dict[tuple[int | None, str | None], list[tuple[int, int]]] = {}
    for place, event in lines:
        if isinstance(event, Observation):
            looks.setdefault((event.page, event.url), []).append((place, event.t or 0))
    latest: dict[int | None, tuple[str, float]] = {}
    for place, came in lines:
        if not isinstance(came, Navigation) or came.frame or not came.committed:
            continue
        left, since = latest.get(came.page, ("", 0.0))
        own = looks.get((came.page, came.url), ()) if left != came.url else ()
        shown = [t - 0.5 for at, t in own if at > place and t > since]
        answered = [
            t for t in [received.get(-1 if came.exchange is None else came.exchange)] if t is not None
        ]
        moment = _moment(came)
        at = min(moment[0], max(since + 0.25, min([moment[0], *shown, *answered])))
        latest[came.page] = came.url, at
        yield place, (at, *moment[1:])


def left_addresses(trajectory: Trajectory) -> dict[int, str]:
    """Return which address each navigation left, by its place; those of a tab are written in order."""
    found: dict[int, str] = {}
    shown: dict[int | None, str] = {}
    for place, event in enumerate(trajectory.events):
        if not isinstance(event, Navigation) or event.frame:
            continue
        if event.page in shown:
            found[place] = shown[event.page]
        if event.committed:
            shown[event.page] = event.url
    return found
