from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from replaykit.bundle import source as sources
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.source import LocalSource, open_source
from replaykit.bundle.writer import seal
from replaykit.errors import LimitExceeded, SourceError


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
    seal(journal)
    with open_bundle(journal) as bundle:
        os.truncate(journal, 30)
        with pytest.raises(SourceError, match="shrink"):
            _ = bundle.trajectory


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
