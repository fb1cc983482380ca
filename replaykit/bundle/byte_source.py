"""Where bytes of a bundle come from: a local file, standard input spooled to one, or a URL."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sized
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, TypeAlias

from replaykit.bundle.bundle_format import FILE_MAX, Place
from replaykit.errors import SourceError
from replaykit.file_types import kind_of
from replaykit.patterns import lazy_pattern

Sources: TypeAlias = str | Path | Iterable[str | Path]
"""Paths and URLs of bundles, and folders of them; one, or many."""

# `::` chains file systems of fsspec, as in `zip://a.zst::s3://b.zip`.
_SCHEME = lazy_pattern(r"[a-z][a-z0-9+.-]+(?:://|::)", re.IGNORECASE)


BINARY: int = getattr(os, "O_BINARY", 0)
"""Makes `os.open` keep line ends, which Windows would change."""

_READING = BINARY | sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC"))
"""How files are opened, as far as the system knows it; without O_NONBLOCK, opening a FIFO could hang."""


_OPENING = "read the bundle"


class ByteSource(Protocol):
    """Random access to the bytes of one bundle; the size is that at opening."""

    name: str

    def size(self) -> int:
        """Return the size in bytes."""

    def read_range(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes, else raise SourceError."""

    def read_suffix(self, length: int) -> bytes:
        """Return the last min(length, size) bytes."""

    def close(self) -> None:
        """Release what the source holds."""


class LocalSource:
    """A regular file, read with `pread`.

    Never `mmap`: a file that is cut while it is mapped would kill the process.
    """

    def __init__(self, path: str | Path, name: str | None = None) -> None:
        self.name = name or str(path)
        try:
            self._file = os.open(path, _READING)
        except (OSError, ValueError) as error:
            raise self._error(_OPENING, error) from error
        self._size = self._regular_size()

    def size(self) -> int:
        """Return the size in bytes when it was opened."""
        return self._size

    def read_range(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes at `offset`."""
        parts: list[bytes] = []
        missing = length
        while missing:
            # `pread` may return less than it was asked for.
            part = self._pread(missing, offset + length - missing)
            if not part:
                raise self._error("read", f"the file ends {missing} bytes early; did it shrink?")
            parts.append(part)
            missing -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_suffix(self, length: int) -> bytes:
        """Return the last min(length, size) bytes."""
        length = min(length, self._size)
        return self.read_range(self._size - length, length)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _regular_size(self) -> int:
        try:
            status = os.fstat(self._file)
        except OSError as error:
            self.close()
            raise self._error(_OPENING, error) from error
        is_folder = stat.S_ISDIR(status.st_mode)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise self._error(
                _OPENING, "it is a folder: name one bundle in it" if is_folder else "not a regular file"
            )
        return status.st_size

    def _pread(self, length: int, offset: int) -> bytes:
        if self._file < 0:
            raise self._error("read", "it was closed: read it inside of `with open_bundle(...)`")
        try:
            return _read_at(self._file, length, offset)
        except (OSError, OverflowError) as error:
            raise self._error("read", error) from error

    def _error(self, operation: str, cause: object) -> SourceError:
        reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
        return SourceError(source=self.name, operation=operation, reason=reason)


def _read_at(file: int, length: int, offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(file, length, offset)
    os.lseek(file, offset, os.SEEK_SET)  # Windows has no pread; a bundle is read by one thread
    return os.read(file, length)


def is_remote(source: str) -> bool:
    """Whether a source is a URL, and no path."""
    return _SCHEME.match(source) is not None


class BundleNames(list[str]):
    """Paths and URLs of bundles, none of them a folder: no one has to look again."""


def bundles_in(sources: Sources) -> Iterable[str]:
    """Return the names of bundles; a folder gives way to the *.zst in and below it, in order.

    How many there are is known where it was known of `sources`.
    """
    if isinstance(sources, BundleNames):
        return sources
    many = [sources] if isinstance(sources, str | Path) else sources
    names = (name for source in many for name in _named(source))
    return list(names) if isinstance(many, Sized) else names


SCRATCH = (".exporting-", ".importing-", ".packing-", ".redacting-")
"""Starts of the names of folders in which commands work. A killed one leaves half a copy of a run there."""


def _named(source: str | Path) -> Iterator[str]:
    # An empty word is a variable that was not set, not this folder.
    if source and not is_remote(str(source)) and Path(source).is_dir():
        yield from _below(str(Path(source)), [])
    else:
        yield str(source)


class NamedBundles(NamedTuple):
    """Bundles that a source names."""

    names: list[str]
    """Their names, in order."""
    left_out: list[str]
    """Parts of a folder that are not looked at although bundles may be there, each with the reason."""


def named_bundles(source: str) -> NamedBundles:
    """Return the bundles that a source names, and what of a folder is left out."""
    if not source or is_remote(source) or not Path(source).is_dir():
        return NamedBundles([source], [])
    left: list[str] = []
    return NamedBundles(list(_below(str(Path(source)), left, os.path.realpath(source))), left)


class FoundBundles(NamedTuple):
    """Bundles that sources name, and what a gate has to know of their folders."""

    names: BundleNames
    """Names of all of them, in order."""
    empty: tuple[str, ...]
    """Folders without a bundle."""
    left_out: tuple[str, ...]
    """Parts of folders that may hold bundles and are not looked at, each with the reason."""


def all_named_bundles(sources: Sources) -> FoundBundles:
    """Return the bundles that sources name, with the folders that hold none and what is left out of them."""
    if isinstance(sources, BundleNames):
        return FoundBundles(sources, (), ())
    many = [sources] if isinstance(sources, str | Path) else list(sources)
    found = {str(source): named_bundles(str(source)) for source in many}
    return FoundBundles(
        BundleNames(name for source in many for name in found[str(source)].names),
        tuple(name for name, one in found.items() if not one.names),
        tuple(dict.fromkeys(words for one in found.values() for words in one.left_out)),
    )


def _below(folder: str, left: list[str], root: str = "") -> Iterator[str]:
    """Yield the *.zst in and below a folder, in the order of their paths; links to folders are not followed.

    Folder by folder, so that the first name is there before the last folder is read. Without `Path`, which
    costs more than listing. `left`: takes what may hold bundles and is left out, if there is a root.
    """
    waiting = [(folder, True)]  # and not by calls of calls: folders may be nested without end
    while waiting:
        path, is_folder = waiting.pop()
        if is_folder:
            waiting += reversed(_listed(path, left))
        elif path.endswith(".zst"):
            yield path
        elif root:
            left += [f"{path}: {reason}" for reason in _reasons(path, root)]


def _listed(folder: str, left: list[str]) -> list[tuple[str, bool]]:
    """Return the paths in a folder, in order, and whether each is a folder."""
    try:
        with os.scandir(folder) as listed:
            # Sorted: a file system lists a folder in any order.
            found = sorted((one.name, one.is_dir(follow_symlinks=False)) for one in listed)
    except OSError as error:
        left.append(f"{folder}: {error.strerror}")
        return []
    start = "" if folder == "." else f"{folder.rstrip(os.sep)}{os.sep}"
    return [(start + name, is_folder) for name, is_folder in found if not _is_scratch(name, is_folder)]


def _is_scratch(name: str, is_folder: bool) -> bool:
    return is_folder and name.startswith(SCRATCH)


_PACKED = ("a bundle", "a gzip file", "a zip archive", "zstd data without our preamble")


def _reasons(path: str, root: str) -> Iterator[str]:
    """Yield why a file of a folder is left out that is a bundle, or a link to a folder of bundles."""
    file = Path(path)
    if ".zst" in file.name.lower() and kind_of(path) in _PACKED:
        yield "its name does not end in .zst: rename it, or unpack it"
    elif file.is_symlink() and file.is_dir() and _may_hold_bundles(os.path.realpath(path), root):
        yield "a link to a folder is not followed: name that folder"


_LOOKED_AT = 1000
"""Folders behind a link that are searched for a bundle: it may lead anywhere."""


def _may_hold_bundles(folder: str, root: str) -> bool:
    if Path(folder).is_relative_to(root):
        return False  # it is looked at where it is
    for place, (_, _, names) in enumerate(os.walk(folder)):
        if place == _LOOKED_AT or any(name.endswith(".zst") for name in names):
            return True
    return False


def open_source(source: str | Path) -> ByteSource:
    """Open a path or a URL; `-` is standard input, spooled to a temporary file."""
    if is_remote(str(source)):
        # Loaded for URLs only: HTTP costs more than opening a bundle.
        from replaykit.bundle.remote import open_remote

        return open_remote(str(source))
    return _spool() if str(source) == "-" else LocalSource(source)


def _spool() -> LocalSource:
    # Loaded for standard input only: a command waits for what it loads.
    import shutil
    import tempfile

    with tempfile.NamedTemporaryFile(prefix="replaykit-") as spool:
        try:
            shutil.copyfileobj(_Capped(sys.stdin.buffer), spool)
            spool.flush()
        except OSError as error:
            raise SourceError(source="-", operation="read", reason=str(error)) from error
        # The open descriptor outlives the name.
        return LocalSource(spool.name, name="-")


class _Capped:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._total = 0

    def read(self, length: int = -1) -> bytes:
        part = self._stream.read(length)
        self._total += len(part)
        Place("-", self._total).check("FILE_MAX", FILE_MAX, self._total)
        return part
