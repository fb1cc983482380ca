"""Runs that lend their screenshots to others under attack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from replaykit.bundle.reader import open_bundle
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import task_for
from replaykit.grading.judge_runs.judge_run import cases_of
from replaykit.grading.judges.attacks import Attack, Donor
from replaykit.grading.judges.screenshot_choice import all_shots
from replaykit.replay.player import Recording, Replay
from replaykit.trajectory.step import Trajectory


class Lender(Struct, frozen=True, kw_only=True):
    """A run of the corpus, as others see it."""

    source: str
    """The bundle."""
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


def lenders(sources: Sequence[str], options: GradeOptions, attacks: Sequence[Attack]) -> list[Lender]:
    """Return the runs in order; empty where no attack borrows screenshots, or no one could lend them."""
    if len(sources) < 2 or not any(attack.is_borrowing for attack in attacks):
        return []
    return [
        Lender(
            source=case.source,
            intent=case.task.intent,
            images=frozenset(shot.id for shot in all_shots(case.replay())),
        )
        for case in cases_of(sources, options)
    ]


def next_lender(runs: Sequence[Lender], at: int) -> Lender | None:
    """Return the next run with another task and other screenshots, the first after the last; else None."""
    own = runs[at]
    for one in (*runs[at + 1 :], *runs[:at]):
        if one.intent != own.intent and one.images and one.images != own.images:
            return one
    return None


@contextmanager
def lending(runs: Sequence[Lender], at: int, options: GradeOptions) -> Iterator[Donor | None]:
    """Open the run that lends its screenshots to that at this place; None if no run fits."""
    found = next_lender(runs, at) if runs else None
    if found is None:
        yield None
        return
    with open_bundle(found.source) as bundle:
        yield Donor(task=task_for(bundle, None, options), replay=Replay(bundle))
