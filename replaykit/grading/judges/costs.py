"""What replies cost, by prices that the user names: they change, and the tape does not know them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from msgspec import Struct

from replaykit.errors import UsageError
from replaykit.grading.model_request import Usage

PER = 1_000_000
"""Tokens that a price is for."""

_PRICES = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)/([0-9]{1,9}(?:\.[0-9]{1,9})?)")


class Prices(Struct, frozen=True, kw_only=True):
    """Money for a million tokens, in whatever currency."""

    read: Fraction
    """Tokens read."""
    written: Fraction
    """Tokens written."""


def prices(said: str) -> Prices:
    """Read `IN/OUT`, such as `3/15`: money for a million tokens read, and written."""
    found = _PRICES.fullmatch(said)
    if found is None:
        raise UsageError(what=f"--prices: expected IN/OUT for a million tokens, such as 3/15, got {said!r}")
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
