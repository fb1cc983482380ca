"""Refusals of commands: one error at once, the documented exit code, nothing lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from replaykit.cli.main import run
from replaykit.testing import trajectory

TASK: dict[str, Any] = {
    "id": "t1",
    "intent": "Which mug?",
    "checks": [{"type": "string_match", "exact": "tin"}],
}
TAPE = "no.replies.jsonl"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with two runs and what is none."""
    monkeypatch.chdir(tmp_path)
    run_of_mug = trajectory(task=TASK).goto("http://shop.test/", "<h1>Mugs</h1>").answer("tin")
    run_of_mug.write(tmp_path / "a.zst")
    trajectory(task={**TASK, "id": "t2"}).goto("http://shop.test/", "<p>").answer("no").write(
        tmp_path / "b.zst"
    )
    (tmp_path / "text.txt").write_text("hello\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "suite.yaml").write_text(
        "schema: replaykit.suite/1\ntasks: [{id: t1, intent: Which}, {id: t2, intent: What}]\n"
    )
    (tmp_path / "bad.yaml").write_text("a: [")
    return tmp_path


AGENT = ["record", "--agent", "json:loads"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        # grade: what cannot be written or asked is said before anything is graded
        (["grade", "a.zst", "-o", "no/r.json"], 2, "there is no folder no; make it first"),
        (["grade", "a.zst", "-o", "r.nope"], 2, "cannot determine the format of r.nope"),
        (["grade", "a.zst", "b.zst", "--reward-dir", "r"], 2, "--reward-dir takes one bundle, got 2"),
        (["grade", "a.zst", "--fail-under", "CuP=nan"], 2, "a value from 0 to 1, got 'CuP=nan'"),
        (["grade", "a.zst", "--fail-under", "CuP=5"], 2, "a value from 0 to 1, got 'CuP=5'"),
        (["grade", "a.zst", "--fail-under", "Nope=0.5"], 2, "no metric 'Nope'; there are CR, CuP"),
        (["grade", "a.zst", "--replies", TAPE], 3, f"{TAPE}: cannot read the tape: no such file or folder"),
        (["grade", "a.zst", "--require-calibration", "none.json"], 3, "none.json: cannot read the calibration: No such file"),
        (["grade", "a.zst", "--require-calibration", "text.txt"], 3, "it is not a calibration, which `replaykit"),
        (["grade", "a.zst", "--judge-base-url", "here"], 2, "expected http://... or https://..., got 'here'"),
        (["judge", "run", "a.zst", "--judge-base-url", "here"], 2, "expected http://... or https://..."),
        (["grade", "-"], 3, "-: cannot read the bundle: it stands for standard input: name a file"),
        (["view", "a.zst", "-o", "page.txt"], 2, "page.txt does not end in .html"),
        (["view", "a.zst", "--replies", TAPE], 3, "cannot read the tape"),
        # what is there already
        (["pack", "a.zst", "-o", "b.zst"], 3, "b.zst: cannot write the packed bundle: it exists\n  Name another"),
        (["redact", "a.zst", "-o", "b.zst"], 3, "cannot write the redacted bundle: it exists\n  Name another"),
        (["export", "har", "a.zst", "-o", "text.txt/"], 2, "text.txt is a file"),
        (["rerun", "a.zst", "--allow", "http://shop.test", "-o", "b.zst"], 3, "it exists\n  Name another"),
        # what is missing
        (["pack", "none.zst", "-o", "c.zst"], 3, "none.zst: cannot read the bundle: No such file"),
        (["pack", "a.zst", "-o", "c.zst"], 3, "a.replies.jsonl: cannot read the tape: No such file"),
        (["show", "empty"], 3, "empty: cannot read the bundle: it is a folder: name one bundle in it"),
        (["extract", "a.zst", "text.txt"], 2, "text.txt is a file: name the folder to write"),
        (["policies", "try", "suite.yaml#t9", "a.zst"], 3, "suite.yaml: no task 't9'; it has t1, t2"),
        (["tasks", "sample", "suite.yaml", "--by", "size"], 2, "has that field; there are dialect, judge, sites"),
        (["agree", "text.txt", "text.txt"], 3, "text.txt: no labels: expected JSON lines, or CSV with columns"),
        (["label", "a.zst", "-o", "text.txt", "--annotator", "ada"], 3, "text.txt: no labels"),
        # options of other formats, and none
        (["export", "har"], 2, "missing: BUNDLE..., -o PATH"),
        (["export", "har", "a.zst", "-o", "x.har", "--report", "r.json"], 2, "--report belongs to playwright-trace"),
        (["export", "har", "a.zst", "-o", "x.har", "--suite", "s"], 2, "--suite belongs to stwab-submission"),
        (["export", "webarena-verified", "a.zst", "-o", "x", "--task-type", "GET", "--status", "SUCCESS"], 2,
         "--task-type: no 'GET'; there are RETRIEVE, MUTATE, NAVIGATE"),
        (["import", "har", "x.har"], 2, "missing: -o DIR"),
        (["import", "har", "x.har", "-o", "i", "--tools", "none"], 2, "--tools none: No such file"),
        # record: said before a browser is started
        ([*AGENT, "-o", "a.zst"], 3, "a.zst: cannot create the bundle: it exists"),
        ([*AGENT, "-o", "c.zst", "--mask", ":::"], 2, "--mask: not a CSS selector: ':::'"),
        ([*AGENT, "-o", "c.zst", "--user", "none.yaml"], 3, "none.yaml: cannot read the user file: No such file"),
        ([*AGENT, "-o", "c.zst", "--user", "bad.yaml"], 3, "bad.yaml: not a user file: line 1"),
        (["record", "-o", "c.zst", "--", "/no/such/agent"], 3, "cannot use agent '/no/such/agent': there is no such"),
    ],
)  # fmt: skip
def test_each_refusal_prints_one_error(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert run(words) == code
    notes = capsys.readouterr().err
    assert said in notes
    assert notes.startswith("error: ")
    assert "[Errno" not in notes
    assert len(notes.splitlines()) <= 2
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    "words",
    [
        ["grade", "empty"],
        ["verify", "empty"],
        ["view", "empty"],
        ["label", "empty", "-o", "l.jsonl", "--annotator", "ada"],
        ["policies", "try", "suite.yaml", "empty"],
        ["export", "har", "empty", "-o", "x"],
        ["judge", "plan", "empty"],
    ],
)
def test_a_folder_without_bundles_is_reported(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 4
    assert "empty: no bundle (*.zst) in this folder or below" in capsys.readouterr().err
    assert not Path("report.html").exists()


def test_labels_of_other_runs_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["grade", "a.zst", "-o", "r.json"]) == 0
    Path("l.jsonl").write_text('{"trajectory":"%s","label":"success"}\n' % ("0" * 64))
    assert run(["agree", "l.jsonl", "r.json"]) == 4
    assert "no run of r.json that was decided has a label in l.jsonl" in capsys.readouterr().err


def test_names_that_are_no_utf8_are_graded_and_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = os.fsdecode(os.fsencode(folder) + b"/na\xffme.zst")
    Path(odd).write_bytes((folder / "a.zst").read_bytes())
    Path(odd.replace("na\udcff", "nb\udcff")).write_bytes(b"no bundle")
    for words in (
        ["grade", ".", "--fail-on", "", "-o", "r.json", "-o", "r.html", "-o", "r.xml", "--resume", "rows"],
        ["grade", ".", "--fail-on", "", "-j", "2"],
        ["verify", odd],
        ["view", odd, "-o", "v.html"],
        ["show", odd],
        ["judge", "plan", odd, "--judge", "webvoyager"],
    ):
        assert run(words) in (0, 3), words
        assert "Traceback" not in capsys.readouterr().err


def test_the_reason_why_a_bundle_was_not_graded_is_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "c.zst").touch()
    assert run(["grade", "a.zst", "c.zst"]) == 3
    output = capsys.readouterr()
    assert "ERROR NotABundle: c.zst: not a replaykit bundle: found an empty file" in output.out
    assert "not graded: c.zst: not a replaykit bundle: found an empty file" in output.err


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("gradee", "No such command 'gradee'. Did you mean 'grade'?"),
        ("polices", "No such command 'polices'. Did you mean 'policies'?"),
        ("xyzzy", "No such command 'xyzzy'.\n"),
    ],
)
def test_a_mistyped_command_is_guessed(word: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([word, "a.zst"]) == 2
    assert said in capsys.readouterr().err
