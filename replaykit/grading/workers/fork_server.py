"""The process that workers are forked from: it loads the grader once, and has no threads."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess

LOADED = ("replaykit.grading.workers.preloaded",)
"""Modules that the server loads."""


def start(*modules: str) -> None:
    """Begin the process, which loads the grader, or other modules, while this one goes on."""
    if _has_server():
        forkserver.set_forkserver_preload(list(modules or LOADED))
        _ensure_running()


def context(*modules: str) -> BaseContext:
    """Return what starts workers; the first one starts the process, unless it runs."""
    # Never fork: a forked child of a threaded process can hang on a lock no one holds.
    if not _has_server():
        return multiprocessing.get_context("spawn")
    forkserver.set_forkserver_preload(list(modules or LOADED))
    _ensure_running()
    return multiprocessing.get_context("forkserver")


def _ensure_running() -> None:
    """Start the server, which inherits that Ctrl-C is blocked, as do its workers: their parent ends them."""
    resource_tracker.ensure_running()  # where it has to be started, this lets Ctrl-C pass
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait while workers are started: one that is half started can be neither used nor ended."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield  # no handler of Python, or another thread, which is never interrupted
        return
    waiting: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for number in waiting[:1]:
            signal.raise_signal(number)


def end(pool: ProcessPoolExecutor) -> None:
    """End the workers of a pool at once, whatever they are doing."""
    # A pool has no public way to end a worker that does not answer.
    for process in list((pool._processes or {}).values()):
        process.kill()
    pool.shutdown(wait=True, cancel_futures=True)


def _has_server() -> bool:
    return "forkserver" in multiprocessing.get_all_start_methods()


def end_with_parent() -> None:
    """Let a worker end where its parent was killed: it would wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_wait_and_end, args=(parent,), daemon=True).start()


def _wait_and_end(parent: BaseProcess) -> None:
    parent.join()
    # Not `sys.exit`, which would end only this thread.
    os._exit(1)
