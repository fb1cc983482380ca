"""Any bytes: a BundleError, or content that is what it was."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.format import Preamble
from replaykit.bundle.frames import compress
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.bundle.writer import seal
from replaykit.errors import BundleDamaged, BundleError, BundleTruncated, LimitExceeded, NotABundle

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
        with pytest.raises(NotABundle if cut < 24 else BundleTruncated):
            open_bundle(scratch(whole[:cut]))


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
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


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_every_flipped_byte_of_a_journal(tiny: Path, scratch: Callable[[bytes], Path], mask: int) -> None:
    whole = tiny.read_bytes()
    _, events, blobs = content(tiny)
    for at in range(len(whole)):
        path = scratch(whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1 :])
        try:
            _, found, found_blobs = content(path)
        except BundleError:
            continue
        assert found == events[: len(found)], at
        assert found_blobs.items() <= blobs.items(), at


def test_random_damage(tiny: Path, scratch: Callable[[bytes], Path]) -> None:
    chance = random.Random(7)
    journal = tiny.read_bytes()
    seal(tiny)
    for whole in (journal, tiny.read_bytes()):
        for _ in range(400):
            spoiled = bytearray(whole)
            for _ in range(chance.randrange(1, 6)):
                at = chance.randrange(len(spoiled))
                kind = chance.randrange(3)
                if kind == 0:
                    spoiled[at] = chance.randrange(256)
                elif kind == 1:
                    del spoiled[at : at + chance.randrange(1, 30)]
                else:
                    spoiled[at:at] = chance.randbytes(chance.randrange(1, 30))
                spoiled = spoiled or bytearray(b"x")
            path = scratch(bytes(spoiled))
            try:
                content(path)
            except BundleError:
                assert not verify(path).gradable


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
        open_bundle(scratch(head + skip * 262_145))
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
