"""Pointers of Git LFS: small files in the place of large ones that were never fetched.

https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
"""

from __future__ import annotations

from pathlib import Path

FETCH = "run `git lfs pull` in its repository to fetch the file itself"
"""Advice for such a pointer."""

# The second one is from before version 1.0, when Git LFS was called Hawser.
_BEGINNINGS = (b"version https://git-lfs.github.com/spec/", b"version https://hawser.github.com/spec/")
_SIZE_MAX = 1024


def is_pointer(data: bytes) -> bool:
    """Whether these are the bytes of a pointer."""
    return len(data) < _SIZE_MAX and data.startswith(_BEGINNINGS) and b"oid " in data


def is_pointer_file(path: Path) -> bool:
    """Whether a file is a pointer; False for what cannot be read."""
    try:
        with path.open("rb") as stream:
            return is_pointer(stream.read(_SIZE_MAX + 1))
    except OSError:
        return False
