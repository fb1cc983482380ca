"""Files of another tool's run, read as untrusted input: bounded, inside of their root, never executed.

A source is a folder or a zip archive, whose members are looked up by name and never extracted. Every file
that was read leaves its digest behind, for the header of the bundle.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

import msgspec
from msgspec import Struct

from replaykit.bundle.zstd_frames import unpacked
from replaykit.decoders import convert
from replaykit.errors import MalformedSource, SourceLimitExceeded, UnsafeSource, WideSource
from replaykit.interop.folder_search import is_litter
from replaykit.interop.unreadable.lfs_pointers import FETCH, is_pointer, is_pointer_file
from replaykit.interop.unreadable.wide_text import encoding_in
from replaykit.interop.untrusted_json import SOURCE_NEST_MAX, JsonFault, decode_json
from replaykit.secrets.compressed_body import ZIP_FAILURES

ROOT = PurePosixPath()
"""The source itself."""

LEVELS_MAX = 12
"""Folders of a foreign path that are looked at."""

DIRECTORY_MAX = 64 * 2**20
"""Bytes of an archive's directory: it is read into memory before anything can be counted."""

_END = b"PK\x05\x06"
_END_SIZE = 22
_END_SEARCH = 65_535 + _END_SIZE

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Methods of the writers of traces and HAR files; others bring decoders with failures of their own."""

ZSTANDARD = 93
"""Method of Inspect; `zipfile` knows it from Python 3.14 on, so that it is decoded here."""

_LOCAL = b"PK\x03\x04"
_LOCAL_SIZE = 30


class SourceLimits(Struct, frozen=True, kw_only=True):
    """Greatest sizes and counts that an importer accepts for one run."""

    members: int = 100_000
    """Number of files in a folder or archive."""
    member: int = 256 * 2**20
    """Size of one file after decompression, bytes."""
    source: int = 4 * 2**30
    """Size of all files read, after decompression, bytes."""
    line: int = 64 * 2**20
    """Size of one JSON line, bytes."""
    lines: int = 2_000_000
    """Number of JSON lines in a file."""
    depth: int = SOURCE_NEST_MAX
    """Nesting depth of JSON."""
    steps: int = 100_000
    """Number of steps of a run."""


class SourceFiles:
    """The files of one run. `name`: what errors call it, as it was given."""

    def __init__(self, format: str, name: str, limits: SourceLimits) -> None:
        self.format = format
        self.name = name
        self.limits = limits
        self.files: dict[str, str] = {}
        self._read = 0

    def names(self) -> list[str]:
        """Return the relative names of all files, sorted."""
        raise NotImplementedError

    def __contains__(self, name: object) -> bool:
        raise NotImplementedError

    def _bytes(self, name: str, limit: int) -> bytes:
        raise NotImplementedError

    def close(self) -> None:
        """Close what is open."""

    def enter(self, folder: str) -> None:
        """Name files as seen from a folder inside of an archive; what is outside of it keeps its name."""

    def read(self, name: str) -> bytes:
        """Return the bytes of a file, keep its digest. Raises InteropError, also for a pointer of Git LFS."""
        data = self.read_any(name)
        if is_pointer(data):
            self.malformed(name, f"a pointer of Git LFS; {FETCH}", "the file itself")
        return data

    def read_any(self, name: str) -> bytes:
        """Return the bytes of a file, or of a pointer in its place, keep the digest. Raises InteropError."""
        data = self._bytes(name, self.limits.member)
        self.check("member", len(data), name, "bytes")
        if name not in self.files:
            self._read += len(data)
            self.check("source", self._read, name, "bytes")
            self.files[name] = sha256(data).hexdigest()
        # The header vouches for one digest of each file.
        elif self.files[name] != sha256(data).hexdigest():
            self.malformed(name, "another file than a moment ago", "a source at rest")
        return data

    def read_again(self, name: str) -> bytes:
        """Return the bytes of a file that was read; the caller knows whether they are the same."""
        return self._bytes(name, self.limits.member)

    def path(self, name: str) -> Path:
        """Return where a file lies that another library reads. Raises InteropError."""
        self.malformed(name, "in an archive", "a file of a folder")

    def part(self, name: str, *pieces: bytes) -> None:
        """Count a part of a file that another library read, and keep its digest. Raises InteropError."""
        digest = sha256()
        for data in pieces:
            self.check("member", len(data), name, "bytes")
            self._read += 0 if name in self.files else len(data)
            self.check("source", self._read, name, "bytes")
            digest.update(data)
        self.files[name] = digest.hexdigest()

    def json(self, name: str) -> Any:
        """Return the JSON value of a file. Raises InteropError."""
        return self.decode(self.read(name), name)

    def text(self, name: str) -> str:
        """Return the text of a file in UTF-8, without its byte order mark, lines ended by LF.

        Raises InteropError.
        """
        data = self.read(name)
        try:
            # Windows tools begin text with a byte order mark.
            return data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeError as error:
            self.malformed(name, "not UTF-8", "text in UTF-8", error)

    def ending(self, path: str, folder: PurePosixPath = ROOT) -> str | None:
        """Return the file in a folder that a foreign path means: the longest end of it that is here."""
        # Paths were written on another machine, perhaps with Windows.
        parts = PurePosixPath(path.replace("\\", "/")).parts[-LEVELS_MAX:]
        ends = ((folder / "/".join(parts[at:])).as_posix() for at in range(len(parts)))
        return next((end for end in ends if end in self), None)

    def lines(self, name: str) -> Iterator[tuple[int, Any]]:
        """Yield line number from 1 and value of each JSON line; blank lines are skipped."""
        for number, line in self.raw_lines(name):
            yield number, self.decode(line, f"{name} line {number}")

    def raw_lines(self, name: str) -> Iterator[tuple[int, bytes]]:
        """Yield line number from 1 and bytes of each line that is not blank. Raises InteropError."""
        data = self.read(name)
        # Counted before any line is decoded.
        self.check("lines", data.count(b"\n"), name, "lines")
        for number, line in enumerate(data.split(b"\n"), 1):
            self.check("line", len(line), f"{name} line {number}", "bytes")
            if line.strip():
                yield number, line

    def decode(self, data: bytes, place: str) -> Any:
        """Return a JSON value. Raises MalformedSource."""
        try:
            return decode_json(data, self.limits.depth)
        except JsonFault as error:
            self.malformed(place, str(error), error.expected, error)

    def convert(self, value: Any, kind: Any, place: str) -> Any:
        """Return plain values as a type, or raise MalformedSource that names the key."""
        try:
            return convert(value, kind)
        except (msgspec.ValidationError, RecursionError) as error:
            reason, _, path = str(error).partition(" - at `")
            expected, found = _split(reason)
            where = path.rstrip("`").removeprefix("$").lstrip(".")
            self.malformed(f"{place} {where}".rstrip(), found, expected, error)

    def check(self, limit: str, found: int, place: str, unit: str) -> None:
        """Raise SourceLimitExceeded if `found` is over the limit of that name."""
        allowed = getattr(self.limits, limit)
        if found > allowed:
            raise SourceLimitExceeded(
                format=self.format, source=self.name, place=place, found=found, limit=limit, allowed=allowed,
                unit=unit,
            )  # fmt: skip

    def malformed(
        self, place: str, found: str, expected: str, cause: BaseException | None = None
    ) -> NoReturn:
        """Raise MalformedSource."""
        fields = {"format": self.format, "source": self.name, "place": place}
        if encoding := encoding_in(found):
            raise WideSource(**fields, found=found, expected=expected, encoding=encoding) from cause
        raise MalformedSource(**fields, found=found, expected=expected) from cause

    def unsafe(self, place: str, found: str, expected: str) -> NoReturn:
        """Raise UnsafeSource."""
        raise UnsafeSource(format=self.format, source=self.name, place=place, found=found, expected=expected)


class Folder(SourceFiles):
    """A folder, or one file in it. Links that leave the root are refused, special files are no files."""

    def __init__(self, format: str, root: Path, limits: SourceLimits, name: str | None = None) -> None:
        super().__init__(format, name or str(root), limits)
        self.root = root
        self._real = root.resolve()

    def names(self) -> list[str]:
        """Return the relative names of all files, sorted; links to folders are not followed."""
        found: list[str] = []
        folders = [self.root]
        while folders:
            for entry in self._entries(folders.pop()):
                # A link to a folder above would be walked without end.
                if entry.is_dir() and not entry.is_symlink():
                    folders += [] if is_litter(entry.name) else [entry]
                elif not is_litter(entry.name):
                    found.append(entry.relative_to(self.root).as_posix())
                self.check("members", len(found) + len(folders), "the folder", "files")
        return sorted(found)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _is_plain(name) and is_file(self.root / name)

    def path(self, name: str) -> Path:
        """Return where a file lies. Raises UnsafeSource for one out of the folder."""
        if not _is_plain(name) or not self._is_inside(self.root / name, name):
            self.unsafe(name, "a path out of the source", "files inside of it")
        return self.root / name

    def _is_inside(self, file: Path, name: str) -> bool:
        try:
            # Resolved first: a link inside of the folder may point anywhere.
            return file.resolve().is_relative_to(self._real)
        except (OSError, RuntimeError) as error:  # a link to itself
            self.malformed(name, "unreadable (a link that leads nowhere)", "a file", error)

    def _entries(self, folder: Path) -> list[Path]:
        try:
            return list(folder.iterdir())
        except OSError as error:
            self.malformed(folder.name, f"unreadable ({error.strerror})", "a folder", error)

    def _bytes(self, name: str, limit: int) -> bytes:
        file = self.path(name)
        try:
            # Reading a pipe or a device might never end.
            if not stat.S_ISREG(file.stat().st_mode):
                self.malformed(name, "no regular file", "a file")
            with file.open("rb") as stream:
                # One byte more than allowed, so that the check sees it.
                return stream.read(limit + 1)
        except OSError as error:
            self.malformed(name, "missing" if isinstance(error, FileNotFoundError) else
                           f"unreadable ({error.strerror})", "a file", error)  # fmt: skip


class Archive(SourceFiles):
    """A zip archive."""

    def __init__(self, format: str, file: Path, limits: SourceLimits, name: str | None = None) -> None:
        super().__init__(format, name or str(file), limits)
        if is_pointer_file(file):
            self.malformed("the file", f"a pointer of Git LFS; {FETCH}", "a zip archive")
        self._check_directory(file)
        self._file = file
        try:
            self._zip = zipfile.ZipFile(file)
        except ZIP_FAILURES as error:
            self.malformed("the file", f"no zip archive ({error})", "a zip archive", error)
        self.check("members", len(self._zip.infolist()), "the archive", "members")
        members = (one for one in self._zip.infolist() if not one.is_dir())
        self._members = {one.filename: one for one in members if not is_litter(*one.filename.split("/"))}

    def names(self) -> list[str]:
        """Return the names of all members, sorted."""
        return sorted(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def enter(self, folder: str) -> None:
        """Name members as seen from a folder."""
        if folder:
            self._members = {name.removeprefix(folder + "/"): one for name, one in self._members.items()}

    def head(self, name: str, size: int) -> bytes:
        """Return the first bytes of a member, to see what it is. Raises InteropError."""
        member = self._members.get(name)
        if member is None or member.compress_type not in _METHODS:
            return b""
        try:
            with self._zip.open(member) as stream:
                return stream.read(size)
        except ZIP_FAILURES as error:
            self.malformed(name, f"undecodable ({error})", "a whole member", error)

    def _check_directory(self, file: Path) -> None:
        # zipfile reads the whole directory at once, whatever number of members is claimed.
        try:
            size = file.stat().st_size
            with file.open("rb") as stream:
                stream.seek(max(0, size - _END_SEARCH))
                tail = stream.read(_END_SEARCH)
        except OSError as error:
            self.malformed("the file", f"unreadable ({error.strerror})", "a zip archive", error)
        # The last one counts: a member or a comment may hold the same bytes.
        at = tail.rfind(_END)
        if at < 0 or len(tail) < at + _END_SIZE:
            self.malformed("the file", "no zip archive, or a cut one", "a zip archive with its directory")
        directory = int.from_bytes(tail[at + 12 : at + 16], "little")
        if directory > DIRECTORY_MAX:
            self.malformed("the archive", f"a directory of {directory} bytes", f"at most {DIRECTORY_MAX}")

    def _bytes(self, name: str, limit: int) -> bytes:
        member = self._members.get(name)
        if member is None:
            self.malformed(name, "missing", "a member of the archive")
        # Refused by its claim, before anything is unpacked.
        if member.file_size > limit:
            self.check("member", member.file_size, name, "bytes")
        if member.compress_type not in (*_METHODS, ZSTANDARD):
            self.malformed(
                name, f"compressed by method {member.compress_type}", "stored, deflated or Zstandard"
            )
        try:
            if member.compress_type == ZSTANDARD:
                return _unpacked(self._file, member, limit)
            with self._zip.open(member) as stream:
                return stream.read(limit + 1)
        except ZIP_FAILURES as error:
            self.malformed(name, f"undecodable ({error})", "a whole member", error)


def _unpacked(file: Path, member: zipfile.ZipInfo, limit: int) -> bytes:
    """Return the bytes of a member packed by Zstandard, at most one more than the limit."""
    if member.flag_bits & 1:
        raise ValueError("encrypted")
    with file.open("rb") as stream:
        stream.seek(member.header_offset)
        head = stream.read(_LOCAL_SIZE)
        if len(head) < _LOCAL_SIZE or not head.startswith(_LOCAL):
            raise ValueError("no local header")
        # Name and extra field may be longer here than in the directory.
        stream.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), 1)
        packed = stream.read(min(member.compress_size, limit))
    data = unpacked(packed, limit + 1)
    # `zipfile` checks this for members that it unpacks itself.
    if len(data) <= limit and (len(data) != member.file_size or zlib.crc32(data) != member.CRC):
        raise ValueError("another size or checksum than the directory lists")
    return data


def open_source(format: str, path: Path, limits: SourceLimits, name: str | None = None) -> SourceFiles:
    """Return a folder or an archive as a source; `name`: what errors call it, else its path."""
    return Folder(format, path, limits, name) if path.is_dir() else Archive(format, path, limits, name)


def is_file(path: Path) -> bool:
    """Whether the file exists; False for a name that no file system accepts."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def kind_of(value: Any) -> str:
    """Return what a JSON value is, in the words of `convert`."""
    return {dict: "object", list: "array", type(None): "null"}.get(type(value), type(value).__name__)


def numbered(name: str) -> int:
    """Return the first integer in a file name; -1 if absent."""
    digits = ""
    for char in PurePosixPath(name).stem:
        if char.isascii() and char.isdigit():
            digits += char
        elif digits:
            break
    # Python refuses to parse very long numbers.
    return int(digits[:18]) if digits else -1


def _is_plain(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts and "\0" not in name


def _split(reason: str) -> tuple[str, str]:
    """Return what was expected and what was found, out of msgspec's sentence."""
    expected, _, found = reason.removeprefix("Expected ").partition(", got ")
    if found:
        return expected.replace("`", ""), found.replace("`", "")
    return "the layout's own keys", reason.replace("`", "'")
