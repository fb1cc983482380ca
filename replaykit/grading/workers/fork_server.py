"""The process that workers are forked from: it loads the grader once, and has no threads."""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess

LOADED = ("replaykit.grading.workers.preloaded",)
"""Modules that the server loads."""


def start(*modules: str) -> None:
    """Begin the process, which loads the grader, or other modules, while this one goes on."""
    if _has_server():
        forkserver.set_forkserver_preload(list(modules or LOADED))
        forkserver.ensure_running()


def context(*modules: str) -> BaseContext:
    """Return what starts workers; the first one starts the process, unless it runs."""
    # Never fork: a forked child of a threaded process can hang on a lock no one holds.
    if not _has_server():
        return multiprocessing.get_context("spawn")
    forkserver.set_forkserver_preload(list(modules or LOADED))
    return multiprocessing.get_context("forkserver")


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
