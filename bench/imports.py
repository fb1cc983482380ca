"""How fast runs of other tools become bundles, with one job and with two: wall and processor time of each.

Run: .venv/bin/python -m bench.imports [--runs 500] [--turns 8]

Runs are made up: WebVoyager result folders with a screenshot a turn, each with bytes of its own. What is
measured is the command, from its start to its end, with all its processes. Wall time says little on a busy
machine, so what a second job brings is also told by processor time: what the first process does cannot be
shared, the rest can. What two loops bring at this moment, which share nothing, is measured beside it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import resource
import sys
import tempfile
import time
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from tests.interop.samples import SEEN, chat, png, turn, write

SIDE = 160
"""Width and height of a screenshot, px; each has bytes of its own."""


def make_runs(folder: Path, runs: int, turns: int) -> None:
    """Write result folders, each with a chat and its screenshots."""
    for number in range(runs):
        said = [*(turn(f"Click [{k}]") for k in range(turns - 1)), turn(f"ANSWER; mug {number}")]
        run = folder / f"taskShop--{number}"
        write(run, "interact_messages.json", chat(*said, seen=SEEN * 20))
        for k in range(1, turns + 1):
            noise = random.Random(f"{number} {k}").randbytes(40_000)
            write(run, f"screenshot{k}.png", png(k, SIDE)[:-12] + noise + png(k, SIDE)[-12:])


class Cost(NamedTuple):
    """What an import cost: seconds of wall time, and of processor time of the first process and of all."""

    wall: float
    first: float
    all: float


def cost(source: Path, target: Path, runs: int, jobs: int) -> Cost:
    """Import all runs by the command. Exits where a run is not imported."""
    call = [sys.executable, "-m", "replaykit", "import", "webvoyager", str(source), "-o", str(target)]
    start, before = time.perf_counter(), _spent()
    process = os.posix_spawn(
        sys.executable, [*call, "--jobs", str(jobs)], os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)],
    )  # fmt: skip
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - start
    _reap()
    if status or len(list(target.glob("*.zst"))) != runs:
        sys.exit(
            f"{runs} runs were to be imported; the command ended with {os.waitstatus_to_exitcode(status)}"
        )
    return Cost(wall, usage.ru_utime + usage.ru_stime, _spent() - before)


def _adopt() -> None:
    """Become the parent of processes whose own parent has ended, so that their time is counted (Linux)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SUBREAPER, 1, 0, 0, 0):
        sys.exit(
            "this machine does not tell the processor time of all processes of a command: run it on Linux"
        )


SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of linux/prctl.h."""


def _reap() -> None:
    """Wait for the workers, and for the process that they are copies of: both end with the command."""
    with suppress(ChildProcessError):
        while True:
            os.wait()


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def gain(one: Cost, two: Cost) -> float:
    """Return how many times faster two jobs are where each has a processor of its own."""
    return one.all / (two.first + (two.all - two.first) / 2)


def spin(seconds: float) -> None:
    """Use the processor for so many seconds of its time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def ceiling(seconds: float = 1.0) -> float:
    """Return how many times faster two processes are than one, where nothing is shared."""
    context = get_context("spawn")
    took = []
    for count in (1, 2):
        workers = [context.Process(target=spin, args=(seconds,)) for _ in range(count)]
        start = time.perf_counter()
        for one in workers:
            one.start()
        for one in workers:
            one.join()
        took.append((time.perf_counter() - start) / count)
    return took[0] / took[1]


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--turns", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in")
        make_runs(source, given.runs, given.turns)
        _adopt()
        costs = {jobs: cost(source, Path(folder, f"out{jobs}"), given.runs, jobs) for jobs in (1, 2)}
    load = f"{os.getloadavg()[0]:.1f}"
    print(json.dumps({"runs": given.runs, "turns": given.turns, "load": load, "cpus": os.cpu_count()}))
    for jobs, found in costs.items():
        each, first = 1000 * found.all / given.runs, 1000 * found.first / given.runs
        print(
            f"{jobs} jobs: {given.runs / found.wall:.1f} runs a second, {each:.1f} ms of processor time a run"
        )
        print(f"        of which {first:.1f} ms in the first process")
    print(f"two jobs against one, by wall time: {costs[1].wall / costs[2].wall:.2f} times")
    print(f"two jobs against one, by processor time: {gain(costs[1], costs[2]):.2f} times")
    print(f"two loops against one: {ceiling():.2f} times")


if __name__ == "__main__":
    main()
