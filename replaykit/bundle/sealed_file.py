"""Open a sealed bundle by its tail: seek table, index, tables."""

from __future__ import annotations

from itertools import islice

from replaykit.bundle.bundle_format import PREAMBLE_SIZE, Limits, Place
from replaykit.bundle.byte_source import ByteSource
from replaykit.bundle.container import Container, Tables
from replaykit.bundle.content_tables import StoryFrame
from replaykit.bundle.index import (
    SEEK_FOOTER,
    BundleIndex,
    FrameOffsets,
    blob_places,
    parse_index,
    parse_seek_table,
    seek_table_size,
)
from replaykit.bundle.records import records
from replaykit.bundle.zstd_frames import decode
from replaykit.errors import BundleTruncated, DigestMismatch


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
    raw = decode(source.read_range(offset, length), place, limits, raw_size)
    found = list(islice(records(raw, place, limits), 2))  # a forged frame may hold millions
    if [record.kind for record in found] != ["index"]:
        raise place.damaged("last data frame", "the index alone", [record.kind for record in found])
    return parse_index(raw[found[0].start : -1], place, limits, frames)


def _container(source: ByteSource, index: BundleIndex, frames: FrameOffsets, limits: Limits) -> Container:
    place = Place(source.name, frames.offsets[-1])
    blobs = blob_places(index, place, limits, frames)
    story = [StoryFrame(row.frame, row.first_event) for row in index.story.frames]
    tables = Tables("sealed", index.format, frames, blobs, story, index.story.events, index.story.sha256)
    found = tables.digest()
    if found != index.digest:
        raise DigestMismatch(
            source=source.name, what="index", offset=place.offset, expected=index.digest, found=found
        )
    return Container(source, limits, tables, found)
