"""Read what is whole in a damaged bundle: the story to its first damaged part, and blobs."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, cast

import msgspec
from msgspec import Raw

from replaykit.bundle.bundle_format import (
    FORMAT_VERSION,
    PREAMBLE_HEAD,
    PREAMBLE_SIZE,
    SEEK_FOOTER_MAGIC,
    Limits,
    Place,
    check_format,
)
from replaykit.bundle.byte_source import ByteSource
from replaykit.bundle.container import Container, Tables, check_blob
from replaykit.bundle.content_tables import BlobPlace
from replaykit.bundle.index import FrameOffsets
from replaykit.bundle.opening import open_sealed
from replaykit.bundle.records import LF, FrameRecord, records
from replaykit.bundle.story_lines import decode_line
from replaykit.bundle.zstd_frames import FrameSpan, decode, whole_frames
from replaykit.decoders import decode as decode_json
from replaykit.errors import BundleError, NotABundle
from replaykit.trajectory.scalars import INT_MAX
from replaykit.trajectory.step import Derivation, Header

_STORY = ("header", "event")


class Recovery(Container):
    """The whole commits of a damaged bundle, under a header that says what they were made from."""

    def __init__(self, whole: Container, header: bytes, lost: int) -> None:
        self.lost = lost
        self._whole = whole
        self._header = header
        story = sha256()
        for line in self.lines():
            story.update(line + LF)
        tables = whole.tables._replace(story_sha256=story.hexdigest())
        super().__init__(whole.source, whole.limits, tables, tables.digest())

    def lines(self) -> Iterator[bytes]:
        """Yield the new header, then the event lines byte for byte."""
        story = self._whole.lines()
        next(story)
        yield self._header
        yield from story


def recover(source: ByteSource, limits: Limits) -> Recovery:
    """Read the story before its first damaged frame and the blobs that verify.

    Raises NotABundle if not even the header is whole, EventInvalid if it cannot be read,
    BundleFromTheFuture, and of a sealed file whatever is wrong with its index or seek table.
    """
    version = _format(source)
    whole, lost = (
        _of_sealed(source, version, limits) if _is_sealed(source) else _of_journal(source, version, limits)
    )
    if not whole.tables.story:
        raise NotABundle(source=source.name, found="no whole header: nothing can be salvaged")
    return Recovery(whole, _derived_header(next(whole.lines()), whole, lost), lost)


def _of_journal(source: ByteSource, version: int, limits: Limits) -> tuple[Container, int]:
    salvage = _Salvage(source, limits, version)
    salvage.run()
    tables = salvage.tables()
    return Container(source, limits, tables, tables.digest()), salvage.lost()


def _is_sealed(source: ByteSource) -> bool:
    # By its tail where the preamble is damaged: without index and seek table nothing of it can be found.
    head, tail = source.read_range(0, min(source.size(), PREAMBLE_SIZE)), source.read_suffix(4)
    if head.startswith(PREAMBLE_HEAD) and head[17:18] in (b"J", b"S"):
        return head[17:18] == b"S"
    return int.from_bytes(tail, "little") == SEEK_FOOTER_MAGIC


def _of_sealed(source: ByteSource, version: int, limits: Limits) -> tuple[Container, int]:
    opened = open_sealed(source, version, limits)
    events = opened.tables.events
    blobs = {id: place for id, place in opened.tables.blobs.items() if _is_whole(opened, id)}
    tables = opened.tables._replace(blobs=blobs, **_whole_story(opened))
    return Container(source, limits, tables, tables.digest()), events - tables.events


def _is_whole(container: Container, id: str) -> bool:
    try:
        container.blob(id)
    except BundleError:
        return False
    return True


def _whole_story(container: Container) -> dict[str, Any]:
    """Return the tables of the story frames before the first that is damaged."""
    story, digest, events = list[int](), sha256(), -1
    for number in container.tables.story:
        try:
            lines = container.frame_lines(number, events)
        except BundleError:
            break
        digest.update(b"".join(line + LF for line in lines))
        story.append(number)
        events += len(lines)
    return {"story": story, "events": max(events, 0), "story_sha256": digest.hexdigest()}


def _format(source: ByteSource) -> int:
    # A newer format may mean other things by the same bytes. Where the preamble itself is damaged, its
    # version says nothing.
    head = source.read_range(0, min(source.size(), PREAMBLE_SIZE))
    if len(head) < PREAMBLE_SIZE or not head.startswith(PREAMBLE_HEAD):
        return FORMAT_VERSION
    found = int.from_bytes(head[18:20], "little") or FORMAT_VERSION
    check_format(found, source.name, 18)
    return found


def _derived_header(line: bytes, whole: Container, lost: int) -> bytes:
    header = cast(Header, decode_line(line, -1, whole.name, whole.tables.format))
    chain = (*header.derived_from, Derivation(digest=whole.digest, by="salvage"))
    # Part by part: fields of newer versions stay as they are.
    parts = decode_json(line, dict[str, Raw])
    parts["derived_from"] = Raw(msgspec.json.encode(chain))
    if lost:
        parts["lost"] = Raw(msgspec.json.encode(min(header.lost + lost, INT_MAX)))
    return msgspec.json.encode(parts)


class _Salvage:
    def __init__(self, source: ByteSource, limits: Limits, version: int) -> None:
        self._version = version
        self.story: list[int] = []
        self._source = source
        self._limits = limits
        self._frames = FrameOffsets(array("Q"), array("Q"), array("Q"))
        self._raw = 0
        self._blobs: dict[str, BlobPlace] = {}
        self._pending: dict[str, BlobPlace] = {}
        self._hash = sha256()
        self._next = -1
        self._highest = -1
        self._stopped = False
        self._suspect = False

    def run(self) -> None:
        """Take every frame that can be found and decoded.

        Raises LimitExceeded for more frames, bytes, blobs or events than a bundle may have.
        """
        for count, span in enumerate(self._spans(), 2):
            place = Place(self._source.name, span.offset)
            place.check("FRAMES_MAX", self._limits.frames, count, "frames")
            if not span.skippable:
                self._take(span, place)

    def lost(self) -> int:
        """Return the events known to be lost: numbered ones, or one if the story may have gone on."""
        highest = min(self._highest, self._limits.events)  # no bundle numbers them higher
        return max(highest + 1 - self._next, int(self._suspect or self._stopped))

    def tables(self) -> Tables:
        """Return what is whole."""
        return Tables(
            "journal", self._version, self._frames, self._blobs, self.story, self._next,
            self._hash.hexdigest(),
        )  # fmt: skip

    def _spans(self) -> Iterator[FrameSpan]:
        try:
            yield from whole_frames(self._source, self._limits)
        except BundleError:
            self._suspect = True

    def _take(self, span: FrameSpan, place: Place) -> None:
        try:
            raw = decode(self._source.read_range(span.offset, span.length), place, self._limits)
            self._raw += len(raw)
            # Records are walked again below, never kept: a frame may hold millions of them.
            walked = records(raw, place, self._limits)
            kinds = {record.kind for record in walked if record.kind in ("blob", *_STORY)}
        except BundleError:
            self._suspect = True
            return
        place.check("RAW_MAX", self._limits.raw, self._raw)
        number = self._frames.append(span.offset, span.length, len(raw))
        if "blob" in kinds:
            self._take_blobs(number, raw, place)
        if not kinds.isdisjoint(_STORY):
            self._take_story(number, raw, place)

    def _take_blobs(self, number: int, raw: bytes, place: Place) -> None:
        for record in records(raw, place, self._limits):
            if record.kind == "blob" and record.id not in self._pending and _is_sound(record, raw, place):
                place.check("BLOBS_MAX", self._limits.blobs, len(self._pending) + 1, "blobs")
                self._pending[record.id] = BlobPlace(record.media_type, number, record.start, record.n)

    def _take_story(self, number: int, raw: bytes, place: Place) -> None:
        following = self._next
        for record in self._story_records(raw, place):
            self._highest = max(self._highest, record.number)
            # A gap says that a frame lost before this one was a story frame; no gap, that it held blobs.
            is_next = record.number == following and (record.kind == "header") == (following < 0)
            self._stopped = self._stopped or not is_next
            following += 1
        if not self._stopped:
            self._commit(number, raw, place, following)

    def _commit(self, number: int, raw: bytes, place: Place, following: int) -> None:
        place.check("EVENTS_MAX", self._limits.events, following, "events")
        for record in self._story_records(raw, place):
            self._hash.update(raw[record.start : record.start + record.n + 1])
        self.story.append(number)
        self._next = following
        # Blobs stand before the events that refer to them: they count with these.
        for id, blob in self._pending.items():
            self._blobs.setdefault(id, blob)
        self._pending.clear()
        self._suspect = False

    def _story_records(self, raw: bytes, place: Place) -> Iterator[FrameRecord]:
        return (one for one in records(raw, place, self._limits) if one.kind in _STORY)


def _is_sound(record: FrameRecord, raw: bytes, place: Place) -> bool:
    try:
        check_blob(record.id, raw[record.start : record.start + record.n], place)
    except BundleError:
        return False
    return True
