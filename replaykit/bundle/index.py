"""Index and seek table: the tail of a sealed bundle."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from replaykit.bundle.bundle_format import (
    FORMAT_VERSION,
    PREAMBLE_SIZE,
    SEALED_LEVELS,
    SEEK_FOOTER_MAGIC,
    SEEK_TABLE_MAGIC,
    Limits,
    Place,
    check_format,
    is_media_type,
)
from replaykit.bundle.content_tables import BlobPlace, StoryFrame
from replaykit.bundle.zstd_frames import LIBZSTD, bound
from replaykit.decoders import check_nesting, decoder
from replaykit.errors import BundleTruncated
from replaykit.trajectory.scalars import N

SEEK_HEADER = 8
SEEK_FOOTER = 9
_ENTRY = 8
_SHORT = 1 << 20
"""Bytes of an index that cannot take much memory, whatever it holds."""


class _StoryRow(Struct, frozen=True, array_like=True, gc=False):
    frame: N
    first_event: N


class _BlobRow(Struct, frozen=True, array_like=True, gc=False):
    id: str
    type: N
    frame: N
    offset: N
    n: N


class _Story(Struct, frozen=True, kw_only=True):
    events: N
    sha256: str
    frames: tuple[_StoryRow, ...]


class _Writer(Struct, frozen=True, kw_only=True):
    libzstd: str = ""
    levels: dict[str, int] = {}


class BundleIndex(Struct, frozen=True, kw_only=True):
    """Payload of the index record."""

    format: N
    """Format version, as in the preamble."""
    digest: str
    """Trajectory digest."""
    story: _Story
    """Event count, story digest, rows of (frame, first event)."""
    types: tuple[str, ...]
    """Media types, sorted."""
    blobs: tuple[_BlobRow, ...]
    """Rows of (id, type number, frame, payload offset in the raw frame, payload bytes), in file order."""
    writer: Raw = Raw(b"{}")
    """Library and levels that wrote the frames, as JSON; not hashed."""


class FrameOffsets(NamedTuple):
    """Offsets and sizes of all frames, by frame number."""

    offsets: array[int]
    """First byte of each in the file."""
    lengths: array[int]
    """Compressed bytes of each."""
    raws: array[int]
    """Decompressed bytes of each; 0 for a skippable frame."""

    def append(self, offset: int, length: int, raw: int) -> int:
        """Add a frame and return its number."""
        for column, value in zip(self, (offset, length, raw), strict=True):
            column.append(value)
        return len(self.raws) - 1


class _StoryLists(Struct):
    frames: Raw


class _Lists(Struct):
    types: Raw
    blobs: Raw
    story: _StoryLists


_decoder = decoder(BundleIndex)
_lists_decoder = decoder(_Lists)


def build_index(
    digest: str,
    events: int,
    story_sha256: str,
    story: Iterable[StoryFrame],
    blobs: Mapping[str, BlobPlace],
    version: int = FORMAT_VERSION,
) -> bytes:
    """Return the index payload of a file of format `version`."""
    types = tuple(sorted({place.media_type for place in blobs.values()}))
    number = {media_type: position for position, media_type in enumerate(types)}
    rows = tuple(_BlobRow(id, number[b.media_type], b.frame, b.offset, b.n) for id, b in blobs.items())
    frames = tuple(_StoryRow(*row) for row in story)
    index = BundleIndex(
        format=version, digest=digest, types=types, blobs=rows,
        story=_Story(events=events, sha256=story_sha256, frames=frames),
        writer=Raw(msgspec.json.encode(_Writer(libzstd=LIBZSTD, levels=SEALED_LEVELS))),
    )  # fmt: skip
    return msgspec.json.encode(index)


def parse_index(payload: bytes, place: Place, limits: Limits, frames: FrameOffsets) -> BundleIndex:
    """Parse an index and check its ids, types and story rows; `blob_places` checks the others.

    Raises BundleDamaged, BundleFromTheFuture and LimitExceeded.
    """
    try:
        check_nesting(payload)
        _check_counts(payload, place, limits)
        index = _decoder.decode(payload)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise place.damaged("index", "an index object", error) from error
    check_format(index.format, place.source, place.offset)
    place.check("BLOBS_MAX", limits.blobs, len(index.blobs), "blobs")
    place.check("EVENTS_MAX", limits.events, index.story.events, "events")
    _check_ids(index, place)
    _check_types(index, place)
    _check_story(index, place, frames)
    return index


def blob_places(
    index: BundleIndex, place: Place, limits: Limits, frames: FrameOffsets
) -> dict[str, BlobPlace]:
    """Return the blobs by id, in file order; each of them stands in a frame before the story.

    Raises BundleDamaged and LimitExceeded.
    """
    first_story, types, places = index.story.frames[0].frame, index.types, dict[str, BlobPlace]()
    for row in index.blobs:
        if row.n > limits.blob:
            place.check("BLOB_MAX", limits.blob, row.n)
        # Not `>`: the line feed of the record follows its payload in the same frame.
        outside = row.frame >= first_story or row.offset + row.n >= frames.raws[row.frame]
        if row.type >= len(types) or outside:
            raise place.damaged("blob row of the index", "a place inside of a blob frame", list(_fields(row)))
        places[row.id] = BlobPlace(types[row.type], row.frame, row.offset, row.n)
    if len(places) != len(index.blobs):
        raise place.damaged("blob rows of the index", "one row per id", "one id twice")
    return places


def _check_counts(payload: bytes, place: Place, limits: Limits) -> None:
    # Twenty times the memory of its text is what a list of short values takes, so those of a long index
    # are counted by their punctuation before they are decoded.
    if len(payload) > _SHORT:
        lists = _lists_decoder.decode(payload)
        place.check("BLOBS_MAX", limits.blobs, bytes(lists.blobs).count(b"[") - 1, "blob rows")
        place.check("BLOBS_MAX", limits.blobs, bytes(lists.types).count(b","), "media types")
        place.check("FRAMES_MAX", limits.frames, bytes(lists.story.frames).count(b"[") - 1, "story rows")


def _check_ids(index: BundleIndex, place: Place) -> None:
    # All at once: a pattern for each id would take half of the time of opening a bundle.
    ids = [index.digest, index.story.sha256, *[row.id for row in index.blobs]]
    if set(map(len, ids)) != {64} or not _is_hex("".join(ids)):
        raise place.damaged("ids of the index", "64 lower-case hex digits each", "otherwise")


def _is_hex(text: str) -> bool:
    # What fromhex also takes, upper case and white space, comes back as other text.
    try:
        return bytes.fromhex(text).hex() == text
    except ValueError:
        return False


def _check_types(index: BundleIndex, place: Place) -> None:
    if list(index.types) != sorted(set(index.types)) or not all(map(is_media_type, index.types)):
        raise place.damaged(
            "media types of the index", "sorted, different media types", list(index.types)[:5]
        )


def _check_story(index: BundleIndex, place: Place, frames: FrameOffsets) -> None:
    previous, last, events = -1, len(frames.raws) - 1, 0
    for row in index.story.frames:
        inside = previous < row.frame < last and frames.raws[row.frame]
        if not inside or not events <= row.first_event <= index.story.events:
            raise place.damaged("story row of the index", "frames and events in order", list(_fields(row)))
        previous, events = row.frame, row.first_event
    if not index.story.frames or index.story.frames[0].first_event:
        raise place.damaged("story rows of the index", "a first frame with the header", "none")


def _fields(row: Struct) -> tuple[object, ...]:
    return msgspec.structs.astuple(row)


def seek_table(lengths: Sequence[int], raws: Sequence[int]) -> bytes:
    """Return the seek table as the skippable frame that ends a sealed file."""
    entries = b"".join(struct.pack("<II", *entry) for entry in zip(lengths, raws, strict=True))
    footer = struct.pack("<IBI", len(lengths), 0, SEEK_FOOTER_MAGIC)
    return SEEK_TABLE_MAGIC + struct.pack("<I", len(entries) + len(footer)) + entries + footer


def seek_table_size(footer: bytes, size: int, source: str, limits: Limits) -> int:
    """Return the bytes of the seek table that ends with these 9 bytes of a file of `size` bytes.

    Raises BundleTruncated if this is no footer, BundleDamaged and LimitExceeded for a forged one.
    """
    place = Place(source, max(0, size - SEEK_FOOTER))
    if len(footer) != SEEK_FOOTER or int.from_bytes(footer[5:], "little") != SEEK_FOOTER_MAGIC:
        raise BundleTruncated(source=source, size=size)
    count = int.from_bytes(footer[:4], "little")
    # Before anything is multiplied, sliced or read.
    place.check("FRAMES_MAX", limits.frames, count, "frames")
    most = (size - SEEK_HEADER - SEEK_FOOTER) // _ENTRY
    # The least is a preamble, a story and an index.
    if not 3 <= count <= most:
        raise place.damaged("frame count of the seek table", f"3 to {most}", count)
    if footer[4]:
        raise place.damaged("seek table descriptor", 0, footer[4])
    return SEEK_HEADER + count * _ENTRY + SEEK_FOOTER


def parse_seek_table(table: bytes, start: int, source: str, limits: Limits) -> FrameOffsets:
    """Parse a whole seek table that starts at byte `start`; its sizes must fill the file up to there.

    Raises BundleDamaged and LimitExceeded.
    """
    place = Place(source, start)
    if table[:4] != SEEK_TABLE_MAGIC or int.from_bytes(table[4:8], "little") != len(table) - SEEK_HEADER:
        raise place.damaged("seek table header", f"{len(table) - SEEK_HEADER} bytes of content", "otherwise")
    cells = array("I", table[SEEK_HEADER:-SEEK_FOOTER])
    if sys.byteorder == "big":
        cells.byteswap()
    frames = _frames(cells)
    if frames.offsets[-1] + frames.lengths[-1] != start:
        raise place.damaged(
            "sum of the seek table", f"{start} bytes before it (two bundles joined?)",
            frames.offsets[-1] + frames.lengths[-1],
        )  # fmt: skip
    _check_frames(frames, place, limits)
    return frames


def _frames(cells: array[int]) -> FrameOffsets:
    lengths = cells[0::2]
    offsets = array("Q", accumulate(lengths[:-1], initial=0))
    return FrameOffsets(offsets, lengths, cells[1::2])


def _check_frames(frames: FrameOffsets, place: Place, limits: Limits) -> None:
    place.check("RAW_MAX", limits.raw, sum(frames.raws))
    place.check("FRAME_RAW_MAX", limits.frame_raw, max(frames.raws))
    if frames.lengths[0] != PREAMBLE_SIZE or frames.raws[0]:
        raise place.damaged("first seek table entry", "the preamble: 24 bytes, 0 raw", frames.lengths[0])
    if not frames.raws[-1]:
        raise place.damaged("last seek table entry", "the index", "a skippable frame")
    for length, raw in zip(frames.lengths, frames.raws, strict=True):
        if raw and length > bound(raw):
            raise place.damaged("compressed size in the seek table", f"at most {bound(raw)}", length)
