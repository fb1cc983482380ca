"""A bundle opened for random access: frames, blobs and story lines, whatever the layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from replaykit.bundle.contents import BlobPlace, StoryFrame
from replaykit.bundle.format import Layout, Limits, Place
from replaykit.bundle.frames import decode
from replaykit.bundle.index import Frames
from replaykit.bundle.manifest import trajectory_digest
from replaykit.bundle.records import Record, records
from replaykit.bundle.source import Source
from replaykit.errors import BlobMissing, DigestMismatch


class Tables(NamedTuple):
    """What opening a bundle found out."""

    layout: Layout
    """Journal or sealed."""
    format: int
    """Format version of the preamble."""
    frames: Frames
    """All frames by number."""
    blobs: Mapping[str, BlobPlace]
    """Committed blobs, in file order."""
    story: Sequence[StoryFrame]
    """Story frames, in order."""
    events: int
    """Events, the header not counted."""
    story_sha256: str
    """Digest of the story text."""
    torn_bytes: int = 0
    """Bytes after the last commit of a journal."""
    private: int = 0
    """Private records seen (journals; a sealed file is not scanned on opening)."""

    def digest(self) -> str:
        """Compute the trajectory digest from these tables."""
        rows = ((id, place.n, place.media_type) for id, place in self.blobs.items())
        return trajectory_digest(self.events, self.story_sha256, rows)


class Container:
    """Reads frames, story lines and blobs.

    Memory: one decoded frame, one blob and the tables. Not for several threads at once.
    """

    def __init__(self, source: Source, limits: Limits, tables: Tables, digest: str) -> None:
        self.source = source
        self.limits = limits
        self.tables = tables
        self.digest = digest
        self._touched: set[int] = set()
        self._cached: tuple[int, bytes] = (-1, b"")

    @property
    def name(self) -> str:
        """The source as it was given."""
        return self.source.name

    def lines(self) -> Iterator[bytes]:
        """Yield the payloads of header and events, in order.

        The story is verified when the last one has been taken. Raises BundleDamaged, DigestMismatch,
        LimitExceeded.
        """
        digest, expected, total = sha256(), -1, 0
        for number, _ in self.tables.story:
            raw, place = self.frame(number), self.place(number)
            for record in records(raw, place, self.limits):
                if record.kind in ("header", "event"):
                    _check_order(record, expected, place)
                    end = record.start + record.n
                    place.check("STORY_MAX", self.limits.story, total := total + record.n + 1)
                    digest.update(raw[record.start : end + 1])
                    expected += 1
                    yield raw[record.start : end]
        self._check_story(expected, digest.hexdigest())

    def blob(self, id: str, referred_by: str = "the request") -> bytes:
        """Return a verified payload. Raises BlobMissing, DigestMismatch, BundleDamaged."""
        place = self.tables.blobs.get(id)
        if place is None:
            raise BlobMissing(source=self.name, id=id, referred_by=referred_by)
        raw = self._frame_upto(place.frame, place.offset + place.n)
        payload = raw[place.offset : place.offset + place.n]
        check_blob(id, payload, self.place(place.frame))
        return payload

    def frame(self, number: int, upto: int | None = None) -> bytes:
        """Decode a frame, whole or its first `upto` bytes."""
        offset, length = self.tables.frames.offsets[number], self.tables.frames.lengths[number]
        frame = self.source.read_range(offset, length)
        return decode(frame, self.place(number), self.limits, self.tables.frames.raws[number], upto)

    def place(self, number: int) -> Place:
        """Return where frame `number` stands."""
        return Place(self.name, self.tables.frames.offsets[number])

    def close(self) -> None:
        """Close the source; a second call does nothing."""
        self._cached = (-1, b"")
        self.source.close()

    def _frame_upto(self, number: int, upto: int) -> bytes:
        # The newest blob of a segment stands first: most readers want it alone, so the first request
        # decodes no further. Whoever comes back wants the neighbours too.
        if self._cached[0] == number:
            return self._cached[1]
        if number not in self._touched:
            self._touched.add(number)
            return self.frame(number, upto)
        self._cached = (-1, b"")
        self._cached = (number, self.frame(number))
        return self._cached[1]

    def _check_story(self, events: int, digest: str) -> None:
        if events != self.tables.events or digest != self.tables.story_sha256:
            found, expected = (
                f"{events} events, {digest}",
                f"{self.tables.events} events, {self.tables.story_sha256}",
            )
            offset = self.tables.frames.offsets[self.tables.story[0].frame]
            raise DigestMismatch(
                source=self.name, what="story", offset=offset, expected=expected, found=found
            )


def check_blob(id: str, payload: bytes | memoryview, place: Place) -> None:
    """Compare a payload with its id. Raises DigestMismatch."""
    found = sha256(payload).hexdigest()
    if found != id:
        raise DigestMismatch(
            source=place.source, what=f"blob {id}", offset=place.offset, expected=id, found=found
        )


def _check_order(record: Record, expected: int, place: Place) -> None:
    if record.number != expected or (record.kind == "header") != (expected < 0):
        wanted = "the header" if expected < 0 else f"event {expected}"
        raise place.damaged("story record", wanted, f"{record.kind} {record.number}")
