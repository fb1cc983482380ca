"""Who does the work: processes of our own, or any executor of somebody else.

Workers yield the rows of every chunk it is given, whatever happens to its workers.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Protocol

import msgspec

from replaykit.errors import EngineError, ReplaykitError, TimeLimit, WorkerDied
from replaykit.grading.grade_options import GradeOptions, TaskExecutor
from replaykit.grading.workers import fork_server
from replaykit.grading.workers.chunks import Chunks
from replaykit.grading.workers.stored_verdicts import failed_row
from replaykit.grading.workers.worker_messages import GradedRow, Result, WorkItem, results_of

ATTEMPTS = 2
"""A bundle that ends its worker so often is an error."""

START_SECONDS = 30.0
"""A fresh worker may take so long to be there."""

GARBAGE = 50_000
"""Objects that a worker makes between two searches for garbage: pages are made of many, and of few cycles."""

NO_WORKERS = (
    "worker processes ended at their start. Each of them imports the script that starts them, so "
    'its own work must stand under `if __name__ == "__main__":`'
)
"""The probable reason why the pool cannot start."""

Work = Callable[[bytes, bytes, float | None], bytes]
"""Function of a worker, called with items, options and a limit in seconds."""


def graded(items: bytes, options: bytes, limit_seconds: float | None) -> bytes:
    """Grade a chunk in a worker: the process that only hands out work does not load the grader."""
    from replaykit.grading.workers.worker import grade_chunk

    return grade_chunk(items, options, limit_seconds)


class Workers(Protocol):
    """Takes chunks, and decides what to do with one whose worker was lost."""

    def submit(self, chunk: list[WorkItem]) -> Future[bytes]:
        """Begin a chunk. Raises EngineError."""

    def lost(self, chunk: list[WorkItem], chunks: Chunks) -> Iterator[Result]:
        """Handle a chunk whose worker was lost: yield its results, or return parts of it to the queue."""


def run(workers: Workers, chunks: Chunks, in_flight: int) -> Iterator[list[Result]]:
    """Yield the results of chunks as they finish, `in_flight` of them begun at once."""
    begun: dict[Future[bytes], list[WorkItem]] = {}
    try:
        while True:
            while len(begun) < in_flight and (chunk := chunks.next()):
                begun[workers.submit(chunk)] = chunk
            if not begun:
                return
            for future in wait(begun, return_when=FIRST_COMPLETED).done:
                yield list(_finished(workers, future, begun.pop(future), chunks))
    finally:
        for future in begun:
            future.cancel()


def _finished(
    workers: Workers, future: Future[bytes], chunk: list[WorkItem], chunks: Chunks
) -> Iterator[Result]:
    try:
        results = results_of(future.result())
    except Exception:  # noqa: BLE001  # executors of others raise what they like
        yield from workers.lost(chunk, chunks)
        return
    seconds = sum(result.row.run.seconds for result in results if isinstance(result, GradedRow))
    chunks.learn(len(results), seconds)
    yield from results


class Processes:
    """Processes of our own. One that dies takes the pool with it: what was open is done one by one."""

    def __init__(
        self, jobs: int, options: GradeOptions, limit_seconds: float | None, work: Work = graded
    ) -> None:
        self._jobs = jobs
        self._work = work
        self._options = msgspec.json.encode(options)
        self._limit = limit_seconds
        self._pool: ProcessPoolExecutor | None = None
        self._single: ProcessPoolExecutor | None = None

    def submit(self, chunk: list[WorkItem]) -> Future[bytes]:
        """Begin a chunk, in a new pool where the last one broke."""
        try:
            return self._begin(chunk)
        except BrokenProcessPool:
            self._pool = None
            return self._begin(chunk)

    def lost(self, chunk: list[WorkItem], chunks: Chunks) -> Iterator[Result]:
        """Grade the bundles of a lost chunk one at a time, in a worker of their own."""
        for item in chunk:
            yield self._alone(item)

    def close(self) -> None:
        """Let the workers end, which have nothing left to do."""
        for pool in (self._pool, self._single):
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)

    def end(self) -> None:
        """End the workers; what they still do is dropped."""
        for pool in (self._pool, self._single):
            if pool is not None:
                fork_server.end(pool)

    def _begin(self, chunk: list[WorkItem]) -> Future[bytes]:
        if self._pool is None:
            self._pool = _pool(self._jobs)
        return _submit(self._pool, self._work, chunk, self._options, self._limit)

    def _alone(self, item: WorkItem) -> Result:
        error: ReplaykitError = WorkerDied(source=item.source, attempts=ATTEMPTS)
        for attempt in range(ATTEMPTS):
            again = msgspec.structs.replace(item, attempt=item.attempt + 1 + attempt)
            try:
                return self._try(again)
            except BrokenProcessPool:
                self._single = None
            except TimeoutError:
                self._end_single()
                error = TimeLimit(source=item.source, limit=f"{self._limit:g}")
                break
        return GradedRow(failed_row(item.source, error, attempt=item.attempt + ATTEMPTS))

    def _try(self, item: WorkItem) -> Result:
        if self._single is None:
            self._single = _started()
        # No watchdog inside: the time is kept here, so that a slow worker is not taken for a dead one.
        future = _submit(self._single, self._work, [item], self._options, None)
        return results_of(future.result(self._limit))[0]

    def _end_single(self) -> None:
        if self._single is not None:
            fork_server.end(self._single)
            self._single = None


class Foreign:
    """An executor of somebody else: Dask, Ray, threads. What it loses is halved and given back."""

    def __init__(self, executor: TaskExecutor, options: GradeOptions, work: Work = graded) -> None:
        self._work = work
        self._executor = executor
        self._options = msgspec.json.encode(options)

    def submit(self, chunk: list[WorkItem]) -> Future[bytes]:
        """Begin a chunk. Raises EngineError where the executor refuses."""
        try:
            begun: Future[bytes] = self._executor.submit(
                self._work, msgspec.json.encode(chunk), self._options, None
            )
            return begun
        except Exception as error:
            what = f"the executor refuses work: {error}; what is finished is kept with results="
            raise EngineError(what=what) from error

    def lost(self, chunk: list[WorkItem], chunks: Chunks) -> Iterator[Result]:
        """Give the halves of a lost chunk back; a single bundle lost twice is an error."""
        if len(chunk) > 1:
            middle = len(chunk) // 2
            chunks.again(chunk[:middle])
            chunks.again(chunk[middle:])
        elif chunk[0].attempt < ATTEMPTS:
            chunks.again([msgspec.structs.replace(chunk[0], attempt=chunk[0].attempt + 1)])
        else:
            died = WorkerDied(source=chunk[0].source, attempts=ATTEMPTS)
            yield GradedRow(failed_row(chunk[0].source, died, attempt=ATTEMPTS))


def _submit(
    pool: ProcessPoolExecutor, work: Work, items: list[WorkItem], options: bytes, limit: float | None
) -> Future[bytes]:
    """Begin items in a pool. Raises BrokenProcessPool."""
    try:
        with fork_server.undisturbed():
            return pool.submit(work, msgspec.json.encode(items), options, limit)
    except OSError as error:
        # A pool that breaks during the call has closed the pipe by which it is woken.
        raise BrokenProcessPool(str(error)) from error


def _started() -> ProcessPoolExecutor:
    """Return a pool of one worker that is there.

    Raises EngineError where no worker begins, twice: that is no bundle's fault.
    """
    for _ in range(ATTEMPTS):
        pool = _pool(1)
        try:
            # The cheapest call that a worker can answer.
            pool.submit(int).result(START_SECONDS)
        except (BrokenProcessPool, TimeoutError):
            pool.shutdown(wait=False, cancel_futures=True)
        else:
            return pool
    raise EngineError(what=NO_WORKERS)


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, mp_context=fork_server.context(), initializer=_prepare)


def _prepare() -> None:
    """Make a fresh process a worker."""
    gc.freeze()  # what is loaded by now stays
    gc.set_threshold(GARBAGE)
    fork_server.end_with_parent()
