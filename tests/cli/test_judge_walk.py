"""What docs/judges.md and the README show of judging an old run is what the commands say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from replaykit.cli.main import run as run_cli
from replaykit.grading.judges.client import Answered
from replaykit.grading.request import ModelReply, TextPart

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "judges.md"
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
RUNS = ("order-total--good", "order-total--stops_early")
BLOCK = re.compile(r"(## From an old run to a changed judge\n.*?\n```\n)(\$ .*?)```", re.DOTALL)

OURS = """protocol: webvoyager
images: last:1
"""


class ByHand:
    """Says what a person wrote down, and says so."""

    def __init__(self, **options: Any) -> None:
        pass

    def ask(self, request: Any, pictures: Any) -> Answered:
        is_answered = any("84.50" in part.text for part in request.content if isinstance(part, TextPart))
        is_taken_in = not is_answered and len(pictures) > 1
        words = "The orders are shown.\nSUCCESS" if is_taken_in else "No total is reported.\nNOT SUCCESS"
        text = "The order of the teapot is open, its total is that of the response.\nSUCCESS"
        reply = text if is_answered else words
        return Answered(
            reply=ModelReply(text=reply, stop_reason="end_turn", model="by hand", origin="synthetic")
        )

    def close(self) -> None:
        pass


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with two runs in the layout of WebVoyager, and the file of the changed judge."""
    for name in RUNS:
        recorded = ROOT / "recordings" / "conformance" / f"{name}.zst"
        assert run_cli(["export", "webvoyager", str(recorded), "-o", str(tmp_path / "results" / name)]) == 0
    (tmp_path / "ours.yaml").write_text(OURS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("replaykit.grading.judging.Transports", ByHand)
    return tmp_path


def test_an_old_run_is_judged_twice_and_compared(
    place: Path, capfd: pytest.CaptureFixture[str], update_goldens: bool
) -> None:
    page = PAGE.read_text()
    shown = BLOCK.search(page)
    assert shown is not None
    capfd.readouterr()
    said = "\n".join(_said(line, capfd) for line in shown[2].splitlines() if line.startswith("$ "))
    if update_goldens:
        PAGE.write_text(page[: shown.start(2)] + said + page[shown.end(2) :])
    assert PAGE.read_text()[shown.start(2) :].startswith(said + "```")
    assert (place / "after.json").exists()


def test_the_page_shows_the_file_of_the_changed_judge() -> None:
    assert OURS in PAGE.read_text()


def test_the_readme_shows_the_end_of_the_walk() -> None:
    shown = BLOCK.search(PAGE.read_text())
    assert shown is not None
    assert shown[2][shown[2].index("$ replaykit diff") :] in (ROOT / "README.md").read_text()


def _said(line: str, capfd: pytest.CaptureFixture[str]) -> str:
    """Return a command with what it says; of a report, the first table."""
    code = run_cli(shlex.split(line.removeprefix("$ replaykit ")))
    assert code == 0, line
    out = capfd.readouterr().out
    kept = out.split("\n\n")[0] + "\n" if " grade " in line else out
    # Compressed pictures, and digests with them, differ between versions of zlib.
    return f"{line}\n{DIGEST.sub('sha256:...', kept)}"
