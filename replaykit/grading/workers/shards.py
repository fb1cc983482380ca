"""Rows on disk: a folder of append-only JSON lines, written by one process a shard, read by anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self, TypeVar

import msgspec
from msgspec import Struct

from replaykit.bundle.byte_source import BINARY
from replaykit.decoders import decode
from replaykit.errors import EngineError
from replaykit.grading.verdict import ErrorInfo
from replaykit.grading.workers.stored_verdicts import Row
from replaykit.patterns import lazy_pattern

_T = TypeVar("_T")

_NAME = lazy_pattern(r"shard-(\d{6})\.jsonl")


READING = 32
"""Shards that are open for reading at once."""


class Known(NamedTuple):
    """Where a row lies, and its key."""

    source: str
    trajectory: str | None
    grader: str
    shard: Path
    offset: int
    size: int


class Shards:
    """A folder of rows: what is known of earlier runs, and the shard that this run writes.

    `remembers`: rows that are written can be read back; some 500 bytes of memory for each.
    """

    def __init__(self, folder: str | Path, *, remembers: bool = False) -> None:
        self._folder = Path(folder)
        self._remembers = remembers
        self._file = -1
        self._path = self._folder
        self._reading: dict[Path, BinaryIO] = {}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _failure(self._folder, "make the folder", error) from error
        self._known = {known.source: known for known in self._keys()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._end_reading()

    def key(self, source: str) -> tuple[str | None, str] | None:
        """Return trajectory and grader digest of the row of a source, None where there is no verdict."""
        known = self._known.get(_written(source))
        return None if known is None else (known.trajectory, known.grader)

    def known(self, source: str) -> Known | None:
        """Return where the row of a source lies; None where there is no verdict."""
        return self._known.get(_written(source))

    def row(self, source: str) -> Row:
        """Return the row of a source that `key` knows."""
        known = self._known[_written(source)]
        file = self._opened(known.shard)
        file.seek(known.offset)
        return _decode(file.read(known.size), known.shard, Row)

    def write(self, rows: Iterable[Row]) -> None:
        """Append rows as whole lines, in one write."""
        lines = [(row, _line(row)) for row in rows]
        data = b"".join(line for _, line in lines)
        if not data:
            return
        try:
            if self._file < 0:
                self._file = self._create()
            end = os.lseek(self._file, 0, os.SEEK_END)
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise _failure(self._folder, "write the results", error) from error
        if self._remembers:
            self._remember(lines, end)

    def _remember(self, lines: Iterable[tuple[Row, bytes]], offset: int) -> None:
        for row, line in lines:
            source = _written(row.source)
            if not row.is_error:
                grader = sys.intern(row.grader)
                self._known[source] = Known(source, row.trajectory, grader, self._path, offset, len(line))
            offset += len(line)

    def _opened(self, path: Path) -> BinaryIO:
        if path not in self._reading:
            if len(self._reading) >= READING:
                self._end_reading()
            self._reading[path] = path.open("rb", buffering=0)
        return self._reading[path]

    def _end_reading(self) -> None:
        for file in self._reading.values():
            file.close()
        self._reading.clear()

    def _create(self) -> int:
        taken = [int(found[1]) for path in _shards(self._folder) if (found := _NAME.fullmatch(path.name))]
        number = max(taken, default=0) + 1
        while True:
            self._path = self._folder / f"shard-{number:06}.jsonl"
            try:
                return os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | BINARY, 0o666)
            except FileExistsError:
                number += 1

    def _keys(self) -> Iterator[Known]:
        for path in _shards(self._folder):
            for offset, line in _lines(path):
                key = _decode(line, path, _Key)
                if key.verdict.error is None:
                    grader = sys.intern(key.grader)
                    yield Known(key.source, key.trajectory, grader, path, offset, len(line))


def read_rows(*folders: str | Path) -> Iterator[Row]:
    """Yield the rows in folders of results, in the order of files and lines. Raises EngineError."""
    for folder in map(Path, folders):
        for path in _shards(folder):
            for _, line in _lines(path):
                yield _decode(line, path, Row)


class _Error(Struct):
    error: ErrorInfo | None = None


class _Key(Struct):
    trajectory: str | None
    grader: str
    source: str
    verdict: _Error


def _line(row: Row) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(row, source=_written(row.source))) + b"\n"


def _written(source: str) -> str:
    # A path may hold bytes that are no UTF-8, which JSON cannot: they are written as escapes.
    return source if source.isascii() else source.encode(errors="backslashreplace").decode()


def _shards(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))
    except OSError as error:
        raise _failure(folder, "read the results", error) from error


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines and where they begin; a torn last one is what a killed run left."""
    offset = 0
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield offset, line
            offset += len(line)


def _decode(line: bytes, path: Path, kind: type[_T]) -> _T:
    try:
        return decode(line, kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise EngineError(what=f"{path}: not a shard of results: {error}") from error


def _failure(path: Path, operation: str, error: OSError) -> EngineError:
    return EngineError(what=f"{path}: cannot {operation}: {error.strerror or error}")
