"""Choose thresholds of a share that keep errors below a target, by a fixed sequence of exact tests.

Accepting begins with the strictest threshold, 1, and goes down by one part at a time. It stops where the one-
sided 95 % Clopper-Pearson bound of the tasks with an error first exceeds the target. So no correction for
multiple tests is needed (Maurer, Hothorn and Lehmacher 1995). Rejecting goes up from 0 in the same way. One
half of the tasks chooses, the other half reports. It holds for runs that are exchangeable with those
labelled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from replaykit.errors import UsageError
from replaykit.grading.share_thresholds import Share
from replaykit.grading.statistics import is_bounded, needed, upper_bound

FPR, FNR = "fpr", "fnr"
"""Of tasks with a failure, those with one accepted; of tasks with a success, those with one rejected."""

AIM_MIN = Fraction(1, 100)
"""Smaller aims need more labels than anybody has."""


class LabelledShare(NamedTuple):
    """One labelled run with its share."""

    task: str
    """Runs of one task fail alike: a task counts once."""
    is_success: bool
    """The label that people gave."""
    share: Share
    """The share of the judge's votes."""


Aims = Mapping[str, Fraction]
"""`fpr`, `fnr` or both, to the greatest rate."""


def read_aims(text: str) -> dict[str, Fraction]:
    """Read `fpr<=0.05`, `fnr<=0.1` or both with a comma between. Raises UsageError."""
    found: dict[str, Fraction] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (word.strip() for word in part.partition("<="))
        aim = _fraction(value)
        if name not in (FPR, FNR) or aim is None or not AIM_MIN <= aim < 1 or name in found:
            expected = "fpr<=RATE, fnr<=RATE, or both with a comma between, a rate from 0.01 to below 1"
            raise UsageError(what=f"--choose: {part!r}; expected {expected}")
        found[name] = aim
    if not found:
        raise UsageError(what="--choose: expected an aim such as fpr<=0.05")
    return found


def chosen(rows: Sequence[LabelledShare], aims: Aims) -> dict[str, Any]:
    """Return thresholds of one judge as plain values: `accept`, `reject`, and what the other half shows.

    An aim that is not given is that of the other side. `lacks`: what keeps a side whose aim is given from
    having a threshold.
    """
    own, other = _half(rows, is_own=True), _half(rows, is_own=False)
    parts = max((row.share.parts for row in rows), default=1)
    accept = _accept(own, parts, _aim(aims, FPR))
    reject = _reject(own, parts, _aim(aims, FNR), Fraction(accept["at"]) if accept["at"] else Fraction(1))
    sides = {FPR: accept, FNR: reject}
    return {
        "accept": accept,
        "reject": reject,
        "reported": _reported(other, accept["at"], reject["at"]),
        "lacks": [_lack(name, sides[name]) for name in sides if name in aims and sides[name]["at"] is None],
    }


def chooses(task: str) -> bool:
    """Return whether a task is of the half that chooses: by its id only, whatever other tasks there are."""
    return hashlib.sha256(task.encode("utf-8", "surrogatepass")).digest()[0] % 2 == 0


def _fraction(text: str) -> Fraction | None:
    try:
        return Fraction(str(float(text)))
    except ValueError:
        return None


def _aim(aims: Aims, name: str) -> Fraction:
    return aims[name] if name in aims else next(iter(aims.values()))


def _half(rows: Iterable[LabelledShare], *, is_own: bool) -> list[LabelledShare]:
    return [row for row in rows if chooses(row.task) == is_own]


def _accept(rows: Sequence[LabelledShare], parts: int, aim: Fraction) -> dict[str, Any]:
    steps = [Fraction(parts - n, parts) for n in range(parts)]
    failures = [row for row in rows if not row.is_success]
    return _sequence(steps, failures, lambda at: lambda share: share.low >= at, aim)


def _reject(rows: Sequence[LabelledShare], parts: int, aim: Fraction, below: Fraction) -> dict[str, Any]:
    steps = [Fraction(n, parts) for n in range(parts) if Fraction(n, parts) < below]
    successes = [row for row in rows if row.is_success]
    return _sequence(steps, successes, lambda at: lambda share: share.high <= at, aim)


_Decides = Callable[[Share], bool]


def _sequence(
    steps: Sequence[Fraction],
    rows: Sequence[LabelledShare],
    at_step: Callable[[Fraction], _Decides],
    aim: Fraction,
) -> dict[str, Any]:
    """Return the last step of an unbroken row of steps whose bound holds, with its counts.

    Where none holds, the counts are those of the first step, and `needed` is how many tasks would do.
    """
    held: Fraction | None = None
    hits, n = _errors(rows, at_step(steps[0]))
    for step in steps:
        wrong, tasks = _errors(rows, at_step(step))
        if not is_bounded(wrong, tasks, aim):
            break
        held, hits, n = step, wrong, tasks
    return {
        "at": None if held is None else str(held),
        "aim": float(aim),
        **_bound(hits, n),
        "needed": needed(hits, aim) if held is None else None,
    }


def _errors(rows: Iterable[LabelledShare], decides: _Decides) -> tuple[int, int]:
    """Return the tasks with a run that is decided wrongly, and all tasks."""
    wrong: dict[str, bool] = {}
    for row in rows:
        wrong[row.task] = wrong.get(row.task, False) or decides(row.share)
    return sum(wrong.values()), len(wrong)


def _bound(wrong: int, tasks: int) -> dict[str, Any]:
    return {"tasks": tasks, "tasks_wrong": wrong, "high95": upper_bound(wrong, tasks)}


def _reported(rows: Sequence[LabelledShare], accept: str | None, reject: str | None) -> dict[str, Any]:
    """Return what the chosen thresholds do to runs of tasks that did not choose them."""

    def is_accepted(share: Share) -> bool:
        return accept is not None and share.low >= Fraction(accept)

    def is_rejected(share: Share) -> bool:
        return reject is not None and share.high <= Fraction(reject)

    answer = [(row.is_success, is_accepted(row.share), is_rejected(row.share)) for row in rows]
    return {
        "n": len(rows),
        "tasks": len({row.task for row in rows}),
        "matrix": {
            "tp": sum(was and yes for was, yes, _ in answer),
            "fp": sum(not was and yes for was, yes, _ in answer),
            "fn": sum(was and no for was, _, no in answer),
            "tn": sum(not was and no for was, _, no in answer),
        },
        "abstained": sum(not yes and not no for _, yes, no in answer),
        FPR: _bound(*_errors((row for row in rows if not row.is_success), is_accepted)),
        FNR: _bound(*_errors((row for row in rows if row.is_success), is_rejected)),
    }


def _lack(name: str, side: Mapping[str, Any]) -> str:
    """Return how many tasks a side would need, in words."""
    of, wrong = ("failure", "accepted") if name == FPR else ("success", "rejected")
    return (
        f"{name}<={side['aim']:g}: even the strictest threshold has {side['tasks_wrong']} of {side['tasks']} "
        f"tasks with a {of} {wrong}; {side['needed']} such tasks are needed for that many, "
        "in the half that chooses"
    )
