"""Text in UTF-16 or UTF-32, as tools on Windows write it: no layout has it, and it is converted first."""

from __future__ import annotations

from pathlib import Path

_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
"""Byte order marks; the first of UTF-32 begins as that of UTF-16."""

_HEAD = 64


def wide_encoding(data: bytes) -> str | None:
    """Return `UTF-16` or `UTF-32` for text with such a mark, or with zeros beside each letter; else None."""
    head = data[:_HEAD]
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if marked or not any(head):
        return marked
    if _has_zeros(head, 4, 3):
        return "UTF-32"
    return "UTF-16" if _has_zeros(head, 2, 1) else None


def _has_zeros(head: bytes, width: int, most: int) -> bool:
    """Whether `most` of every `width` bytes are zero, always in the same places."""
    count = len(head) // width
    zeros = [head[at : width * count : width].count(0) == count for at in range(width)]
    return count > 1 and zeros.count(True) == most


def wide_words(encoding: str) -> str:
    """Return the description of such a file."""
    return f"in {encoding}"


def encoding_in(words: str) -> str | None:
    """Return the encoding that a description names."""
    return next((encoding for _, encoding in _MARKS if words == wide_words(encoding)), None)


def conversion(encoding: str) -> str:
    """Return the advice for such a file."""
    return f"convert it first: `iconv -f {encoding} -t UTF-8 FILE > COPY`"


def encoding_of_file(path: Path) -> str | None:
    """Return the wide encoding of a file; None for any other, and for what cannot be read."""
    try:
        with path.open("rb") as stream:
            return wide_encoding(stream.read(_HEAD))
    except OSError:
        return None
