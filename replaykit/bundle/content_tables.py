"""Tables of what a bundle holds, built record by record: where each blob and story frame stands."""

from __future__ import annotations

from hashlib import sha256
from sys import intern
from typing import Literal, TypeAlias

from msgspec import Struct

from replaykit.bundle.bundle_format import Limits, Place
from replaykit.bundle.records import PRIVATE, FrameRecord, records

Group: TypeAlias = Literal["blobs", "story", "private"]
"""Kind of content of a data frame; a frame holds one group, private records aside."""

_GROUPS: dict[str, Group] = {"blob": "blobs", "header": "story", "event": "story"}


class BlobPlace(Struct, frozen=True, gc=False):
    """Where a blob stands."""

    media_type: str
    """Media type."""
    frame: int
    """Number of its frame."""
    offset: int
    """Payload's first byte in the decompressed frame."""
    n: int
    """Payload bytes."""


class Contents:
    """Records of the frames of a journal, checked as they are added."""

    def __init__(self, limits: Limits) -> None:
        self.blobs: dict[str, BlobPlace] = {}
        self.story: list[int] = []
        self.events = 0
        self.private = 0
        self._limits = limits
        self._story_bytes = 0
        self._hash = sha256()

    @property
    def story_sha256(self) -> str:
        """Digest of header and event payloads so far, an LF after each."""
        return self._hash.hexdigest()

    def add(self, number: int, raw: bytes, place: Place) -> Group:
        """Add the records of frame `number`; return the group that it holds.

        Raises BundleDamaged, UnknownRecordKind and LimitExceeded; the tables are unusable afterwards.
        """
        groups: set[Group] = set()
        for record in records(raw, place, self._limits):
            if record.kind.startswith(PRIVATE):
                self.private += 1
                # The walk costs more than the few compressed bytes that hold them.
                place.check("EVENTS_MAX", self._limits.events, self.private, "private records")
                continue
            groups.add(_GROUPS[record.kind])
            self._add(number, record, raw, place)
        if len(groups) > 1:
            raise place.damaged("records of a frame", "either blobs or story", ", ".join(sorted(groups)))
        group = groups.pop() if groups else "private"
        if group == "story":
            self.story.append(number)
        return group

    def _add(self, number: int, record: FrameRecord, raw: bytes, place: Place) -> None:
        if record.kind == "blob":
            self._add_blob(number, record, place)
        elif record.kind == "header":
            self._add_header(record, place)
            self._add_line(record, raw, place)
        elif record.kind == "event":
            self._add_event(record, place)
            self._add_line(record, raw, place)

    def _add_blob(self, number: int, record: FrameRecord, place: Place) -> None:
        if record.id in self.blobs:
            raise place.damaged("blob record", "one record per id", f"a second one of {record.id}")
        place.check("BLOBS_MAX", self._limits.blobs, len(self.blobs) + 1, "blobs")
        self.blobs[record.id] = BlobPlace(intern(record.media_type), number, record.start, record.n)

    def _add_header(self, record: FrameRecord, place: Place) -> None:
        if self._story_bytes:
            raise place.damaged("header record", "one, before the first event", "another one")

    def _add_event(self, record: FrameRecord, place: Place) -> None:
        if not self._story_bytes:
            raise place.damaged("first story record", "the header", "an event")
        if record.number != self.events:
            raise place.damaged("event number", self.events, record.number)
        self.events += 1
        place.check("EVENTS_MAX", self._limits.events, self.events, "events")

    def _add_line(self, record: FrameRecord, raw: bytes, place: Place) -> None:
        # The LF of the record stands right after its payload, as the story text has it.
        self._hash.update(memoryview(raw)[record.start : record.start + record.n + 1])
        self._story_bytes += record.n + 1
        place.check("STORY_MAX", self._limits.story, self._story_bytes)
