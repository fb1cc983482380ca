"""Write bundles: a journal while recording, a sealed file at the end, a salvaged one after damage."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, TypeAlias

import zstandard
from msgspec import Struct

from replaykit.bundle.blobs import class_of
from replaykit.bundle.bundle_format import (
    FORMAT_VERSION,
    JOURNAL_LEVELS,
    Limits,
    Place,
    Preamble,
    is_blob_id,
    is_media_type,
)
from replaykit.bundle.byte_source import BINARY, open_source
from replaykit.bundle.container import Container
from replaykit.bundle.locking import lock, not_recorded, release
from replaykit.bundle.opening import open_container
from replaykit.bundle.records import blob_line, event_record, header_record
from replaykit.bundle.recovery import recover
from replaykit.bundle.sealing import seal_into, write_error
from replaykit.bundle.story_lines import Line, encode_line
from replaykit.errors import BundleBusy, BundleWriteError, EventInvalid, OutputExists
from replaykit.trajectory.step import Header, Step

Durability: TypeAlias = Literal["process", "power"]
"""Event that a commit survives: the death of the process (page cache), or a power cut (one fdatasync each).

"""

NewBlob: TypeAlias = tuple[str, str, bytes]
"""Id, media type, payload."""


_NOTHING: Mapping[str, bytes] = {}


class SealResult(Struct, frozen=True, kw_only=True):
    """The bundle that `seal`, `salvage` or `pack` wrote."""

    path: str
    """Path of the sealed file."""
    digest: str
    """Trajectory digest, 64 hex digits."""
    events: int
    """Number of events, without the header."""
    blobs: int
    """Number of blobs."""
    size: int
    """Size of the sealed file, bytes."""
    torn_bytes: int = 0
    """Bytes after the last commit of the journal; they were left out."""
    private: int = 0
    """Number of private records; they were left out."""
    lost: int = 0
    """Number of events known to be lost (`salvage`), including earlier salvages."""


class _Totals(NamedTuple):
    """Sizes of a journal so far: one commit over a limit would make all that was recorded unreadable."""

    size: int = 0
    frames: int = 1
    raw: int = 0
    story: int = 0
    lines: int = 0
    steps: int = 0
    blobs: int = 0

    def check(self, place: Place, limits: Limits) -> None:
        # The index, which sealing adds, is left room for.
        place.check("FRAMES_MAX", limits.frames - 1, self.frames, "frames")
        place.check("RAW_MAX", limits.raw - limits.index, self.raw)
        place.check("STORY_MAX", limits.story, self.story)
        place.check("EVENTS_MAX", limits.events, self.lines - 1, "events")
        place.check("STEPS_MAX", limits.steps, self.steps, "steps")
        place.check("BLOBS_MAX", limits.blobs, self.blobs, "blobs")


class Journal:
    """A bundle being recorded. A commit is one write: it is there as a whole, or not at all.

    Used by one thread; no other process may write or seal the file until it is closed. The file must not
    exist: a recording is never continued.
    """

    def __init__(self, path: str | Path, durability: Durability = "process") -> None:
        self.path = Path(path)
        self.repaired = 0
        self._power = durability == "power"
        self._blobs: set[str] = set()
        self._totals = _Totals()
        self._unfinished: tuple[_Totals, set[str]] | None = None
        self._limits = Limits()
        self._compressors: dict[int, zstandard.ZstdCompressor] = {}
        self._file = self._create()
        self._start()

    @classmethod
    def create(cls, path: str | Path, durability: Durability = "process") -> Journal:
        """Start a journal. Raises BundleWriteError if the path exists or cannot be written."""
        return cls(path, durability)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __contains__(self, id: object) -> bool:
        return id in self._blobs

    @property
    def size(self) -> int:
        """Bytes of the file up to its last commit."""
        return self._totals.size

    @property
    def events(self) -> int:
        """Committed events, the header not counted."""
        return max(0, self._totals.lines - 1)

    def commit(
        self, events: Iterable[Line], blobs: Iterable[NewBlob] = (), packed: Mapping[str, bytes] = _NOTHING
    ) -> None:
        """Append events, and the blobs they are the first to refer to; known ids are skipped.

        `packed`: what `journal_frame` has returned of some of these blobs, by id.

        The first commit starts with the header. Values that cannot be stored are repaired and counted.
        Raises EventInvalid and LimitExceeded before anything is written, BundleWriteError after the file
        was cut back to the last commit. After any other exception, such as Ctrl-C, the commit is there as a
        whole or not at all, and the journal can be used on.
        """
        self._undo_unfinished()
        batch, place = list(events), self._place()
        lines = self._lines(batch)
        new = {blob[0]: blob for blob in blobs if blob[0] not in self._blobs}
        story = self._story_raw(lines)
        sizes = [*(self._blob_size(*blob) for blob in new.values()), len(story)]
        totals = self._totals_after(batch, lines, sizes)
        totals.check(place, self._limits)
        frames = [packed.get(blob[0]) or self._blob_frame(*blob) for blob in new.values()]
        data = b"".join([*frames, self._compress(story, "story")])
        totals = totals._replace(size=self.size + len(data))
        place.check("FILE_MAX", self._limits.file - self._limits.index, totals.size)
        # Noted before anything is written: whatever interrupts the write can be undone.
        self._unfinished = (totals, set(new))
        self._append(data)
        self._blobs.update(new)
        self._totals = totals  # from here on the commit counts
        self._unfinished = None

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        file, self._file = self._file, -1
        if file >= 0:
            release(file)
            os.close(file)

    def _undo_unfinished(self) -> None:
        # Ctrl-C comes between any two instructions: what was written may not count yet.
        if self._unfinished is not None:
            totals, ids = self._unfinished
            if self._totals is not totals:
                self._cut_back()
                self._blobs -= ids
            self._unfinished = None

    def _lines(self, events: list[Line]) -> list[bytes]:
        first = self._totals.lines - 1
        if not events or isinstance(events[0], Header) != (first < 0):
            reason = "a commit holds events; the first one of a journal, and no other, starts with the header"
            raise EventInvalid(source=str(self.path), number=first, path="$.type", reason=reason)
        lines = []
        for number, event in enumerate(events, first):
            line, repaired = encode_line(event, number, str(self.path))
            self._place().check(*self._line_limit(number), len(line))
            self.repaired += repaired
            lines.append(line)
        return lines

    def _line_limit(self, number: int) -> tuple[str, int]:
        return ("HEADER_MAX", self._limits.header) if number < 0 else ("EVENT_MAX", self._limits.event)

    def _story_raw(self, lines: list[bytes]) -> bytes:
        numbered = enumerate(lines, self._totals.lines - 1)
        raw = b"".join(header_record(line) if n < 0 else event_record(n, line) for n, line in numbered)
        self._place().check("FRAME_RAW_MAX", self._limits.frame_raw, len(raw))
        return raw

    def _blob_size(self, id: str, media_type: str, payload: bytes) -> int:
        place = self._place()
        place.check("BLOB_MAX", self._limits.blob, len(payload))
        if not is_blob_id(id) or not is_media_type(media_type):
            raise place.damaged("new blob", "a sha256 and a type/subtype in lower case", (id, media_type))
        return len(blob_line(id, len(payload), media_type)) + len(payload) + 1

    def _blob_frame(self, id: str, media_type: str, payload: bytes) -> bytes:
        return self._compress(_blob_record(id, media_type, payload), class_of(media_type))

    def _totals_after(self, events: list[Line], lines: list[bytes], raws: list[int]) -> _Totals:
        before = self._totals
        return before._replace(
            frames=before.frames + len(raws),
            raw=before.raw + sum(raws),
            story=before.story + sum(map(len, lines)) + len(lines),
            lines=before.lines + len(lines),
            steps=before.steps + sum(isinstance(event, Step) for event in events),
            blobs=before.blobs + len(raws) - 1,
        )

    def _place(self) -> Place:
        return Place(str(self.path), self.size)

    def _compress(self, raw: bytes, name: str) -> bytes:
        level = JOURNAL_LEVELS[name]
        if level not in self._compressors:
            # Kept: its tables cost more than a small frame.
            self._compressors[level] = _compressor(level)
        frame: bytes = self._compressors[level].compress(raw)
        return frame

    def _create(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | BINARY
        try:
            return os.open(self.path, flags, 0o666)
        except FileExistsError as error:
            raise OutputExists(source=str(self.path), operation="create the bundle") from error
        except (OSError, ValueError) as error:
            raise self._error("create the bundle", error) from error

    def _start(self) -> None:
        preamble = Preamble("journal", FORMAT_VERSION).pack()
        try:
            self._lock()
            self._append(preamble)
            self._totals = _Totals(size=len(preamble))
        except BundleWriteError:
            # Nothing was recorded; the name is free again.
            self.close()
            with suppress(OSError):
                self.path.unlink()
            raise

    def _lock(self) -> None:
        try:
            lock(self._file, shared=False)
        except BlockingIOError as error:
            raise BundleBusy(source=str(self.path), operation="create the bundle") from error

    def _append(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
            if self._power:
                # macOS has no `fdatasync`.
                getattr(os, "fdatasync", os.fsync)(self._file)
        except OSError as error:
            self._cut_back()
            reason = f"{error.strerror or error}; `replaykit seal` completes what was written before"
            raise BundleWriteError(
                source=str(self.path), operation="write to the bundle", reason=reason
            ) from error

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._file, self.size)
            os.lseek(self._file, self.size, os.SEEK_SET)
        except OSError:
            # The journal ends in a torn record, which readers leave out; nothing may be written after it.
            with suppress(OSError):
                self.close()

    def _error(self, operation: str, cause: Exception) -> BundleWriteError:
        return write_error(str(self.path), operation, cause)


def journal_frame(id: str, media_type: str, payload: bytes) -> bytes:
    """Return a blob as `Journal.commit` appends it: a large one may be compressed in another thread."""
    frame: bytes = _compressor(JOURNAL_LEVELS[class_of(media_type)]).compress(
        _blob_record(id, media_type, payload)
    )
    return frame


def _compressor(level: int) -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=level, write_checksum=True, write_content_size=True)


def _blob_record(id: str, media_type: str, payload: bytes) -> bytes:
    return b"%b%b\n" % (blob_line(id, len(payload), media_type), payload)


def seal(path: str | Path) -> SealResult:
    """Seal a journal in place; a sealed bundle is sealed again with the same content.

    The new file is read back at level `full` before it replaces the old one. If anything fails, the old file
    stays. Raises BundleError, and BundleBusy for a journal that a running recorder writes.
    """
    return _sealed(path, is_passing=False)


def seal_passing(path: str | Path) -> SealResult:
    """Do the same to a file that is moved elsewhere at once: its folder is neither searched nor synced."""
    return _sealed(path, is_passing=True)


def _sealed(path: str | Path, *, is_passing: bool) -> SealResult:
    with not_recorded(path, "seal"):
        container = open_container(path)
        try:
            private = container.tables.private
            # A link stays a link: the file that it leads to is replaced.
            size = seal_into(container, Path(path).resolve(), _mode(path), is_passing=is_passing)
        finally:
            container.close()
    return _result(container, str(path), size, private)


def salvage(path: str | Path, target: str | Path) -> SealResult:
    """Write the intact part of a damaged bundle to a new sealed file.

    `path`: the damaged bundle. `target`: the new file, which has its own digest. It keeps the commits before
    the first damaged event, and the blobs that verify. Its header names the source and counts the events
    known to be lost. Raises BundleError.
    """
    if os.path.lexists(target):
        raise OutputExists(source=str(target), operation="create the bundle")
    source = open_source(path)
    try:
        container = recover(source, Limits())
        size = seal_into(container, Path(target).absolute(), _mode(path), is_new=True)
    finally:
        source.close()
    return _result(container, str(target), size, 0, container.lost)


def _mode(path: str | Path) -> int:
    try:
        return stat.S_IMODE(Path(path).stat().st_mode)
    except OSError as error:
        raise write_error(str(path), "seal", error) from error


def _result(container: Container, path: str, size: int, private: int, lost: int = 0) -> SealResult:
    tables = container.tables
    return SealResult(
        path=path, digest=container.digest, events=tables.events, blobs=len(tables.blobs), size=size,
        torn_bytes=tables.torn_bytes, private=private, lost=lost,
    )  # fmt: skip
