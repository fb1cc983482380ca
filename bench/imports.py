"""How fast runs of other tools become bundles, with one job and with two: the rate of each.

Run: .venv/bin/python -m bench.imports [--runs 500] [--turns 8]

Runs are made up: WebVoyager result folders with a screenshot a turn, each with bytes of its own. Times are
wall time, since jobs are processes. What a second job can bring on this machine at this moment is measured
beside it, by the same loop in one process and in two: twice as much on two idle cores, nothing on busy ones.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

from replaykit.interop.importing import import_runs
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


def rate(source: Path, target: Path, runs: int, jobs: int) -> float:
    """Return runs a second. Exits where a run is not imported."""
    start = time.perf_counter()
    done = import_runs("webvoyager", [source], target, jobs=jobs)
    spent = time.perf_counter() - start
    if [one.state for one in done] != ["imported"] * runs:
        sys.exit(f"{sum(one.state != 'imported' for one in done)} of {len(done)} runs were not imported")
    return runs / spent


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
        cpu = time.process_time()
        rates = {1: rate(source, Path(folder, "out1"), given.runs, 1)}
        cpu = time.process_time() - cpu
        rates[2] = rate(source, Path(folder, "out2"), given.runs, 2)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    print(json.dumps({"runs": given.runs, "turns": given.turns, "load": load, "cpus": os.cpu_count()}))
    print(f"one job: {1000 * cpu / given.runs:.1f} ms of processor time a run")
    for jobs, found in rates.items():
        print(f"{jobs} job{'s' if jobs > 1 else ''}: {found:.1f} runs a second")
    print(f"two jobs against one: {rates[2] / rates[1]:.2f} times")
    print(f"two loops against one: {ceiling():.2f} times")


if __name__ == "__main__":
    main()
