"""Open the container of a bundle, whatever its layout."""

from __future__ import annotations

from pathlib import Path

from replaykit.bundle.bundle_format import PREAMBLE_HEAD, PREAMBLE_SIZE, SUFFIX, Limits, Place, read_preamble
from replaykit.bundle.byte_source import ByteSource, open_source
from replaykit.bundle.container import Container, Tables
from replaykit.bundle.index import (
    SEEK_FOOTER,
    BundleIndex,
    FrameOffsets,
    blob_places,
    parse_index,
    parse_seek_table,
    seek_table_size,
)
from replaykit.bundle.journal_scan import open_journal
from replaykit.bundle.zstd_frames import decode
from replaykit.errors import BundleTruncated, DigestMismatch
from replaykit.file_types import HEAD

_TAIL = SUFFIX - PREAMBLE_SIZE
"""Preamble and tail are 64 KiB together; a smaller file is one read."""


def open_container(source: str | Path, limits: Limits | None = None) -> Container:
    """Open the container of a bundle; the caller closes it."""
    opened = open_source(source)
    try:
        return read_container(opened, limits or Limits())
    # BaseException: Ctrl-C must not leave the file open either.
    except BaseException:
        opened.close()
        raise


def read_container(source: ByteSource, limits: Limits) -> Container:
    """Open the container that a source holds; closing the container closes the source."""
    tail = TailSource(source, _TAIL)
    size = source.size()
    head = tail.read_range(0, min(size, PREAMBLE_SIZE))
    if not head.startswith(PREAMBLE_HEAD):
        head = tail.read_range(0, min(size, HEAD))  # more of it tells what it is instead
    preamble = read_preamble(head, source.name)
    Place(source.name, 0).check("FILE_MAX", limits.file, size)
    if preamble.layout == "journal":
        return open_journal(source, preamble.format, limits)
    return open_sealed(tail, preamble.format, limits)


def open_sealed(source: ByteSource, format_found: int, limits: Limits) -> Container:
    """Open a bundle whose preamble says sealed; the reads are few, small and near its end.

    Raises BundleTruncated, BundleDamaged, DigestMismatch, BundleFromTheFuture, LimitExceeded.
    """
    size = source.size()
    if size < PREAMBLE_SIZE + SEEK_FOOTER:
        raise BundleTruncated(source=source.name, size=size)
    frames = _read_frames(source, size, limits)
    index = _read_index(source, frames, limits)
    if index.format != format_found:
        raise Place(source.name, 18).damaged("format of the preamble", index.format, format_found)
    return _container(source, index, frames, limits)


def _read_frames(source: ByteSource, size: int, limits: Limits) -> FrameOffsets:
    footer = source.read_range(size - SEEK_FOOTER, SEEK_FOOTER)
    length = seek_table_size(footer, size, source.name, limits)
    start = size - length
    return parse_seek_table(source.read_range(start, length), start, source.name, limits)


def _read_index(source: ByteSource, frames: FrameOffsets, limits: Limits) -> BundleIndex:
    offset, length, raw_size = frames.offsets[-1], frames.lengths[-1], frames.raws[-1]
    place = Place(source.name, offset)
    return parse_index(decode(source.read_range(offset, length), place, limits, raw_size), place, limits)


def _container(source: ByteSource, index: BundleIndex, frames: FrameOffsets, limits: Limits) -> Container:
    place = Place(source.name, frames.offsets[-1])
    blobs, story = blob_places(index, place, limits, frames)
    events, sha256 = index.story.events, index.story.sha256
    tables = Tables("sealed", index.format, frames, blobs, story, events, sha256, ids=[*blobs])
    found = tables.digest()
    if found != index.digest:
        raise DigestMismatch(
            source=source.name, what="index", offset=place.offset, expected=index.digest, found=found
        )
    return Container(source, limits, tables, found)


class TailSource:
    """A source whose last bytes are in memory.

    In nine runs of ten they hold seek table, index, story and everything but images: one read in all.
    """

    def __init__(self, source: ByteSource, length: int) -> None:
        self.name = source.name
        self._source = source
        self._tail = source.read_suffix(length)
        self._start = source.size() - len(self._tail)

    def size(self) -> int:
        """Return the size in bytes when it was opened."""
        return self._source.size()

    def read_range(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes at `offset`; what the tail holds of them is not read again."""
        before = min(length, max(0, self._start - offset))
        inside = max(0, offset - self._start)
        if length - before > len(self._tail) - inside:
            return self._source.read_range(offset, length)
        part = self._tail[inside : inside + length - before]
        return self._source.read_range(offset, before) + part if before else part

    def read_suffix(self, length: int) -> bytes:
        """Return the last min(length, size) bytes."""
        length = min(length, self.size())
        return self.read_range(self.size() - length, length)

    def close(self) -> None:
        """Forget the tail and close the source; a second call does nothing."""
        self._tail = b""
        self._source.close()
