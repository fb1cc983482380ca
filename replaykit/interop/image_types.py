"""Types of images by their bytes: file names prove nothing, and an image that is cut off shows nothing."""

from __future__ import annotations

PNG, JPEG, GIF, WEBP = "image/png", "image/jpeg", "image/gif", "image/webp"
IMAGES = (PNG, JPEG, GIF, WEBP)
"""Media types of images that judges can be shown."""

_PADDING = 256
"""Bytes that some encoders write behind the end of a JPEG."""


def image_type(data: bytes) -> str | None:
    """Return the media type of a whole image; None for anything else, and for one that is cut."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return PNG if b"IEND" in data[-_PADDING:] else None
    if data.startswith(b"\xff\xd8\xff"):
        return JPEG if b"\xff\xd9" in data[-_PADDING:] else None
    if data.startswith((b"GIF87a", b"GIF89a")):
        return GIF if b";" in data[-_PADDING:] else None
    is_webp = data[:4] == b"RIFF" and data[8:12] == b"WEBP"
    return WEBP if is_webp and int.from_bytes(data[4:8], "little") + 8 <= len(data) else None
