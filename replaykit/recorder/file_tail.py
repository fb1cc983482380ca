"""The lines of a file that another process writes, read while it grows.

Whoever writes the file is not trusted: it may be cut, replaced, be no file at all, or have no end. Whatever
it does, memory stays bounded and no read blocks.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from replaykit.bundle.byte_source import BINARY

LINE_MAX = 1 << 20
"""Bytes of one line."""

FILE_MAX = 256 << 20
"""Bytes of all lines of one file; what comes after them is not read."""

CHUNK: Final = 1 << 20

OPENING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | BINARY
"""A link leads elsewhere, and a named pipe would wait for its other end."""


class FileLine(Struct, frozen=True):
    """One line."""

    number: int
    """From 1."""
    data: bytes
    """Without its end; empty where `fault` says why."""
    fault: str = ""
    """Why it cannot be read, in words."""


class GrowingFile:
    """Follows one file; lines that are complete come once, in order."""

    def __init__(self, path: Path) -> None:
        self.faults: list[str] = []
        """Faults that no file of lines has, each once."""
        self.number = 0
        """Lines read."""
        self._path = path
        self._file: tuple[int, int] | None = None
        self._offset = 0
        self._read = 0
        self._rest = bytearray()
        self._is_long = False
        path.touch()

    def take(self, *, is_last: bool = False) -> Iterator[FileLine]:
        """Yield the lines that are complete; the last time, an unfinished one too."""
        for chunk in self._chunks():
            yield from self._split(chunk)
        if is_last and (self._rest or self._is_long):
            yield self._line(b"")

    def _chunks(self) -> Iterator[bytes]:
        """Yield what is new in the file, up to the size that it has now."""
        try:
            about = self._path.lstat()
            if self._is_same(about) and about.st_size == self._offset:
                return
            handle = os.open(self._path, OPENING)
        except OSError as error:
            self._blame(f"cannot be read: {error.strerror}")
            return
        try:
            yield from self._new(handle)
        finally:
            os.close(handle)

    def _new(self, handle: int) -> Iterator[bytes]:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            self._blame("is no file any more")
            return
        self._begin_again(about)
        os.lseek(handle, self._offset, os.SEEK_SET)
        while self._offset < about.st_size and self._read < FILE_MAX:
            chunk = os.read(handle, min(CHUNK, about.st_size - self._offset, FILE_MAX - self._read))
            if not chunk:
                return
            self._offset += len(chunk)
            self._read += len(chunk)
            yield chunk
        if self._read >= FILE_MAX:
            self._blame(f"has more than {FILE_MAX} bytes; the rest is not read")

    def _begin_again(self, about: os.stat_result) -> None:
        if self._file is None or (self._is_same(about) and about.st_size >= self._offset):
            self._file = (about.st_dev, about.st_ino)
            return
        self._blame("was cut or replaced while it was read; it is read again from its start")
        self._file, self._offset = (about.st_dev, about.st_ino), 0
        self._rest.clear()
        self._is_long = False

    def _is_same(self, about: os.stat_result) -> bool:
        return self._file == (about.st_dev, about.st_ino)

    def _split(self, chunk: bytes) -> Iterator[FileLine]:
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            yield self._line(part)
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._is_long = self._is_long or len(self._rest) + len(part) > LINE_MAX
        if self._is_long:
            self._rest.clear()
        else:
            self._rest += part

    def _line(self, end: bytes) -> FileLine:
        self._keep(end)
        self.number += 1
        data, is_long = bytes(self._rest), self._is_long
        self._rest.clear()
        self._is_long = False
        return FileLine(self.number, data, f"more than {LINE_MAX} bytes" if is_long else "")

    def _blame(self, fault: str) -> None:
        if fault not in self.faults:
            self.faults.append(fault)
