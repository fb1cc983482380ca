"""Every snippet of docs/drivers.md does what the page says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.grading.grader import grade
from tests.blocks import typed_lines
from tests.live.agent_programs import DRIVERS, WAIT_S, held, needs
from tests.thorough import one_in

pytestmark = pytest.mark.live

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", (ROOT / "docs" / "drivers.md").read_text("utf-8"), flags=re.S)
NAME = re.compile(r"(?:#|//) (\S+\.\w+)\n")
FILES = {found[1]: text for _, text in BLOCKS if (found := NAME.match(text))}
"""Snippets that say what file they are."""
SCRIPTS = [text for kind, text in BLOCKS if kind == "python" and not NAME.match(text)]
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in typed_lines(text)]
OTHERS = [
    "replaykit record --cdp http://127.0.0.1:9222 -o browser.zst",  # test_drivers.py
    "replaykit record http://127.0.0.1:8000/ -o person.zst",  # test_drivers_person.py
]
"""Commands that go on until somebody ends them; their forms are tested where it says."""
RUN = [line for line in COMMANDS if line not in OTHERS]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder with what the page takes for granted, and the shop's root."""
    shutil.copy(ROOT / "fixtures" / "tasks" / "shop.yaml", tmp_path)
    (tmp_path / "node_modules").symlink_to(DRIVERS / "node_modules")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    with serve() as shop:
        yield tmp_path, shop.url


def run(argv: list[str], folder: Path, browser: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "REPLAYKIT_BROWSER": str(browser)}
    done = subprocess.run(
        argv, cwd=folder, env=environ, capture_output=True, text=True, timeout=WAIT_S, check=False
    )
    assert done.returncode == 0, done.stderr


def prove(path: Path) -> None:
    run = held(path)
    assert run.steps
    assert {step.origin for step in run.steps} <= {"observed", "both", "declared"}
    with open_bundle(path) as bundle:
        assert grade(bundle).success == "PASS"


def there(text: str, url: str) -> str:
    """The snippet with the shop where it runs here."""
    return text.replace("http://127.0.0.1:8000", url)


def test_the_page_shows_what_is_tested() -> None:
    assert set(OTHERS) <= set(COMMANDS)
    assert (len(SCRIPTS), len(RUN), sorted(FILES)) == (3, 2, ["agent.mjs", "my_agent.py"])


@pytest.mark.parametrize("script", one_in(3, SCRIPTS), ids=["sync", "async", "steps"])
def test_script(script: str, folder: tuple[Path, str], browser_path: Path) -> None:
    place, url = folder
    run([sys.executable, "-c", there(script, url)], place, browser_path)
    (bundle,) = place.glob("*.zst")
    prove(bundle)


@pytest.mark.parametrize("line", one_in(2, RUN), ids=["function", "program"])
@pytest.mark.thorough  # test_quickstart.py runs the like
def test_command(line: str, folder: tuple[Path, str], browser_path: Path) -> None:
    place, url = folder
    program, *arguments = shlex.split(line.replace("http://127.0.0.1:8000", url))
    assert program == "replaykit"
    if "node" in arguments:
        needs("node", package="playwright-core")
    run([sys.executable, "-m", "replaykit", *arguments], place, browser_path)
    (bundle,) = place.glob("*.zst")
    prove(bundle)
