"""Work of a worker: picklable values in, encoded rows out; it writes nothing and starts nothing."""

from __future__ import annotations

import faulthandler
import hashlib
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import msgspec

from replaykit.bundle.reader import open_bundle
from replaykit.decoders import decode
from replaykit.errors import InternalError, ReplaykitError
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import Case, case_of, grade_case
from replaykit.grading.verdict import SEMANTICS
from replaykit.grading.workers.stored_verdicts import GradingAttempt, Row, failed_row
from replaykit.grading.workers.worker_messages import GradedRow, Result, Same, WorkItem
from replaykit.replay.page_reader import version_of


def grade_chunk(items: bytes, options: bytes, limit_seconds: float | None) -> bytes:
    """Grade a chunk: JSON of items and options in, JSON of results in the same order out.

    `limit_seconds`: a bundle that takes longer ends the process, whatever it is doing.
    """
    work = decode(items, list[WorkItem])
    return msgspec.json.encode(list(_results(work, _options(options), limit_seconds)))


def grade_item(item: WorkItem, options: GradeOptions) -> Result:
    """Grade one bundle; what goes wrong becomes a row that reports it."""
    try:
        return grade_bundle(item, options)
    except ReplaykitError as error:
        return GradedRow(failed_row(item.source, error, attempt=item.attempt))
    except Exception as error:  # noqa: BLE001  # a defect of ours is reported for this bundle; the others go on
        return GradedRow(failed_row(item.source, _defect(item.source, error), attempt=item.attempt))


def grade_bundle(item: WorkItem, options: GradeOptions) -> Result:
    """Grade one bundle. Raises as `open_bundle` and `grade` do."""
    start = time.perf_counter()
    with open_bundle(item.source) as bundle:
        case = case_of(bundle, options)
        trajectory, digest = f"sha256:{bundle.digest}", grader_digest(case)
        if item.known == (trajectory, digest):
            return Same(item.source)
        verdict = grade_case(case)
    run = GradingAttempt(number=item.attempt, seconds=round(time.perf_counter() - start, 6))
    return GradedRow(Row(trajectory=trajectory, grader=digest, source=item.source, verdict=verdict, run=run))


def _results(items: Sequence[WorkItem], options: GradeOptions, limit: float | None) -> Iterator[Result]:
    with _watchdog(limit) as wake:
        for item in items:
            wake()
            yield grade_item(item, options)


@contextmanager
def _watchdog(limit: float | None) -> Iterator[Callable[[], None]]:
    """Give what begins the time of a bundle again; the process ends where it is over."""
    # Each beginning starts a thread: those within a tenth of the limit share one, which waits so much longer.
    slack, begun = (limit or 0.0) / 10, -math.inf

    def wake() -> None:
        nonlocal begun
        if limit is not None and time.monotonic() - begun > slack:
            begun = time.monotonic()
            # It needs no interpreter lock, so it also ends a regular expression that never returns.
            faulthandler.dump_traceback_later(limit + slack, exit=True, file=nowhere)

    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        try:
            yield wake
        finally:
            faulthandler.cancel_dump_traceback_later()


def _defect(source: str, error: Exception) -> InternalError:
    return InternalError(source=source, error=type(error).__name__, reason=str(error)[:500])


@lru_cache(maxsize=1)
def _options(encoded: bytes) -> GradeOptions:
    return decode(encoded, GradeOptions)


def grader_digest(case: Case) -> str:
    """Return `sha256:` of what a verdict depends on beside the bundle: task, rules, judges, their tape."""
    task, panel, options = case.task, case.panel, case.options
    fields = {
        "semantics": SEMANTICS,
        "mode": panel.mode,
        "dialect": task.dialect,
        "task": task.digest,
        "judge_mode": panel.how,
        "judges": msgspec.to_builtins(panel.settings),
        "tape": _digest_of(panel.tape) if panel.how != "off" else None,
        "compose": options.compose or task.compose,
        "thresholds": options.thresholds.digest if options.thresholds is not None else None,
        "require_strong": options.require_strong,
        "require_proof": options.require_proof,
        "verifiers": options.verifiers is not None,
        "replay": options.replay,
        "browser": version_of(options.replay),
    }
    return _sha256(msgspec.json.encode(fields, order="sorted"))


def _digest_of(path: Path) -> str | None:
    try:
        with path.open("rb") as tape:
            return "sha256:" + hashlib.file_digest(tape, "sha256").hexdigest()
    except OSError:
        return None


def _sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
