"""The order in which the events of a run happened; a line is written later."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from replaykit.trajectory import action as actions
from replaykit.trajectory.exchange import Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Event as Recorded
from replaykit.trajectory.step import Trajectory

Line = tuple[int, Recorded]
"""Place in the story, and the event."""

Moment = tuple[int, int, int]
"""Time (ms), tab and number: events sort by it."""


def in_order(trajectory: Trajectory) -> list[Line]:
    """Return the events in the order of the page's clock; where one has no time, in that of the lines."""
    lines = [(at, e) for at, e in enumerate(trajectory.events) if not isinstance(e, actions.Unknown)]
    if any(event.t is None for _, event in lines):
        return lines
    shown = dict(_shown_earlier(lines))
    return sorted(lines, key=lambda line: shown.get(line[0]) or _moment(line[1]))


def _moment(event: Recorded) -> Moment:
    return event.t or 0, -1 if event.page is None else event.page, event.seq


def _shown_earlier(lines: list[Line]) -> Iterator[tuple[int, Moment]]:
    """Yield the navigations whose page was looked at before the time that they bear, and when that was.

    The time of a look is that of the page; that of a navigation is when the recorder received it, which is
    late on a busy machine.
    """
    arrivals: dict[int | None, list[tuple[int, Navigation]]] = {}
    looks: dict[tuple[int | None, str | None], list[tuple[int, int]]] = {}
    for place, event in lines:
        if isinstance(event, Navigation) and event.committed and not event.frame:
            arrivals.setdefault(event.page, []).append((place, event))
        elif isinstance(event, Observation):
            looks.setdefault((event.page, event.url), []).append((place, event.t or 0))
    for of_tab in arrivals.values():
        for (_, left), (place, came) in pairwise(of_tab):
            own = looks.get((came.page, came.url), ()) if came.url != left.url else ()
            earlier = [t for at, t in own if at > place and (left.t or 0) <= t < (came.t or 0)]
            if earlier:
                yield place, (min(earlier), _moment(came)[1], -1)
