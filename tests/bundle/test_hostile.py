"""Any bytes: a BundleError, or content that is what it was."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.bundle_format import Limits, Preamble
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import seal
from replaykit.bundle.zstd_frames import compress
from replaykit.errors import (
    BundleDamaged,
    BundleError,
    BundleTruncated,
    EventInvalid,
    LimitExceeded,
    NotABundle,
)
from tests.thorough import one_in

LINE = b'{"type":"header","channels":{}}'


def content(path: Path) -> tuple:
    with open_bundle(path) as bundle:
        blobs = {id: (bundle.blob_type(id), bundle.blob(id)) for id in bundle.blob_ids}
        return bundle.digest, bundle.trajectory.events, blobs


@pytest.fixture
def tiny(tmp_path: Path, hands) -> Path:
    path = tmp_path / "run.zst"
    hands.write_journal(path, hands.small_commits()[:3])
    return path


@given(st.binary(max_size=300), st.sampled_from(["journal", "sealed", None]))
def test_any_bytes(scratch: Callable[[bytes], Path], data: bytes, layout: str | None) -> None:
    path = scratch((Preamble(layout, 1).pack() if layout else b"") + data)
    with pytest.raises(BundleError):
        open_bundle(path)
    assert verify(path).error


@given(st.lists(st.binary(min_size=1, max_size=200), max_size=4))
def test_any_frames(scratch: Callable[[bytes], Path], raws: list[bytes]) -> None:
    path = scratch(Preamble("journal", 1).pack() + b"".join(compress(raw, 1) for raw in raws))
    with pytest.raises(BundleError):
        open_bundle(path)


@pytest.mark.parametrize("foreign", [b"", b"x", compress(b"x" * 99, 3), b"\x1f\x8b\x08" + bytes(40)])
def test_foreign_files(foreign: bytes, scratch: Callable[[bytes], Path]) -> None:
    with pytest.raises(NotABundle):
        open_bundle(scratch(foreign))


def test_every_prefix_of_a_sealed_bundle(tiny: Path, scratch: Callable[[bytes], Path]) -> None:
    seal(tiny)
    whole = tiny.read_bytes()
    for cut in range(len(whole)):
        expected = NotABundle if cut < 24 else BundleTruncated
        path = scratch(whole[:cut])
        with pytest.raises(expected):
            open_bundle(path)
        assert verify(path).error == expected.__name__


def test_every_prefix_of_a_journal_at_level_full(
    tmp_path: Path, hands, scratch: Callable[[bytes], Path]
) -> None:
    sizes = hands.write_journal(tmp_path / "run.zst", hands.small_commits()[:3])
    whole = (tmp_path / "run.zst").read_bytes()
    for cut in range(len(whole) + 1):
        found = verify(scratch(whole[:cut]))
        committed = sum(size <= cut for size in sizes[1:])
        if committed:
            assert (found.error, found.findings, found.gradable) == ("", (), True), cut
            assert (found.events, found.torn_bytes) == (committed - 1, cut - sizes[committed])
        else:
            assert found.error == "NotABundle"


@pytest.mark.parametrize("mask", one_in(3, [0x01, 0x80, 0xFF]))
def test_every_flipped_byte_of_a_sealed_bundle(
    tiny: Path, scratch: Callable[[bytes], Path], mask: int
) -> None:
    seal(tiny)
    whole = tiny.read_bytes()
    before = content(tiny)
    for at in range(len(whole)):
        path = scratch(whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1 :])
        if not verify(path).error:
            assert content(path) == before, at


@pytest.mark.parametrize("mask", one_in(3, [0x01, 0x80, 0xFF]))
def test_every_flipped_byte_of_a_journal(tiny: Path, scratch: Callable[[bytes], Path], mask: int) -> None:
    whole = tiny.read_bytes()
    _, events, blobs = content(tiny)
    for at in range(len(whole)):
        path = scratch(whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1 :])
        verified = verify(path)
        try:
            _, found, found_blobs = content(path)
        except BundleError:
            assert verified.error, at
            continue
        assert (verified.error, verified.gradable, verified.events) == ("", True, len(found)), at
        assert found == events[: len(found)], at
        assert found_blobs.items() <= blobs.items(), at


def test_damage_says_how_much_is_whole(tiny: Path, hands) -> None:
    whole = tiny.read_bytes() + b"garbage"
    tiny.write_bytes(whole)
    with pytest.raises(BundleDamaged, match="after 3 whole commits"):
        open_bundle(tiny)


def measured(path: Path) -> int:
    tracemalloc.start()
    try:
        with pytest.raises(BundleError):
            content(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_bomb_in_a_journal(scratch: Callable[[bytes], Path]) -> None:
    bomb = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(bytes(256 << 20))
    assert measured(scratch(Preamble("journal", 1).pack() + bomb)) < 16 << 20


def test_frames_without_number(scratch: Callable[[bytes], Path], hands) -> None:
    note = compress(b'{"k":"x-","n":0}\n\n', 1)
    skip = b"\x50\x2a\x4d\x18\x00\x00\x00\x00"
    head = hands.journal_bytes(hands.story_raw([LINE]))
    with pytest.raises(LimitExceeded, match="FRAMES_MAX"):
        open_bundle(scratch(head + skip * 1_000_000))
    with open_bundle(scratch(head + note * 500)) as bundle:
        assert bundle.header.channels == {}


def test_two_journals_joined(tiny: Path, scratch: Callable[[bytes], Path]) -> None:
    whole = tiny.read_bytes()
    with pytest.raises(BundleDamaged):
        open_bundle(scratch(whole + whole))


def test_a_journal_that_calls_itself_sealed(tiny: Path, scratch: Callable[[bytes], Path]) -> None:
    whole = tiny.read_bytes()
    with pytest.raises(BundleTruncated):
        open_bundle(scratch(whole.replace(b"replaykitJ", b"replaykitS", 1)))
    seal(tiny)
    with pytest.raises(BundleDamaged):
        open_bundle(scratch(tiny.read_bytes().replace(b"replaykitS", b"replaykitJ", 1)))


@pytest.mark.parametrize("text", ["\\ud83d", "x\\ud800y"])
def test_surrogates_in_the_file(text: str, scratch: Callable[[bytes], Path], hands) -> None:
    line = b'{"type":"message","role":"agent","kind":"say","text":"%b"}' % text.encode()
    path = scratch(hands.journal_bytes(hands.story_raw([LINE, line])))
    with open_bundle(path) as bundle, pytest.raises(BundleError):
        _ = bundle.trajectory


DEEP = b"[" * 500_000 + b"]" * 500_000
EVENT = b'{"type":"imported","kind":"label","value":%b}'
VALUES = [
    DEEP, b'{"a":' + DEEP + b"}", b"1" * 30, b"1" * 50_000, b"NaN", b"-Infinity", b"1e999", b'"\\ud83d"', b'"\xff"',
]  # fmt: skip


@pytest.mark.parametrize("layout", ["journal", "sealed"])
@pytest.mark.parametrize("value", range(len(VALUES) + 3))
def test_values_that_no_reader_takes(
    value: int, layout: str, scratch: Callable[[bytes], Path], hands
) -> None:
    skipped = [b'{"type":"hologram","skipped":%b}' % part for part in (DEEP, b'"\xff"', b"NaN")]
    line = [*(EVENT % part for part in VALUES), *skipped][value]
    data = hands.journal_bytes(hands.story_raw([LINE, line]))
    if layout == "sealed":
        data = hands.sealed_bytes([hands.story_text([LINE, line])], hands.story_index([LINE, line]))
    path = scratch(data)
    with open_bundle(path) as bundle, pytest.raises(EventInvalid):
        _ = bundle.trajectory
    assert not verify(path).gradable
    assert seal(path).events == 1  # sealing understands no events
    with open_bundle(path) as bundle:
        assert bundle.lines == (LINE, line)


@pytest.mark.parametrize("field", ["later", "types", "story", "blobs"])
def test_an_index_nested_deeply(field: str, scratch: Callable[[bytes], Path], hands) -> None:
    raw, honest = hands.story_text([LINE]), hands.story_index([LINE])
    nested = b'{"%b":%b,' % (field.encode(), DEEP) + honest[1:]
    with pytest.raises(BundleDamaged):
        open_bundle(scratch(hands.sealed_bytes([raw], nested)))


def test_private_records_are_not_endless(scratch: Callable[[bytes], Path], hands) -> None:
    note = b'{"k":"x-","n":0}\n\n'
    path = scratch(hands.journal_bytes(hands.story_raw([LINE]), note * 4))
    with pytest.raises(LimitExceeded, match="private records"):
        open_bundle(path, Limits(events=3))
    assert verify(path).private == 4


def test_a_header_is_not_numbered(scratch: Callable[[bytes], Path], hands) -> None:
    raw = hands.story_raw([LINE]).replace(b'"header",', b'"header","i":7,', 1)
    with open_bundle(scratch(hands.journal_bytes(raw))) as bundle:
        assert bundle.lines == (LINE,)


@pytest.mark.parametrize("inside", [b"\n", b"\0", b"\x000"])
def test_story_lines_that_would_read_otherwise_when_sealed(
    inside: bytes, scratch: Callable[[bytes], Path], hands
) -> None:
    raw = hands.story_raw([LINE, b'{"type":"hologram","text":"%b"}' % inside])
    with pytest.raises(BundleDamaged, match="story payload"):
        open_bundle(scratch(hands.journal_bytes(raw)))


@pytest.mark.parametrize("place", ["blobs", "story", "index"])
def test_content_after_the_seek_table(
    place: str, tiny: Path, scratch: Callable[[bytes], Path], hands
) -> None:
    seal(tiny)
    whole = tiny.read_bytes()
    raw = {
        "blobs": hands.blob_raw(b"<p>"),
        "story": hands.story_raw([LINE]),
        "index": hands.story_index([LINE]),
    }
    for more in (compress(raw[place], 3), b"\x50\x2a\x4d\x18\x00\x00\x00\x00", b"\0", whole[24:]):
        path = scratch(whole + more)
        with pytest.raises(BundleDamaged):
            open_bundle(path)
        assert verify(path).error


def test_many_threads_decode_at_once(tiny: Path) -> None:
    seal(tiny)
    expected = content(tiny)
    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(lambda _: content(tiny), range(64)))
