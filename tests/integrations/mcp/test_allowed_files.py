"""Which files a client of the MCP server may name."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit import TaskError
from replaykit.integrations.mcp import allowed_files
from replaykit.integrations.mcp.allowed_files import AllowedFiles, Refusal
from replaykit.testing import trajectory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with two bundles; beside it is a folder with one that nobody may read."""
    content = trajectory().answer("x").write(tmp_path / "made.zst").read_bytes()
    for name in ("runs/a.zst", "runs/sub/b.zst", "outside/secret.zst"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path / "runs"


def test_names_are_relative_to_the_root_and_sorted(root: Path) -> None:
    files = AllowedFiles([root])
    assert files.runs() == ["a.zst", "sub/b.zst"]
    assert files.run("sub/b.zst") == root / "sub" / "b.zst"
    assert files.runs_after("", 1) == (["a.zst"], True)
    assert files.runs_after("a.zst", 1) == (["sub/b.zst"], False)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../outside/secret.zst", "lies outside of the root"),
        ("sub/../../outside/secret.zst", "lies outside of the root"),
        ("../outside/nothing.zst", "lies outside of the root"),
        ("a\0.zst", "is not a path below a root"),
        (r"C:\runs\a.zst", "is not a path below a root"),
        ("missing.zst", "is not there, or is no regular file"),
        ("sub", "does not end in .zst"),
        ("folder.zst", "is not there, or is no regular file"),
        ("pipe.zst", "is not there, or is no regular file"),
        ("notes.txt", "does not end in .zst"),
        ("link.zst", "lies outside of the root"),
        ("linked/secret.zst", "lies outside of the root"),
        ("to-text.zst", "does not end in .zst"),
        ("", "does not end in .zst"),
        ("circle.zst", "its links lead nowhere|is not there"),
        (f"{'x' * 300}.zst", "is not there, or is no regular file"),
    ],
)
def test_what_is_no_bundle_below_the_root_is_refused(name: str, words: str, root: Path) -> None:
    (root / "folder.zst").mkdir()
    os.mkfifo(root / "pipe.zst")
    (root / "notes.txt").write_text("mine")
    (root / "link.zst").symlink_to(root.parent / "outside" / "secret.zst")
    (root / "linked").symlink_to(root.parent / "outside")
    (root / "to-text.zst").symlink_to(root / "notes.txt")
    (root / "circle.zst").symlink_to(root / "circle.zst")
    files = AllowedFiles([root])
    with pytest.raises(Refusal, match=words):
        files.run(name)
    assert files.runs() == ["a.zst", "sub/b.zst"]


def test_an_absolute_path_is_refused_also_of_a_file_below_the_root(root: Path) -> None:
    with pytest.raises(Refusal, match="is not a path below a root"):
        AllowedFiles([root]).run(str(root / "a.zst"))


def test_a_link_to_a_bundle_below_the_root_is_followed(root: Path) -> None:
    (root / "latest.zst").symlink_to(root / "sub" / "b.zst")
    files = AllowedFiles([root])
    assert files.run("latest.zst") == root / "sub" / "b.zst"
    assert "latest.zst" in files.runs()


def test_the_tape_beside_a_bundle_may_not_lie_outside(root: Path) -> None:
    (root / "a.replies.jsonl").symlink_to(root.parent / "outside" / "secret.zst")
    with pytest.raises(Refusal, match=r"the tape of run 'a\.zst' lies outside"):
        AllowedFiles([root]).run("a.zst")


@pytest.mark.parametrize("name", ["a.zst", "a.replies.jsonl"])
def test_a_file_that_is_too_large_is_refused(name: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.replies.jsonl").write_bytes(b"x" * (root / "a.zst").stat().st_size)
    with (root / name).open("ab") as file:
        file.write(b"x")
    monkeypatch.setattr(allowed_files, "BUNDLE_BYTES_MAX", (root / "sub" / "b.zst").stat().st_size)
    assert AllowedFiles([root]).run("sub/b.zst")
    with pytest.raises(Refusal, match="this server reads at most"):
        AllowedFiles([root]).run("a.zst")


def test_names_begin_with_the_folder_where_there_are_several(root: Path, tmp_path: Path) -> None:
    files = AllowedFiles([root, tmp_path / "outside"])
    assert files.runs() == ["outside/secret.zst", "runs/a.zst", "runs/sub/b.zst"]
    assert files.run("outside/secret.zst") == tmp_path / "outside" / "secret.zst"
    with pytest.raises(Refusal, match="begins with no root; the roots are runs/, outside/"):
        files.run("a.zst")
    with pytest.raises(Refusal, match="lies outside of the root"):
        files.run("runs/../outside/secret.zst")


def test_two_folders_of_one_name_are_refused(root: Path) -> None:
    (root / "runs").mkdir()
    with pytest.raises(Refusal, match="two folders are called 'runs'"):
        AllowedFiles([root, root / "runs"])


def test_the_same_folder_twice_is_one(root: Path) -> None:
    assert AllowedFiles([root, root / "sub" / ".."]).runs() == ["a.zst", "sub/b.zst"]


def test_a_root_that_is_no_folder_is_refused(root: Path) -> None:
    with pytest.raises(Refusal, match="no such folder"):
        AllowedFiles([root / "a.zst"])


def test_policies_of_a_task_file_may_not_lie_outside(root: Path) -> None:
    (root / "suite.json").write_text(
        '{"schema": "replaykit.suite/1", "policies": {"file": "../outside/p.yaml"},'
        ' "tasks": [{"id": "t", "intent": "Go."}]}'
    )
    files = AllowedFiles([root])
    with pytest.raises(TaskError, match="lies outside of"):
        files.suite("suite.json#t")
    policy = "{id: a, dimension: user_consent, rule: {type: never, match: {text: Pay}}}"
    (root.parent / "outside" / "p.yaml").write_text(f"schema: replaykit.policies/1\npolicies: [{policy}]\n")
    assert AllowedFiles([root.parent]).suite("runs/suite.json").tasks[0].id == "t"


NAMES = st.lists(
    st.sampled_from(["..", ".", "", "a.zst", "sub", "b.zst", "outside", "secret.zst", "/", "\\", "~", "C:"]),
    max_size=6,
).map("/".join) | st.text(max_size=20)


@given(NAMES)
def test_whatever_is_named_what_is_found_lies_below_the_root(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        for path in ("runs/a.zst", "runs/sub/b.zst", "outside/secret.zst"):
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_bytes(b"x")
        try:
            found = AllowedFiles([top / "runs"]).run(name)
        except Refusal:
            return
        assert found in (top / "runs" / "a.zst", top / "runs" / "sub" / "b.zst")
