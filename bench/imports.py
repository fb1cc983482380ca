"""How fast runs of other tools become bundles, with one job and with two: the rate of each.

Run: .venv/bin/python -m bench.imports [--runs 500] [--turns 8]

Runs are made up: WebVoyager result folders with a screenshot a turn, each with bytes of its own. Times are
wall time, since jobs are processes; a second job takes a second core, and a machine that has none shows that.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
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


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--turns", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in")
        make_runs(source, given.runs, given.turns)
        rates = {jobs: rate(source, Path(folder, f"out{jobs}"), given.runs, jobs) for jobs in (1, 2)}
    print(json.dumps({"runs": given.runs, "turns": given.turns}))
    for jobs, found in rates.items():
        print(f"{jobs} job{'s' if jobs > 1 else ''}: {found:.1f} runs a second")
    print(f"two jobs against one: {rates[2] / rates[1]:.2f} times")


if __name__ == "__main__":
    main()
