"""Shell completion as docs/completion.md gives it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from replaykit.cli.command_groups import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "completion.md").read_text("utf-8")
LINES = {
    line.split()[1]: code.replace(r"\|", "|")
    for line in PAGE.splitlines()
    if (code := next(iter(re.findall(r"`([^`]*replaykit completion[^`]*)`", line)), ""))
}
"""Shell to the line of its start-up file."""


# In CI it is there: without it these tests fail.
NEEDS_BASH = pytest.mark.skipif(
    shutil.which("bash") is None and not os.environ.get("CI"),
    reason="no bash on PATH: the completion script asks its version, and runs in it",
)


def ask(**environ: str) -> str:
    """Return the command's output when a shell asks it."""
    done = subprocess.run(
        [sys.executable, "-m", "replaykit"],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return done.stdout


def completed(words: str, at: int) -> list[str]:
    output = ask(_REPLAYKIT_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(at))
    return [line.partition(",")[2] for line in output.splitlines() if line]


def test_the_page_has_a_line_for_each_shell() -> None:
    assert set(LINES) == {"bash", "zsh", "fish"}


@pytest.mark.parametrize("shell", [pytest.param("bash", marks=NEEDS_BASH), "fish", "zsh"])
def test_the_script_is_produced(shell: str) -> None:
    assert f"replaykit completion {shell}" in LINES[shell]
    script = ask(_REPLAYKIT_COMPLETE=f"{shell}_source")
    assert f"_REPLAYKIT_COMPLETE={shell}_complete" in script
    assert "_replaykit_completion" in script


def test_commands_are_completed() -> None:
    assert completed("replaykit ", 1) == sorted(COMMANDS)
    assert completed("replaykit re", 1) == sorted(name for name in COMMANDS if name.startswith("re"))
    assert completed("replaykit nonsense", 1) == []


def test_options_and_their_choices_are_completed() -> None:
    assert "--fail-under" in completed("replaykit grade --fail", 2)
    assert completed("replaykit grade --mode ", 3) == ["strict", "compat"]


@pytest.mark.parametrize("shell", [pytest.param("bash", marks=NEEDS_BASH), "fish", "zsh"])
def test_the_command_prints_what_the_variable_does(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "replaykit", "completion", shell],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == ask(_REPLAYKIT_COMPLETE=f"{shell}_source")


@pytest.mark.parametrize(
    ("words", "at", "offered"),
    [
        ("replaykit grade --judge web", 3, ["webvoyager", "webjudge"]),
        (
            "replaykit record --task fixtures/tasks/shop.yaml#order-t",
            3,
            ["fixtures/tasks/shop.yaml#order-total"],
        ),
        ("replaykit grade --task no-such.yaml#o", 3, []),
        ("replaykit export playwright", 2, ["playwright-trace"]),
        ("replaykit import webv", 2, ["webvoyager"]),
        ("replaykit show run.z", 2, ["run.z"]),
        ("replaykit completion f", 2, ["fish"]),
    ],
)
def test_values_are_completed(
    words: str, at: int, offered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert completed(words, at) == offered


@NEEDS_BASH
def test_bash_takes_the_line_and_completes(tmp_path: Path) -> None:
    program = tmp_path / "replaykit"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m replaykit "$@"\n')
    program.chmod(0o755)
    script = f"""
{LINES["bash"]}
COMP_WORDS=(replaykit gra); COMP_CWORD=1
_replaykit_completion replaykit
echo "${{COMPREPLY[@]}}"
"""
    environ = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", script], env=environ, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "grade\n", done.stderr
