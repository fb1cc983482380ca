"""A Python with Inspect and an installed wheel of replaykit: Inspect names scorers of installed code only."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from replaykit.interop.source_files import SourceLimits, open_source
from tests.needed import missing

ROOT = Path(__file__).parents[3]
INSPECT = ROOT / ".venv" / "inspect"
"""Where `.ci/setup` puts Inspect: beside the environment, since it has versions of its own."""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def inspect_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of a new environment: our wheel, then Inspect, then what both need."""
    if not (INSPECT / "acp").is_dir():
        missing(
            "Inspect's own package, which runs the scorers, is not in .venv/inspect: sh .ci/test installs it"
        )
    folder = tmp_path_factory.mktemp("installed")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    _run(sys.executable, "-m", "venv", "--without-pip", str(folder / "env"))
    (site,) = (folder / "env").glob("lib/python*/site-packages")
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)  # all that an installer does to a wheel of pure Python
    for client in ("anthropic", "openai"):  # no model is asked, and Inspect takes seconds to load them
        (site / f"{client}.py").write_text("raise ImportError('not for these tests')\n")
    (site / "beside.pth").write_text(f"{INSPECT}\n{sysconfig.get_path('purelib')}\n")
    return folder / "env" / "bin" / "python"


def logged(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the head of a log and its samples: to have Inspect print them takes seconds."""
    with closing(open_source("inspect", path, SourceLimits())) as log:
        names = [name for name in log.names() if name.startswith("samples/")]
        return log.json("header.json"), [log.json(name) for name in names]


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


@pytest.fixture
def run(inspect_python: Path, tmp_path: Path) -> Run:
    """Return a function that runs the interpreter in the test's folder, with these variables added."""

    def run(*arguments: str | Path, **added: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment = {**kept, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), **added}
        return subprocess.run(
            [inspect_python, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip

    return run
