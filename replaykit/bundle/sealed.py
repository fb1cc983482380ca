"""Open a sealed bundle by its tail: seek table, index, tables."""

from __future__ import annotations

from replaykit.bundle.container import Container, Tables
from replaykit.bundle.contents import StoryFrame
from replaykit.bundle.format import PREAMBLE_SIZE, SUFFIX, Limits, Place
from replaykit.bundle.frames import decode
from replaykit.bundle.index import SEEK_FOOTER, Frames, Index, parse_index, parse_seek_table, seek_table_size
from replaykit.bundle.records import records
from replaykit.bundle.source import Source
from replaykit.errors import BundleTruncated, DigestMismatch


def open_sealed(source: Source, format_found: int, limits: Limits) -> Container:
    """Open a bundle whose preamble says sealed: two reads, whatever its size.

    Raises BundleTruncated, BundleDamaged, DigestMismatch, BundleFromTheFuture, LimitExceeded.
    """
    size = source.size()
    tail = source.read_suffix(min(SUFFIX, size))
    if size < PREAMBLE_SIZE + SEEK_FOOTER:
        raise BundleTruncated(source=source.name, size=size)
    frames = _read_frames(source, tail, size, limits)
    index = _read_index(source, tail, size, frames, limits)
    if index.format != format_found:
        raise Place(source.name, 18).damaged("format of the preamble", index.format, format_found)
    return _container(source, index, frames, limits)


def _read_frames(source: Source, tail: bytes, size: int, limits: Limits) -> Frames:
    length = seek_table_size(tail[-SEEK_FOOTER:], size, source.name, limits)
    table = tail[-length:] if length <= len(tail) else source.read_suffix(length)
    return parse_seek_table(table, size - length, source.name, limits)


def _read_index(source: Source, tail: bytes, size: int, frames: Frames, limits: Limits) -> Index:
    offset, length, raw_size = frames.offsets[-1], frames.lengths[-1], frames.raws[-1]
    place, inside = Place(source.name, offset), offset - (size - len(tail))
    frame = tail[inside : inside + length] if inside >= 0 else source.read_range(offset, length)
    raw = decode(frame, place, limits, raw_size)
    found = list(records(raw, place, limits))
    if [record.kind for record in found] != ["index"]:
        raise place.damaged("last data frame", "the index alone", [record.kind for record in found][:5])
    return parse_index(raw[found[0].start : -1], place, limits, frames)


def _container(source: Source, index: Index, frames: Frames, limits: Limits) -> Container:
    story = [StoryFrame(row.frame, row.first_event) for row in index.story.frames]
    tables = Tables(
        "sealed", index.format, frames, index.places(), story, index.story.events, index.story.sha256
    )
    found = tables.digest()
    if found != index.digest:
        raise DigestMismatch(
            source=source.name, what="index", offset=frames.offsets[-1], expected=index.digest, found=found
        )
    return Container(source, limits, tables, found)
