"""The process that workers are forked from: it loads the grader once, and has no threads."""

from __future__ import annotations

import multiprocessing
from multiprocessing import forkserver
from multiprocessing.context import BaseContext

LOADED = ("replaykit.grading.workers.preloaded",)
"""What it loads."""


def start() -> None:
    """Begin the process, which loads the grader while this one goes on."""
    if _has_server():
        forkserver.set_forkserver_preload(list(LOADED))
        forkserver.ensure_running()


def context() -> BaseContext:
    """Return what starts workers; the first one starts the process, unless it runs."""
    # Never fork: a forked child of a threaded process can hang on a lock nobody holds.
    if not _has_server():
        return multiprocessing.get_context("spawn")
    forkserver.set_forkserver_preload(list(LOADED))
    return multiprocessing.get_context("forkserver")


def _has_server() -> bool:
    return "forkserver" in multiprocessing.get_all_start_methods()
