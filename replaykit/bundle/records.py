"""Records of a journal: one JSON line, a payload, a line feed. bytes <-> records, pure functions."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct

from replaykit.bundle.bundle_format import LINE_MAX, BlobId, Limits, Place, is_media_type
from replaykit.decoders import check_nesting, decoder
from replaykit.errors import UnknownRecordKind
from replaykit.trajectory.scalars import N

PRIVATE = "x-"
"""Prefix of kinds that belong to no one: skipped, not hashed, dropped by `seal`."""

LF = b"\n"
NUL = b"\0"


class FrameRecord(NamedTuple):
    """One record inside a decompressed frame."""

    kind: str
    """`header event blob`, or a private kind."""
    start: int
    """Payload's first byte in the frame."""
    n: int
    """Payload bytes."""
    number: int
    """Event number; -1 for other kinds."""
    id: str
    """Blob id; empty for other kinds."""
    media_type: str
    """Blob's media type; empty for other kinds."""


class _Line(Struct):
    k: str
    n: N
    i: N | None = None
    sha256: BlobId | None = None
    type: Annotated[str, Meta(max_length=127)] | None = None


_decoder = decoder(_Line)


def header_record(payload: bytes) -> bytes:
    """Return the record of a header payload."""
    return b'{"k":"header","n":%d}\n%b\n' % (len(payload), payload)


def event_record(number: int, payload: bytes) -> bytes:
    """Return the record of an event payload."""
    return b'{"k":"event","n":%d,"i":%d}\n%b\n' % (len(payload), number, payload)


def blob_line(id: str, n: int, media_type: str) -> bytes:
    """Return the line of a blob record; payload and LF follow it."""
    return f'{{"k":"blob","n":{n},"sha256":"{id}","type":"{media_type}"}}\n'.encode()


def records(raw: bytes, place: Place, limits: Limits) -> Iterator[FrameRecord]:
    """Walk the records of a decompressed frame; `place` is the frame in its file.

    Raises BundleDamaged, UnknownRecordKind and LimitExceeded.
    """
    position = 0
    while position < len(raw):
        end = raw.find(LF, position, position + LINE_MAX + 1)
        if end < 0:
            raise place.damaged("record line", f"LF within {LINE_MAX} bytes", "none")
        record = _record(raw[position:end], end + 1, place, limits)
        position = record.start + record.n + 1
        if raw[position - 1 : position] != LF:
            raise place.damaged("end of a record", "LF after its payload", "something else or nothing")
        if record.kind in ("header", "event"):
            _check_line(raw, record.start, position - 1, place)
        yield record


def _check_line(raw: bytes, start: int, end: int, place: Place) -> None:
    # With a line feed inside one story text could stand for two lists of events; NUL marks references.
    if raw.find(LF, start, end) >= 0 or raw.find(NUL, start, end) >= 0:
        raise place.damaged("story payload", "one line of JSON", "a line feed or NUL inside")


def _record(line: bytes, start: int, place: Place, limits: Limits) -> FrameRecord:
    try:
        check_nesting(line)
        fields = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise place.damaged("record line", "a JSON object with k and n", error) from error
    _check(fields, place, limits)
    number = fields.i if fields.k == "event" and fields.i is not None else -1
    return FrameRecord(fields.k, start, fields.n, number, fields.sha256 or "", fields.type or "")


def _check(line: _Line, place: Place, limits: Limits) -> None:
    match line.k:
        case "header":
            place.check("HEADER_MAX", limits.header, line.n)
        case "event":
            place.check("EVENT_MAX", limits.event, line.n)
            if line.i is None:
                raise place.damaged("event record", "a number i", "none")
        case "blob":
            place.check("BLOB_MAX", limits.blob, line.n)
            if line.sha256 is None or line.type is None or not is_media_type(line.type):
                raise place.damaged("blob record", "sha256 and a media type", line.type)
        case kind if not kind.startswith(PRIVATE):
            raise UnknownRecordKind(source=place.source, kind=kind[:64], offset=place.offset)
