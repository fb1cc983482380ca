"""Work that ends its worker for some bundles, by their names; run in processes, on Dask and on Ray."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable

import msgspec

from replaykit.grading.verdict import Verdict
from replaykit.grading.workers.chunks import Chunks
from replaykit.grading.workers.executors import Workers, run
from replaykit.grading.workers.stored_verdicts import Row
from replaykit.grading.workers.worker_messages import GradedRow, WorkItem


def stand_in(items: bytes, options: bytes, limit_seconds: float | None) -> bytes:
    """Grade by the name of the source alone."""
    return msgspec.json.encode(
        [GradedRow(_row(item)) for item in msgspec.json.decode(items, type=list[WorkItem])]
    )


def _row(item: WorkItem) -> Row:
    if item.source == "dies" or (item.source == "dies-once" and item.attempt < 2):
        os.kill(os.getpid(), signal.SIGKILL)
    if item.source == "hangs" and item.attempt > 1:
        threading.Event().wait()
    elif item.source == "hangs":
        os._exit(1)  # as the watchdog of a real worker does
    verdict = Verdict(task_id=item.source, trajectory=item.source, suite=None)
    return Row(trajectory=item.source, grader="g", source=item.source, verdict=verdict)


def outcomes(workers: Workers, sources: Iterable[str]) -> dict[str, str]:
    items = [WorkItem(source=source) for source in sources]
    chunks = Chunks(items, seconds=1.0, workers=2, count=len(items))
    rows = [result for done in run(workers, chunks, 4) for result in done]
    assert len(rows) == len(items)
    errors = [(r.row.source, r.row.verdict.error) for r in rows if isinstance(r, GradedRow)]
    return {source: error.kind if error else "graded" for source, error in errors}
