"""Resolve replaykit beside each tool of docs/installing.md, on every Python, and compare with the page.

Nothing is installed or built. `uv` resolves where it is on the path, else pip. What the index does not hold
is reported as not tried, never as passed. Exit 0: nothing contradicts the page; 1: something does.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "installing.md"
COLUMNS = ("core", "browser", "judge", "openai")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SECONDS = 900
"""Time of one resolution."""

UNKNOWN = re.compile(
    r"not found in the package registry|there (is|are) no versions? of|only the following versions?"
    r"|No matching distribution found|Failed to fetch|error sending request|Could not find a version"
    r"|has no usable wheels|only has (pre-releases|the following)|timed out"
)
"""Words of a resolver about a package that the index does not hold, or that needs a build."""


class Row(NamedTuple):
    """One row of the page."""

    tool: str
    """Requirement, such as `browser-use==0.13.14`."""
    cells: dict[str, str]
    """Column to `yes`, `no`, or the first Python where it is yes (`3.12`)."""


def rows(page: str) -> Iterator[Row]:
    """Yield the rows of the table, whose tools are written as `name 1.2` or `name[extra] 1.2`."""
    for line in re.findall(r"^\| (\S+ \d\S*) \|(.*)\|$", page, flags=re.M):
        tool, cells = line
        name, version = tool.split()
        found = [cell.strip() for cell in cells.split("|")]
        yield Row(f"{name}=={version}", dict(zip(COLUMNS, found, strict=False)))


def expected(cell: str, python: str) -> str:
    """Return what the page says for one Python."""
    if re.fullmatch(r"3\.\d+", cell):
        return "yes" if _minor(python) >= _minor(cell) else "no"
    return cell


def _minor(python: str) -> int:
    return int(python.partition(".")[2])


def needs(column: str) -> list[str]:
    """Return what replaykit requires with an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extra = [] if column == "core" else project["optional-dependencies"][column]
    return [*project["dependencies"], *extra]


def outcomes(tool: str, python: str) -> dict[str, str]:
    """Return `yes`, `no` or `not tried` for each column; what holds together holds apart."""
    together = sorted({need for column in COLUMNS for need in needs(column)})
    if resolve([tool, *together], python) == "yes":
        return dict.fromkeys(COLUMNS, "yes")
    if resolve([tool], python) != "yes":  # the tool by itself: it says nothing about replaykit
        return dict.fromkeys(COLUMNS, "not tried")
    return {column: resolve([tool, *needs(column)], python) for column in COLUMNS}


def resolve(requirements: list[str], python: str) -> str:
    """Return whether requirements hold together on a Python."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "requirements.in")
        listed.write_text("\n".join(requirements) + "\n", "utf-8")
        try:
            done = subprocess.run(
                resolver(listed, python, folder), capture_output=True, text=True, check=False, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return "not tried"
    if done.returncode == 0:
        return "yes"
    return "not tried" if UNKNOWN.search(" ".join(done.stderr.split())) else "no"


def resolver(listed: Path, python: str, folder: str) -> list[str]:
    """Return the command that resolves a file of requirements."""
    uv = shutil.which("uv")
    if uv:
        how = ["--python-version", python, "--only-binary", ":all:", "--no-header", "-o", f"{folder}/lock"]
        return [uv, "pip", "compile", "-q", str(listed), *how]
    how = ["--dry-run", "--ignore-installed", "--python-version", python, "--only-binary=:all:"]
    report = ["--target", f"{folder}/target", "--report", f"{folder}/report.json"]
    return [sys.executable, "-m", "pip", "install", "-q", *how, *report, "-r", str(listed)]


def differences(row: Row, python: str) -> Iterator[str]:
    """Print what was found for a row, and yield what the page says otherwise."""
    found = outcomes(row.tool, python)
    listed = ", ".join(f"{name} {outcome}" for name, outcome in found.items())
    sys.stdout.write(f"{row.tool} on {python}: {listed}\n")
    sys.stdout.flush()
    for column, outcome in found.items():
        said = expected(row.cells.get(column, ""), python)
        if outcome != "not tried" and said != outcome:
            yield f"{row.tool} on {python}, {column}: the page says {said!r}, the resolver {outcome!r}"


def main(asked: list[str]) -> int:
    """Resolve the rows whose tool was asked for, or all."""
    listed = rows(PAGE.read_text("utf-8"))
    found = [row for row in listed if not asked or row.tool.partition("==")[0] in asked]
    wrong = [words for row in found for python in PYTHONS for words in differences(row, python)]
    sys.stdout.write(("\n".join(wrong) or "nothing contradicts the page") + "\n")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
