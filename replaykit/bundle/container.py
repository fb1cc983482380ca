"""A bundle opened for random access: frames, blobs and story lines, whatever the layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from typing import NamedTuple

from replaykit.bundle.bundle_format import MIB, Layout, Limits, Place
from replaykit.bundle.byte_source import ByteSource
from replaykit.bundle.content_tables import BlobPlace
from replaykit.bundle.index import FrameOffsets
from replaykit.bundle.records import LF, NUL, FrameRecord, records
from replaykit.bundle.sealed_order import NAMED_LEAST, restored
from replaykit.bundle.trajectory_digest import trajectory_digest
from replaykit.bundle.zstd_frames import decode
from replaykit.errors import BlobMissing, DigestMismatch


class Tables(NamedTuple):
    """Tables of a file, as opening it found them."""

    layout: Layout
    """Journal or sealed."""
    format: int
    """Format version of the preamble."""
    frames: FrameOffsets
    """All frames by number."""
    blobs: Mapping[str, BlobPlace]
    """Committed blobs, in file order."""
    story: Sequence[int]
    """Numbers of the story frames, in order."""
    events: int
    """Events, the header not counted."""
    story_sha256: str
    """Digest of the story text."""
    torn_bytes: int = 0
    """Bytes after the last commit of a journal."""
    private: int = 0
    """Private records of a journal."""
    ids: Sequence[str] = ()
    """Blobs by the numbers that the story lines of a sealed file refer to them by."""

    def digest(self) -> str:
        """Compute the trajectory digest from these tables."""
        rows = [(id, place.n, place.media_type) for id, place in self.blobs.items()]
        return trajectory_digest(self.events, self.story_sha256, rows)


class Container:
    """Reads frames, story lines and blobs.

    Memory: one decoded frame, one blob and the tables. Not for several threads at once.
    """

    def __init__(self, source: ByteSource, limits: Limits, tables: Tables, digest: str) -> None:
        self.source = source
        self.limits = limits
        self.tables = tables
        self.digest = digest
        self._begun: tuple[int, bytes] = (-1, b"")
        self._cached: tuple[int, bytes] = (-1, b"")
        self._kept: tuple[int, bytes] = (-1, b"")

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
        for number in self.tables.story:
            place = self.place(number)
            for payloads in self._payloads(number, expected, place):
                text = LF.join([*payloads, b""])
                place.check("STORY_MAX", self.limits.story, total := total + len(text))
                digest.update(text)
                expected += len(payloads)
                yield from payloads
        self._check_story(expected, digest.hexdigest())

    def frame_lines(self, number: int, first: int) -> list[bytes]:
        """Return the payloads of a story frame; number -1 is the header. Not verified. Raises as `lines`."""
        return [line for part in self._payloads(number, first, self.place(number)) for line in part]

    def header_line(self) -> bytes:
        """Return the payload of the header; the story is not verified. Raises as `lines`."""
        number = self.tables.story[0]
        raw, place = self.frame(number), self.place(number)
        self._kept = (number, raw if len(raw) <= MIB else b"")
        if self.tables.layout == "sealed":
            return self._line(raw.partition(LF)[0], -1, place)
        for record in self._walk(raw, -1, place):
            return raw[record.start : record.start + record.n]
        return next(self.lines())  # it stands in a later frame, or nowhere

    def blob(self, id: str, referred_by: str = "the request") -> bytes:
        """Return a verified payload. Raises BlobMissing, DigestMismatch, BundleDamaged."""
        place = self.tables.blobs.get(id)
        if place is None:
            raise BlobMissing(source=self.name, id=id, referred_by=referred_by)
        # A blob without bytes may stand in no frame.
        raw = self._frame_upto(place.frame, place.offset + place.n) if place.n else b""
        payload = raw[place.offset : place.offset + place.n]
        check_blob(id, payload, self.place(place.frame))
        return payload

    def frame(self, number: int) -> bytes:
        """Decode a whole frame."""
        return self._decode(number, self._read(number))

    def place(self, number: int) -> Place:
        """Return where frame `number` stands."""
        return Place(self.name, self.tables.frames.offsets[number])

    def close(self) -> None:
        """Close the source; a second call does nothing."""
        self._begun = self._cached = self._kept = (-1, b"")
        self.source.close()

    def _story_frame(self, number: int) -> bytes:
        """Decode a frame, unless the header was read from it."""
        kept, self._kept = self._kept, (-1, b"")
        return kept[1] if kept[0] == number and kept[1] else self.frame(number)

    def _frame_upto(self, number: int, upto: int) -> bytes:
        # The newest blob of a segment stands first: most readers want only this one, so the first request
        # decodes no further. Whoever comes back wants the neighbours too.
        if self._cached[0] == number:
            return self._cached[1]
        if self._begun[0] != number:
            self._begun = (number, self._read(number))
            return self._decode(number, self._begun[1], upto)
        # Freed first: two decoded frames at once would double the memory.
        self._cached = (-1, b"")
        self._cached = (number, self._decode(number, self._begun[1]))
        return self._cached[1]

    def _read(self, number: int) -> bytes:
        return self.source.read_range(self.tables.frames.offsets[number], self.tables.frames.lengths[number])

    def _decode(self, number: int, frame: bytes, upto: int | None = None) -> bytes:
        return decode(frame, self.place(number), self.limits, self.tables.frames.raws[number], upto)

    def _payloads(self, number: int, first: int, place: Place) -> Iterator[list[bytes]]:
        raw = self._story_frame(number)
        if self.tables.layout == "sealed":
            yield from self._sealed_lines(raw, first, place)
        else:
            yield from ([raw[r.start : r.start + r.n]] for r in self._walk(raw, first, place))

    def _sealed_lines(self, raw: bytes, first: int, place: Place) -> Iterator[list[bytes]]:
        file = BytesIO(raw)
        while lines := file.readlines(MIB):
            # A frame may be line feeds only.
            if first + len(lines) > self.tables.events or not lines[-1].endswith(LF):
                raise place.damaged(
                    "story lines", f"{self.tables.events} events, an LF after each", "otherwise"
                )
            yield [self._line(line[:-1], number, place) for number, line in enumerate(lines, first)]
            first += len(lines)

    def _line(self, line: bytes, number: int, place: Place) -> bytes:
        name, most = ("EVENT_MAX", self.limits.event) if number >= 0 else ("HEADER_MAX", self.limits.header)
        references = line.count(NUL)
        # Before it is restored, which makes it up to 32 times as long.
        if (least := len(line) + NAMED_LEAST * references) > most:
            place.check(name, most, least)
        if not references:
            return line
        try:
            whole = restored(line, self.tables.ids)
        except IndexError as error:
            raise place.damaged(
                "reference of a story line", "the number of a blob", "a larger one"
            ) from error
        place.check(name, most, len(whole))
        return whole

    def _walk(self, raw: bytes, first: int, place: Place) -> Iterator[FrameRecord]:
        for record in records(raw, place, self.limits):
            if record.kind in ("header", "event"):
                _check_order(record, first, place)
                first += 1
                yield record

    def _check_story(self, events: int, digest: str) -> None:
        if events != self.tables.events or digest != self.tables.story_sha256:
            found, expected = (
                f"{events} events, {digest}",
                f"{self.tables.events} events, {self.tables.story_sha256}",
            )
            offset = self.tables.frames.offsets[self.tables.story[0]]
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


def _check_order(record: FrameRecord, expected: int, place: Place) -> None:
    if record.number != expected or (record.kind == "header") != (expected < 0):
        wanted = "the header" if expected < 0 else f"event {expected}"
        raise place.damaged("story record", wanted, f"{record.kind} {record.number}")
