"""Read what is whole in a damaged bundle, from its start to the first damaged part of its story."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from hashlib import sha256
from typing import cast

import msgspec
from msgspec import Raw

from replaykit.bundle.container import Container, Tables, check_blob
from replaykit.bundle.contents import BlobPlace, StoryFrame
from replaykit.bundle.format import FORMAT_VERSION, Limits, Place
from replaykit.bundle.frames import Span, decode, whole_frames
from replaykit.bundle.index import Frames
from replaykit.bundle.records import Record, records
from replaykit.bundle.source import Source
from replaykit.bundle.story import decode_line
from replaykit.errors import BundleError, NotABundle
from replaykit.trajectory.step import Derivation, Header


class Recovery(Container):
    """The whole commits of a damaged bundle, under a header that says what they were made from."""

    def __init__(self, whole: Container, header: bytes, lost: int) -> None:
        self.lost = lost
        self._whole = whole
        self._header = header
        story = sha256()
        for line in self.lines():
            story.update(line + b"\n")
        tables = whole.tables._replace(story_sha256=story.hexdigest())
        super().__init__(whole.source, whole.limits, tables, tables.digest())

    def lines(self) -> Iterator[bytes]:
        """Yield the new header, then the event lines byte for byte."""
        story = self._whole.lines()
        next(story)
        yield self._header
        yield from story


def recover(source: Source, limits: Limits) -> Recovery:
    """Read the commits before the first damaged story frame and the blobs that verify.

    Raises NotABundle if not even the header is whole, EventInvalid if it cannot be read.
    """
    salvage = _Salvage(source, limits)
    salvage.run()
    if not salvage.story:
        raise NotABundle(source=source.name, found="no whole header: nothing can be salvaged")
    tables = salvage.tables()
    whole = Container(source, limits, tables, tables.digest())
    lost = salvage.lost()
    return Recovery(whole, _derived_header(next(whole.lines()), whole, lost), lost)


def _derived_header(line: bytes, whole: Container, lost: int) -> bytes:
    header = cast(Header, decode_line(line, -1, whole.name))
    chain = (*header.derived_from, Derivation(digest=whole.digest, by="salvage"))
    # Part by part: fields of newer versions stay as they are.
    parts = msgspec.json.decode(line, type=dict[str, Raw])
    parts["derived_from"] = Raw(msgspec.json.encode(chain))
    if lost:
        parts["lost"] = Raw(msgspec.json.encode(header.lost + lost))
    return msgspec.json.encode(parts)


class _Salvage:
    def __init__(self, source: Source, limits: Limits) -> None:
        self.story: list[StoryFrame] = []
        self._source = source
        self._limits = limits
        self._frames = Frames(array("Q"), array("Q"), array("Q"))
        self._blobs: dict[str, BlobPlace] = {}
        self._pending: dict[str, BlobPlace] = {}
        self._hash = sha256()
        self._next = -1
        self._highest = -1
        self._stopped = False
        self._suspect = False

    def run(self) -> None:
        """Take every frame that can be found and decoded."""
        try:
            for span in whole_frames(self._source, self._limits):
                if not span.skippable:
                    self._take(span, Place(self._source.name, span.offset))
        except BundleError:
            self._suspect = True

    def lost(self) -> int:
        """Return the events known to be lost: numbered ones, or one if the story may have gone on."""
        return max(self._highest + 1 - self._next, int(self._suspect or self._stopped))

    def tables(self) -> Tables:
        """Return what is whole."""
        return Tables(
            "journal", FORMAT_VERSION, self._frames, self._blobs, self.story, self._next,
            self._hash.hexdigest(),
        )  # fmt: skip

    def _take(self, span: Span, place: Place) -> None:
        try:
            raw = decode(self._source.read_range(span.offset, span.length), place, self._limits)
            found = list(records(raw, place, self._limits))
        except BundleError:
            self._suspect = True
            return
        number = self._frames.append(span.offset, span.length, len(raw))
        self._take_blobs(number, raw, [record for record in found if record.kind == "blob"], place)
        self._take_story(number, raw, [record for record in found if record.kind in ("header", "event")])

    def _take_blobs(self, number: int, raw: bytes, found: list[Record], place: Place) -> None:
        for record in found:
            try:
                check_blob(record.id, raw[record.start : record.start + record.n], place)
            except BundleError:
                continue
            blob = BlobPlace(record.media_type, number, record.start, record.n)
            self._pending.setdefault(record.id, blob)

    def _take_story(self, number: int, raw: bytes, found: list[Record]) -> None:
        if not found:
            return
        numbers = [record.number for record in found]
        self._highest = max(self._highest, *numbers)
        # A gap says that a frame lost before this one was a story frame; no gap, that it held blobs.
        self._stopped = self._stopped or numbers != list(range(self._next, self._next + len(numbers)))
        if self._stopped or (found[0].kind == "header") != (self._next < 0):
            self._stopped = True
            return
        self.story.append(StoryFrame(number, max(self._next, 0)))
        for record in found:
            self._hash.update(raw[record.start : record.start + record.n + 1])
        self._next = numbers[-1] + 1
        self._blobs = self._pending | self._blobs
        self._pending.clear()
        self._suspect = False
