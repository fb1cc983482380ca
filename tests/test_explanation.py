"""docs/explanation.md, block by block: what it types does what it shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from replaykit.cli.main import cli

ROOT = Path(__file__).resolve().parent.parent
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", (ROOT / "docs" / "explanation.md").read_text("utf-8"), flags=re.S)
NAME = re.compile(r"# (\S+\.yaml)\n")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the page's files, and the recordings of the checkout."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recordings").symlink_to(ROOT / "recordings")
    (tmp_path / "replaykit").write_text(f'#!/bin/sh\nexec {sys.executable} -m replaykit "$@"\n')
    (tmp_path / "replaykit").chmod(0o755)
    for kind, text in BLOCKS:
        if kind == "yaml":
            found = NAME.match(text)
            assert found is not None
            (tmp_path / found[1]).write_text(text, "utf-8")
    return tmp_path


SHOWN = [text for kind, text in BLOCKS if kind == ""]
TYPED = [text for kind, text in BLOCKS if kind == "sh"]


def test_no_block_is_left_out() -> None:
    assert {kind for kind, _ in BLOCKS} == {"", "sh", "yaml"}
    assert (len(SHOWN), len(TYPED)) == (3, 1)


@pytest.mark.parametrize("text", SHOWN)
def test_the_output_is_real(text: str) -> None:
    command, _, output = text.partition("\n")
    program, *words = shlex.split(command.removeprefix("$ "))
    assert program == "replaykit"
    assert CliRunner().invoke(cli, words).stdout == output


@pytest.mark.parametrize("text", TYPED)
def test_the_same_bytes(text: str, folder: Path) -> None:
    environ = {"PATH": f"{folder}:/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-e", "-c", text], env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "one.json").stat().st_size
