"""Which verdict of one report stands beside which of another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from replaykit.grading.verdict import Report


def matched(before: Report, after: Report) -> Iterator[tuple[int | None, int | None]]:
    """Yield which verdict of one report stands beside which of the other, by place; None = no partner.

    Task by task: equal trajectories first, then what is left of a task in its order.
    """
    ours, theirs = _by_task(before), _by_task(after)
    for task in sorted(ours.keys() | theirs.keys()):
        waiting = theirs.get(task, [])
        again = list(_again(before, ours.get(task, []), after, waiting))
        yield from again
        met = {place for place, _ in again}, {place for _, place in again}
        left = [place for place in ours.get(task, []) if place not in met[0]]
        yield from zip_longest(left, [place for place in waiting if place not in met[1]])


def _by_task(report: Report) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for place, verdict in enumerate(report.verdicts):
        found[verdict.task_id].append(place)
    return found


def _again(
    before: Report, ours: Iterable[int], after: Report, theirs: Iterable[int]
) -> Iterator[tuple[int, int]]:
    waiting: dict[str | None, list[int]] = defaultdict(list)
    for place in theirs:
        waiting[after.verdicts[place].trajectory].append(place)
    for place in ours:
        trajectory = before.verdicts[place].trajectory
        if trajectory is not None and waiting[trajectory]:
            yield place, waiting[trajectory].pop(0)
