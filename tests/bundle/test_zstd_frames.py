from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from replaykit.bundle.bundle_format import PREAMBLE_SIZE, Limits, Place
from replaykit.bundle.zstd_frames import bound, compress, content_size, decode, whole_frames
from replaykit.errors import BundleDamaged, BundleError, LimitExceeded

HERE = Place("test", 100)
LIMITS = Limits()
RAW = b"".join(b"<li>%d</li>" % n for n in range(2000))


class Bytes:
    """A source in memory, behind a preamble of zeros."""

    name = "test"

    def __init__(self, *frames: bytes) -> None:
        self.content = bytes(PREAMBLE_SIZE) + b"".join(frames)

    def size(self) -> int:
        return len(self.content)

    def read_range(self, offset: int, length: int) -> bytes:
        assert offset + length <= len(self.content)
        return self.content[offset : offset + length]

    def read_suffix(self, length: int) -> bytes:
        return self.content[-length:]

    def close(self) -> None:
        pass


@contextmanager
def little_memory(most: int = 16 << 20) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def forge_size(frame: bytes, size: int) -> bytes:
    """Return the frame with an 8-byte content size of `size` in its header."""
    header = zstandard.frame_header_size(frame)
    # Descriptor: 8-byte content size, single segment off, checksum on; window of 1 MiB.
    return frame[:4] + bytes([0b11000100, 80]) + size.to_bytes(8, "little") + frame[header:]


@given(
    st.binary(min_size=1, max_size=3000),
    st.sampled_from([-5, 1, 3, 9]),
    st.integers(0, 4000),
    st.integers(0, 3000),
    st.booleans(),
)
def test_round_trip(raw: bytes, level: int, upto: int, head: int, is_thorough: bool) -> None:
    frame = compress(raw, level, head=head, is_thorough=is_thorough)
    assert decode(frame, HERE, LIMITS) == raw
    assert decode(frame, HERE, LIMITS, expected=len(raw)) == raw
    assert decode(frame, HERE, LIMITS, upto=upto) == raw[:upto]
    assert len(frame) <= bound(len(raw))


def test_what_a_block_ends_after_is_decoded_alone() -> None:
    first, rest = RAW, random.Random(1).randbytes(4096).hex().encode()
    frame = compress(first + rest, 9, head=len(first))
    damaged = frame[:-2000] + bytes(2000)
    assert decode(damaged, HERE, LIMITS, upto=len(first) - 1) == first[:-1]
    with pytest.raises(BundleDamaged):
        decode(damaged, HERE, LIMITS, upto=len(first) + 1)


def test_compression_is_deterministic() -> None:
    assert compress(RAW, 9) == compress(RAW, 9) == compress(bytearray(RAW), 9)


@pytest.mark.parametrize("window_max", [10, 23, 26])
def test_incompressible_frames_keep_their_bound(window_max: int) -> None:
    noise = b"".join(hash((n, "x")).to_bytes(8, "little", signed=True) for n in range(1 << 16))
    assert len(compress(noise, 9, window_max)) <= bound(len(noise))


@pytest.mark.parametrize("size", [0, 1, len(RAW) - 1, len(RAW) + 1, 2**50, 2**64 - 1, 2**64 - 2])
@pytest.mark.parametrize("upto", [None, 10])
def test_forged_sizes(size: int, upto: int | None) -> None:
    frame = forge_size(compress(RAW, 3), size)
    with little_memory(), pytest.raises(BundleError):
        decode(frame, HERE, LIMITS, expected=len(RAW), upto=upto)
    if upto is None:
        with little_memory(), pytest.raises(BundleError):
            decode(frame, HERE, LIMITS)


def test_a_forged_header_of_the_true_size_is_sound() -> None:
    assert decode(forge_size(compress(RAW, 3), len(RAW)), HERE, LIMITS) == RAW


@pytest.mark.parametrize(
    "options",
    [{"write_checksum": False}, {"write_checksum": True, "write_content_size": False},
     {"write_checksum": True, "dict_data": zstandard.ZstdCompressionDict(RAW[:2000])}],
)  # fmt: skip
def test_frames_of_another_kind(options: dict) -> None:
    if "dict_data" in options:
        options = {
            **options,
            "dict_data": zstandard.train_dictionary(1024, [RAW[i::7] for i in range(7)] * 20),
        }
    frame = zstandard.ZstdCompressor(level=3, **options).compress(RAW)
    with pytest.raises(BundleDamaged):
        decode(frame, HERE, LIMITS)


def test_window_limit() -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=27, write_checksum=True)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj(size=len(RAW))
    frame = writer.compress(RAW) + writer.flush()
    if zstandard.get_frame_parameters(frame).window_size <= LIMITS.window:
        frame = frame[:4] + bytes([0b11000100, 17 << 3]) + len(RAW).to_bytes(8, "little") + frame[5:]
    with pytest.raises(LimitExceeded, match="WINDOW_MAX"):
        content_size(frame, HERE, LIMITS)
    with pytest.raises(BundleError):
        content_size(frame[:5] + bytes([21 << 3]) + frame[6:], HERE, LIMITS)


def test_bomb() -> None:
    bomb = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(bytes(256 << 20))
    with little_memory(), pytest.raises(LimitExceeded, match="FRAME_RAW_MAX"):
        decode(bomb, HERE, LIMITS)


def test_joined_frames() -> None:
    frame = compress(RAW, 3)
    with pytest.raises(BundleDamaged):
        decode(frame + frame, HERE, LIMITS)


@pytest.mark.parametrize("cut", [1, 4, 5, 100, -1])
def test_cut_frame(cut: int) -> None:
    with pytest.raises(BundleDamaged):
        decode(compress(RAW, 3)[:cut], HERE, LIMITS)


def test_a_partial_read_of_a_cut_frame_is_noticed() -> None:
    frame = compress(RAW, 3)
    with pytest.raises(BundleDamaged):
        decode(frame[: len(frame) // 2], HERE, LIMITS, upto=len(RAW) - 1)


@given(st.binary(max_size=100))
@example(b"\x28\xb5\x2f\xfd")
def test_any_bytes(frame: bytes) -> None:
    for upto in (None, 1):
        try:
            raw = decode(frame, HERE, LIMITS, upto=upto)
        except BundleError:
            continue
        assert compress(raw, 3)


@given(
    st.lists(
        st.binary(min_size=1, max_size=400_000) | st.integers(0, 300).map(bytes).map(lambda b: b + b"x"),
        max_size=4,
    )
)
def test_walk_finds_frames(raws: list[bytes]) -> None:
    frames = [compress(raw, -5) for raw in raws]
    skippable = b"\x57\x2a\x4d\x18\x03\x00\x00\x00abc"
    source = Bytes(*frames, skippable)
    spans = list(whole_frames(source, LIMITS))
    assert [source.read_range(span.offset, span.length) for span in spans] == [*frames, skippable]
    assert [span.skippable for span in spans] == [False] * len(frames) + [True]


def test_walk_stops_within_a_frame() -> None:
    first, second = compress(RAW, 3), compress(RAW[::-1], 3)
    for cut in range(len(second)):
        spans = list(whole_frames(Bytes(first, second[:cut]), LIMITS))
        assert [span.length for span in spans] == [len(first)], cut


def test_walk_stops_within_a_skippable_frame() -> None:
    skippable = b"\x57\x2a\x4d\x18\x03\x00\x00\x00abc"
    for cut in range(len(skippable)):
        assert list(whole_frames(Bytes(skippable[:cut]), LIMITS)) == []


def test_walk_stops_at_zeros_to_the_end() -> None:
    frame = compress(RAW, 3)
    for zeros in (1, 3, 4, 8, 100, 200_000):
        assert len(list(whole_frames(Bytes(frame, bytes(zeros)), LIMITS))) == 1
    with pytest.raises(BundleDamaged):
        list(whole_frames(Bytes(frame, bytes(200_000), b"x"), LIMITS))


@pytest.mark.parametrize(
    "tail", [b"x", b"abc", b"garbage and more of it", b"\x28\xb5\x2f\xfe", b"\x60\x2a\x4d\x18"]
)
def test_walk_refuses_garbage(tail: bytes) -> None:
    with pytest.raises(BundleDamaged):
        list(whole_frames(Bytes(compress(RAW, 3), tail), LIMITS))


def test_reserved_block_type() -> None:
    frame = bytearray(compress(RAW, 3))
    at = zstandard.frame_header_size(bytes(frame))
    frame[at] |= 0b110
    with pytest.raises(BundleDamaged, match="reserved"):
        list(whole_frames(Bytes(bytes(frame)), LIMITS))


def test_a_flood_of_empty_blocks_ends_at_the_bound() -> None:
    head = compress(b"x", 3)
    head = head[: zstandard.frame_header_size(head)]
    flood = Bytes(head, bytes(3) * 10_000_000, b"\x01\x00\x00")
    with little_memory(), pytest.raises(BundleDamaged, match="compressed size"):
        list(whole_frames(flood, LIMITS))
