"""Cost of a whole command, with all its processes: wall time, processor time, memory. Linux only."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of linux/prctl.h."""

PAUSE = 0.002
"""Seconds between two looks at a command that runs."""


class Cost(NamedTuple):
    """Cost of a command: seconds of wall time, and of processor time of the first process and of all."""

    wall: float
    first: float
    all: float
    peak: float
    """Most memory of the first process, MB."""


def adopt() -> None:
    """Become the parent of processes whose own parent has ended, so that their time is counted."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SUBREAPER, 1, 0, 0, 0):
        sys.exit(
            "this machine does not tell the processor time of all processes of a command: run it on Linux"
        )


def run(words: Sequence[str], ends: Callable[[], bool] = bool) -> Cost:
    """Run `python -m replaykit` with these words, without its output; kill it with all processes when `ends`.

    `ends` is called again and again while the command runs. Exits where the command fails by itself.
    """
    start, before = time.perf_counter(), _spent()
    process = os.posix_spawn(
        sys.executable, [sys.executable, "-m", "replaykit", *words], os.environ, setpgroup=0,
        file_actions=[(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)],
    )  # fmt: skip
    is_killed, pid, peak = False, 0, 0.0
    while not pid:
        peak = _peak(process) or peak
        pid, status, usage = os.wait4(process, os.WNOHANG)
        if not pid and not is_killed and ends():
            os.killpg(process, signal.SIGKILL)
            is_killed = True
        time.sleep(PAUSE)
    wall = time.perf_counter() - start
    _reap(process)
    if status and not is_killed:
        sys.exit(f"`replaykit {words[0]}` ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, _spent() - before, peak)


def _peak(process: int) -> float:
    """Return the most memory that a process has held, MB; 0 once it has ended.

    Not `ru_maxrss`, which begins with the memory of this process.
    """
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1000
    return 0.0


def _reap(group: int) -> None:
    """Wait for the workers, and for the process that they are copies of: both end with the command."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-group, 0)


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
