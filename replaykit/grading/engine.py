"""Many bundles: in this process, or in a pool; the same report whichever way."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import repeat
from pathlib import Path

import msgspec

from replaykit.bundle.reader import open_bundle
from replaykit.errors import EngineError, ReplaykitError
from replaykit.grading.gate import GateOptions, decide
from replaykit.grading.grader import GradeOptions, grade
from replaykit.grading.metrics import summarize
from replaykit.grading.verdict import ErrorInfo, Report, Verdict

CHUNK = 16
"""Bundles per message to a worker: a message costs as much as a grading."""

Progress = Callable[[str, Verdict], None]
"""Called with (source, verdict) as verdicts arrive."""


def grade_many(
    sources: Iterable[str | Path],
    options: GradeOptions | None = None,
    *,
    gate: GateOptions | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    label: str | None = None,
    on_progress: Progress | None = None,
) -> Report:
    """Grade bundles into one report whose bytes depend on nothing but their content and the options.

    A bundle that cannot be read or graded is one verdict with an `error`; the others go on.
    `jobs` > 1 starts processes; `executor` is any `concurrent.futures.Executor` instead.
    """
    names = [str(source) for source in sources]
    options = options or GradeOptions()
    verdicts = []
    for name, verdict in _graded(names, options, jobs, executor):
        verdicts.append((name, verdict))
        if on_progress:
            on_progress(name, verdict)
    return build_report([verdict for _, verdict in merge(verdicts)], gate=gate, label=label)


def build_report(
    verdicts: Sequence[Verdict], *, gate: GateOptions | None = None, label: str | None = None
) -> Report:
    """Put verdicts, their metrics and the gate into one report."""
    summary = summarize(verdicts)
    decided = decide(verdicts, summary, gate or GateOptions())
    return Report(label=label, verdicts=tuple(verdicts), summary=summary, gate=decided)


def merge(verdicts: Iterable[tuple[str, Verdict]]) -> list[tuple[str, Verdict]]:
    """Order by task id, trajectory, base name; the same trajectory counts once."""
    ordered = sorted(verdicts, key=_order)
    seen: set[str] = set()
    kept = []
    for name, verdict in ordered:
        if verdict.trajectory is None or verdict.trajectory not in seen:
            kept.append((name, verdict))
        seen.add(verdict.trajectory or "")
    return kept


def grade_file(source: str, options: GradeOptions) -> Verdict:
    """Grade one file; an error of ours becomes a verdict that says so."""
    try:
        with open_bundle(source) as bundle:
            return grade(bundle, options=options)
    except ReplaykitError as error:
        return failed(source, error)


def failed(source: str, error: ReplaykitError) -> Verdict:
    """Return the verdict of a bundle that could not be graded; paths are cut to base names."""
    name = Path(source).name
    fields = {key: str(value).replace(source, name) for key, value in error.fields.items()}
    return Verdict(
        task_id=name, trajectory=None, suite=None, error=ErrorInfo(kind=type(error).__name__, fields=fields)
    )


def _order(row: tuple[str, Verdict]) -> tuple[bytes, bytes, bytes]:
    name, verdict = row
    return verdict.task_id.encode(), (verdict.trajectory or "").encode(), Path(name).name.encode()


def _graded(
    names: Sequence[str], options: GradeOptions, jobs: int, executor: Executor | None
) -> Iterator[tuple[str, Verdict]]:
    if executor is None and (jobs == 1 or len(names) < 2):
        yield from ((name, grade_file(name, options)) for name in names)
    elif executor is not None:
        yield from _pooled(executor, names, options)
    else:
        # Never fork: a forked child of a threaded process can hang on a lock nobody holds.
        context = multiprocessing.get_context("forkserver")
        with ProcessPoolExecutor(jobs, mp_context=context) as pool:
            yield from _pooled(pool, names, options)


def _pooled(pool: Executor, names: Sequence[str], options: GradeOptions) -> Iterator[tuple[str, Verdict]]:
    encoded = msgspec.json.encode(options)
    chunks = [names[at : at + CHUNK] for at in range(0, len(names), CHUNK)]
    try:
        for chunk, rows in zip(chunks, pool.map(_grade_chunk, chunks, repeat(encoded)), strict=True):
            yield from zip(chunk, msgspec.json.decode(rows, type=list[Verdict]), strict=True)
    except BrokenProcessPool as error:
        raise EngineError(what=f"a worker died while {len(names)} bundles were graded: {error}") from error


def _grade_chunk(names: Sequence[str], encoded: bytes) -> bytes:
    options = msgspec.json.decode(encoded, type=GradeOptions)
    return msgspec.json.encode([grade_file(name, options) for name in names])
