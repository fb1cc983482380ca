"""The quickstart's blocks that record, one after the other: what they leave is graded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.grading.grader import grade
from tests.blocks import ROOT, block, blocks_of
from tests.live.agent_programs import DRIVERS, needs

pytestmark = pytest.mark.live

HOME = "http://127.0.0.1:8000"
PYTHON = [one.text for one in blocks_of(ROOT / "docs/quickstart.md") if one.kind == "python"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the checkout's fixtures, and the programs that the page puts on the PATH."""
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, module in (("replaykit", "-m replaykit"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
        (programs / name).chmod(0o755)
    return tmp_path


@pytest.fixture
def environ(browser_path: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "REPLAYKIT_BROWSER": str(browser_path)}


@pytest.fixture
def shop() -> Iterator[str]:
    with serve() as running:
        yield running.url


def run(argv: list[str], folder: Path, environ: dict[str, str]) -> str:
    done = subprocess.run(
        argv, cwd=folder, env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.thorough  # tests/cli/test_init.py runs what `init` writes
def test_a_script_of_one_s_own_is_recorded_and_graded(
    folder: Path, environ: dict[str, str], shop: str
) -> None:
    text = block("docs/quickstart.md", "replaykit init").text
    on_path = {**environ, "PATH": f"{folder / '.venv' / 'bin'}:{environ['PATH']}"}
    run(["sh", "-ec", text.replace("https://example.com", shop)], folder, on_path)
    assert grade(folder / "my-agent" / "run.zst").cup == 1
    assert (folder / "my-agent" / "report.html").stat().st_size


def test_the_blocks_record_and_grade(folder: Path, environ: dict[str, str], shop: str) -> None:
    said = [run([sys.executable, "-c", text.replace(HOME, shop)], folder, environ) for text in PYTHON]
    assert said == ["", "PASS 1 []\n"]
    assert (folder / "report.json").stat().st_size


@pytest.mark.thorough
def test_the_commands_record_a_function_and_a_program(
    folder: Path, environ: dict[str, str], shop: str
) -> None:
    needs("node", package="playwright-core")
    (folder / "agent.mjs").write_text(block("docs/drivers.md", "// agent.mjs").text, "utf-8")
    (folder / "node_modules").symlink_to(DRIVERS / "node_modules")
    lines = block("docs/quickstart.md", "replaykit record").text.replace(HOME, shop)
    path = f"{folder / '.venv/bin'}{os.pathsep}{environ['PATH']}"
    run(["sh", "-e", "-c", lines], folder, {**environ, "PATH": path})
    for name in ("function.zst", "program.zst"):
        with open_bundle(folder / name) as bundle:
            assert grade(bundle).success == "PASS"


def test_the_shop_of_the_page_answers(folder: Path, environ: dict[str, str]) -> None:
    path, server = block("docs/quickstart.md", "export PATH=").text.splitlines()
    assert server.endswith(" --port 8000")
    script = f"{path}\ncommand -v replaykit\nexec {server.removesuffix('8000')}0"
    argv = ["sh", "-e", "-c", script]
    with subprocess.Popen(argv, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True) as started:
        try:
            assert started.stdout is not None
            assert started.stdout.readline() == f"{folder}/.venv/bin/replaykit\n"
            url = started.stdout.readline().split()[0]
            with urlopen(url, timeout=60) as page:
                assert b"/orders" in page.read()
        finally:
            started.terminate()
