"""The file of results: what every benchmark found when it was last run, by which command, on which machine.

A benchmark replaces its own figures and leaves those of the others, with their date and machine.
"""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import astuple, replace

from bench.figures.figure import Figure, Spread
from replaykit.browser import find_browser
from replaykit.errors import ReplaykitError

DIGITS = 5
"""Significant digits that are kept."""


class Host(Struct, frozen=True, omit_defaults=True):
    """Facts about a machine, never its name; what is unknown is left out."""

    cpu: str = ""
    cores: int = 0
    system: str = ""
    python: str = ""
    chromium: str = ""
    playwright: str = ""

    @property
    def line(self) -> str:
        """All facts as one text."""
        parts = [self.cpu, f"{self.cores} processors" if self.cores else "", self.system]
        tools = {"Python": self.python, "Chromium": self.chromium, "Playwright": self.playwright}
        return ", ".join(part for part in [*parts, *(f"{k} {v}" for k, v in tools.items() if v)] if part)


class Result(Struct, frozen=True, omit_defaults=True):
    """Result of a benchmark."""

    command: str
    date: str
    """Day, as YYYY-MM-DD."""
    host: Host
    figures: tuple[Figure, ...]
    load: float | None = None
    """Processes that wanted a processor in the last minute; more than those of the benchmark disturb it."""
    runs: int = 1
    """Whole runs of the benchmark; of several, every figure is that of the run in the middle."""


class Results(Struct, frozen=True):
    """The whole file."""

    schema: Literal[1] = 1
    benchmarks: dict[str, Result] = {}

    def merged(self, name: str, result: Result) -> Results:
        """Return these with the result of one benchmark in place of its older one."""
        return Results(benchmarks=dict(sorted({**self.benchmarks, name: result}.items())))


def read(path: Path) -> Results:
    """Read a file; a missing one has no results."""
    return msgspec.json.decode(path.read_bytes(), type=Results) if path.exists() else Results()


def encoded(results: Results) -> bytes:
    """Return the bytes of the file: the same for the same results."""
    return msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n"


def keep(path: Path, name: str, result: Result) -> None:
    """Put the result of a benchmark into a file; the file is whole at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(encoded(read(path).merged(name, _rounded(result))))
    new.replace(path)


def measured(command: str, figures: tuple[Figure, ...]) -> Result:
    """Return figures that were measured just now on this machine."""
    return Result(command, datetime.now(UTC).date().isoformat(), this_host(), figures, os.getloadavg()[0])


def this_host() -> Host:
    """Return the facts about this machine."""
    return Host(
        cpu=_cpu(), cores=os.cpu_count() or 0, system=_system(), python=platform.python_version(),
        chromium=_chromium(), playwright=version("playwright"),
    )  # fmt: skip


def _cpu() -> str:
    found = Path("/proc/cpuinfo")
    lines = found.read_text().splitlines() if found.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.release()}"


def _chromium() -> str:
    try:
        path = find_browser()
    except ReplaykitError:
        return ""
    said = subprocess.run([str(path), "--version"], capture_output=True, text=True, check=False).stdout
    return next((word for word in said.split() if word[0].isdigit()), "")


def _rounded(result: Result) -> Result:
    load = None if result.load is None else _short(result.load)
    return replace(result, load=load, figures=tuple(map(_rounded_figure, result.figures)))


def _rounded_figure(figure: Figure) -> Figure:
    found = {name: getattr(figure, name) for name in ("value", "goal", "peer_value", "most", "at")}
    numbers = {name: _short(value) for name, value in found.items() if value is not None}
    spread, runs = map(_rounded_spread, (figure.spread, figure.runs))
    return replace(figure, **numbers, spread=spread, runs=runs)


def _rounded_spread(spread: Spread | None) -> Spread | None:
    return spread and Spread(*map(_short, astuple(spread)))


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
