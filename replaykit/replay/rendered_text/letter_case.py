"""`text-transform` of letters whose other case is the same in every version of Unicode."""

from __future__ import annotations

from functools import cache
from itertools import chain

_BLOCKS = ((0x0000, 0x024F), (0x0370, 0x052F), (0x0531, 0x0587), (0x1E00, 0x1FFF))
# Unicode 16 gave this small letter its capital.
_UNSTABLE = frozenset({0x019B})


def transformed(text: str, transform: str) -> str:
    """Write a text in upper or lower case, letter by letter; any other transform changes nothing."""
    if transform not in ("uppercase", "lowercase"):
        return text
    return text.translate(_table(transform == "uppercase"))


@cache
def _table(is_upper: bool) -> dict[int, str]:
    points = chain.from_iterable(range(first, last + 1) for first, last in _BLOCKS)
    letters = {point: chr(point) for point in points if point not in _UNSTABLE}
    return {point: char.upper() if is_upper else char.lower() for point, char in letters.items()}
