"""How alike two names are: longest common subsequence of their words in alphabetical order."""

from __future__ import annotations

from replaykit.patterns import lazy_pattern

NAME_MAX = 2048
"""Characters of a name that are compared."""

_OTHER = lazy_pattern(r"[\W_]")


def similarity(left: str, right: str) -> int:
    """Return 0 to 100: twice the length of the longest common subsequence over both lengths."""
    one, other = _sorted_words(left), _sorted_words(right)
    if not one or not other:
        return 100 if one == other else 0
    return round(200 * common_length(one, other) / (len(one) + len(other)))


def common_length(left: str, right: str) -> int:
    """Return the length of the longest common subsequence (bit-parallel: Hyyrö, 2004)."""
    places: dict[str, int] = {}
    for place, char in enumerate(left):
        places[char] = places.get(char, 0) | 1 << place
    everything = (1 << len(left)) - 1
    row = everything
    for char in right:
        matched = row & places.get(char, 0)
        row = (row + matched | row - matched) & everything
    return len(left) - row.bit_count()


def _sorted_words(text: str) -> str:
    return " ".join(sorted(_OTHER.sub(" ", text[:NAME_MAX]).lower().split()))
