"""Messages to a worker, and its replies."""

from __future__ import annotations

from msgspec import Struct

from replaykit.decoders import decode
from replaykit.grading.workers.stored_verdicts import Row


class WorkItem(Struct, frozen=True, kw_only=True, gc=False):
    """One bundle to grade."""

    source: str
    """Path or URL."""
    known: tuple[str | None, str] | None = None
    """Trajectory and grader digest of a row that exists already."""
    attempt: int = 1
    """From 1."""


class Same(Struct, frozen=True, tag=True, gc=False):
    """The row that exists is still the verdict."""

    source: str


class GradedRow(Struct, frozen=True, tag=True, gc=False):
    """A new row."""

    row: Row


Result = Same | GradedRow


def results_of(data: bytes) -> list[Result]:
    """Return what a worker sent."""
    return decode(data, list[Result])
