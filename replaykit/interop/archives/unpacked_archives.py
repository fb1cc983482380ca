"""Archives of runs, unpacked for as long as they are read: tar, also compressed, zip, and single gzip files.

Only plain files below a folder of our own are written, under names that were looked at, until a limit is
reached. Links are not followed, and what a killed process leaves behind is removed by the next import.
"""

from __future__ import annotations

import gzip
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from io import FileIO
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, NamedTuple, NoReturn, Self, cast

from replaykit.bundle.sealing import scratch_folder
from replaykit.errors import (
    BundleWriteError,
    InteropError,
    MalformedSource,
    SourceLimitExceeded,
    UnsafeSource,
)
from replaykit.interop.folder_search import is_litter
from replaykit.interop.source_files import SourceLimits
from replaykit.interop.unreadable.lfs_pointers import FETCH, is_pointer_file
from replaykit.secrets.compressed_body import ZIP_FAILURES

TAPES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
"""How archives of tar end."""

PACKED = tuple(f"{end}.gz" for end in (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".har"))
"""How files end that are packed one by one."""

ARCHIVES = (*TAPES, ".zip", *PACKED)
"""How everything ends that is unpacked."""

CHUNK_BYTES = 2**20
"""Bytes that are copied at once."""

NAME_BYTES = 200
"""Bytes of a part of a name; file systems take 255."""

# `tarfile` raises TypeError where a stream ends within the header of gzip.
_FAILURES = (*ZIP_FAILURES, tarfile.TarError, TypeError)


def is_archive(path: Path) -> bool:
    """Whether a path is that of an archive, or of one packed file."""
    return path.name.lower().endswith(ARCHIVES) and path.is_file()


def is_packed(path: Path) -> bool:
    """Whether a path is that of one packed file."""
    return path.name.lower().endswith(PACKED)


class UnpackedTotals:
    """Sizes that several archives have unpacked together: limits hold for all of them."""

    def __init__(self) -> None:
        self.members = self.bytes = 0


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

    def unpacked(self, archive: Path, spent: UnpackedTotals | None = None) -> Path:
        """Return a folder with the files of an archive, called as it is. Raises InteropError, BundleError.

        `spent`: what was unpacked before that the limits hold for as well.
        """
        root = self.folder(archive_stem(archive))
        try:
            self.add(archive, root, spent or UnpackedTotals())
        except InteropError:
            # A partly unpacked archive would fill the disk until the import ends.
            shutil.rmtree(root, ignore_errors=True)
            raise
        return root

    def folder(self, name: str) -> Path:
        """Return a new folder of a name. Raises BundleWriteError."""
        self._count += 1
        root = self._made() / str(self._count) / name
        try:
            root.mkdir(parents=True)
        except OSError as error:
            raise self._unwritable(error) from error
        return root

    def add(self, archive: Path, root: Path, spent: UnpackedTotals, name: str = "") -> None:
        """Write the files of an archive into a folder; `name`: what a packed file is called there.

        Raises InteropError.
        """
        if is_pointer_file(archive):
            self._malformed(archive, "the file", f"a pointer of Git LFS; {FETCH}", "an archive")
        try:
            self._write(archive, _members(archive, name), root, spent)
        except _FAILURES as error:
            self._malformed(archive, "the archive", f"undecodable ({_words(error)})", "a whole one", error)

    def _made(self) -> Path:
        """Return the folder that holds them all, locked."""
        if self._place is None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._place = self._stack.enter_context(scratch_folder(self._folder, "importing"))
            except OSError as error:
                raise self._unwritable(error) from error
        return self._place

    def _unwritable(self, error: OSError) -> BundleWriteError:
        reason = error.strerror or str(error)
        return BundleWriteError(source=str(self._folder), operation="unpack an archive", reason=reason)

    def _write(self, archive: Path, members: Iterator[_Member], root: Path, spent: UnpackedTotals) -> None:
        written = set[str]()
        for member in members:
            spent.members += 1
            self._check(archive, "members", spent.members, "the archive", "members")
            name = self._plain(archive, member.name)
            if name is None:
                continue
            target = root / name
            self._make_folder(target.parent)
            first = self._plain(archive, member.same_as) if member.same_as else None
            if member.data is None:
                # The second name of a file has no bytes of its own.
                if first not in written or first == name:
                    continue
                with (root / first).open("rb") as data:
                    self._copy(archive, data, target, name, spent)
            else:
                self._copy(archive, member.data, target, name, spent)
            written.add(name)

    def _copy(self, archive: Path, data: IO[bytes], target: Path, name: str, spent: UnpackedTotals) -> None:
        """Copy a member: its size is counted while it is unpacked, as its header may lie."""
        size = 0
        with self._opened(target) as file:
            while chunk := data.read(CHUNK_BYTES):
                size += len(chunk)
                spent.bytes += len(chunk)
                self._check(archive, "member", size, name, "bytes")
                self._check(archive, "source", spent.bytes, name, "bytes")
                self._append(file, chunk)

    # A full disk is no fault of the archive.

    def _make_folder(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error

    def _opened(self, target: Path) -> FileIO:
        try:
            return target.open("wb", buffering=0)
        except OSError as error:
            raise self._unwritable(error) from error

    def _append(self, file: FileIO, data: bytes) -> None:
        try:
            while data:
                data = data[file.write(data) or 0 :]
        except OSError as error:
            raise self._unwritable(error) from error

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
    # The system's error message may name folders of this machine.
    return error.strerror or "no reason given" if isinstance(error, OSError) else str(error)[:200]


def archive_stem(archive: Path) -> str:
    """Return the name of an archive without its ending."""
    name = archive.name
    ending = next((end for end in (*TAPES[::-1], ".zip", ".gz") if name.lower().endswith(end)), "")
    return name[: len(name) - len(ending)].strip(". ") or "archive"


def _members(archive: Path, name: str) -> Iterator[_Member]:
    if is_packed(archive):
        with gzip.open(archive, "rb") as data:
            yield _Member(name or archive_stem(archive), cast(IO[bytes], data))
        return
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
