"""Limits of providers for screenshots, checked before anything is sent: nothing is shrunk silently."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from replaykit.grading.judges.clients.client import Images
from replaykit.grading.model_request import ImagePart, ModelRequest, ReplyFailure

MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""Kinds of screenshots that models take."""


class ScreenshotLimits(Struct, frozen=True, kw_only=True):
    """Limits of one request to a provider."""

    images: int
    """Screenshots."""
    body: int
    """Characters of all screenshots in base64."""
    side: int | None = None
    """Pixels of a side; None = the provider names none."""
    many: int = 0
    """Screenshots above which `side_of_many` holds."""
    side_of_many: int | None = None
    """Pixels of a side where there are many screenshots."""
    base64: int | None = None
    """Characters of one screenshot in base64; None = the provider names none."""


ANTHROPIC = ScreenshotLimits(
    images=100, body=32 * 2**20, side=8000, many=20, side_of_many=2000, base64=5_242_880
)
"""Models with a larger context take more screenshots, but not all servers do."""

OPENAI = ScreenshotLimits(images=500, body=50 * 2**20)
"""Screenshots of every size are taken; the provider scales large ones down by itself."""


_FEWER = "option images, such as last:15"


def over_limit(
    request: ModelRequest, images: Images, limits: ScreenshotLimits = ANTHROPIC
) -> ReplyFailure | None:
    """Return `image_limit` naming screenshot, step, limit and option; None where all is within the limits."""
    words = next(_excesses(request, images, limits), None)
    return None if words is None else ReplyFailure(kind="image_limit", message=words)


def base64_size(data: bytes) -> int:
    """Return how many characters some bytes have in base64."""
    return (len(data) + 2) // 3 * 4


def _excesses(request: ModelRequest, data: Images, limits: ScreenshotLimits) -> Iterator[str]:
    images = [part for part in request.content if isinstance(part, ImagePart)]
    if len(images) > limits.images:
        yield f"{len(images)} screenshots in a request, {limits.images} are allowed: {_FEWER}"
    is_many = limits.side_of_many is not None and len(images) > limits.many
    for image in images:
        yield from _of_one(image, data[image.sha256], limits, is_many)
    total = sum(base64_size(data[image.sha256]) for image in images)
    if total > limits.body:
        yield f"{total} characters of screenshots, a request may have {limits.body}: {_FEWER}"


def _of_one(image: ImagePart, data: bytes, limits: ScreenshotLimits, is_many: bool) -> Iterator[str]:
    named = f"the screenshot of step {image.step} ({image.sha256[:12]})"
    if image.media_type not in MEDIA_TYPES:
        yield f"{named} is {image.media_type}, models take {', '.join(MEDIA_TYPES)}: option images"
    side = limits.side_of_many if is_many else limits.side
    if side is not None and max(image.width, image.height) > side:
        many = f" where there are more than {limits.many}" if is_many else ""
        yield f"{named} has {image.width} x {image.height} px, a side may have {side}{many}: option images"
    size = base64_size(data)
    if limits.base64 is not None and size > limits.base64:
        yield f"{named} has {size} characters in base64, {limits.base64} are allowed: option images"
