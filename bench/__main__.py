"""All benchmarks, one after the other; exit 1 where one of them fails. The page is made from their results.

Run: .venv/bin/python -m bench [--only grade]... [--json FILE] [--write]

    --json docs/benchmarks/results.json    measure, and keep the figures in this file
    --write                                write docs/benchmarks.md and its plots from that file

`--write` without the others measures nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.figures.page import RESULTS, write
from bench.figures.results import read

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
"""What is measured, in this order; the last two take ten minutes and an hour."""


def run(names: Sequence[str], *words: str) -> int:
    """Run benchmarks by name, each in a process of its own, and say which failed."""
    failed = []
    for name in names:
        print(f"== bench.{name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{name}", *words], check=False).returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "every benchmark holds")
    return int(bool(failed))


def main() -> int:
    """Run those that are named, by default all; write the page on demand."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", choices=NAMES, help="measure this only; again for more")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in this file")
    parser.add_argument("--write", action="store_true", help="write the page and its plots from its results")
    given = parser.parse_args()
    measures = given.only or given.json or not given.write
    words = ["--json", str(given.json)] if given.json else []
    code = run(given.only or NAMES, *words) if measures else 0
    if given.write:
        write(read(RESULTS))
    return code


if __name__ == "__main__":
    sys.exit(main())
