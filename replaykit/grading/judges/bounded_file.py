"""Files that say how to judge, read whole and bounded."""

from __future__ import annotations

from pathlib import Path

from replaykit.errors import JudgeError


def file_bytes(path: Path, most: int) -> bytes:
    """Return what a file of at most `most` bytes holds. Raises JudgeError naming file and fault."""
    try:
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except OSError as error:
        raise JudgeError(what=f"{path.name}: cannot read: {error.strerror}") from error
    if len(data) > most:
        raise JudgeError(what=f"{path.name}: larger than {most} bytes")
    return data
