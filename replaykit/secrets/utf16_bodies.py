"""Text in UTF-16 or UTF-32, which looks like bytes with a NUL at every second place or more."""

from __future__ import annotations

_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
"""Byte order marks, of UTF-16 and of UTF-32."""

_SHARE = 8
"""One byte of so many is NUL in a body of which a part is such a text."""


def wide_texts(data: bytes) -> tuple[str, ...]:
    """Return the texts that bytes may be in UTF-16, in either byte order, and without their NULs.

    Nothing is returned for bytes that hold few NULs and no mark. Without NULs, ASCII is found wherever it
    begins, also in UTF-32.
    """
    if not (data.startswith(_MARKS) or data.count(0) * _SHARE >= max(len(data), _SHARE)):
        return ()
    narrow = data.replace(b"\x00", b"").decode("utf-8", "replace")
    return narrow, data.decode("utf-16-le", "replace"), data.decode("utf-16-be", "replace")
