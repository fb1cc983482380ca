"""Screenshots of a run as a browser shows them: captures as PNG, others as they are."""

from __future__ import annotations

from typing import NamedTuple

from replaykit.bundle.blobs import image_size, png
from replaykit.bundle.bundle_format import PIXMAP
from replaykit.bundle.reader import Bundle
from replaykit.errors import BundleError

SHOWN = ("image/png", "image/jpeg", "image/webp", "image/gif")
"""Media types that hold pixels only; never SVG, which is a document."""


class EmbeddedScreenshot(NamedTuple):
    """A screenshot, ready for a browser."""

    media_type: str
    """One of SHOWN."""
    width: int
    """Pixels."""
    height: int
    """Pixels."""
    data: bytes
    """The encoded screenshot."""


def screenshot(bundle: Bundle, id: str) -> EmbeddedScreenshot | None:
    """Return a screenshot; None where it is missing, damaged or no image: the report shows that."""
    try:
        own, data = bundle.blob_type(id), bundle.blob(id)
        size = image_size(data, own)
    except BundleError:
        return None
    if size is None:
        return None
    if own == PIXMAP:
        return EmbeddedScreenshot("image/png", *size, png(data))
    return EmbeddedScreenshot(own, *size, data) if own in SHOWN else None
