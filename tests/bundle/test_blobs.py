"""Screenshots against PNGs made here, by another hand than the one that reads them."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.blobs import (
    RowsBefore,
    blob_id,
    class_of,
    image_size,
    narrowed,
    pixmap,
    pixmap_size,
    png,
)
from replaykit.errors import BundleDamaged

PPM = "image/x-portable-pixmap"


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def make_png(
    width: int, height: int, rows: list[bytes], filters: list[int], *,
    depth: int = 8, color: int = 2, interlace: int = 0, extra: bytes = b"", idats: int = 1,
) -> bytes:  # fmt: skip
    """Encode rows of samples; filters 0 to 4 as in the PNG specification, byte by byte."""
    step = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color] * depth // 8 or 1
    above = bytes(len(rows[0])) if rows else b""
    raw = bytearray()
    for row, kind in zip(rows, filters, strict=True):
        raw.append(kind)
        for at, value in enumerate(row):
            left = row[at - step] if at >= step else 0
            corner = above[at - step] if at >= step else 0
            raw.append((value - _predict(kind, left, above[at], corner)) % 256)
        above = row
    packed = zlib.compress(bytes(raw))
    cuts = [packed[len(packed) * n // idats : len(packed) * (n + 1) // idats] for n in range(idats)]
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    body = b"".join(chunk(b"IDAT", cut) for cut in cuts)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + body + chunk(b"IEND", b"")


def _predict(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        guess = left + up - corner
        return min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[
            2
        ]
    return [0, left, up, (left + up) // 2][kind]


def read_png(data: bytes) -> tuple[int, int, bytes]:
    """Decode an 8-bit RGB PNG whose rows have filter 0."""
    width, height, depth, color = struct.unpack(">IIBB", data[16:26])
    assert (depth, color) == (8, 2)
    at = data.index(b"IDAT")
    (length,) = struct.unpack(">I", data[at - 4 : at])
    raw = zlib.decompress(data[at + 4 : at + 4 + length])
    assert data.endswith(chunk(b"IEND", b""))
    assert set(raw[:: 3 * width + 1]) == {0}
    return width, height, b"".join(raw[y * (3 * width + 1) + 1 :][: 3 * width] for y in range(height))


@st.composite
def images(draw: st.DrawFn, samples: int = 3) -> tuple[int, int, list[bytes]]:
    width, height = draw(st.integers(1, 9)), draw(st.integers(1, 7))
    rows = st.binary(min_size=width * samples, max_size=width * samples)
    return width, height, draw(st.lists(rows, min_size=height, max_size=height))


@given(images(), st.data())
def test_rgb(image: tuple[int, int, list[bytes]], data: st.DataObject) -> None:
    width, height, rows = image
    filters = data.draw(st.lists(st.sampled_from([0, 2]), min_size=height, max_size=height))
    encoded = make_png(width, height, rows, filters, idats=data.draw(st.integers(1, 3)))
    assert pixmap(encoded) == b"P6\n%d %d\n255\n" % (width, height) + b"".join(rows)


@given(images(), st.data())
def test_rgba_without_transparency(image: tuple[int, int, list[bytes]], data: st.DataObject) -> None:
    width, height, rows = image
    filters = data.draw(st.lists(st.sampled_from([0, 2]), min_size=height, max_size=height))
    with_alpha = [b"".join(row[x : x + 3] + b"\xff" for x in range(0, len(row), 3)) for row in rows]
    encoded = make_png(width, height, with_alpha, filters, color=6)
    assert pixmap(encoded) == b"P6\n%d %d\n255\n" % (width, height) + b"".join(rows)


@pytest.mark.parametrize("color", [2, 6])
def test_a_thread_pauses_between_rows_that_it_computes(color: int) -> None:
    pauses: list[int] = []
    samples = 4 if color == 6 else 3
    rows = [bytes([row] * 3 + [255] * (samples - 3)) * 2 for row in range(64)]
    encoded = make_png(2, 64, rows, [0] * 64, color=color)
    assert pixmap(encoded, lambda: pauses.append(1)) == pixmap(encoded)
    assert len(pauses) == 8


@given(st.lists(images(3), min_size=1, max_size=4), st.data())
def test_rows_of_the_capture_before_change_nothing(
    found: list[tuple[int, int, list[bytes]]], data: st.DataObject
) -> None:
    before, same = RowsBefore(), data.draw(st.booleans())
    width, height, shared = found[0]
    for one in found:
        if same:
            # A capture of the same size, with some rows of the first one.
            rows = [data.draw(st.sampled_from([row, bytes(3 * width)])) for row in shared]
            one = width, height, rows
        filters = data.draw(st.lists(st.sampled_from([0, 2]), min_size=one[1], max_size=one[1]))
        encoded = make_png(*one, filters)
        assert pixmap(encoded, before=before) == pixmap(encoded)


def test_equal_rows_are_computed_once() -> None:
    before, pauses = RowsBefore(), list[int]()
    rows = [bytes([row] * 6) for row in range(64)]
    for changed in (0, 60):
        pauses.clear()
        encoded = make_png(2, 64, [*rows[:changed], *[bytes(6)] * (64 - changed)], [0] * 64)
        pixmap(encoded, lambda: pauses.append(1), before)
        assert pixmap(make_png(2, 64, rows, [0] * 64), lambda: pauses.append(1), before)
    assert len(pauses) <= 2 * 8
    pauses.clear()
    assert pixmap(make_png(2, 64, rows, [0] * 64), lambda: pauses.append(1), before)
    assert not pauses


@given(images(4), st.integers(0, 254))
def test_transparency_stays_verbatim(image: tuple[int, int, list[bytes]], alpha: int) -> None:
    width, height, rows = image
    rows[0] = rows[0][:3] + bytes([alpha]) + rows[0][4:]
    assert pixmap(make_png(width, height, rows, [0] * height, color=6)) is None


@given(images(), st.sampled_from([1, 3, 4]), st.integers(0, 6))
def test_other_filters_stay_verbatim(image: tuple[int, int, list[bytes]], kind: int, at: int) -> None:
    width, height, rows = image
    filters = [0] * height
    filters[at % height] = kind
    assert pixmap(make_png(width, height, rows, filters)) is None


@pytest.mark.parametrize(
    ("color", "depth", "row"),
    [(0, 8, b"\x01\x02"), (3, 8, b"\x00\x01"), (4, 8, b"\x01\xff\x02\xff"), (2, 16, bytes(12)),
     (6, 16, bytes(16)), (0, 1, b"\x80")],
)  # fmt: skip
def test_other_kinds_stay_verbatim(color: int, depth: int, row: bytes) -> None:
    assert pixmap(make_png(2, 1, [row], [0], color=color, depth=depth)) is None


def test_colour_keys_and_interlacing_stay_verbatim() -> None:
    row = b"\x01\x02\x03"
    assert pixmap(make_png(1, 1, [row], [0], extra=chunk(b"tRNS", bytes(6)))) is None
    assert pixmap(make_png(1, 1, [row], [0], interlace=1)) is None
    assert pixmap(make_png(1, 1, [row], [0], extra=chunk(b"tEXt", b"a\0b"))) is not None


@pytest.mark.parametrize("kind", [1, 3, 4, 5, 6, 127, 255])
@pytest.mark.parametrize("row", [0, 1])
def test_a_filter_that_is_wrong_or_unknown_stays_verbatim(kind: int, row: int) -> None:
    rows = bytearray(2 * (1 + 12))
    rows[row * 13] = kind
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 2, 8, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")
    assert pixmap(b"\x89PNG\r\n\x1a\n" + header + body) is None


def test_damaged_pngs_stay_verbatim() -> None:
    rows = [bytes(range(12)), bytes(range(12, 24))]
    sound = make_png(4, 2, rows, [0, 2])
    assert pixmap(sound) is not None
    assert not any(pixmap(sound[:cut]) for cut in range(len(sound)))
    for at in range(8, len(sound)):
        assert pixmap(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :]) is None, at


@pytest.mark.parametrize("size", [(2**31, 2**31), (0, 1), (8001, 8000), (4, 1), (4, 3), (1, 2)])
def test_a_size_that_the_rows_do_not_have(size: tuple[int, int]) -> None:
    sound = make_png(4, 2, [bytes(12)] * 2, [0, 0])
    header = struct.pack(">IIBBBBB", *size, 8, 2, 0, 0, 0)
    assert pixmap(sound[:8] + chunk(b"IHDR", header) + sound[33:]) is None


def test_a_png_that_inflates_past_its_size() -> None:
    bomb = chunk(b"IDAT", zlib.compress(bytes(50_000_000)))
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 2, 8, 2, 0, 0, 0))
    assert pixmap(b"\x89PNG\r\n\x1a\n" + header + bomb + chunk(b"IEND", b"")) is None


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    assert pixmap(data) is None
    assert pixmap(b"\x89PNG\r\n\x1a\n" + data) is None


@given(images())
def test_png_of_a_pixmap(image: tuple[int, int, list[bytes]]) -> None:
    width, height, rows = image
    content = b"P6\n%d %d\n255\n" % (width, height) + b"".join(rows)
    assert read_png(png(content)) == (width, height, b"".join(rows))
    assert pixmap(png(content)) == content


@pytest.mark.parametrize(
    "content",
    [b"", b"P6", b"P5\n1 1\n255\n\0\0\0", b"P6\n1 1\n255\n\0\0", b"P6\n1 1\n255\n\0\0\0\0", b"P6\n0 0\n255\n",
     b"P6\n2147483648 2147483648\n255\n", b"P6\n01 1\n255\n\0\0\0", b"P6 1 1 255\n\0\0\0",
     b"P6\n1 1\n65535\n" + bytes(6), b"P6\n99999999999 1\n255\n"],
)  # fmt: skip
def test_no_pixmaps(content: bytes) -> None:
    for ask in (png, pixmap_size, lambda content: image_size(content, PPM)):
        with pytest.raises(BundleDamaged):
            ask(content)


def test_too_many_pixels() -> None:
    huge = make_png(1, 1, [bytes(3)], [0])
    huge = huge[:16] + struct.pack(">II", 2**31, 2**31) + huge[24:]
    with pytest.raises(BundleDamaged):
        image_size(huge, "image/png")


@pytest.mark.parametrize(
    ("media_type", "content"),
    [
        ("image/png", make_png(3, 2, [bytes(9)] * 2, [0, 0])),
        (PPM, b"P6\n3 2\n255\n" + bytes(18)),
        ("image/gif", b"GIF89a\x03\x00\x02\x00\x00"),
        ("image/jpeg", b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc2\x00\x0b\x08\x00\x02\x00\x03\x01"),
        (
            "image/webp",
            b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x01\x00\x00",
        ),
        ("image/webp", b"RIFF\x00\x00\x00\x00WEBPVP8L\x05\x00\x00\x00\x2f\x02\x40\x00\x00"),
        ("image/webp", b"RIFF\x00\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00abc\x9d\x01\x2a\x03\x00\x02\x40"),
    ],
)
def test_image_size(media_type: str, content: bytes) -> None:
    assert image_size(content, media_type) == (3, 2)
    assert image_size(content, "image/avif") is None


@given(st.sampled_from(["image/png", "image/gif", "image/jpeg", "image/webp"]), st.binary(max_size=60))
def test_image_size_of_any_bytes(media_type: str, content: bytes) -> None:
    for head in (
        b"",
        b"GIF89a",
        b"\xff\xd8\xff",
        b"RIFF____WEBPVP8 ",
        b"RIFF____WEBPVP8L",
        b"\x89PNG\r\n\x1a\n",
    ):
        try:
            size = image_size(head + content, media_type)
        except BundleDamaged:
            continue
        assert size is None or len(size) == 2


@pytest.mark.parametrize(
    ("media_type", "expected"),
    [("image/png", "opaque"), ("image/webp", "opaque"), ("font/woff2", "opaque"), ("video/mp4", "opaque"),
     ("application/pdf", "opaque"), ("application/octet-stream", "opaque"), (PPM, "pixels"),
     ("application/json", "text"), ("text/css", "text"), ("text/javascript", "text"), ("x/new", "text"),
     ("application/x-replaykit-dom", "text"), ("text/html", "text"), ("image/svg+xml", "text"),
     ("application/xhtml+xml", "text"), ("text/yaml", "text"), ("text/plain", "text")],
)  # fmt: skip
def test_classes(media_type: str, expected: str) -> None:
    assert class_of(media_type) == expected


def test_equal_screenshots_are_one_blob() -> None:
    rows = [bytes(range(12)), bytes(range(12, 24))]
    one, other = (pixmap(make_png(4, 2, rows, filters)) for filters in ([0, 0], [0, 2]))
    assert one is not None
    assert other is not None
    assert blob_id(one) == blob_id(other)


def test_half_the_width_is_the_mean_of_four() -> None:
    rows = bytes([0, 0, 0, 40, 4, 255]) + bytes([20, 0, 1, 60, 0, 255])
    assert narrowed(b"P6\n2 2\n255\n" + rows, 1) == b"P6\n1 1\n255\n" + bytes([30, 1, 127])


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.binary(min_size=3, max_size=3))
def test_a_narrowed_screenshot_keeps_colour_and_proportion(
    width: int, height: int, most: int, colour: bytes
) -> None:
    whole = b"P6\n%d %d\n255\n" % (width, height) + colour * (width * height)
    found = narrowed(whole, most)
    if width <= most:
        assert found == whole
        return
    assert pixmap_size(found) == (most, max(1, height * most // width))
    assert set(found[-3 * most :][0::3]) == {colour[0]}


@given(st.binary(max_size=40))
def test_only_a_pixmap_is_narrowed(content: bytes) -> None:
    with pytest.raises(BundleDamaged):
        narrowed(content, 1)
