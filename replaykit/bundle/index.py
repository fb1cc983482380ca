"""Index and seek table: the tail of a sealed bundle."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from replaykit.bundle.bundle_format import (
    FORMAT_VERSION,
    PREAMBLE_SIZE,
    SEEK_FOOTER_MAGIC,
    SEEK_TABLE_MAGIC,
    Limits,
    Place,
    check_format,
    is_media_type,
)
from replaykit.bundle.content_tables import BlobPlace
from replaykit.bundle.zstd_frames import bound
from replaykit.decoders import check_nesting, decoder
from replaykit.errors import BundleTruncated
from replaykit.trajectory.scalars import N

SEEK_HEADER = 8
SEEK_FOOTER = 9
_ENTRY = 8
ID = 64
"""Hex digits of an id."""
_SHORT = 1 << 20
"""Bytes of an index that cannot take much memory, whatever it holds."""


class _Story(Struct, frozen=True, kw_only=True):
    events: N
    sha256: str


class _Blobs(Struct, frozen=True, kw_only=True):
    ids: str
    types: tuple[N, ...]
    sizes: tuple[N, ...]


class BundleIndex(Struct, frozen=True, kw_only=True):
    """Content of the index frame."""

    format: N
    """Format version, as in the preamble."""
    digest: str
    """Trajectory digest."""
    story: _Story
    """Event count and story digest."""
    types: tuple[str, ...]
    """Media types, sorted."""
    blobs: _Blobs
    """Columns, in file order: ids one after another, numbers of types, bytes."""

    def ids(self) -> list[str]:
        """Return the blob ids, in file order."""
        return [self.blobs.ids[at : at + ID] for at in range(0, len(self.blobs.ids), ID)]


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


class _Columns(Struct):
    types: Raw
    sizes: Raw


class _Lists(Struct):
    types: Raw
    blobs: _Columns


_decoder = decoder(BundleIndex)
_lists_decoder = decoder(_Lists)


def build_index(
    digest: str, events: int, story_sha256: str, blobs: Mapping[str, BlobPlace], version: int = FORMAT_VERSION
) -> bytes:
    """Return the index of a file of format `version`; `blobs` in file order."""
    types = tuple(sorted({place.media_type for place in blobs.values()}))
    number = {media_type: position for position, media_type in enumerate(types)}
    columns = _Blobs(
        ids="".join(blobs),
        types=tuple(number[place.media_type] for place in blobs.values()),
        sizes=tuple(place.n for place in blobs.values()),
    )
    story = _Story(events=events, sha256=story_sha256)
    return msgspec.json.encode(
        BundleIndex(format=version, digest=digest, story=story, types=types, blobs=columns)
    )


def parse_index(payload: bytes, place: Place, limits: Limits) -> BundleIndex:
    """Parse an index and check its ids and types; `blob_places` checks the rest.

    Raises BundleDamaged, BundleFromTheFuture and LimitExceeded.
    """
    place.check("INDEX_MAX", limits.index, len(payload))
    try:
        check_nesting(payload)
        _check_counts(payload, place, limits)
        index = _decoder.decode(payload)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise place.damaged("index", "an index object", error) from error
    check_format(index.format, place.source, place.offset)
    place.check("BLOBS_MAX", limits.blobs, len(index.blobs.sizes), "blobs")
    place.check("EVENTS_MAX", limits.events, index.story.events, "events")
    _check_ids(index, place)
    _check_types(index, place)
    return index


def blob_places(
    index: BundleIndex, place: Place, limits: Limits, frames: FrameOffsets
) -> tuple[dict[str, BlobPlace], list[int]]:
    """Return the blobs by id, in file order, and the numbers of the story frames.

    Blobs fill the first data frames, each to its last byte; those before the index hold the story. Raises
    BundleDamaged and LimitExceeded.
    """
    blobs, types, most, places = index.blobs, index.types, limits.blob, dict[str, BlobPlace]()
    data = iter([number for number, raw in enumerate(frames.raws) if raw])
    frame, offset, raw = 0, 0, 0
    for id, kind, n in zip(index.ids(), blobs.types, blobs.sizes, strict=True):
        if offset == raw and n:
            frame, offset = next(data, 0), 0
            raw = frames.raws[frame]
        end = offset + n
        if end > raw or n > most:
            place.check("BLOB_MAX", most, n)
            raise place.damaged("blobs of the index", f"{raw} bytes in frame {frame}", end)
        places[id] = BlobPlace(types[kind], frame, offset, n)
        offset = end
    story = [*data][:-1]
    if offset != raw or not story:
        raise place.damaged("blobs of the index", "whole frames, with a story after them", "otherwise")
    if len(places) != len(blobs.sizes):
        raise place.damaged("blobs of the index", "each id once", "one id twice")
    return places, story


def _check_counts(payload: bytes, place: Place, limits: Limits) -> None:
    # Twenty times the memory of its text is what a list of short values takes, so those of a long index
    # are counted by their punctuation before they are decoded.
    if len(payload) > _SHORT:
        lists = _lists_decoder.decode(payload)
        for values in (lists.types, lists.blobs.types, lists.blobs.sizes):
            place.check("BLOBS_MAX", limits.blobs, bytes(values).count(b","), "blobs")


def _check_ids(index: BundleIndex, place: Place) -> None:
    # All at once: a pattern for each id would take half of the time of opening a bundle.
    blobs, digests = index.blobs, (index.digest, index.story.sha256)
    is_whole = len(blobs.ids) == ID * len(blobs.sizes) and len(blobs.types) == len(blobs.sizes)
    if not is_whole or set(map(len, digests)) != {ID} or not _is_hex("".join([*digests, blobs.ids])):
        raise place.damaged(
            "ids of the index", "64 lower-case hex digits for each blob and digest", "otherwise"
        )


def _is_hex(text: str) -> bool:
    # `fromhex` also accepts upper case and white space, which come back as other text.
    try:
        return bytes.fromhex(text).hex() == text
    except ValueError:
        return False


def _check_types(index: BundleIndex, place: Place) -> None:
    is_sorted = list(index.types) == sorted(set(index.types)) and all(map(is_media_type, index.types))
    if not is_sorted or max(index.blobs.types, default=-1) >= len(index.types):
        raise place.damaged(
            "media types of the index", "sorted, different media types", list(index.types)[:5]
        )


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
