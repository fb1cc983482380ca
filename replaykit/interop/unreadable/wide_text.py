"""Text in UTF-16, as tools on Windows write it: no layout has it, and it is converted before an import."""

from __future__ import annotations

from pathlib import Path

WIDE = "in UTF-16"
"""Description of such a file."""

CONVERT = "convert it first: `iconv -f UTF-16 -t UTF-8 FILE > COPY`"
"""Advice for such a file."""

_MARKS = (b"\xff\xfe", b"\xfe\xff")
_HEAD = 64


def is_wide(data: bytes) -> bool:
    """Whether bytes are text in UTF-16: they begin with its mark, or a zero stands beside each letter."""
    head = data[:_HEAD]
    if head.startswith(_MARKS):
        return True
    pairs = len(head) // 2
    return (
        pairs > 1
        and pairs in (head[: 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0))
        and any(head)
    )


def is_wide_file(path: Path) -> bool:
    """Whether a file is text in UTF-16; False for what cannot be read."""
    try:
        with path.open("rb") as stream:
            return is_wide(stream.read(_HEAD))
    except OSError:
        return False
