"""Runs that lend their screenshots to others under attack."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from typing import Self

from msgspec import Struct

from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_run import UNREAD, JudgedBundle, cases_of
from replaykit.grading.judges.attacks import Donor
from replaykit.grading.judges.screenshot_choice import all_shots
from replaykit.replay.player import Recording
from replaykit.trajectory.step import Trajectory

OPEN_MAX = 32
"""Bundles that are open at once: each takes a file, and memory for its index."""


class Lender(Struct, frozen=True, kw_only=True):
    """A run of the corpus, as others see it."""

    intent: str
    """Task of the run."""
    images: frozenset[str]
    """Blob ids of its screenshots."""


class BothBlobs:
    """A run with the blobs of another one beside its own."""

    def __init__(self, own: Recording, other: Recording) -> None:
        self._own = own
        self._other = other

    @property
    def trajectory(self) -> Trajectory:
        """That of the run."""
        return self._own.trajectory

    def __contains__(self, id: object) -> bool:
        return id in self._own or id in self._other

    def blob(self, id: str) -> bytes:
        """Return a blob of the run, else of the other one."""
        return self._holder(id).blob(id)

    def blob_type(self, id: str) -> str:
        """Return its media type."""
        return self._holder(id).blob_type(id)

    def _holder(self, id: str) -> Recording:
        return self._other if id not in self._own and id in self._other else self._own


class Corpus:
    """Runs that may lend screenshots to each other. A few stay open, so that nearly each is opened once."""

    def __init__(self, sources: Sequence[str], options: GradeOptions) -> None:
        self._sources, self._options = sources, options
        self._open: OrderedDict[int, tuple[JudgedBundle, Generator[JudgedBundle]]] = OrderedDict()
        self._lenders: dict[int, Lender | None] = {}

    def __enter__(self) -> Self:
        """Open nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is open."""
        self._close_to(0)

    def case(self, at: int) -> JudgedBundle:
        """Return a run, open until `OPEN_MAX` others were asked for. Raises what opening it raises."""
        if at not in self._open:
            self._close_to(OPEN_MAX - 1)
            opening = cases_of([self._sources[at]], self._options)
            self._open[at] = next(opening), opening
        self._open.move_to_end(at)
        return self._open[at][0]

    def donor(self, at: int) -> Donor | None:
        """Return the run that lends its screenshots to that at this place, open; None if no run fits."""
        found = next_lender(at, len(self._sources), self._lender)
        if found is None:
            return None
        case = self.case(found)
        return Donor(task=case.task, replay=case.replay())

    def _lender(self, at: int) -> Lender | None:
        """Return how others see a run; None of one that cannot be read, which lends nothing."""
        if at not in self._lenders:
            try:
                case = self.case(at)
                images = frozenset(shot.id for shot in all_shots(case.replay()))
                self._lenders[at] = Lender(intent=case.task.intent, images=images)
            except UNREAD:
                self._lenders[at] = None
        return self._lenders[at]

    def _close_to(self, most: int) -> None:
        while len(self._open) > most:
            _, (_, opening) = self._open.popitem(last=False)
            opening.close()


def next_lender(at: int, count: int, lender: Callable[[int], Lender | None]) -> int | None:
    """Return the next run with another task and other screenshots, the first after the last; else None."""
    own = lender(at)
    others = (*range(at + 1, count), *range(at)) if own is not None else ()
    return next((other for other in others if _lends(lender(other), own)), None)


def _lends(one: Lender | None, own: Lender | None) -> bool:
    if one is None or own is None or one.intent == own.intent:
        return False
    return bool(one.images) and one.images != own.images
