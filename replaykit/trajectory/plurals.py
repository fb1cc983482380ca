"""How many of something there are, in words."""

from __future__ import annotations


def counted(n: int, noun: str) -> str:
    """Return `1 step`, `0 steps`, `2 replies`: a number with its noun."""
    if n == 1:
        return f"1 {noun}"
    return f"{n} {noun[:-1]}ies" if noun.endswith("y") else f"{n} {noun}s"
