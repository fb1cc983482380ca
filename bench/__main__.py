"""All benchmarks, one after the other; exit 1 where one of them fails.

Run: .venv/bin/python -m bench [--only grade]...
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence

NAMES = (
    "record",
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
    "evidence",
    "soak",
)
"""What is measured, in this order; the last two take ten minutes and an hour."""


def run(names: Sequence[str]) -> int:
    """Run benchmarks by name, each in a process of its own, and say which failed."""
    failed = []
    for name in names:
        print(f"== bench.{name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "every benchmark holds")
    return int(bool(failed))


def main() -> int:
    """Run those that are named, by default all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=NAMES, help="measure this alone; again for more")
    return run(parser.parse_args().only or NAMES)


if __name__ == "__main__":
    sys.exit(main())
