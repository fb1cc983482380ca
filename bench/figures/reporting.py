"""Common end of every benchmark: print the table, keep the figures in the file, judge the ratios."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.figures.figure import Figure
from bench.figures.results import keep, measured

JSON = "--json"


def options(description: str | None, **numbers: float) -> argparse.ArgumentParser:
    """Return the options of a benchmark: these numbers with their defaults, and the file of results."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, value in numbers.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help=f"default: {value:g}")
    parser.add_argument(
        JSON, type=Path, metavar="FILE", help="keep the figures in this file, beside those of others"
    )
    return parser


def main(name: str, description: str | None, figures: Callable[[Path, float], Iterable[Figure]]) -> int:
    """Measure in a folder of its own, for as many seconds as the command line says, and report."""
    given = options(description, seconds=2.0).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return report(name, list(figures(Path(folder), given.seconds)), given)


def report(name: str, figures: Sequence[Figure], given: Any) -> int:
    """Print the table, keep the figures if asked to, and return 1 if a ratio is over what is allowed, else 0.

    `name` is the benchmark's; one that measures several things apart keeps them as `name.part`.
    """
    print(table(figures), flush=True)
    if given.json is not None:
        keep(given.json, name, measured(command(name, sys.argv[1:]), tuple(figures)))
    return int(any(figure.fails for figure in figures))


def command(name: str, words: Sequence[str]) -> str:
    """Return the command that measures this again: no file of results, and no path of this machine."""
    kept: list[str] = []
    skips = False
    for word in words:
        if not skips and word != JSON and not word.startswith(f"{JSON}="):
            kept.append(Path(word).name if "/" in word else word)
        skips = word == JSON
    return " ".join(["python -m", f"bench.{name.split('.')[0]}", *kept])


def table(figures: Iterable[Figure]) -> str:
    """Return all figures as a table, and which of them fail."""
    found = list(figures)
    head = f"{'figure':48}{'value':>18}{'goal':>10}  {'peer':38}{'ratio':>8}{'at most':>9}"
    failed = [figure.title for figure in found if figure.fails]
    end = f"missed: {'; '.join(failed)}" if failed else "every ratio holds"
    return "\n".join([head, *map(_line, found), end])


def _line(figure: Figure) -> str:
    goal = "" if figure.goal is None else f"{figure.goal:,g}"
    mark = "" if figure.goal is None else " +" if figure.value <= figure.goal else " -"
    peer = f"{figure.peer} {figure.peer_value:,.4g}" if figure.peer else ""
    ratio = "" if figure.ratio is None else f"{figure.ratio:.4f}"
    most = "" if figure.most is None else f"{figure.most:.4f} {'-' if figure.fails else '+'}"
    value = f"{figure.value:,.4g} {figure.unit}"
    return f"{figure.title:48}{value:>18}{goal + mark:>10}  {peer:38}{ratio:>8}{most:>9}".rstrip()
