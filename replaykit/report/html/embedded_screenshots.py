"""Pictures of a run as a browser shows them: captures as PNG, others as they are."""

from __future__ import annotations

from typing import NamedTuple

from replaykit.bundle.blobs import image_size, png
from replaykit.bundle.bundle_format import PIXMAP
from replaykit.bundle.reader import Bundle
from replaykit.errors import BundleError

SHOWN = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""Media types that hold pixels alone; never SVG, which is a document."""


class Picture(NamedTuple):
    """A picture, ready for a browser."""

    media_type: str
    """One of SHOWN."""
    width: int
    """Pixels."""
    height: int
    """Pixels."""
    data: bytes
    """The encoded picture."""


def picture(bundle: Bundle, id: str) -> Picture | None:
    """Return a picture; None where it is missing, damaged or no picture: the report says so and goes on."""
    try:
        own, data = bundle.blob_type(id), bundle.blob(id)
        size = image_size(data, own)
    except BundleError:
        return None
    if size is None:
        return None
    if own == PIXMAP:
        return Picture("image/png", *size, png(data))
    return Picture(own, *size, data) if own in SHOWN else None
