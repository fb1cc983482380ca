"""Many bundles: in this process, in a pool, or on somebody's cluster; the same report whichever way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from replaykit.bundle.byte_source import FoundBundles, Sources, all_named_bundles, bundles_in
from replaykit.errors import EngineError, UsageError
from replaykit.grading.gate import GateOptions, decide
from replaykit.grading.grade_options import GradeOptions, TaskExecutor
from replaykit.grading.metrics import summarize
from replaykit.grading.verdict import Duplicate, Report, Verdict
from replaykit.grading.workers.stored_verdicts import Row, duplicates_of, merge, merge_by, names_of
from replaykit.grading.workers.worker_messages import GradedRow, Result, WorkItem
from replaykit.tasks.task import Task

if TYPE_CHECKING:
    from replaykit.grading.workers.chunks import Chunks
    from replaykit.grading.workers.compact_rows import CompactRows
    from replaykit.grading.workers.executors import Workers
    from replaykit.grading.workers.shards import Shards

CHUNK_SECONDS = 0.5
"""Time of a chunk's work."""

LIMIT_SECONDS = 120.0
"""A bundle that takes longer is an error, in processes of our own."""

ASKING = ("new", "refresh")
"""Judge modes that ask models."""

PER_JOB = 2
"""Chunks that are open at once, for each worker."""

Progress = Callable[[str, Verdict], None]
"""Called with (source, verdict) as verdicts arrive."""


def grade_many(
    sources: Sources,
    options: GradeOptions | None = None,
    *,
    gate: GateOptions | None = None,
    label: str | None = None,
    runs: int | None = None,
    on_progress: Progress | None = None,
    jobs: int = 1,
    executor: TaskExecutor | None = None,
    results: str | Path | None = None,
    chunk_seconds: float = CHUNK_SECONDS,
    in_flight: int | None = None,
    limit_seconds: float | None = LIMIT_SECONDS,
) -> Report:
    """Grade bundles into one report; its bytes depend only on their content and the options.

    `sources`: paths or URLs of bundles, or folders with `*.zst` files. `on_progress`: called with the source
    and verdict of each bundle. `gate`, `label` and `runs`: as in `build_report`. Other arguments: as in
    `iter_grades`.

    A bundle that cannot be read or graded gets a verdict with an `error`; the others are graded. A folder
    without bundles, or with bundles that are not looked at, leaves the gate undecided. Tasks of the
    suite without a bundle count as not done. Raises EngineError, NondeterministicVerdict.

    Example:
        report = replaykit.grade_many(["runs/"], jobs=4)
        print(report.summary["metrics"]["CuP"]["value"])
        replaykit.write_report(report, "report.json")
    """
    rows, found = [], all_named_bundles(sources)
    for row in iter_grades(
        found.names,
        options,
        jobs=jobs,
        executor=executor,
        results=results,
        chunk_seconds=chunk_seconds,
        in_flight=in_flight,
        limit_seconds=limit_seconds,
    ):
        rows.append(row)
        if on_progress:
            on_progress(row.source, row.verdict)
    tasks = options.suite.tasks if options is not None and options.suite is not None else ()
    return report_of(rows, gate=_seeing(gate, found), label=label, tasks=tasks, runs=runs)


def _seeing(gate: GateOptions | None, found: FoundBundles) -> GateOptions:
    """Return the conditions of a gate that also sees what was not graded of the folders."""
    gate = gate or GateOptions()
    return replace(
        gate,
        without_bundles=(*gate.without_bundles, *found.empty),
        left_out=(*gate.left_out, *found.left_out),
    )


def iter_grades(
    sources: Sources,
    options: GradeOptions | None = None,
    *,
    jobs: int = 1,
    executor: TaskExecutor | None = None,
    results: str | Path | None = None,
    chunk_seconds: float = CHUNK_SECONDS,
    in_flight: int | None = None,
    limit_seconds: float | None = LIMIT_SECONDS,
) -> Iterator[Row]:
    """Yield a row for each bundle as it is graded, in any order and in constant memory.

    `jobs`: number of processes; with more than one, a script must protect its main code by `if __name__ ==
    "__main__"`. `executor`: a `concurrent.futures.Executor` to use instead. `results`: folder of rows;
    bundles that have a row of the same grading are skipped, and new rows are appended. `chunk_seconds`:
    planned duration of the work that is given to a process at once. `in_flight`: number of such chunks at a
    time; default: two for each job. `limit_seconds`: longest time for one bundle. Raises EngineError,
    UsageError.

    Example:
        for row in replaykit.iter_grades(["runs/"], results="results/"):
            print(row.source, row.verdict.success)
    """
    if jobs < 1:
        raise UsageError(what=f"jobs: expected a number of processes from 1 on, got {jobs}")
    with _shards(results) if results is not None else nullcontext() as shards:
        yield from grades_in(
            shards,
            sources,
            options or GradeOptions(),
            jobs=jobs,
            executor=executor,
            chunk_seconds=chunk_seconds,
            in_flight=in_flight,
            limit_seconds=limit_seconds,
        )


def grades_in(
    shards: Shards | None,
    sources: Sources,
    options: GradeOptions,
    *,
    jobs: int = 1,
    executor: TaskExecutor | None = None,
    chunk_seconds: float = CHUNK_SECONDS,
    in_flight: int | None = None,
    limit_seconds: float | None = LIMIT_SECONDS,
) -> Iterator[Row]:
    """Yield rows as `iter_grades` does, with shards that the caller opened."""
    found: Iterator[list[Result]]
    if not isinstance(options, GradeOptions):
        raise UsageError(what=f"options are GradeOptions(...), got {type(options).__name__}")
    named, copies = _named(sources, options)
    items = _items(named, shards)
    count = len(named) if isinstance(named, Sized) else None
    if executor is None and (jobs == 1 or count == 1):
        found = _here(items, options)
    else:
        from replaykit.grading.workers.chunks import Chunks

        chunks = Chunks(_sendable(items), seconds=chunk_seconds, workers=jobs, count=count)
        found = _in_parallel(executor, chunks, options, jobs, in_flight or PER_JOB * jobs, limit_seconds)
    for chunk in found:
        for row in _stored(chunk, shards):
            yield row
            yield from (replace(row, source=copy) for copy in copies.get(row.source, ()))


def grade_alone(source: str, options: GradeOptions) -> Row:
    """Grade one bundle; what goes wrong is raised, as `open_bundle` and `grade` do."""
    from replaykit.grading.workers.worker import grade_bundle

    return next(_stored([grade_bundle(WorkItem(source=source), options)], None))


def report_of(rows: Sequence[Row], **fields: Any) -> Report:
    """Return the report of rows in any order; `fields`: of `build_report`. Raises NondeterministicVerdict."""
    return _report_of(rows, merge(rows), **fields)


def compact_report_of(rows: Sequence[Row], compact: CompactRows, **fields: Any) -> tuple[Report, Report]:
    """Return two reports of compact rows: one of compact verdicts, one that reads whole ones from disk."""
    from replaykit.grading.workers.compact_rows import WholeVerdicts  # for those who resume

    kept = merge_by(rows, compact.whole)
    report = _report_of(rows, kept, **fields)
    whole = cast("tuple[Verdict, ...]", WholeVerdicts(kept, compact.whole))
    return report, replace(report, verdicts=whole)


def _report_of(rows: Sequence[Row], kept: Sequence[Row], **fields: Any) -> Report:
    verdicts = [row.verdict for row in kept]
    return build_report(verdicts, names=names_of(kept), duplicates=duplicates_of(rows), **fields)


def build_report(
    verdicts: Sequence[Verdict],
    *,
    gate: GateOptions | None = None,
    label: str | None = None,
    tasks: Sequence[Task] = (),
    runs: int | None = None,
    names: Mapping[str, str] | None = None,
    duplicates: tuple[Duplicate, ...] = (),
) -> Report:
    """Combine verdicts, their metrics and the gate into one report.

    `gate`: conditions that the report must meet. `label`: name of the report. `tasks`: tasks that the report
    should cover; those without a verdict count as not done. `runs`: number of runs of each task. `names`:
    display name of each run, by its digest. `duplicates`: bundles that were given more than once.
    """
    gate = gate or GateOptions()
    summary = summarize(
        verdicts, max_error_share=gate.max_error_share, pool_rubrics=gate.pool_rubrics, tasks=tasks, runs=runs
    )
    named = dict(names or {})
    decided = decide(verdicts, summary, gate, named)
    return Report(
        label=label,
        verdicts=tuple(verdicts),
        summary=summary,
        gate=decided,
        names=named,
        duplicates=duplicates,
    )


def _named(sources: Sources, options: GradeOptions) -> tuple[Iterable[str], dict[str, list[str]]]:
    """Return the bundles to grade, and the copies of each that need no grading of their own."""
    if options.judge_mode not in ASKING:
        return bundles_in(sources), {}
    # Loaded only for runs that ask models: it opens bundles, which workers do otherwise.
    from replaykit.grading.workers.duplicate_bundles import distinct, refuse_any

    found = distinct(bundles_in(sources))
    if options.thresholds is not None:
        refuse_any(found[0], options, options.thresholds)
    return found


def _items(names: Iterable[str], shards: Shards | None) -> Iterator[WorkItem]:
    """Yield those without a row first: what is new does not wait until all that is known is looked at."""
    known: list[str] = []
    for name in names:
        if shards is not None and shards.key(name) is not None:
            known.append(name)
        else:
            yield WorkItem(source=name)
    for name in known:
        yield WorkItem(source=name, known=shards.key(name) if shards else None)


def _sendable(items: Iterable[WorkItem]) -> Iterator[WorkItem]:
    """Pass items on. Raises EngineError for a name that no message to a worker can hold."""
    for item in items:
        if item.source.encode(errors="replace").decode() != item.source:
            what = f"{item.source}: the name is no UTF-8: rename the file, or grade without --jobs"
            raise EngineError(what=what)
        yield item


# Who hands out work loads no grader, and who grades loads no pools of processes.


def _shards(results: str | Path) -> Shards:
    from replaykit.grading.workers.shards import Shards

    return Shards(results)


def _here(items: Iterable[WorkItem], options: GradeOptions) -> Iterator[list[Result]]:
    from replaykit.grading.workers.worker import grade_item

    for item in items:
        yield [grade_item(item, options)]


def _in_parallel(
    executor: TaskExecutor | None,
    chunks: Chunks,
    options: GradeOptions,
    jobs: int,
    in_flight: int,
    limit_seconds: float | None,
) -> Iterator[list[Result]]:
    from replaykit.grading.workers.executors import Foreign, Processes, run

    if executor is not None:
        foreign: Workers = Foreign(executor, options)
        yield from run(foreign, chunks, in_flight)
        return
    workers = Processes(jobs, options, limit_seconds)
    try:
        yield from run(workers, chunks, in_flight)
    except BaseException:  # Ctrl-C, or a caller that wants no more: no one waits for what has begun
        workers.end()
        raise
    workers.close()


def _stored(results: Sequence[Result], shards: Shards | None) -> Iterator[Row]:
    """Yield the rows of a chunk, written first where they are new."""
    if shards is not None:
        shards.write(result.row for result in results if isinstance(result, GradedRow))
    for result in results:
        if isinstance(result, GradedRow):
            yield result.row
        elif shards is not None:
            yield shards.row(result.source)
