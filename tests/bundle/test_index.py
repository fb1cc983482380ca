"""Seek tables and indexes that no writer of ours would write."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.bundle_format import Limits
from replaykit.bundle.index import parse_seek_table, seek_table, seek_table_size
from replaykit.bundle.reader import open_bundle
from replaykit.errors import (
    BundleDamaged,
    BundleError,
    BundleFromTheFuture,
    BundleTruncated,
    DigestMismatch,
    LimitExceeded,
)

HEADER = b'{"type":"header","channels":{}}'
EVENTS = [b'{"type":"message","role":"agent","kind":"say","text":"%d"}' % n for n in range(4)]
LINES = [HEADER, *EVENTS]
PAGE = b"<p>1</p>"


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 100_000)), min_size=2, max_size=50))
def test_round_trip(sizes: list[tuple[int, int]]) -> None:
    sizes = [(24, 0), *((min(length, raw), raw) for length, raw in sizes)]
    table = seek_table([length for length, _ in sizes], [raw for _, raw in sizes])
    start = sum(length for length, _ in sizes)
    assert seek_table_size(table[-9:], start + len(table), "test", Limits()) == len(table)
    frames = parse_seek_table(table, start, "test", Limits())
    assert list(zip(frames.lengths, frames.raws, strict=True)) == sizes
    assert [*frames.offsets[1:], start] == [
        offset + length for offset, length in zip(frames.offsets, frames.lengths, strict=True)
    ]


def test_exact_bytes() -> None:
    assert seek_table([24, 7], [0, 9]).hex(" ") == (
        "5e 2a 4d 18 19 00 00 00 18 00 00 00 00 00 00 00 07 00 00 00 09 00 00 00 02 00 00 00 00 b1 ea 92 8f"
    )


@pytest.fixture
def parts(hands) -> tuple[list[bytes], dict]:
    """Frames of a sound sealed file: one blob frame, two story frames; and its index as a dict."""
    frames = [PAGE, hands.story_text(LINES[:3]), hands.story_text(LINES[3:])]
    return frames, msgspec.json.decode(hands.story_index(LINES, [hands.blob(PAGE)]))


def read_all(path: Path) -> None:
    with open_bundle(path) as bundle:
        assert len(bundle.trajectory.events) == len(EVENTS)
        assert [bundle.blob(id) for id in bundle.blob_ids] == [PAGE]


def test_the_sound_file(parts, hands, scratch: Callable[[bytes], Path]) -> None:
    frames, index = parts
    read_all(scratch(hands.sealed_bytes(frames, msgspec.json.encode(index))))
    index["later"] = {"a": [1]}
    index["blobs"]["later"] = ["a new column"]
    read_all(scratch(hands.sealed_bytes(frames, msgspec.json.encode(index))))


def _set(path: str, value: object) -> Callable[[dict], None]:
    def change(index: dict) -> None:
        *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        for part in parents:
            index = index[part]
        index[last] = value

    return change


CHANGES: list[tuple[Callable[[dict], object], type[BundleError]]] = [
    (_set("format", 2), BundleFromTheFuture),
    (_set("format", 0), BundleDamaged),
    (_set("digest", "0" * 64), DigestMismatch),
    (_set("digest", "0" * 64 + "\n"), BundleDamaged),
    (_set("digest", "AB" * 32), BundleDamaged),
    (_set("story.sha256", "0" * 63 + "\n"), BundleDamaged),
    (_set("story.events", 5), DigestMismatch),
    (_set("story.events", 1_000_001), LimitExceeded),
    (_set("story.sha256", "0" * 64), DigestMismatch),
    (_set("types", ["text/html", "text/html"]), BundleDamaged),
    (_set("types", ["text/html", "a/b"]), BundleDamaged),
    (_set("types", ["text/html 8\nblob"]), BundleDamaged),
    (_set("types", ["text/css"]), DigestMismatch),
    (_set("types", []), BundleDamaged),
    (_set("blobs.ids", "0" * 64), DigestMismatch),
    (_set("blobs.ids", "0" * 63), BundleDamaged),
    (_set("blobs.ids", "0" * 65), BundleDamaged),
    (_set("blobs.ids", "0" * 128), BundleDamaged),
    (_set("blobs.ids", "0" * 64 + "\n"), BundleDamaged),
    (_set("blobs.ids", "0" * 62 + "\n0"), BundleDamaged),
    (_set("blobs.ids", "ab  " * 16), BundleDamaged),
    (_set("blobs.ids", "AB" * 32), BundleDamaged),
    (_set("blobs.ids", "\uff10" * 64), BundleDamaged),
    (_set("blobs.ids", [PAGE.decode()]), BundleDamaged),
    (_set("blobs.types", [1]), BundleDamaged),
    (_set("blobs.types", [-1]), BundleDamaged),
    (_set("blobs.types", [2**53]), BundleDamaged),
    (_set("blobs.types", []), BundleDamaged),
    (_set("blobs.types", [0, 0]), BundleDamaged),
    (_set("blobs.sizes", [9]), BundleDamaged),
    (_set("blobs.sizes", [7]), BundleDamaged),
    (_set("blobs.sizes", [0]), BundleDamaged),
    (_set("blobs.sizes", [-8]), BundleDamaged),
    (_set("blobs.sizes", [2**40]), LimitExceeded),
    (_set("blobs.sizes", []), BundleDamaged),
    (_set("blobs.sizes", [8, 0]), BundleDamaged),
    (_set("blobs", {"ids": "", "types": [], "sizes": []}), DigestMismatch),
    (_set("blobs", []), BundleDamaged),
    (
        lambda index: [index["blobs"].update({key: 2 * index["blobs"][key]}) for key in index["blobs"]],
        BundleDamaged,
    ),
    (lambda index: index.pop("story"), BundleDamaged),
]


@pytest.mark.parametrize("case", range(len(CHANGES)))
def test_changed_index(case: int, parts, hands, scratch: Callable[[bytes], Path]) -> None:
    frames, index = parts
    change, error = CHANGES[case]
    change(index)
    with pytest.raises(error):
        read_all(scratch(hands.sealed_bytes(frames, msgspec.json.encode(index))))


@pytest.mark.parametrize("payload", [b"", b"[]", b"{", b"[" * 100_000, b'{"x":"\xff"}', b"null"])
def test_index_of_another_kind(payload: bytes, parts, hands, scratch: Callable[[bytes], Path]) -> None:
    with pytest.raises(BundleDamaged):
        read_all(scratch(hands.sealed_bytes(parts[0], payload)))


def test_index_limit(parts, hands, scratch: Callable[[bytes], Path]) -> None:
    frames, index = parts
    path = scratch(hands.sealed_bytes(frames, msgspec.json.encode(index)))
    with pytest.raises(LimitExceeded, match="INDEX_MAX"):
        open_bundle(path, Limits(index=100))


def test_a_last_frame_that_is_no_index(parts, hands, scratch: Callable[[bytes], Path]) -> None:
    with pytest.raises(BundleDamaged, match="an index object"):
        read_all(scratch(hands.sealed_bytes(parts[0])))


def test_format_two_everywhere(parts, hands, scratch: Callable[[bytes], Path]) -> None:
    frames, index = parts
    for version, in_index in ((2, 2), (2, 1), (1, 2)):
        index["format"] = in_index
        with pytest.raises(BundleFromTheFuture) as caught:
            read_all(scratch(hands.sealed_bytes(frames, msgspec.json.encode(index), version=version)))
        assert caught.value.fields["found"] == 2


def sound(parts, hands) -> bytes:
    frames, index = parts
    return hands.sealed_bytes(frames, msgspec.json.encode(index))


@pytest.mark.parametrize(
    ("count", "error"),
    [(0, BundleDamaged), (1, BundleDamaged), (4, BundleDamaged), (6, BundleDamaged), (200_000, BundleDamaged),
     (2**31, LimitExceeded), (2**32 - 1, LimitExceeded)],
)  # fmt: skip
def test_forged_count(count: int, error: type[BundleError], parts, hands, scratch) -> None:
    content = sound(parts, hands)
    path = scratch(content[:-9] + struct.pack("<I", count) + content[-5:])
    tracemalloc.start()
    try:
        with pytest.raises(error):
            read_all(path)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_descriptor(parts, hands, scratch) -> None:
    content = sound(parts, hands)
    for descriptor in (0x80, 1):
        with pytest.raises(BundleDamaged, match="descriptor"):
            read_all(scratch(content[:-5] + bytes([descriptor]) + content[-4:]))


@pytest.mark.parametrize("cell", range(10))
@pytest.mark.parametrize("change", [1, -1, 2**31])
def test_sizes_off_by_one(cell: int, change: int, parts, hands, scratch) -> None:
    content = bytearray(sound(parts, hands))
    at = len(content) - 9 - 80 + 4 * cell
    (size,) = struct.unpack_from("<I", content, at)
    struct.pack_into("<I", content, at, (size + change) % 2**32)
    with pytest.raises((BundleDamaged, LimitExceeded)):
        read_all(scratch(bytes(content)))


def test_joined_and_continued_files(parts, hands, scratch) -> None:
    content = sound(parts, hands)
    with pytest.raises(BundleDamaged, match="two bundles joined"):
        read_all(scratch(content + content))
    with pytest.raises(BundleTruncated):
        read_all(scratch(content + b"more"))


def test_a_large_table_is_read_whole(hands, scratch) -> None:
    pages = [b"<p>%d</p>" % n for n in range(9000)]
    index = hands.story_index(LINES, [hands.blob(page) for page in pages])
    content = hands.sealed_bytes([*pages, hands.story_text(LINES)], index)
    with open_bundle(scratch(content)) as bundle:
        assert bundle.blob(hands.blob(pages[4321])[0]) == pages[4321]
        assert len(bundle.blob_ids) == 9000
