"""Duration of grading, beside the report: no two runs of it are alike."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path

import msgspec
from msgspec import Struct

from replaykit.grading.workers.stored_verdicts import Row
from replaykit.report.report_output import write_file


class Timing(Struct, frozen=True, kw_only=True):
    """Duration of grading one bundle; with `--resume` that may have been earlier."""

    source: str
    """Path or URL."""
    task_id: str
    trajectory: str | None
    """`sha256:...`; null where the bundle could not be read."""
    seconds: float
    """Wall time of opening and grading; 0 where that failed."""
    attempt: int
    """From 1: a bundle whose worker died is tried again."""


def write_timings(rows: Iterable[Row], file: Path) -> None:
    """Write a line of JSON for each bundle, in the order of their paths. Raises UsageError."""
    lines = [msgspec.json.encode(_timing(row)) + b"\n" for row in sorted(rows, key=attrgetter("source"))]
    write_file(file, b"".join(lines))


def _timing(row: Row) -> Timing:
    return Timing(
        source=row.source.encode(errors="backslashreplace").decode(),  # names of files need not be UTF-8
        task_id=row.verdict.task_id,
        trajectory=row.trajectory,
        seconds=row.run.seconds,
        attempt=row.run.number,
    )
