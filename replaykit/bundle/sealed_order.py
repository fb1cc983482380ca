"""The order of a sealed file: a function of content only, never of the order of writing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from replaykit.bundle.blobs import class_of
from replaykit.bundle.bundle_format import CLASSES, FRAME_RAW_MAX, SEGMENT_RAW, BlobClass
from replaykit.bundle.content_tables import BlobPlace
from replaykit.bundle.records import blob_line
from replaykit.patterns import lazy_pattern

_ID = lazy_pattern(rb'"([0-9a-f]{64})(?=")')

_UNREFERENCED = (-1, -1)


class Segment(NamedTuple):
    """Blobs of one class that share a frame."""

    blob_class: BlobClass
    """Their class."""
    ids: list[str]
    """In the order of the frame."""


class References:
    """Where each blob is last referred to: story line, then position in it.

    A byte search for the id as a whole JSON string: it needs no schema, so every version agrees.
    """

    def __init__(self, blobs: Iterable[str]) -> None:
        self.last = dict.fromkeys(blobs, _UNREFERENCED)
        self._lines = 0

    def add(self, line: bytes) -> None:
        """Take in the next story line."""
        for match in _ID.finditer(line):
            id = match[1].decode()
            if id in self.last:
                self.last[id] = (self._lines, match.start())
        self._lines += 1


def arrange(references: References, blobs: Mapping[str, BlobPlace]) -> Iterator[Segment]:
    """Yield the blob frames of a sealed file, in file order."""
    # Ties are broken by id: the order never depends on who wrote the file.
    oldest_first = sorted(blobs, key=lambda id: (references.last[id], id))
    for name in CLASSES:
        ids = [id for id in oldest_first if class_of(blobs[id].media_type) == name]
        yield from _segments(name, ids, blobs)


def _segments(name: BlobClass, ids: list[str], blobs: Mapping[str, BlobPlace]) -> Iterator[Segment]:
    if name == "opaque":
        # Compressed already: together they would be no smaller, and each can be read by itself.
        yield from (Segment(name, [id]) for id in ids)
        return
    # Readers want the newest and decode only the beginning of a frame: the newest comes first in its
    # frame, and its frame comes last.
    # Screenshots of one run resemble each other, so one large window makes them small.
    most, cut, size = FRAME_RAW_MAX if name == "pixels" else SEGMENT_RAW, list[list[str]](), 0
    for id in reversed(ids):
        length = record_size(id, blobs[id])
        if not cut or size + length > most:
            cut.append([])
            size = 0
        cut[-1].append(id)
        size += length
    yield from (Segment(name, segment) for segment in reversed(cut))


def record_size(id: str, blob: BlobPlace) -> int:
    """Return the bytes of a blob's record: line, payload, LF."""
    return len(blob_line(id, blob.n, blob.media_type)) + blob.n + 1
