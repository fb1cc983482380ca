"""How the text of a field changed: where two texts differ, and whether one was put into the other."""

from __future__ import annotations


def alike(one: str, other: str) -> int:
    """Return with how many equal characters two texts begin."""
    differ = (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    return next(differ, min(len(one), len(other)))


def is_put_in(text: str, before: str, after: str) -> bool:
    """Whether `after` is `before` with a text put in at one place, and nothing else."""
    first, last = len(before) - alike(before[::-1], after[::-1]), alike(before, after)
    is_longer = len(after) == len(before) + len(text)
    return is_longer and after.find(text, first, last + len(text)) >= 0


def inserted(before: str, after: str) -> str:
    """Return the part that was not there before; empty where something else is missing now."""
    start = alike(before, after)
    end = alike(before[start:][::-1], after[start:][::-1])
    return after[start : len(after) - end] if start + end == len(before) else ""
