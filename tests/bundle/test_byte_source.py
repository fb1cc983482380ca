from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle import byte_source as sources
from replaykit.bundle.blobs import blob_id
from replaykit.bundle.byte_source import LocalSource, bundles_in, open_source
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import Journal, salvage, seal
from replaykit.errors import BundleError, LimitExceeded, SourceError
from replaykit.trajectory.step import Header, Trajectory


def test_reads(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(range(100)))
    source = LocalSource(path)
    assert source.size() == 100
    assert source.read_range(10, 3) == b"\x0a\x0b\x0c"
    assert source.read_range(100, 0) == b""
    assert source.read_suffix(2) == b"bc"
    assert len(source.read_suffix(500)) == 100
    with pytest.raises(SourceError, match="ends"):
        source.read_range(99, 2)
    source.close()
    source.close()
    with pytest.raises(SourceError):
        source.read_range(0, 1)


def test_short_reads_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(range(100)))
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda file, length, offset: real(file, min(length, 7), offset))
    assert LocalSource(path).read_range(5, 60) == bytes(range(5, 65))


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "secret").write_bytes(b"")
    for path in (
        tmp_path / "fifo",
        tmp_path,
        Path("/dev/zero"),
        tmp_path / "loop",
        tmp_path / "missing",
        "a\0b",
        "\udc80",
    ):
        with pytest.raises(SourceError):
            open_bundle(path)


def descriptors() -> int:
    """Count the open files of this process, where the system shows them."""
    shown = Path("/proc/self/fd")
    return len(list(shown.iterdir())) if shown.exists() else 0


def test_no_descriptor_is_left_open(tmp_path: Path, journal: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "empty").write_bytes(b"")
    before = descriptors()
    for name in ("fifo", "empty", "missing"):
        with pytest.raises(Exception, match=name):
            open_bundle(tmp_path / name)
    with open_bundle(journal):
        pass
    assert descriptors() == before


def test_a_file_that_shrinks(journal: Path) -> None:
    with open_bundle(journal) as bundle:
        os.truncate(journal, 30)
        with pytest.raises(SourceError, match="shrink"):
            _ = bundle.trajectory


def test_a_sealed_file_that_shrinks(tmp_path: Path, hands) -> None:
    path, image = tmp_path / "run.zst", hands.blob(os.urandom(200_000), "image/png")
    with Journal(path) as journal:
        journal.commit([Header(channels={})], [image])
    seal(path)
    with open_bundle(path) as bundle:
        os.truncate(path, 30)
        with pytest.raises(SourceError, match="shrink"):
            bundle.blob(image[0])


def test_a_file_that_is_replaced(journal: Path, tmp_path: Path) -> None:
    with open_bundle(journal) as bundle:
        seal(journal)
        assert len(bundle.trajectory.steps) == 3


def stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))


def test_standard_input(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, journal.read_bytes())
    with open_bundle("-") as bundle:
        assert bundle.name == "-"
        assert len(bundle.trajectory.steps) == 3


def test_standard_input_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, bytes(1000))
    monkeypatch.setattr(sources, "FILE_MAX", 999)
    with pytest.raises(LimitExceeded, match="FILE_MAX"):
        open_source("-")


@pytest.mark.parametrize("layout", ["journal", "sealed"])
def test_a_file_that_grows(layout: str, journal: Path) -> None:
    if layout == "sealed":
        seal(journal)
    whole = journal.read_bytes()
    with open_bundle(journal) as bundle:
        journal.write_bytes(whole + whole)
        assert len(bundle.trajectory.steps) == 3
        assert all(bundle.blob(id) for id in bundle.blob_ids)


@pytest.mark.parametrize("layout", ["journal", "sealed"])
def test_a_file_that_is_overwritten_in_place(layout: str, journal: Path, tmp_path: Path, hands) -> None:
    other = tmp_path / "other.zst"
    hands.write_journal(other, hands.small_commits()[:3])
    if layout == "sealed":
        seal(journal)
        seal(other)
    for spoiled in (other.read_bytes(), bytes(20_000), os.urandom(20_000)):
        content = journal.read_bytes()
        with open_bundle(journal) as bundle:
            journal.write_bytes(spoiled)
            asked = [lambda: bundle.trajectory, *(partial(bundle.blob, id) for id in bundle.blob_ids)]
            for ask in asked:
                try:
                    answer = ask()
                except BundleError:
                    continue
                # Content that was in memory before is still that of the digest.
                assert len(answer.steps) == 3 if isinstance(answer, Trajectory) else blob_id(answer) in bundle
        journal.write_bytes(content)


@pytest.mark.parametrize("name", ["fifo", "folder", "loop", "missing", "device"])
@pytest.mark.parametrize("action", [seal, verify, lambda path: salvage(path, path.parent / "new.zst")])
def test_what_is_no_file_is_neither_sealed_nor_verified(name: str, action, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "device").symlink_to("/dev/zero")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SourceError):
        action(tmp_path / name)
    assert sorted(tmp_path.iterdir()) == before


def test_a_system_without_pread_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    monkeypatch.delattr(os, "pread")
    source = LocalSource(tmp_path / "file")
    assert [source.read_range(*place) for place in ((4, 3), (0, 2), (9, 1))] == [b"456", b"01", b"9"]
    assert source.read_suffix(2) == b"89"
    source.close()


NAMES = st.lists(
    st.lists(st.sampled_from(["a", "b", "a.zst", "b.zst", "a-b", ".zst", "c.json"]), min_size=1, max_size=3),
    max_size=8,
)


@given(NAMES)
def test_bundles_of_a_folder_come_in_the_order_of_their_paths(places: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as made:
        for parts in places:
            place = Path(made, *parts)
            with contextlib.suppress(OSError):  # what is a file already is no folder
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
        Path(made, "loop").symlink_to(made)
        found = list(bundles_in(made))
        assert found == [str(path) for path in sorted(Path(made).rglob("*.zst")) if path.is_file()]
        assert list(bundles_in(f"{made}/")) == found
        with contextlib.chdir(made):
            assert list(bundles_in(".")) == [str(Path(name).relative_to(made)) for name in found]


def test_the_first_bundle_is_named_before_the_last_folder_is_read(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.zst").touch()
    names = iter(bundles_in(iter([tmp_path])))
    assert next(names) == str(tmp_path / "a" / "1.zst")
    (tmp_path / "b" / "2.zst").touch()
    assert [Path(name).name for name in names] == ["1.zst", "2.zst"]


def test_folders_in_which_commands_work_hold_no_runs(tmp_path: Path) -> None:
    for name in (
        "x.zst/a.zst",
        ".packing-1/run.zst",
        ".redacting-2/run.zst",
        ".importing-3/run.zst",
        ".b/b.zst",
    ):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    assert list(bundles_in(tmp_path)) == [str(tmp_path / ".b/b.zst"), str(tmp_path / "x.zst/a.zst")]
