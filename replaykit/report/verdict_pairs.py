"""Which verdict of one report stands beside which of another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest

from replaykit.grading.verdict import Report


def matched(before: Report, after: Report) -> Iterator[tuple[int | None, int | None]]:
    """Yield which verdict of one report stands beside which of the other, by place; None = no partner.

    Task by task: equal trajectories first, then bundles of the same name, such as trials with one number,
    then what is left of a task in its order.
    """
    ours, theirs = _by_task(before), _by_task(after)
    for task in sorted(ours.keys() | theirs.keys()):
        left, waiting = ours.get(task, []), theirs.get(task, [])
        for key in (_trajectory, _name):
            met = list(_met(before, left, after, waiting, key))
            yield from met
            left = [place for place in left if place not in {one for one, _ in met}]
            waiting = [place for place in waiting if place not in {other for _, other in met}]
        yield from zip_longest(left, waiting)


def _by_task(report: Report) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for place, verdict in enumerate(report.verdicts):
        found[verdict.task_id].append(place)
    return found


def _trajectory(report: Report, place: int) -> str | None:
    return report.verdicts[place].trajectory


def _name(report: Report, place: int) -> str | None:
    return report.names.get(report.verdicts[place].trajectory or "")


def _met(
    before: Report,
    ours: Iterable[int],
    after: Report,
    theirs: Iterable[int],
    key: Callable[[Report, int], str | None],
) -> Iterator[tuple[int, int]]:
    """Yield the places of both that have one key, each once, in their order."""
    waiting: dict[str | None, list[int]] = defaultdict(list)
    for place in theirs:
        waiting[key(after, place)].append(place)
    for place in ours:
        own = key(before, place)
        if own is not None and waiting[own]:
            yield place, waiting[own].pop(0)
