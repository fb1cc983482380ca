"""Sessions in docs/judging.md and docs/quickstart.md are the output of the commands."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from replaykit.cli.main import run as run_cli
from replaykit.grading.judges.clients.anthropic_client import AnthropicClient
from replaykit.grading.judges.clients.client import ClientAnswer
from replaykit.grading.judges.clients.transports import Transports
from replaykit.grading.judges.tape.tape import read_tape
from replaykit.grading.model_request import ModelReply, TextPart

from ..blocks import block
from ..grading.judges.messages_server import Handler, Server, message, says

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "judging.md"
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", ROOT / "../shared/data"))
PUBLIC = SHARED / "webvoyager" / "runs"
RUNS = ("order-total--good", "order-total--stops_early")
BLOCK = r"(## {}\n.*?\n```\n)(\$ .*?)```"
SHOWN = "Change a judge and compare"

LAST = """protocol: webvoyager
images: last:1
"""
OURS = """protocol: webvoyager
prompts: {system: ours.txt}
"""
HOUSE_RULE = """You decide whether a web agent did the task that its user gave it, from screenshots and its response.
Believe the screenshots. The response has to name what was asked for as the page names it: where a room is
asked for, the hotel alone is no answer. Say what you saw, then end with one line: SUCCESS or NOT SUCCESS.
"""


class ByHand:
    """Says what was written down by hand, and says so."""

    def __init__(self, **options: Any) -> None:
        pass

    def ask(self, request: Any, images: Any) -> ClientAnswer:
        is_answered = any("84.50" in part.text for part in request.content if isinstance(part, TextPart))
        is_taken_in = not is_answered and len(images) > 1
        words = "The orders are shown.\nSUCCESS" if is_taken_in else "No total is reported.\nNOT SUCCESS"
        text = "The order of the teapot is open, its total is that of the response.\nSUCCESS"
        reply = text if is_answered else words
        return ClientAnswer(
            reply=ModelReply(text=reply, stop_reason="end_turn", model="by hand", origin="synthetic")
        )

    def close(self) -> None:
        pass


class Confessed(AnthropicClient):
    """Asks a server on loopback, behind which is no model, and says so."""

    def ask(self, request: Any, images: Any) -> ClientAnswer:
        answered = super().ask(request, images)
        assert isinstance(answered.reply, ModelReply), answered.reply
        return msgspec.structs.replace(
            answered, reply=msgspec.structs.replace(answered.reply, origin="synthetic")
        )


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with two runs in the layout of WebVoyager."""
    for name in RUNS:
        recorded = ROOT / "recordings" / "conformance" / f"{name}.zst"
        assert run_cli(["export", "webvoyager", str(recorded), "-o", str(tmp_path / "results" / name)]) == 0
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("replaykit.grading.judges.clients.transports.Transports", ByHand)
    return tmp_path


@pytest.fixture
def public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a folder with the public runs, and the file of the changed judge; a server says what was written."""
    (tmp_path / "results").symlink_to(PUBLIC.resolve(), target_is_directory=True)
    (tmp_path / "hotel.yaml").write_text(OURS)
    (tmp_path / "ours.txt").write_text(HOUSE_RULE)
    monkeypatch.chdir(tmp_path)
    with Server(_from_paper) as server:

        class FromPaper(Transports):
            def __init__(self, **options: Any) -> None:
                super().__init__(clients={"anthropic": Confessed(base_url=server.url)})

        monkeypatch.setattr("replaykit.grading.judges.clients.transports.Transports", FromPaper)
        yield tmp_path


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="no public WebVoyager runs (REPLAYKIT_SHARED_DATA)")
def test_public_runs_are_judged_twice_and_compared(
    public: Path, capfd: pytest.CaptureFixture[str], update_goldens: bool
) -> None:
    _walk(capfd, update_goldens)
    replies = [entry for tape in public.glob("runs/*.jsonl") for entry in read_tape(tape).entries]
    assert [entry.origin for entry in replies] == ["synthetic"] * 8
    assert "== regressed: Booking--1\n" in PAGE.read_text()


def test_the_page_shows_the_files_of_the_changed_judges() -> None:
    page = PAGE.read_text()
    assert all(text in page for text in (OURS, HOUSE_RULE))


def test_the_quickstart_shows_the_end_of_a_walk() -> None:
    quickstart = (ROOT / "docs" / "quickstart.md").read_text()
    walk = _shown()[2]
    assert walk[walk.index("$ replaykit diff") :] in quickstart


def test_the_quickstart_s_commands_are_a_walk(place: Path) -> None:
    (place / "hotel.yaml").write_text(LAST)
    lines = block("docs/quickstart.md", "replaykit import webvoyager results -o").text.splitlines()
    assert [_code(line) for line in lines] == [0, 0, 0, 0, 1, 0]  # the other judge lets one run fail
    before, after = ((place / f"{name}.json").read_bytes() for name in ("before", "after"))
    assert before != after


def test_the_quickstart_s_import_imports(place: Path) -> None:
    assert _code(block("docs/quickstart.md", "replaykit import webvoyager results/").text) == 0
    assert len(list((place / "runs").glob("*.zst"))) == len(RUNS)


def test_the_page_plans_asks_and_grades(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["import", "webvoyager", "results", "-o", "runs"]) == 0
    planned, asked, graded = block("docs/judging.md", "replaykit judge plan").text.splitlines()
    assert _code(planned) == 0
    assert not list(place.glob("runs/*.replies.jsonl"))
    assert _code(asked) == 0
    tapes = {path: path.read_bytes() for path in place.glob("runs/*.replies.jsonl")}
    assert len(tapes) == len(RUNS)
    capfd.readouterr()
    assert _code(graded) == 0
    assert "(synthetic)" in capfd.readouterr().out
    assert tapes == {path: path.read_bytes() for path in tapes}


def _code(line: str) -> int:
    program, *words = shlex.split(line, comments=True)
    assert program == "replaykit"
    return run_cli(words)


def _from_paper(handler: Handler, request: dict[str, Any]) -> None:
    """Answer as it was written down by hand after a look at the run."""
    written = yaml.safe_load((ROOT / "fixtures" / "replies" / "webvoyager.yaml").read_text())
    asked = request["messages"][0]["content"][0]["text"]
    (run,) = (name for name, words in ASKED.items() if words in asked)
    judge = "ours" if request["system"].startswith(HOUSE_RULE) else "webvoyager"
    says(200, message(written[run][judge], model=request["model"]))(handler, request)


ASKED = {
    "Apple--17": "Smart Folio for iPad",
    "BBC-News--9": "Music News",
    "Booking--1": "Jakarta",
    "Cambridge-Dictionary--29": "Image quizzes",
}
"""Words of each task."""


def _walk(capfd: pytest.CaptureFixture[str], update_goldens: bool) -> None:
    """Do what the page shows, and expect what it shows."""
    shown = _shown()
    capfd.readouterr()
    said = "\n".join(_said(line, capfd) for line in shown[2].splitlines() if line.startswith("$ "))
    if update_goldens:
        PAGE.write_text(shown.string[: shown.start(2)] + said + shown.string[shown.end(2) :])
    assert PAGE.read_text()[shown.start(2) :].startswith(said + "```")


def _shown() -> re.Match[str]:
    shown = re.search(BLOCK.format(SHOWN), PAGE.read_text(), re.DOTALL)
    assert shown is not None
    return shown


def _said(line: str, capfd: pytest.CaptureFixture[str]) -> str:
    """Return a command with what it says; of a report, the first table."""
    code = run_cli(shlex.split(line.removeprefix("$ replaykit ")))
    assert code == (1 if "after.json" in line and " grade " in line else 0), line  # one run fails there
    out = capfd.readouterr().out
    kept = out.split("\n\n")[0] + "\n" if " grade " in line else out
    # Compressed screenshots, and digests with them, differ between versions of zlib.
    return f"{line}\n{DIGEST.sub('sha256:...', kept)}"
