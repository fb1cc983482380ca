"""`docs/plugins.md`: its package, installed as pip would, grades a shipped run as the page shows."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.blocks import ROOT, block

PAGE = "docs/plugins.md"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with the package of the page and its metadata, a task file and a run."""
    project = tomllib.loads(block(PAGE, "# pyproject.toml").text)["project"]
    (tmp_path / "house_rules").mkdir()
    (tmp_path / "house_rules/__init__.py").write_text(block(PAGE, "# house_rules/__init__.py").text)
    metadata = tmp_path / "house_rules-0.1.dist-info"
    metadata.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (metadata / "METADATA").write_text(head)
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    (tmp_path / "house.yaml").write_text(block(PAGE, "# house.yaml").text)
    shutil.copy(ROOT / "recordings/conformance/order-total--good.zst", tmp_path / "run.zst")
    return tmp_path


def output_of(command: str, folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(folder)))}
    words = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout


def test_the_package_of_the_page_grades_a_run(installed: Path) -> None:
    shown = block(PAGE, "$ replaykit tasks validate house.yaml").text
    commands = [line.removeprefix("$ ") for line in shown.splitlines() if line.startswith("$ ")]
    printed = "\n".join(f"$ {command}\n{output_of(command, installed)}" for command in commands)
    assert printed.split() == shown.split()


def test_a_part_that_is_not_installed_is_named(installed: Path) -> None:
    shutil.rmtree(installed / "house_rules-0.1.dist-info")
    printed = output_of("replaykit tasks validate house.yaml", installed)
    assert "no plugin 'few_steps' is installed here" in printed
    assert "no plugin 'few_pages' is installed here" in printed
