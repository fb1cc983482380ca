"""`partial_ratio`: how much of the shorter text some stretch of the longer one holds, as RapidFuzz 3 counts.

Score = the highest 200 LCS(s, w) / (|s| + |w|) over the windows w of the longer text: every substring as long
as s, every shorter prefix and suffix. LCS is the longest common subsequence, counted in code points. One
letter scores 100 against any text that holds it: that is the benchmark's, and why strict rules do not use it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

FUZZY_MIN = 75
"""Least score at which the benchmark takes two texts for the same."""


def partial_ratio(first: str, second: str) -> float:
    """Return the score, 0 to 100; 100 for two empty texts, 0 for one."""
    if not first or not second:
        return 100.0 if first == second else 0.0
    return max(_best(short, long) for short, long in _roles(first, second))


@lru_cache(maxsize=8192)
def resembles(first: str, second: str) -> bool:
    """Return whether the score is at least 75, decided in integers."""
    if not first or not second:
        return first == second
    return any(_reaches(short, long) for short, long in _roles(first, second))


def _roles(first: str, second: str) -> list[tuple[str, str]]:
    """Return the shorter text and the longer one; texts of one length in both roles."""
    if len(first) == len(second):
        return [(first, second), (second, first)]
    return [(first, second) if len(first) < len(second) else (second, first)]


def _best(short: str, long: str) -> float:
    places, length = _places(short), len(short)
    whole = (long[at : at + length] for at in range(len(long) - length + 1))
    windows = (window for row in (whole, _ends(length, long, 1)) for window in row)
    return max(200 * _common(places, length, window) / (length + len(window)) for window in windows)


def _reaches(short: str, long: str) -> bool:
    """Return whether 8 LCS >= 3 (s + w) for some window."""
    places, length = _places(short), len(short)
    needed = -(-3 * length // 4)
    at = 0
    while at <= len(long) - length:
        common = _common(places, length, long[at : at + length])
        if common >= needed:
            return True
        # One letter in and one out change the common length by one at most.
        at += needed - common
    # A prefix or suffix of w letters has an LCS of at most w: at least 3/5 of the length is needed.
    ends = _ends(length, long, -(-3 * length // 5))
    return any(8 * _common(places, length, end) >= 3 * (length + len(end)) for end in ends)


def _ends(length: int, long: str, least: int) -> Iterator[str]:
    """Yield the prefixes and suffixes that are shorter than the shorter text."""
    for size in range(length - 1, least - 1, -1):
        yield long[:size]
        yield long[-size:]


def _places(text: str) -> dict[str, int]:
    places: dict[str, int] = {}
    for number, char in enumerate(text):
        places[char] = places.get(char, 0) | 1 << number
    return places


def _common(places: dict[str, int], length: int, window: str) -> int:
    """Return the length of the longest common subsequence (bit-parallel, Hyyrö 2004)."""
    row = full = (1 << length) - 1
    for char in window:
        kept = row & places.get(char, 0)
        row = ((row + kept) | (row - kept)) & full
    return length - row.bit_count()
