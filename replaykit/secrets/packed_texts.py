"""Parts of a text that are base64 of something to read: JSON, compressed data, a `data:` URL."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator

from replaykit.patterns import lazy_pattern

PACKED_MIN = 20
"""Characters of base64 that may hold a name and a secret."""

_PACKED = lazy_pattern(
    r"(?:(?<=;base64,)|(?<![A-Za-z0-9+/_-])(?=H4sI|KLUv|UEsD|eJ[wy-z0-9AN]|eN[op]|eAE|ey[A-L]|ewo|ew0|W3s|Wy[A-L]|Wwo))"
    r"[A-Za-z0-9+/_-]{20,}={0,2}"
)
"""Beginnings of gzip, Zstandard, ZIP, zlib and JSON in base64."""

_IMAGE = lazy_pattern(r"iVBORw0|/9j/|R0lGOD|UklGR|d09GR|AAAB|T2dnU|SUkq|Qk0")
"""Beginnings of images, fonts and sounds."""


def packed_texts(text: str) -> Iterator[tuple[int, int, bytes]]:
    """Yield start, end and bytes of each part that may be read."""
    if len(text) < PACKED_MIN:
        return
    for found in _PACKED.finditer(text):
        data = b"" if _IMAGE.match(found[0]) else _decoded(found[0])
        if data:
            yield found.start(), found.end(), data


def _decoded(text: str) -> bytes:
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    # A part that was cut off somewhere is read as far as it goes.
    whole = plain[: len(plain) - (len(plain) % 4 == 1)]
    try:
        return b64decode(whole + "=" * (-len(whole) % 4))
    except binascii.Error:
        return b""
