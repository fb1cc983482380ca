from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.bundle_format import Limits, Place
from replaykit.bundle.content_tables import Contents
from replaykit.bundle.records import blob_line, event_record, header_record, records
from replaykit.errors import BundleDamaged, BundleError, LimitExceeded, UnknownRecordKind

HERE = Place("test", 24)
LIMITS = Limits()
HEX = "a" * 64


def read(raw: bytes) -> list[tuple[str, int, bytes]]:
    return [(r.kind, r.number, raw[r.start : r.start + r.n]) for r in records(raw, HERE, LIMITS)]


@given(st.lists(st.binary(max_size=300), max_size=6))
def test_round_trip_of_blobs(payloads: list[bytes]) -> None:
    raw = b"".join(blob_line(hashlib.sha256(p).hexdigest(), len(p), "a/b") + p + b"\n" for p in payloads)
    assert read(raw) == [("blob", -1, p) for p in payloads]


@given(st.lists(st.binary(max_size=300).map(lambda b: b.translate(None, b"\n\0")), min_size=1, max_size=6))
def test_round_trip_of_story(lines: list[bytes]) -> None:
    raw = header_record(lines[0]) + b"".join(event_record(n, line) for n, line in enumerate(lines[1:]))
    assert [row[2] for row in read(raw)] == lines
    assert [row[1] for row in read(raw)] == list(range(-1, len(lines) - 1))


def test_exact_bytes() -> None:
    assert header_record(b"{}") == b'{"k":"header","n":2}\n{}\n'
    assert event_record(7, b"{}") == b'{"k":"event","n":2,"i":7}\n{}\n'
    assert (
        blob_line(HEX, 0, "text/css") == f'{{"k":"blob","n":0,"sha256":"{HEX}","type":"text/css"}}\n'.encode()
    )


def test_unknown_keys_and_private_records_are_read_over() -> None:
    raw = b'{"k":"event","n":2,"i":0,"later":[1,{"a":2}]}\n{}\n{"k":"x-note","n":3,"by":"me"}\na\nb\n'
    assert read(raw) == [("event", 0, b"{}"), ("x-note", -1, b"a\nb")]


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b'{"k":"event","n":2,"i":0}', BundleDamaged),
        (b'{"k":"event","n":2,"i":0}{}\n', BundleDamaged),
        (b'{"k":"event","n":2,"i":0}\n{}', BundleDamaged),
        (b'{"k":"event","n":2,"i":0}\n{}x', BundleDamaged),
        (b'{"k":"event","n":3,"i":0}\n{}\n', BundleDamaged),
        (b'{"k":"event","n":-1,"i":0}\n{}\n', BundleDamaged),
        (b'{"k":"event","n":9223372036854775808,"i":0}\n{}\n', BundleDamaged),
        (b'{"k":"event","n":1e2,"i":0}\n{}\n', BundleDamaged),
        (b'{"k":"event","n":4194305,"i":0}\n{}\n', LimitExceeded),
        (b'{"k":"header","n":1048577}\n{}\n', LimitExceeded),
        (f'{{"k":"blob","n":33554433,"sha256":"{HEX}","type":"a/b"}}\n\n'.encode(), LimitExceeded),
        (b'{"k":"event","n":2}\n{}\n', BundleDamaged),
        (b'{"k":"event","n":2,"i":-1}\n{}\n', BundleDamaged),
        (b'{"k":"event","n":3,"i":0}\n{\n}\n', BundleDamaged),
        (b'{"n":2}\n{}\n', BundleDamaged),
        (b'{"k":7,"n":2}\n{}\n', BundleDamaged),
        (b'["event",2]\n{}\n', BundleDamaged),
        (b"\n\n", BundleDamaged),
        (b'{"k":"event","n":2,"i":0,"pad":"' + b"x" * 5000 + b'"}\n{}\n', BundleDamaged),
        (b'{"k":"event","n":2,"i":0,"pad":' + b"[" * 4000 + b"\n{}\n", BundleDamaged),
        (b'{"k":"frame","n":2}\n{}\n', UnknownRecordKind),
        (b'{"k":"X-note","n":2}\n{}\n', UnknownRecordKind),
        (b'{"k":"blob","n":0}\n\n', BundleDamaged),
        (b'{"k":"blob","n":0,"sha256":"abc","type":"a/b"}\n\n', BundleDamaged),
        (f'{{"k":"blob","n":0,"sha256":"{HEX.upper()}","type":"a/b"}}\n\n'.encode(), BundleDamaged),
        (f'{{"k":"blob","n":0,"sha256":"{HEX}\\n","type":"a/b"}}\n\n'.encode(), BundleDamaged),
        (f'{{"k":"blob","n":0,"sha256":"{HEX}","type":"a/b c"}}\n\n'.encode(), BundleDamaged),
        (f'{{"k":"blob","n":0,"sha256":"{HEX}","type":"a/b\\nblob"}}\n\n'.encode(), BundleDamaged),
    ],
)
def test_refused(raw: bytes, error: type[BundleError]) -> None:
    with pytest.raises(error):
        read(raw)


@given(st.binary(max_size=200))
def test_any_bytes(raw: bytes) -> None:
    try:
        assert not read(raw) or raw
    except BundleError:
        assert raw


HEADER, EVENT = header_record(b"{}"), event_record(0, b"{}")
BLOB = blob_line(hashlib.sha256(b"x").hexdigest(), 1, "a/b") + b"x\n"


@pytest.mark.parametrize(
    "frames",
    [
        [EVENT],
        [HEADER, HEADER],
        [HEADER, EVENT, HEADER],
        [HEADER, event_record(1, b"{}")],
        [HEADER, EVENT, EVENT],
        [BLOB, BLOB],
        [BLOB + BLOB],
        [HEADER + BLOB],
        [HEADER, BLOB + EVENT],
    ],
)
def test_refused_sequences(frames: list[bytes]) -> None:
    contents = Contents(LIMITS)
    with pytest.raises(BundleDamaged):
        for number, raw in enumerate(frames):
            contents.add(number, raw, HERE)


def test_tables() -> None:
    contents = Contents(LIMITS)
    note = b'{"k":"x-note","n":0}\n\n'
    groups = [contents.add(n, raw, HERE) for n, raw in enumerate([BLOB, HEADER + note, note, EVENT])]
    assert groups == ["blobs", "story", "private", "story"]
    assert contents.story == [1, 3]
    assert (contents.events, contents.private) == (1, 2)
    (place,) = contents.blobs.values()
    assert BLOB[place.offset : place.offset + place.n] == b"x"
    assert contents.story_sha256 == hashlib.sha256(b"{}\n{}\n").hexdigest()


@pytest.mark.parametrize(
    ("limits", "frames"),
    [(Limits(blobs=0), [BLOB]), (Limits(events=0), [HEADER + EVENT]), (Limits(story=5), [HEADER + EVENT])],
)
def test_limits_of_tables(limits: Limits, frames: list[bytes]) -> None:
    contents = Contents(limits)
    with pytest.raises(LimitExceeded):
        for number, raw in enumerate(frames):
            contents.add(number, raw, HERE)
