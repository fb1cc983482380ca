"""The bar that a terminal shows, in a real one."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

RECORDINGS = sorted((Path(__file__).parents[2] / "recordings" / "conformance").glob("*.zst"))

HOSTILE = "[/b]\x1b]0;owned\x07[link=https://x.example]"


def in_a_terminal(*words: str) -> tuple[int, str]:
    """Run a command whose stderr is a terminal; return its exit code and what the terminal was sent."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "replaykit", *words], stdout=subprocess.DEVNULL, stderr=theirs
    ) as process:
        os.close(theirs)
        sent = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return process.returncode, sent.decode("utf-8", "replace")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""


def test_ids_of_tasks_are_shown_and_never_obeyed(tmp_path: Path) -> None:
    task = {"id": HOSTILE, "intent": "x", "checks": [{"type": "string_match", "exact": "x"}]}
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"schema": "replaykit.suite/1", "tasks": [task]}), "utf-8")
    runs = list(map(str, RECORDINGS[:3]))
    page = str(tmp_path / "report.html")
    code, sent = in_a_terminal("grade", *runs, "--task", f"{suite}#{HOSTILE}", "--fail-on", "", "-o", page)
    assert code == 0, sent
    assert "grading" in sent
    assert "writing" in sent
    assert "[/b]" in sent
    assert "\x1b]" not in sent
