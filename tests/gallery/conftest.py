"""The examples of docs/gallery.md, each run as the page shows it, by the packages that its row names.

`sh .ci/ecosystem gallery` installs each into `.venv/gallery/NAME`, and sets REPLAYKIT_GALLERY. Without that variable
an example whose environment is missing is skipped: the environments are too heavy for every test run.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from fixtures.sites.shop.server import Site, serve
from tests.blocks import ROOT, blocks_of

PAGE = "docs/gallery.md"
SHOP = "http://127.0.0.1:8000"
"""Where the page has the shop."""
PUBLIC = Path(os.environ.get("REPLAYKIT_SHARED_DATA", ROOT.parent / "shared" / "data"))
"""Files of public benchmarks, where there are any."""
LAUNCH = """from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    playwright.chromium.launch()
"""


@dataclass
class Example:
    """One example in its own environment and in an empty folder, beside a copy of the fixtures."""

    python: Path
    folder: Path
    shop: str
    browser: Path

    def run(self, script: str, **added: str) -> subprocess.CompletedProcess[str]:
        """Run lines of the page by a shell whose PATH begins with the environment."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "REPLAYKIT"))
        }
        variables = {
            **kept,
            "PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "REPLAYKIT_BROWSER": str(self.browser),
            **added,
        }
        return subprocess.run(
            ["sh", "-euc", script.replace(SHOP, self.shop)], cwd=self.folder, env=variables, capture_output=True,
            text=True, timeout=300, check=False,
        )  # fmt: skip

    def shows(self, title: str, code: int = 0, **added: str) -> None:
        """Run the commands of a section of the page; fails unless they end with the output that the page shows."""
        command, output = section(title)
        done = self.run(command, **added)
        assert done.returncode == code, done.stdout + done.stderr
        assert output and done.stdout.endswith(output), done.stdout + done.stderr


def own_build(python: Path, browser: Path, folder: Path) -> str:
    """Put a browser where the Playwright of an environment has its own build; returns PLAYWRIGHT_BROWSERS_PATH."""
    variables = {**os.environ, "PLAYWRIGHT_BROWSERS_PATH": str(folder)}
    done = subprocess.run(
        [python, "-c", LAUNCH], env=variables, capture_output=True, text=True, timeout=60, check=False
    )
    found = re.search(r"Executable doesn't exist at (\S+)", done.stderr)
    assert found is not None, done.stderr
    place = Path(found[1])
    place.parent.mkdir(parents=True)
    place.write_text(f'#!/bin/sh\nexec {shlex.quote(str(browser))} "$@"\n')
    place.chmod(0o755)
    return str(folder)


def section(title: str) -> tuple[str, str]:
    """The first command of a section of the page, and the output below it."""
    start, end = lines_of(title)
    found = [one for one in blocks_of(ROOT / PAGE) if start < one.line < end]
    command = next(one for one in found if one.kind == "sh")
    output = next(one for one in found if one.kind == "" and one.line > command.line)
    return command.text, output.text


def lines_of(title: str) -> tuple[int, int]:
    """From a heading to the next one, in lines from 1."""
    lines = (ROOT / PAGE).read_text("utf-8").splitlines()
    start = lines.index(f"## {title}") + 1
    later = [number for number, line in enumerate(lines, 1) if number > start and line.startswith("## ")]
    return start, min([*later, len(lines) + 1])


@pytest.fixture
def shop() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.fixture
def example(shop: Site, browser_path: Path, tmp_path: Path) -> Callable[..., Example]:
    """Return a function that opens the example of that name."""

    def opened(name: str, *, has_stand_in: bool = False) -> Example:
        python = installed(name, has_stand_in)
        shutil.copytree(
            ROOT / "fixtures", tmp_path / "fixtures", ignore=shutil.ignore_patterns("__pycache__")
        )
        return Example(python, tmp_path, shop.url, browser_path)

    return opened


def installed(name: str, has_stand_in: bool = False) -> Path:
    """Return the interpreter of an environment of the gallery; without it, skip, or fail in `.ci/ecosystem`.

    `has_stand_in`: the interpreter that runs the tests does as well, outside of `.ci/ecosystem`.
    """
    python = ROOT / ".venv" / "gallery" / name / "bin" / "python"
    if not python.exists():
        if has_stand_in and not os.environ.get("REPLAYKIT_GALLERY"):
            return Path(sys.executable)
        left_out(f"{python.parent} is missing: sh .ci/ecosystem gallery installs it")
    return python


def left_out(reason: str) -> NoReturn:
    """Skip without packages that are too heavy for every run; fail in CI's job `ecosystem`, which installs them."""
    if os.environ.get("REPLAYKIT_GALLERY"):
        pytest.fail(reason)
    pytest.skip(reason=reason)
