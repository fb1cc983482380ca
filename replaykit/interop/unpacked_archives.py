"""Archives of runs, unpacked for as long as they are read: tar, also compressed, and zip.

Only plain files below a folder of our own are written, under names that were looked at, until a limit is
reached. Links are not followed, and what a killed process leaves behind is removed by the next import.
"""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, NamedTuple, NoReturn, Self

from replaykit.errors import BundleWriteError, MalformedSource, SourceLimitExceeded, UnsafeSource
from replaykit.interop.lfs_pointers import FETCH, is_pointer_file
from replaykit.interop.run_search import is_litter
from replaykit.interop.scratch_folder import scratch_folder
from replaykit.interop.source_files import ZIP_FAILURES, SourceLimits

TAPES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
"""How archives of tar end."""

CHUNK_BYTES = 2**20
"""Bytes that are copied at once."""

NAME_BYTES = 200
"""Bytes of a part of a name; file systems take 255."""

_FAILURES = (*ZIP_FAILURES, tarfile.TarError)


def is_tape(path: Path) -> bool:
    """Whether a path is that of an archive of tar."""
    return path.name.lower().endswith(TAPES) and path.is_file()


class _Member(NamedTuple):
    """A plain file of an archive: its bytes, or the earlier one that it is a second name of."""

    name: str
    data: IO[bytes] | None
    same_as: str = ""


class Unpacking:
    """A folder of unpacked archives, gone when it is left. `folder`: where the bundles will be."""

    def __init__(self, folder: Path, format: str, limits: SourceLimits) -> None:
        self._folder = folder
        self._format = format
        self._limits = limits
        self._place: Path | None = None
        self._stack = ExitStack()
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def unpacked(self, archive: Path) -> Path:
        """Return a folder with the files of an archive, called as it is. Raises InteropError, BundleError."""
        if is_pointer_file(archive):
            self._malformed(archive, "the file", f"a pointer of Git LFS; {FETCH}", "an archive")
        self._count += 1
        root = self._made() / str(self._count) / _stem(archive)
        try:
            root.mkdir(parents=True)
            self._write(archive, root)
        except _FAILURES as error:
            self._malformed(archive, "the archive", f"undecodable ({_words(error)})", "a whole one", error)
        return root

    def _made(self) -> Path:
        """Return the folder that holds them all, locked."""
        if self._place is None:
            try:
                self._place = self._stack.enter_context(scratch_folder(self._folder))
            except OSError as error:
                raise BundleWriteError(
                    source=str(self._folder),
                    operation="unpack an archive",
                    reason=error.strerror or str(error),
                ) from error
        return self._place

    def _write(self, archive: Path, root: Path) -> None:
        total, written = 0, set[str]()
        for at, member in enumerate(_members(archive)):
            self._check(archive, "members", at + 1, "the archive", "members")
            name = self._plain(archive, member.name)
            if name is None:
                continue
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            first = self._plain(archive, member.same_as) if member.same_as else None
            if member.data is None:
                # The second name of a file has no bytes of its own.
                if first not in written or first == name:
                    continue
                with (root / first).open("rb") as data:
                    total += self._copied(archive, data, target, name, total)
            else:
                total += self._copied(archive, member.data, target, name, total)
            written.add(name)

    def _copied(self, archive: Path, data: IO[bytes], target: Path, name: str, total: int) -> int:
        """Copy a member, and return its size: counted while it is unpacked, as its header may lie."""
        size = 0
        with target.open("wb") as file:
            while chunk := data.read(CHUNK_BYTES):
                size += len(chunk)
                self._check(archive, "member", size, name, "bytes")
                self._check(archive, "source", total + size, name, "bytes")
                file.write(chunk)
        return size

    def _plain(self, archive: Path, name: str) -> str | None:
        """Return the name of a member as a path below the root; None for what systems add."""
        parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
        is_out = name.startswith(("/", "\\")) or ".." in parts or "\0" in name or ":" in name[1:2]
        if is_out or not parts:
            raise UnsafeSource(
                format=self._format, source=str(archive), place=f"{name!r:.120}",
                found="a path out of the archive", expected="files inside of it",
            )  # fmt: skip
        if any(len(part.encode("utf-8", "replace")) > NAME_BYTES for part in parts):
            self._malformed(archive, f"{name!r:.80}", "a name that is too long", f"{NAME_BYTES} bytes a part")
        return None if is_litter(*parts) else PurePosixPath(*parts).as_posix()

    def _check(self, archive: Path, limit: str, found: int, place: str, unit: str) -> None:
        allowed = getattr(self._limits, limit)
        if found > allowed:
            raise SourceLimitExceeded(
                format=self._format, source=str(archive), place=place, found=found, limit=limit,
                allowed=allowed, unit=unit,
            )  # fmt: skip

    def _malformed(
        self, archive: Path, place: str, found: str, expected: str, cause: BaseException | None = None
    ) -> NoReturn:
        raise MalformedSource(
            format=self._format, source=str(archive), place=place, found=found, expected=expected
        ) from cause


def _words(error: BaseException) -> str:
    # What the system says of a file may name folders of this machine.
    return error.strerror or "no reason given" if isinstance(error, OSError) else str(error)[:200]


def _stem(archive: Path) -> str:
    name = archive.name
    ending = next((end for end in (*TAPES[::-1], ".zip") if name.lower().endswith(end)), "")
    return name[: len(name) - len(ending)].strip(". ") or "archive"


def _members(archive: Path) -> Iterator[_Member]:
    if archive.name.lower().endswith(".zip"):
        with zipfile.ZipFile(archive) as found:
            for info in found.infolist():
                if not info.is_dir():
                    with found.open(info) as data:
                        yield _Member(info.filename, data)
        return
    # As a stream: nothing is looked for by its offset, and a compressed tape is unpacked once.
    with tarfile.open(archive, "r|*", errorlevel=1) as tape:
        for one in tape:
            if one.isreg():
                yield _Member(one.name, tape.extractfile(one))
            elif one.islnk():
                yield _Member(one.name, None, one.linkname)
            # Links and devices are no files; what is behind them is missing, and reported as such.
