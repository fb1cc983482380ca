from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.bundle_format import FORMAT_VERSION, Place, Preamble, is_media_type, read_preamble
from replaykit.errors import BundleDamaged, BundleError, BundleFromTheFuture, LimitExceeded, NotABundle

JOURNAL = bytes.fromhex("50 2A 4D 18 10 00 00 00") + b"replaykitJ\x01\x00\x00\x00\x00\x00"


def test_preamble_bytes() -> None:
    assert Preamble("journal", 1).pack() == JOURNAL
    assert Preamble("sealed", 1).pack() == JOURNAL.replace(b"J", b"S")
    assert read_preamble(JOURNAL, "test") == ("journal", FORMAT_VERSION)


@pytest.mark.parametrize("size", range(24))
def test_short_preamble(size: int) -> None:
    with pytest.raises(NotABundle):
        read_preamble(JOURNAL[:size], "test")


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"", "empty"),
        (b"\x28\xb5\x2f\xfd" + bytes(30), "without our preamble"),
        (b"\x1f\x8b" + bytes(30), "gzip"),
        (b"PK\x03\x04" + bytes(30), "zip"),
        (b"hello" * 10, "a text file"),
        (b"\x00\x01" * 20, "another kind"),
        (b'{"schema": "replaykit.report/1", "label"', "a report of `replaykit grade`"),
    ],
)
def test_foreign_files_are_named(head: bytes, words: str) -> None:
    with pytest.raises(NotABundle, match=words):
        read_preamble(head, "test")


@pytest.mark.parametrize(
    ("offset", "value", "error"),
    [(17, b"X", BundleDamaged), (18, b"\x00", BundleDamaged), (18, b"\x02", BundleFromTheFuture),
     (19, b"\x01", BundleFromTheFuture), (20, b"\x01", BundleDamaged), (23, b"\x80", BundleDamaged)],
)  # fmt: skip
def test_changed_preamble(offset: int, value: bytes, error: type[BundleError]) -> None:
    with pytest.raises(error):
        read_preamble(JOURNAL[:offset] + value + JOURNAL[offset + 1 :], "test")


@given(st.binary(max_size=40))
def test_any_bytes(head: bytes) -> None:
    with pytest.raises(NotABundle):
        read_preamble(head, "test")


@pytest.mark.parametrize("text", ["text/html", "application/x-replaykit-dom", "image/svg+xml", "a/b"])
def test_media_types(text: str) -> None:
    assert is_media_type(text)


@pytest.mark.parametrize(
    "text", ["", "text", "text/", "/html", "Text/html", "text/html; charset=utf-8", "text/html\n", "a/b c",
             'a/"', "a/" + "b" * 126]
)  # fmt: skip
def test_no_media_types(text: str) -> None:
    assert not is_media_type(text)


def test_limits_name_themselves() -> None:
    with pytest.raises(LimitExceeded, match="BLOB_MAX allows 3 bytes, found 4"):
        Place("test", 0).check("BLOB_MAX", 3, 4)
    Place("test", 0).check("BLOB_MAX", 3, 3)
