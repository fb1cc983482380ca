"""Black boxes over secrets in a pixmap."""

from __future__ import annotations

from math import ceil, floor

from replaykit.trajectory.scalars import Box

MARGIN_PX = 4
"""CSS px added on every side: glyphs and focus rings reach over their boxes."""


def blacken(pixmap: bytes, boxes: tuple[Box, ...], scale: float) -> bytes:
    """Return the pixmap with boxes (CSS px of the viewport, `scale` pixels each) painted black."""
    if not boxes:
        return pixmap
    # `P6`, the size and the maximum have a line each: the pixels begin after the third.
    header = pixmap[: pixmap.index(b"\n", pixmap.index(b"\n", 3) + 1) + 1]
    width, height = map(int, header.split()[1:3])
    pixels = bytearray(pixmap)
    for x, y, w, h in boxes:
        left, right = _span(x, w, scale, width)
        top, bottom = _span(y, h, scale, height)
        for row in range(top, bottom):
            start = len(header) + 3 * (row * width + left)
            pixels[start : start + 3 * (right - left)] = bytes(3 * (right - left))
    return bytes(pixels)


def _span(start: int, size: int, scale: float, limit: int) -> tuple[int, int]:
    # Rounded outwards: half a pixel of a glyph may still be read.
    first = max(0, floor((start - MARGIN_PX) * scale))
    return first, max(first, min(limit, ceil((start + size + MARGIN_PX) * scale)))
