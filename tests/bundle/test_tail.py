from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.byte_source import LocalSource
from replaykit.bundle.opening import TailSource
from replaykit.errors import SourceError

CONTENT = bytes(range(256)) * 4


class Memory:
    """A source in memory that notes what was read."""

    name = "memory"

    def __init__(self) -> None:
        self.read: list[tuple[int, int]] = []

    def size(self) -> int:
        return len(CONTENT)

    def read_range(self, offset: int, length: int) -> bytes:
        self.read.append((offset, length))
        return CONTENT[offset : offset + length]

    def read_suffix(self, length: int) -> bytes:
        length = min(length, self.size())
        return self.read_range(self.size() - length, length)

    def close(self) -> None:
        pass


@given(st.integers(0, 1100), st.integers(0, 1024), st.integers(0, 1024))
def test_the_same_bytes_and_none_of_them_twice(tail: int, offset: int, length: int) -> None:
    length = min(length, len(CONTENT) - offset)
    source = Memory()
    tailed = TailSource(source, tail)
    assert tailed.read_range(offset, length) == CONTENT[offset : offset + length]
    kept = len(CONTENT) - min(tail, len(CONTENT))
    assert all(at + n <= kept for at, n in source.read[1:])
    assert len(source.read) <= 2


@given(st.integers(0, 1100), st.integers(0, 1100))
def test_suffix(tail: int, length: int) -> None:
    assert TailSource(Memory(), tail).read_suffix(length) == CONTENT[max(0, len(CONTENT) - length) :]


def test_size_and_name() -> None:
    tailed = TailSource(Memory(), 10)
    assert (tailed.name, tailed.size()) == ("memory", 1024)


@pytest.mark.parametrize(("offset", "length"), [(1000, 25), (1024, 1), (2000, 3), (0, 1025)])
def test_more_than_there_is(offset: int, length: int, tmp_path: Path) -> None:
    path = tmp_path / "content"
    path.write_bytes(CONTENT)
    tailed = TailSource(LocalSource(path), 100)
    with pytest.raises(SourceError):
        tailed.read_range(offset, length)


def test_closed(tmp_path: Path) -> None:
    path = tmp_path / "content"
    path.write_bytes(CONTENT)
    tailed = TailSource(LocalSource(path), 100)
    tailed.close()
    tailed.close()
    with pytest.raises(SourceError):
        tailed.read_range(1000, 10)
