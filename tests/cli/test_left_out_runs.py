"""Bundles of a folder that are not looked at: named, and the gate does not pass without them."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from replaykit.bundle import byte_source
from replaykit.bundle.byte_source import named_bundles
from replaykit.cli.main import run
from replaykit.grading.engine import grade_many
from replaykit.grading.gate import GateOptions
from replaykit.testing import trajectory

Captured = pytest.CaptureFixture[str]


def recorded(path: Path, answer: str = "tin") -> Path:
    path.parent.mkdir(exist_ok=True)
    task = {"id": path.stem, "intent": "Which mug?", "checks": [{"type": "string_match", "exact": "tin"}]}
    return trajectory(task).goto("http://shop.test/", "<h1>Mugs</h1>").answer(answer).write(path)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    recorded(tmp_path / "runs" / "good.zst")
    recorded(tmp_path / "elsewhere" / "bad.zst", "clay")
    return tmp_path / "runs"


def link(runs: Path) -> str:
    (runs / "shard").symlink_to("../elsewhere")
    return "shard: a link to a folder is not followed"


def capitals(runs: Path) -> str:
    shutil.copy(runs.parent / "elsewhere" / "bad.zst", runs / "BAD.ZST")
    return "BAD.ZST: its name does not end in .zst"


def packed(runs: Path) -> str:
    data = (runs.parent / "elsewhere" / "bad.zst").read_bytes()
    (runs / "bad.zst.gz").write_bytes(gzip.compress(data))
    return "bad.zst.gz: its name does not end in .zst"


def downloaded(runs: Path) -> str:
    shutil.copy(runs.parent / "elsewhere" / "bad.zst", runs / "bad.zst (1)")
    return "bad.zst (1): its name does not end in .zst"


@pytest.mark.parametrize("make", [link, capitals, packed, downloaded])
def test_what_a_folder_hides_leaves_the_gate_open(
    make: Callable[[Path], str], runs: Path, capsys: Captured
) -> None:
    words = make(runs)
    assert run(["grade", str(runs)]) == 3
    printed = capsys.readouterr()
    assert f"not graded: {runs}/{words}" in printed.out
    assert f"left out: {runs}/{words}" in printed.err
    assert run(["grade", str(runs), "--fail-on", "", "--fail-under", "CuP=1"]) == 3
    assert run(["verify", str(runs)]) == 0
    assert f"left out: {runs}/{words}" in capsys.readouterr().err


def test_what_holds_no_other_run_leaves_the_gate_as_it_is(runs: Path, tmp_path: Path) -> None:
    recorded(runs / "dated" / "two.zst")
    (runs / "latest").symlink_to("dated")  # what it leads to is graded where it is
    (runs / "round").symlink_to(".")
    (tmp_path / "pictures").mkdir()
    (runs / "pictures").symlink_to(tmp_path / "pictures")
    (runs / "good.zst.sha256").write_text("00  good.zst\n")
    (runs / "notes.txt").symlink_to("nowhere")
    assert named_bundles(str(runs)).left_out == []
    assert run(["grade", str(runs)]) == 0


def test_a_link_that_is_named_is_followed(runs: Path) -> None:
    link(runs)
    assert run(["grade", str(runs / "shard")]) == 1


def test_a_folder_that_cannot_be_listed_is_named(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(runs / "closed" / "bad.zst", "clay")
    listed = os.scandir

    def scandir(folder: str) -> object:
        if folder.endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(byte_source.os, "scandir", scandir)
    assert named_bundles(str(runs)).left_out == [f"{runs}/closed: Permission denied"]
    assert run(["grade", str(runs)]) == 3


def test_a_link_that_leads_far_away_is_not_searched_without_end(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(byte_source, "_LOOKED_AT", 3)
    for name in "abcd":
        (tmp_path / "far" / name).mkdir(parents=True)
    (runs / "far").symlink_to(tmp_path / "far")
    assert named_bundles(str(runs)).left_out == [
        f"{runs}/far: a link to a folder is not followed: name that folder"
    ]


def test_folders_nested_without_end_are_looked_at(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (runs.parent / "elsewhere" / "bad.zst").read_bytes()
    monkeypatch.chdir(runs)
    for _ in range(1100):  # more than calls of calls go
        Path("d").mkdir()
        os.chdir("d")
    Path("bad.zst").write_bytes(data)
    assert run(["grade", str(runs)]) == 1
    Path("bad.zst").unlink()
    for _ in range(1100):  # here, because what empties temporary folders goes by calls of calls
        os.chdir("..")
        Path("d").rmdir()


def test_bundles_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    names = ["a/b/1.zst", "a/2.zst", "a.zst", "b.zst", "a-1/3.zst"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = [str(Path(path).relative_to(tmp_path)) for path in byte_source.bundles_in(tmp_path)]
    assert found == ["a/2.zst", "a/b/1.zst", "a-1/3.zst", "a.zst", "b.zst"]


def test_a_program_sees_what_a_folder_hides(runs: Path) -> None:
    assert grade_many(runs).gate.status == "passed"
    words = capitals(runs)
    (runs / "none").mkdir()
    gate = grade_many([runs, runs / "none"], gate=GateOptions(left_out=("mine",))).gate
    assert gate.status == "undecided"
    assert [words in reason for reason in gate.reasons].count(True) == 1
    assert any("none: no bundle was found in it" in reason for reason in gate.reasons)
    assert "not graded: mine" in gate.reasons
    assert grade_many([runs / "good.zst"]).gate.status == "passed"
