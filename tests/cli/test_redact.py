"""`replaykit redact` and the options of `record` that name evidence: what they say, and how they exit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.testing import trajectory
from replaykit.trajectory.action import ToolCall
from replaykit.trajectory.step import Step
from tests.commands import run_here as run

SECRET = "hunter22"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A run that says a secret and a case number."""
    return (
        trajectory()
        .goto("http://shop.test/", f"<p>{SECRET}</p>")
        .answer("AB-1234")
        .write(tmp_path / "run.zst")
    )


def test_it_writes_a_bundle_and_says_its_digest(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.setenv("WORD", SECRET)
    out = tmp_path / "out.zst"
    code, said, notes = run(
        capfd, "redact", bundle, "-o", out, "--secret-env", "WORD", "--pattern", r"AB-\d+"
    )
    assert code == 0, notes
    with open_bundle(out) as opened:
        assert said == f"sha256:{opened.digest}\n"
        assert opened.header.secrets == ("WORD",)
        assert opened.trajectory.answer == "⟦pattern:given_1⟧"
    assert "1 payloads rewritten" in notes


def test_what_is_left_is_listed_and_means_exit_1(tmp_path: Path, capfd: Any) -> None:
    call = Step(index=0, action=ToolCall(name="shell", arguments={"AB-1\x1b[31m": 1}))
    source = trajectory().add(call).write(tmp_path / "run.zst")
    code, said, _ = run(capfd, "redact", source, "-o", tmp_path / "out.zst", "--pattern", r"AB-\d")
    assert code == 1
    assert said.splitlines()[1:] == ["left: event 0 at $.action.arguments (a key): given_1"]
    assert (tmp_path / "out.zst").exists()


def test_a_secret_that_cannot_be_taken_out_means_exit_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.setenv("WORD", SECRET)
    call = Step(index=0, action=ToolCall(name="shell", arguments={SECRET: 1}))
    source = trajectory().add(call).write(tmp_path / "run.zst")
    code, said, notes = run(capfd, "redact", source, "-o", tmp_path / "out.zst", "--secret-env", "WORD")
    assert (code, said) == (3, "")
    assert "'WORD' is still in event 0 at $.action.arguments" in notes
    assert SECRET not in notes
    assert not (tmp_path / "out.zst").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run.zst"], 2, "--output"),
        (["run.zst", "-o", "run.zst", "--force"], 2, "which redact reads: name another file"),
        (["run.zst", "-o", "out.zst", "--secret-env", "REPLAYKIT_NO_SUCH_VARIABLE"], 2, "is not set"),
        (["run.zst", "-o", "out.zst", "--secret-env", "SHORT"], 2, "3 characters"),
        (["run.zst", "-o", "out.zst", "--pattern", "(a+)+"], 2, "unbounded repeat"),
        (["none.zst", "-o", "out.zst"], 3, "No such file"),
        (["there.zst", "-o", "out.zst"], 3, "not a replaykit bundle"),
        (["run.zst", "-o", "there.zst"], 3, "it exists"),
        (["run.zst", "-o", "none/out.zst"], 3, "cannot write"),
    ],
)
def test_wrong_input_gets_a_clear_error(
    arguments: list[str], code: int, said: str, bundle: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(bundle.parent)
    monkeypatch.setenv("SHORT", "abc")
    Path("there.zst").write_text("x")
    found, out, notes = run(capfd, "redact", *arguments)
    assert (found, out) == (code, "")
    assert said in notes
    assert "Traceback" not in notes
    assert not Path("out.zst").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--agent", "a:b", "--evidence", "suite"], 2, "name the suite and the task with --task FILE#ID"),
        (["--agent", "json:dumps", "--evidence", "none.txt"], 3, "none.txt: cannot read the list of URLs"),
        (["--agent", "json:dumps", "--evidence", "there.txt"], 3, "there.txt: line 2: 'here' is no URL"),
        (["--agent", "json:dumps", "--evidence", "wiki.txt"], 2, "no root for __WIKI__, there are none"),
    ],
)
@pytest.mark.usefixtures("bundle")
def test_evidence_that_cannot_be_is_refused_before_a_browser_starts(
    arguments: list[str], code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REPLAYKIT_BROWSER", str(tmp_path / "no-browser"))
    Path("there.txt").write_text("# two\nhere\n")
    Path("wiki.txt").write_text("__WIKI__/\n")
    found, _, notes = run(capfd, "record", *arguments, "-o", "out.zst")
    assert (found, Path("out.zst").exists()) == (code, False)
    assert said in notes
