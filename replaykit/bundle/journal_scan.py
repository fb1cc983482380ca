"""Read a journal from its start: frames are found, records tabled, a torn tail is left out."""

from __future__ import annotations

from array import array
from itertools import islice

from replaykit.bundle.bundle_format import PREAMBLE_HEAD, PREAMBLE_SIZE, SEEK_TABLE_MAGIC, Limits, Place
from replaykit.bundle.byte_source import ByteSource
from replaykit.bundle.container import Container, Tables
from replaykit.bundle.content_tables import Contents
from replaykit.bundle.index import FrameOffsets
from replaykit.bundle.zstd_frames import FrameSpan, decode, whole_frames
from replaykit.errors import BundleDamaged, NotABundle


def open_journal(source: ByteSource, format_found: int, limits: Limits) -> Container:
    """Open a bundle whose preamble says journal: one pass, which keeps positions and no payloads.

    Raises NotABundle if no header was written, BundleDamaged for anything but a torn tail.
    """
    scan = _Scan(source, limits)
    scan.run()
    if not scan.commits:
        raise NotABundle(source=source.name, found="a journal to which nothing was written")
    tables = scan.tables(format_found)
    return Container(source, limits, tables, tables.digest())


class _Scan:
    def __init__(self, source: ByteSource, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.commits = 0
        self._size = source.size()
        self._frames = FrameOffsets(array("Q"), array("Q"), array("Q"))
        self._contents = Contents(limits)
        self._committed_blobs = 0
        self._committed_end = PREAMBLE_SIZE

    def run(self) -> None:
        """Take every whole frame. Raises BundleDamaged with the number of commits before the damage."""
        try:
            self._take_all()
        except BundleDamaged as error:
            what = f"{error.fields['what']} (after {self.commits} whole commits)"
            raise type(error)(**{**error.fields, "what": what}) from error

    def tables(self, format_found: int) -> Tables:
        """Return the committed part."""
        contents = self._contents
        # Blobs after the last story frame belong to a commit that was cut off.
        blobs = dict(islice(contents.blobs.items(), self._committed_blobs))
        return Tables(
            "journal", format_found, self._frames, blobs, contents.story, contents.events,
            contents.story_sha256, self._size - self._committed_end, contents.private,
        )  # fmt: skip

    def _take_all(self) -> None:
        raw = 0
        for count, span in enumerate(whole_frames(self.source, self.limits), 2):
            place = Place(self.source.name, span.offset)
            place.check("FRAMES_MAX", self.limits.frames, count, "frames")
            raw += self._take(span, place)
            place.check("RAW_MAX", self.limits.raw, raw)

    def _take(self, span: FrameSpan, place: Place) -> int:
        frame = self.source.read_range(span.offset, span.length) if not span.skippable else b""
        group, raw = "private", b""
        if frame:
            raw = decode(frame, place, self.limits)
            number = self._frames.append(span.offset, span.length, len(raw))
            group = self._contents.add(number, raw, place)
        else:
            self._check_skippable(span, place)
        self._commit(span, group == "story")
        return len(raw)

    def _commit(self, span: FrameSpan, story: bool) -> None:
        self.commits += story
        if story:
            self._committed_blobs = len(self._contents.blobs)
        if self._committed_blobs == len(self._contents.blobs):
            self._committed_end = span.offset + span.length

    def _check_skippable(self, span: FrameSpan, place: Place) -> None:
        head = self.source.read_range(span.offset, min(span.length, len(PREAMBLE_HEAD)))
        # Two bundles in one file must not read as one.
        if head == PREAMBLE_HEAD or head.startswith(SEEK_TABLE_MAGIC):
            raise place.damaged(
                "frame of a journal", "blobs or story", "another bundle's preamble or seek table"
            )
