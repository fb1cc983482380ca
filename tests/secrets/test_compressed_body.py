"""Compressed bodies: what they say, never more than asked for, and no input that raises."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from replaykit.secrets.compressed_body import MEMBERS_MAX, Inflated, inflate
from replaykit.secrets.redactor import Redactor

BYTES = st.binary(max_size=300)
PACK = st.sampled_from([gzip.compress, zlib.compress, zstandard.compress, bz2.compress, lzma.compress])
STARTS = [
    b"",
    b"PK\x03\x04",
    b"\x28\xb5\x2f\xfd",
    b"\x1f\x8b",
    b"\x78\x9c",
    b"BZh9",
    b"\xfd7zXZ\x00",
    b"Rar!\x1a\x07",
]


def archive(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return file.getvalue()


@given(PACK, BYTES, st.integers(1, 400))
def test_streams_come_back_as_far_as_asked(pack, data: bytes, most: int) -> None:
    found = inflate(pack(data), most)
    assert found is not None
    assert found.data == data[:most]
    if len(data) != most:  # of a stream that ends just there some readers do not know it
        assert found.is_whole == (len(data) < most)


@given(st.dictionaries(st.text("abc.", min_size=1, max_size=8), BYTES, max_size=4), st.integers(1, 2000))
def test_archives_come_back_as_far_as_asked(members: dict[str, bytes], most: int) -> None:
    found = inflate(archive(members), most)
    if not members:
        assert found is None
        return
    assert found is not None
    size = sum(map(len, members.values()))
    is_packed = any(inflate(data, 1) is not None for data in members.values())
    assert found.is_whole == (size <= most and not is_packed)
    if found.is_whole:
        assert all(data in found.data for data in members.values())


@given(st.sampled_from(STARTS), BYTES)
def test_nothing_raises(start: bytes, rest: bytes) -> None:
    found = inflate(start + rest, 100)
    assert found is None or len(found.data) <= 100 + 70_000


@given(st.sampled_from([gzip.compress, zlib.compress]), BYTES, st.integers(0, 20))
def test_a_stream_that_is_cut_is_not_whole(pack, data: bytes, cut: int) -> None:
    whole = pack(data)
    found = inflate(whole[: max(2, len(whole) - 1 - cut)], 1000)
    assert found is None or not found.is_whole


def test_a_bomb_is_read_no_further_than_asked() -> None:
    bomb = gzip.compress(bytes(2**24))
    assert inflate(bomb, 1000) == Inflated(bytes(1000), is_whole=False)


def test_too_many_members_are_not_whole() -> None:
    found = inflate(archive({str(at): b"" for at in range(MEMBERS_MAX + 1)}), 10_000)
    assert found is not None
    assert not found.is_whole


@given(PACK)
def test_an_archive_in_an_archive_is_not_opened(pack) -> None:
    found = inflate(archive({"a.txt": b"text", "b": pack(b"more")}), 1000)
    assert found is not None and not found.is_whole


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/json", "application/x-www-form-urlencoded"]
)
def test_a_text_that_only_begins_as_if_compressed_loses_its_secrets(start: bytes, media_type: str) -> None:
    redactor = Redactor({"badge": "QX-7781-BADGE"})
    assert b"QX-7781-BADGE" not in redactor.blob(media_type, start + b" QX-7781-BADGE")


@given(PACK, st.binary(max_size=50), st.binary(max_size=50))
def test_a_declared_secret_stands_for_the_whole_payload(pack, before: bytes, after: bytes) -> None:
    redactor = Redactor({"badge": "QX-7781-BADGE"})
    packed = pack(before + b"QX-7781-BADGE" + after)
    assert redactor.blob("application/octet-stream", packed) == "⟦secret:badge⟧".encode()
    plain = pack(before + after)
    if b"QX-7781-BADGE" not in before + after:
        assert redactor.blob("application/octet-stream", plain) == plain
