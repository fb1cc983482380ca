"""Cost of replies, by prices that the user names: they change, and the tape does not know them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from msgspec import Struct

from replaykit.errors import UsageError
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest, Usage
from replaykit.patterns import lazy_pattern

LETTERS = 4
"""Characters of a text that are about one token."""

PATCH = 28
"""Pixels of the squares that a screenshot is billed by."""

PER = 1_000_000
"""Tokens that a price is for."""

_PRICES = lazy_pattern(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)/([0-9]{1,9}(?:\.[0-9]{1,9})?)")


class Prices(Struct, frozen=True, kw_only=True):
    """Money for a million tokens, in whatever currency."""

    read: Fraction
    """Tokens read."""
    written: Fraction
    """Tokens written."""


def read_prices(text: str) -> Prices:
    """Read `IN/OUT`, such as `3/15`: money for a million tokens read, and written."""
    found = _PRICES.fullmatch(text)
    if found is None:
        raise UsageError(what=f"--prices: expected IN/OUT for a million tokens, such as 3/15, got {text!r}")
    return Prices(read=Fraction(found[1]), written=Fraction(found[2]))


def cost(usage: Usage, at: Prices) -> Fraction:
    """Return what so many tokens cost."""
    return (usage.input_tokens * at.read + usage.output_tokens * at.written) / PER


def added(usages: Iterable[Usage]) -> Usage:
    """Return the sum of what was billed."""
    listed = list(usages)
    return Usage(
        input_tokens=sum(one.input_tokens for one in listed),
        output_tokens=sum(one.output_tokens for one in listed),
    )


def tokens_of(request: ModelRequest) -> int:
    """Return about how many tokens a request has: a quarter of its letters, and its screenshots by area."""
    letters = len(request.system) + sum(
        len(part.text) for part in request.content if not isinstance(part, ImagePart)
    )
    images = [part for part in request.content if isinstance(part, ImagePart)]
    areas = (math.ceil(one.width / PATCH) * math.ceil(one.height / PATCH) for one in images)
    return math.ceil(letters / LETTERS) + sum(areas)


class Spent(NamedTuple):
    """Cost of some requests and their replies. Sums of them add up."""

    requests: int = 0
    """Requests with a reply."""
    images: int = 0
    """Screenshots sent."""
    read: int = 0
    """Tokens read by the model."""
    written: int = 0
    """Tokens written by it."""
    n_estimated: int = 0
    """Replies whose tokens are estimated: their tape does not hold what was billed."""
    n_unknown: int = 0
    """Replies of which not even that is known."""

    def money(self, at: Prices | None) -> Fraction | None:
        """Return what it cost; None without prices, or where tokens are unknown."""
        if at is None or self.n_unknown:
            return None
        return cost(Usage(input_tokens=self.read, output_tokens=self.written), at)


def together(parts: Iterable[Spent]) -> Spent:
    """Return the sum of what requests took."""
    listed = list(parts)
    return Spent(*map(sum, zip(*listed, strict=True))) if listed else Spent()


def usage_report(request: ModelRequest, reply: ModelReply) -> dict[str, Any]:
    """Return what a judgement keeps of the costs of one reply: estimated where none were recorded."""
    billed = reply.usage
    is_billed = bool(billed.input_tokens or billed.output_tokens)
    read, written = billed.input_tokens, billed.output_tokens
    if not is_billed:
        read, written = tokens_of(request), math.ceil(len(reply.text) / LETTERS)
    return {
        "images": sum(isinstance(part, ImagePart) for part in request.content),
        "read": read,
        "written": written,
        **({} if is_billed else {"is_estimated": True}),
        **({"is_shared": True} if request.is_shared else {}),
    }


def spent_on(stage: Mapping[str, Any]) -> Spent:
    """Return what one reply of a judgement took, by its stage."""
    usage = stage.get("usage")
    found = [usage.get(name) for name in _COUNTS] if isinstance(usage, Mapping) else []
    numbers = [one for one in found if isinstance(one, int) and one >= 0]
    if not isinstance(usage, Mapping) or len(numbers) < len(_COUNTS):
        return Spent(requests=1, n_unknown=1)
    images, read, written = numbers
    return Spent(1, images, read, written, n_estimated=int(usage.get("is_estimated") is True))


_COUNTS = ("images", "read", "written")
