"""What a provider takes of pictures, checked before anything is sent: nothing is made smaller in silence."""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.grading.judges.client import Pictures
from replaykit.grading.request import ImagePart, ModelRequest, ReplyFailure

MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""Kinds of pictures that models take."""

IMAGES_MAX = 100
"""Pictures of one request; models with a larger context take more, but not all servers do."""

SIDE_MAX = 8000
"""Pixels of a side."""

MANY = 20
"""Pictures above which a lower limit of the side holds."""

SIDE_MAX_OF_MANY = 2000
"""Pixels of a side where there are many pictures."""

BASE64_MAX = 5_242_880
"""Characters of a picture in base64."""

BODY_MAX = 32 * 2**20
"""Bytes of a whole request."""


def over_limit(request: ModelRequest, pictures: Pictures) -> ReplyFailure | None:
    """Return `image_limit` naming picture, step, limit and option; None where all is within the limits."""
    words = next(_excesses(request, pictures), None)
    return None if words is None else ReplyFailure(kind="image_limit", message=words)


def base64_size(data: bytes) -> int:
    """Return how many characters some bytes have in base64."""
    return (len(data) + 2) // 3 * 4


def _excesses(request: ModelRequest, pictures: Pictures) -> Iterator[str]:
    images = [part for part in request.content if isinstance(part, ImagePart)]
    if len(images) > IMAGES_MAX:
        yield f"{len(images)} pictures in a request, {IMAGES_MAX} are allowed: option images, such as last:15"
    side = SIDE_MAX_OF_MANY if len(images) > MANY else SIDE_MAX
    for image in images:
        yield from _of_one(image, pictures[image.sha256], side)
    total = sum(base64_size(pictures[image.sha256]) for image in images)
    if total > BODY_MAX:
        yield f"{total} characters of pictures, a request may have {BODY_MAX}: option images, such as last:15"


def _of_one(image: ImagePart, data: bytes, side: int) -> Iterator[str]:
    named = f"the picture of step {image.step} ({image.sha256[:12]})"
    if image.media_type not in MEDIA_TYPES:
        yield f"{named} is {image.media_type}, models take {', '.join(MEDIA_TYPES)}: option images"
    if max(image.width, image.height) > side:
        many = f" where there are more than {MANY}" if side == SIDE_MAX_OF_MANY else ""
        yield f"{named} has {image.width} x {image.height} px, a side may have {side}{many}: option images"
    size = base64_size(data)
    if size > BASE64_MAX:
        yield f"{named} has {size} characters in base64, {BASE64_MAX} are allowed: option images"
