"""zstd frames: compress, decode under guard, and find where a frame ends. Pure functions of bytes.

Every guard of `decode` answers a fact about python-zstandard or libzstd that lets hostile bytes
allocate, loop or pass unnoticed; docs/bundle-format.md lists them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import NamedTuple

import zstandard

from replaykit.bundle.bundle_format import PREAMBLE_SIZE, SKIPPABLE_MAGIC_TAIL, ZSTD_MAGIC, Limits, Place
from replaykit.bundle.byte_source import ByteSource

LIBZSTD = ".".join(str(part) for part in zstandard.ZSTD_VERSION)
"""Version of the library that writes; sealed bytes depend on it."""

_HEADER_MAX = 18
_HEADER_MIN = 5
_CHECKSUM = 4
_SKIPPABLE_HEADER = 8
_RLE, _RESERVED = 1, 3
_BUFFER = 65_536
_KEPT_WINDOW = 1 << 20
_ZEROS = bytes(_BUFFER)


class FrameSpan(NamedTuple):
    """A whole frame in a file."""

    offset: int
    """First byte."""
    length: int
    """Bytes, header and checksum included."""
    skippable: bool
    """Whether zstd skips it."""


class _Thread(threading.local):
    # Decompressors are not thread-safe; a new one costs as much as decoding a small frame.

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()


_thread = _Thread()


def bound(raw: int) -> int:
    """Return the most compressed bytes that an honest frame of `raw` bytes needs (ZSTD_compressBound)."""
    return raw + (raw >> 8) + 512


_THOROUGH = {
    "strategy": zstandard.STRATEGY_BTOPT, "target_length": 999, "min_match": 3,
    "hash_log": 20, "chain_log": 20, "search_log": 6,
    "enable_ldm": True, "ldm_min_match": 32, "ldm_hash_rate_log": 2, "ldm_hash_log": 20,
}  # fmt: skip
"""In place of the level's: the size of level 19 in two thirds of its time, a tenth of its memory."""


def compress(
    raw: bytes | bytearray, level: int, window_max: int = 23, *, head: int = 0, is_thorough: bool = False
) -> bytes:
    """Compress one frame; the same bytes for the same arguments and libzstd.

    A block ends after the first `head` bytes (0: wherever libzstd ends one): these decode by themselves.
    """
    # zstd has no window smaller than 2**10.
    window_log = min(max(len(raw).bit_length(), 10), window_max)
    more = _THOROUGH if is_thorough else {}
    parameters = zstandard.ZstdCompressionParameters.from_level(
        level, source_size=len(raw), window_log=window_log,
        write_content_size=True, write_checksum=True, write_dict_id=False, **more,
    )  # fmt: skip
    compressor = zstandard.ZstdCompressor(compression_params=parameters)
    if not head:
        return compressor.compress(raw)
    stream, view = compressor.compressobj(size=len(raw)), memoryview(raw)
    begun = stream.compress(view[:head]) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return begun + stream.compress(view[head:]) + stream.flush()


def decode(
    frame: bytes, place: Place, limits: Limits, expected: int | None = None, upto: int | None = None
) -> bytes:
    """Decompress one data frame, whole or only its first `upto` bytes.

    `expected` is the size that the seek table promises. A partial result has passed no frame checksum:
    the caller compares it with a digest. Raises BundleDamaged and LimitExceeded.
    """
    size = content_size(frame, place, limits)
    if expected is not None and size != expected:
        raise place.damaged("content size of the frame", expected, size)
    if len(frame) > bound(size):
        raise place.damaged("compressed size of the frame", f"at most {bound(size)}", len(frame))
    wanted = size if upto is None else min(upto, size)
    raw = _decompress(frame, place, wanted, size)
    if len(raw) != wanted:
        raise place.damaged("bytes in the frame", wanted, len(raw))
    return raw


def _decompress(frame: bytes, place: Place, wanted: int, size: int) -> bytes:
    try:
        if wanted == size:
            return _thread.decompressor.decompress(frame, max_output_size=wanted, allow_extra_data=False)
        # A stream leaves its window behind, which is no larger than the content: not 64 MiB in the kept one.
        is_small = size <= _KEPT_WINDOW
        decompressor = _thread.decompressor if is_small else zstandard.ZstdDecompressor()
        return decompressor.stream_reader(frame).read(wanted)
    except (zstandard.ZstdError, MemoryError) as error:
        raise place.damaged("zstd frame", "a frame that decodes", error) from error


FOREIGN_WINDOW_MAX = 2**27
"""Bytes of memory that frames of others may ask for."""


def unpacked(packed: bytes, most: int) -> bytes:
    """Return the first `most` bytes of frames that another tool wrote. Raises ValueError."""
    decompressor = zstandard.ZstdDecompressor(max_window_size=FOREIGN_WINDOW_MAX)
    try:
        return decompressor.stream_reader(packed, read_across_frames=True).read(most)
    except (zstandard.ZstdError, MemoryError) as error:
        raise ValueError(str(error)) from error


def content_size(head: bytes, place: Place, limits: Limits) -> int:
    """Check a frame's header and return its decompressed size, before anything is allocated."""
    if head[:4] != ZSTD_MAGIC:
        raise place.damaged("frame magic", ZSTD_MAGIC.hex(" "), head[:4].hex(" ") or "nothing")
    try:
        frame = zstandard.get_frame_parameters(head)
    except (zstandard.ZstdError, MemoryError) as error:
        raise place.damaged("frame header", "a zstd frame header", error) from error
    size: int = frame.content_size
    if size in (0, zstandard.CONTENTSIZE_UNKNOWN, zstandard.CONTENTSIZE_ERROR):
        raise place.damaged("content size of the frame", "1 or more, written in its header", size or "0")
    place.check("FRAME_RAW_MAX", limits.frame_raw, size)
    place.check("WINDOW_MAX", limits.window, frame.window_size)
    if frame.dict_id or not frame.has_checksum:
        raise place.damaged("frame header", "a checksum and no dictionary", "otherwise")
    return size


def whole_frames(source: ByteSource, limits: Limits) -> Iterator[FrameSpan]:
    """Yield the frames after the preamble until the file ends, within a frame or with zeros only.

    Linear in the size of the file. Raises BundleDamaged and LimitExceeded where no frame starts.
    """
    walk, offset, size = _Walk(source, limits), PREAMBLE_SIZE, source.size()
    while offset < size and not walk.only_zeros(offset):
        span = walk.span(offset)
        if span is None:
            return
        yield span
        offset += span.length


class _Walk:
    # Frames are found by their block headers: no call of zstd says where a frame ends.

    def __init__(self, source: ByteSource, limits: Limits) -> None:
        self._source = source
        self._size = source.size()
        self._limits = limits
        self._start = 0
        self._buffer = b""

    def span(self, offset: int) -> FrameSpan | None:
        """Return the frame at `offset`; None if the file ends before the frame does.

        Raises BundleDamaged and LimitExceeded for bytes that no frame starts with.
        """
        head = self._peek(offset, _HEADER_MAX)
        if is_skippable(head):
            return self._skippable_span(offset, head)
        if len(head) < _HEADER_MIN and _may_start_frame(head):
            return None
        if head[:4] != ZSTD_MAGIC:
            raise Place(self._source.name, offset).damaged("frame magic", "a zstd frame", head[:4].hex(" "))
        return self._data_span(offset, head)

    def only_zeros(self, offset: int) -> bool:
        """Whether all bytes from `offset` to the end of the file are zero.

        A file system may leave them after a power cut.
        """
        while self._peek(offset, 1) == b"\0":
            chunk = self._peek(offset, _BUFFER)
            if chunk != _ZEROS[: len(chunk)]:
                return False
            offset += len(chunk)
        return offset == self._size

    def _skippable_span(self, offset: int, head: bytes) -> FrameSpan | None:
        length = _SKIPPABLE_HEADER + int.from_bytes(head[4:8], "little")
        whole = len(head) >= _SKIPPABLE_HEADER and offset + length <= self._size
        return FrameSpan(offset, length, True) if whole else None

    def _data_span(self, offset: int, head: bytes) -> FrameSpan | None:
        place = Place(self._source.name, offset)
        header = _header_size(head, place)
        if len(head) < header:
            return None
        most = bound(content_size(head, place, self._limits))
        end = self._end_of_blocks(offset + header, offset + most, place)
        return None if end is None else FrameSpan(offset, end - offset, False)

    def _end_of_blocks(self, position: int, most: int, place: Place) -> int | None:
        last = False
        while not last:
            header = self._peek(position, 3)
            if len(header) < 3:
                return None
            word = int.from_bytes(header, "little")
            last, kind = bool(word & 1), word >> 1 & 3
            if kind == _RESERVED:
                raise place.damaged("zstd block type", "raw, RLE or compressed", "reserved")
            # An RLE block is one byte, however many it stands for.
            position += 3 + (1 if kind == _RLE else word >> 3)
            if position > most:
                raise place.damaged("compressed size of the frame", f"at most {most - place.offset}", "more")
        end = position + _CHECKSUM
        return end if end <= self._size else None

    def _peek(self, offset: int, length: int) -> bytes:
        start = offset - self._start
        if start < 0 or start + length > len(self._buffer):
            self._start, start = offset, 0
            self._buffer = self._source.read_range(offset, min(_BUFFER, max(0, self._size - offset)))
        return self._buffer[start : start + length]


def is_skippable(head: bytes) -> bool:
    """Whether a frame starts with one of the 16 skippable magics."""
    return len(head) >= 4 and head[0] >> 4 == 5 and head[1:4] == SKIPPABLE_MAGIC_TAIL


def _may_start_frame(head: bytes) -> bool:
    skippable = bytes([head[0] & 0x0F | 0x50]) + SKIPPABLE_MAGIC_TAIL
    return any(magic.startswith(head[:4]) for magic in (ZSTD_MAGIC, skippable))


def _header_size(head: bytes, place: Place) -> int:
    try:
        return zstandard.frame_header_size(head)
    except zstandard.ZstdError as error:
        raise place.damaged("frame header", "a zstd frame header", error) from error
