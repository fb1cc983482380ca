"""One door to every report format."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from replaykit.errors import UsageError
from replaykit.grading.verdict import Report
from replaykit.report.json_report import as_json, as_jsonl
from replaykit.report.text import as_text

FORMATS: dict[str, Callable[[Report], bytes]] = {
    "text": lambda report: as_text(report).encode(),
    "json": as_json,
    "jsonl": as_jsonl,
}
"""Format name to renderer."""

_BY_EXTENSION = {".json": "json", ".jsonl": "jsonl", ".txt": "text"}


def render(report: Report, format: str) -> bytes:
    """Return the report in a format; unknown names are a `UsageError`."""
    if format not in FORMATS:
        raise UsageError(what=f"no report format {format!r}; there are {', '.join(FORMATS)}")
    return FORMATS[format](report)


def write_report(report: Report, path: str | Path, format: str | None = None) -> None:
    """Write the report; the format follows the extension unless named. Replaces the file whole."""
    file = Path(path)
    data = render(report, format or _format_of(file))
    try:
        replace_file(file, data)
    except OSError as error:
        raise UsageError(what=f"cannot write {file}: {error.strerror}") from error


def replace_file(file: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _format_of(file: Path) -> str:
    try:
        return _BY_EXTENSION[file.suffix.lower()]
    except KeyError:
        known = ", ".join(_BY_EXTENSION)
        raise UsageError(what=f"cannot tell the format of {file}: use {known}, or --format") from None
