"""Files that say how to judge, read whole and bounded."""

from __future__ import annotations

from pathlib import Path

from replaykit.errors import JudgeError
from replaykit.file_types import read_whole


def file_bytes(path: Path, most: int) -> bytes:
    """Return what a file of at most `most` bytes holds. Raises JudgeError naming file and fault."""
    try:
        return read_whole(path, most)
    except OSError as error:
        raise JudgeError(what=f"{path.name}: cannot read the file: {error.strerror}") from error
