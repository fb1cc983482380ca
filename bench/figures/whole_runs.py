"""Several whole runs of a benchmark as one result: for every figure the run in the middle, and their spread.

Rounds of one run share caches, the state of the machine and the bundles that the run made; whole runs do not.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from bench.figures.figure import Figure, Spread
from bench.figures.results import Result, keep, read


def measure(name: str, words: Sequence[str], runs: int, folder: Path) -> tuple[int, list[Path]]:
    """Run a benchmark several times; return the worst exit code, and the file of results of each run."""
    files = [folder / f"{name}-{index}.json" for index in range(runs)]
    command = [sys.executable, "-m", f"bench.{name}", *words]
    codes = [subprocess.run([*command, "--json", str(file)], check=False).returncode for file in files]
    return max(codes), files


def keep_runs(path: Path, files: Sequence[Path]) -> None:
    """Put what several runs found into the file of results."""
    found = [read(file).benchmarks for file in files]
    for name in found[0]:
        keep(path, name, of_runs([one[name] for one in found if name in one]))


def of_runs(results: Sequence[Result]) -> Result:
    """Return one result of at least one run; date, machine and load are those of the last."""
    if len(results) == 1:
        return results[0]
    return replace(results[-1], figures=tuple(_figures(results)), runs=len(results))


def _figures(results: Sequence[Result]) -> Iterator[Figure]:
    found: dict[tuple[object, ...], list[Figure]] = {}
    for result in results:
        for figure in result.figures:
            found.setdefault((figure.name, figure.at, figure.peer), []).append(figure)
    yield from map(_middle, found.values())


def _middle(figures: Sequence[Figure]) -> Figure:
    """Return the figure of the run in the middle as it was found, so that its parts belong together."""
    ordered = sorted(figures, key=decisive)
    return replace(ordered[(len(ordered) - 1) // 2], runs=Spread.of(map(decisive, figures)))


def decisive(figure: Figure) -> float:
    """Return what runs are compared by: the ratio, or the value where there is no ratio."""
    return figure.value if figure.ratio is None else figure.ratio
