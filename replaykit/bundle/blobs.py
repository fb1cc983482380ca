"""Blobs: ids, storage classes, and images as pixels.

A screenshot is its pixels: a capture becomes a binary portable pixmap, whose digest is that of size and
pixels whatever encoder made it. All other images are kept as the bytes they are.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha256
from operator import itemgetter

from replaykit.bundle.bundle_format import IMAGE_PIXELS_MAX, PIXMAP, SNAPSHOT, BlobClass, Place
from replaykit.errors import BundleDamaged
from replaykit.patterns import lazy_pattern

_MARKUP = (SNAPSHOT, "text/html", "application/xhtml+xml", "image/svg+xml")
_OPAQUE = (
    "application/zip",
    "application/gzip",
    "application/pdf",
    "application/wasm",
    "application/octet-stream",
)
_OPAQUE_PREFIXES = ("image/", "audio/", "video/", "font/")

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB, _RGBA = 2, 6
_FILTER_NONE, _FILTER_UP = 0, 2
_ROWS_A_TURN = 8
"""Between two pauses: about a tenth of a millisecond."""
_PIXMAP_HEADER = lazy_pattern(rb"P6\n([1-9][0-9]{0,9}) ([1-9][0-9]{0,9})\n255\n")
_PNG_HEADER = struct.Struct(">II5B")


def blob_id(payload: bytes) -> str:
    """Return the id of a payload: sha256 as 64 hex digits."""
    return sha256(payload).hexdigest()


def class_of(media_type: str) -> BlobClass:
    """Return the storage class of a media type."""
    if media_type == PIXMAP:
        return "pixels"
    is_opaque = media_type in _OPAQUE or media_type.startswith(_OPAQUE_PREFIXES)
    return "opaque" if is_opaque and not is_markup(media_type) else "text"


def is_markup(media_type: str) -> bool:
    """Whether a text is a page: what most readers want."""
    return media_type in _MARKUP


class RowsBefore:
    """The rows of the capture that was decoded last: what stays as it was is not computed again."""

    def __init__(self) -> None:
        self._kind = (0, 0)
        self._lines: list[bytes] = []
        self._rows: list[bytes] = []

    def of(self, kind: tuple[int, int]) -> RowsBefore:
        """Return the same if that capture has this width and as many samples a pixel, else no rows."""
        return self if kind == self._kind else RowsBefore()

    def row(self, number: int, line: bytes, above: bytes) -> bytes | None:
        """Return a row that was given, below the same row, in the same line; None where it was another."""
        if number >= len(self._lines) or self._lines[number] != line:
            return None
        return self._rows[number] if number == 0 or self._rows[number - 1] == above else None

    def keep(self, kind: tuple[int, int], lines: list[bytes], rows: list[bytes]) -> None:
        """Take the place of the capture before."""
        self._kind, self._lines, self._rows = kind, lines, rows


def pixmap(
    png: bytes, pause: Callable[[], None] | None = None, before: RowsBefore | None = None
) -> bytes | None:
    """Return a capture as a binary portable pixmap, or None if it has to stay verbatim.

    `pause`: called every few rows that are computed, for a thread that lets another one go on. `before`: of
    the capture decoded last; this one takes its place.

    Converted are 8-bit RGB, and RGBA without transparency, not interlaced, with row filters 0 (None) and
    2 (Up): what browsers capture. The PNG specification: https://www.w3.org/TR/png-3/
    """
    try:
        chunks = list(_chunks(png))
        width, height, depth, color, *methods = _PNG_HEADER.unpack(chunks[0][1])
    except (ValueError, struct.error, IndexError):
        return None
    plain = depth == 8 and color in (_RGB, _RGBA) and not any(methods)
    names = {name for name, _ in chunks}
    if chunks[0][0] != b"IHDR" or not plain or b"tRNS" in names or not 0 < width * height <= IMAGE_PIXELS_MAX:
        return None
    packed = b"".join(part for name, part in chunks if name == b"IDAT")
    lines = _lines(packed, 1 + width * (samples := 4 if color == _RGBA else 3), height)
    rgb = lines and _unfiltered(lines, width, samples, pause or _nothing, before or RowsBefore())
    return b"P6\n%d %d\n255\n%b" % (width, height, b"".join(rgb)) if rgb else None


def png(pixmap: bytes) -> bytes:
    """Return a pixmap as a PNG: filter 0, one IDAT. Bytes may differ between zlib builds, pixels do not.

    Raises BundleDamaged if this is no pixmap.
    """
    width, height = pixmap_size(pixmap)
    start, stride = len(pixmap) - 3 * width * height, 3 * width
    rows = b"".join(b"\0" + pixmap[at : at + stride] for at in range(start, len(pixmap), stride))
    header = _PNG_HEADER.pack(width, height, 8, _RGB, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b"")
    return _PNG_SIGNATURE + b"".join(_chunk(name, part) for name, part in parts)


def pixmap_size(payload: bytes | memoryview, source: str = "pixmap") -> tuple[int, int]:
    """Return width and height in pixels. Raises BundleDamaged if header and length do not fit."""
    head = _PIXMAP_HEADER.match(payload)
    width, height = (int(head[1]), int(head[2])) if head else (0, 0)
    fits = head is not None and len(payload) == head.end() + 3 * width * height
    if not fits or width * height > IMAGE_PIXELS_MAX:
        raise _damaged(source, "a P6 header that fits the length", bytes(payload[:24]))
    return width, height


def narrowed(pixmap: bytes, width: int) -> bytes:
    """Return a pixmap of at most `width` px, its sides in proportion: each pixel the mean of four.

    Raises BundleDamaged if this is no pixmap.
    """
    own, height = pixmap_size(pixmap)
    if own <= width:
        return pixmap
    start, stride, rows = len(pixmap) - 3 * own * height, 3 * own, max(1, height * width // own)
    # Samples lie at a quarter and three quarters of a pixel: at half the size these are the four it covers.
    columns = [_samples_of(_sampled(own, width, quarter)) for quarter in (1, 3)]
    made = [b"P6\n%d %d\n255\n" % (width, rows)]
    for pair in zip(*(_sampled(height, rows, quarter) for quarter in (1, 3)), strict=True):
        taken = (pixmap[start + row * stride : start + (row + 1) * stride] for row in pair)
        means = (_mean(*(bytes(column(row)) for column in columns)) for row in taken)
        made.append(_mean(*means))
    return b"".join(made)


def _sampled(size: int, count: int, quarter: int) -> list[int]:
    """Return where `count` samples of a side lie, each at some quarters of its stretch."""
    return [(4 * number + quarter) * size // (4 * count) for number in range(count)]


def _samples_of(columns: list[int]) -> itemgetter[tuple[int, ...]]:
    return itemgetter(*(3 * column + sample for column in columns for sample in range(3)))


def _mean(one: bytes, other: bytes) -> bytes:
    # As big integers, as in _adder: the shared bits, and half of the others without their lowest bits.
    a, b = int.from_bytes(one, "little"), int.from_bytes(other, "little")
    upper = int.from_bytes(b"\xfe" * len(one), "little")
    return ((a & b) + ((a ^ b) & upper) // 2).to_bytes(len(one), "little")


def image_size(payload: bytes, media_type: str) -> tuple[int, int] | None:
    """Return width and height in pixels from an image's header; None if this header is not known.

    Pixmap, PNG, JPEG, GIF and WebP. Raises BundleDamaged for a damaged pixmap and for more pixels than
    IMAGE_PIXELS_MAX: whoever decodes an image asks here first.
    """
    if media_type == PIXMAP:
        return pixmap_size(payload)
    reader = _SIZES.get(media_type)
    try:
        size = reader(payload) if reader else None
    except (struct.error, IndexError):
        return None
    if size is not None and size[0] * size[1] > IMAGE_PIXELS_MAX:
        raise _damaged(media_type, f"at most {IMAGE_PIXELS_MAX} pixels", size)
    return size


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not png.startswith(_PNG_SIGNATURE):
        raise ValueError("no PNG signature")
    position, name = len(_PNG_SIGNATURE), b""
    while name != b"IEND":
        length, name = struct.unpack_from(">I4s", png, position)
        part = png[position + 8 : position + 8 + length]
        if png[position + 8 + length : position + 12 + length] != _crc(name, part):
            raise ValueError("a chunk is cut or fails its checksum")
        yield name, part
        position += 12 + length


def _chunk(name: bytes, part: bytes) -> bytes:
    return struct.pack(">I", len(part)) + name + part + _crc(name, part)


def _crc(name: bytes, part: bytes) -> bytes:
    return struct.pack(">I", zlib.crc32(part, zlib.crc32(name)))


def _nothing() -> None:
    """Go on at once."""


def _lines(compressed: bytes, stride: int, height: int) -> list[bytes] | None:
    size = stride * height
    inflate = zlib.decompressobj()
    try:
        # One byte more than the header promises tells a bomb from an image.
        rows = inflate.decompress(compressed, size + 1)
    except zlib.error:
        return None
    if len(rows) != size or not inflate.eof:
        return None
    is_known = set(rows[::stride]) <= {_FILTER_NONE, _FILTER_UP}
    return [rows[at : at + stride] for at in range(0, size, stride)] if is_known else None


def _unfiltered(
    lines: list[bytes], width: int, samples: int, pause: Callable[[], None], before: RowsBefore
) -> list[bytes] | None:
    # A third of the rows of an application repeat the one above, and most are those of the capture before.
    old, add, above, computed = before.of((width, samples)), _adder(3 * width), bytes(3 * width), 0
    repeated = bytes([_FILTER_UP]) + bytes(samples * width)
    result: list[bytes] = []
    for number, line in enumerate(lines):
        row = above if line == repeated and number else old.row(number, line, above)
        if row is None:
            row = _row(line, above, width, samples, add, is_first=not number)
            if row is None:
                return None
            if computed % _ROWS_A_TURN == 0:
                pause()
            computed += 1
        result.append(row)
        above = row
    before.keep((width, samples), lines, result)
    return result


def _row(
    line: bytes,
    above: bytes,
    width: int,
    samples: int,
    add: Callable[[bytes, bytes], bytes],
    *,
    is_first: bool,
) -> bytes | None:
    is_sum = line[0] == _FILTER_UP
    row = line[1:] if samples == 3 else _opaque(line, width, is_below=is_sum and not is_first)
    return row if row is None or not is_sum else add(row, above)


def _adder(length: int) -> Callable[[bytes, bytes], bytes]:
    # As one big integer: the high bits of all bytes are kept apart, so that no carry passes from byte to
    # byte. Ten times the speed of a loop over bytes.
    low = int.from_bytes(b"\x7f" * length, "little")
    high = int.from_bytes(b"\x80" * length, "little")
    last, known = b"", 0

    def add(one: bytes, other: bytes) -> bytes:
        nonlocal last, known
        a = int.from_bytes(one, "little")
        # Mostly the row that came out before.
        b = known if other is last else int.from_bytes(other, "little")
        known = (a & low) + (b & low) ^ (a ^ b) & high
        last = known.to_bytes(length, "little")
        return last

    return add


def _opaque(line: bytes, width: int, *, is_below: bool) -> bytes | None:
    """Return a row of RGBA without alpha; None where that is not full. `is_below`: it is given as a sum."""
    # A pixmap has no alpha: a capture with transparency stays a PNG.
    if line[4::4] != (bytes(width) if is_below else b"\xff" * width):
        return None
    rgb = bytearray(3 * width)
    for sample in range(3):
        rgb[sample::3] = line[1 + sample :: 4]
    return bytes(rgb)


def _png_size(payload: bytes) -> tuple[int, int] | None:
    if payload[:8] != _PNG_SIGNATURE or payload[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", payload, 16)
    return width, height


def _gif_size(payload: bytes) -> tuple[int, int] | None:
    if payload[:6] not in (b"GIF87a", b"GIF89a"):
        return None
    width, height = struct.unpack_from("<HH", payload, 6)
    return width, height


def _webp_size(payload: bytes) -> tuple[int, int] | None:
    # https://developers.google.com/speed/webp/docs/riff_container
    kind = payload[12:16] if payload[:4] == b"RIFF" and payload[8:12] == b"WEBP" else b""
    if kind == b"VP8X":
        return (1 + int.from_bytes(payload[24:27], "little"), 1 + int.from_bytes(payload[27:30], "little"))
    if kind == b"VP8L":
        bits = struct.unpack_from("<I", payload, 21)[0]
        return (1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
    if kind == b"VP8 ":
        # The two highest bits of each side are a hint for scaling.
        width, height = struct.unpack_from("<HH", payload, 26)
        return (width & 0x3FFF, height & 0x3FFF)
    return None


def _jpeg_size(payload: bytes) -> tuple[int, int] | None:
    # Segments up to the first start-of-frame (ITU-T T.81, B.2.2); C4, C8 and CC are other markers.
    position = 2 if payload[:2] == b"\xff\xd8" else len(payload)
    while position + 9 <= len(payload) and payload[position] == 0xFF:
        marker, length = struct.unpack_from(">xBH", payload, position)
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", payload, position + 5)
            return width, height
        position += 2 + length
    return None


_SIZES = {"image/png": _png_size, "image/gif": _gif_size, "image/webp": _webp_size, "image/jpeg": _jpeg_size}


def _damaged(source: str, expected: object, found: object) -> BundleDamaged:
    return Place(source, 0).damaged("image", expected, found)
