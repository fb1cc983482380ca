"""All benchmarks, one after the other; exit 1 where one of them fails. The page is made from their results.

Run: .venv/bin/python -m bench [--only grade]... [--quick] [--runs 3] [--json FILE] [--write]

    --json docs/benchmarks/results.json    measure, and keep the figures in this file
    --write                                write docs/benchmarks.md and its plots from that file
    --runs 3                               run each several times, and keep the run in the middle
    --quick                                measure little of each, to see whether it works

`--write` without the others measures nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.figures.page import RESULTS, write
from bench.figures.results import read
from bench.figures.whole_runs import keep_runs, measure

NAMES = (
    "record",
    "long_run",
    "proof",
    "proxy",
    "grade",
    "peers",
    "report",
    "bundle",
    "imports",
    "policies",
    "forged",
    "scaling",
    "scale",
    "evidence",
    "soak",
)
"""Measurements, in this order; the last two take ten minutes and an hour."""


QUICK = {
    "record": "--rounds 1",
    "long_run": "--steps 50",
    "proof": "--rounds 1",
    "proxy": "--rounds 1",
    "grade": "--seconds 0.1",
    "peers": "--seconds 0.1",
    "report": "--runs 200 --rounds 1",
    "imports": "--runs 20 --rounds 1",
    "policies": "--seconds 0.1",
    "forged": "--every 20",
    "scaling": "--seconds 0.05 --bundles 20 --small 50",
    "scale": "--bundles 50 --rounds 1",
    "evidence": "--runs 1 --evidence none",
    "soak": "--runs 2 --browsers 1",
}
"""Options with which a benchmark is over soon; the others are so anyway."""


def run(names: Sequence[str], runs: int, path: Path | None, is_quick: bool) -> int:
    """Run benchmarks by name, each in processes of its own; say how long each took, and which failed."""
    failed = []
    for name in names:
        print(f"== bench.{name}", flush=True)
        start = time.perf_counter()
        if run_one(name, QUICK.get(name, "").split() if is_quick else [], runs, path):
            failed.append(name)
        print(f"bench.{name} took {time.perf_counter() - start:.0f} s", flush=True)
    print(f"failed: {', '.join(failed)}" if failed else "every benchmark holds")
    return int(bool(failed))


def run_one(name: str, words: Sequence[str], runs: int, path: Path | None) -> int:
    """Run a benchmark as often as asked for, keep its figures if there is a file, return its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        code, files = measure(name, words, runs, Path(folder))
        if path is not None and all(file.exists() for file in files):
            keep_runs(path, files)
    return code


def main() -> int:
    """Run those that are named, by default all; write the page on demand."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", choices=NAMES, help="measure this only; again for more")
    parser.add_argument(
        "--quick", action="store_true", help="measure little: whether each works, not how fast"
    )
    parser.add_argument("--runs", type=int, default=1, help="whole runs of each; default: 1")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in this file")
    parser.add_argument("--write", action="store_true", help="write the page and its plots from its results")
    given = parser.parse_args()
    measures = given.only or given.json or given.quick or not given.write
    code = run(given.only or NAMES, given.runs, given.json, given.quick) if measures else 0
    if given.write:
        write(read(RESULTS))
    return code


if __name__ == "__main__":
    sys.exit(main())
