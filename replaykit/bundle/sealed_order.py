"""Order and references of a sealed file: a function of content only, never of the order of writing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from replaykit.bundle.blobs import class_of, is_markup
from replaykit.bundle.bundle_format import CLASSES, FRAME_RAW_MAX, SEGMENT_RAW, BlobClass
from replaykit.bundle.content_tables import BlobPlace
from replaykit.patterns import lazy_pattern

_ID = lazy_pattern(rb'"([0-9a-f]{64})(?=")')

_NUMBER = lazy_pattern(rb"\0([0-9]{1,6})")

NAMED_LEAST = 57
"""Bytes by which an id is longer than NUL and the longest number."""

_UNREFERENCED = (-1, -1)


class Segment(NamedTuple):
    """Blobs of one class that share a frame."""

    blob_class: BlobClass
    """Their class."""
    ids: list[str]
    """In the order of the frame."""


def shortened(line: bytes, numbers: Mapping[str, int]) -> bytes:
    """Return a story line as a sealed file holds it: NUL and a blob's number in place of its id."""

    def short(match: re.Match[bytes]) -> bytes:
        number = numbers.get(match[1].decode())
        return match[0] if number is None else b'"\0%d' % number

    return _ID.sub(short, line)


def restored(line: bytes, ids: Sequence[str]) -> bytes:
    """Return the story line that was shortened. Raises IndexError for a number that no blob has."""
    return _NUMBER.sub(lambda match: ids[int(match[1])].encode(), line)


class References:
    """Where each blob is last referred to: story line, then position in it.

    A byte search for the id as a whole JSON string: it needs no schema, so every version agrees.
    """

    def __init__(self, blobs: Iterable[str]) -> None:
        self.last = dict.fromkeys(blobs, _UNREFERENCED)
        self._lines = 0

    def add(self, line: bytes) -> None:
        """Add the next story line."""
        for match in _ID.finditer(line):
            id = match[1].decode()
            if id in self.last:
                self.last[id] = (self._lines, match.start())
        self._lines += 1


def arrange(references: References, blobs: Mapping[str, BlobPlace]) -> Iterator[Segment]:
    """Yield the blob frames of a sealed file, in file order."""
    # Ties are broken by id: the order never depends on who wrote the file.
    oldest_first = sorted(blobs, key=lambda id: (is_markup(blobs[id].media_type), references.last[id], id))
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
        if not cut or size + blobs[id].n > most:
            cut.append([])
            size = 0
        cut[-1].append(id)
        size += blobs[id].n
    yield from (Segment(name, segment) for segment in reversed(cut))
