"""Read back what `grade -o report.json` wrote."""

from __future__ import annotations

from pathlib import Path

from replaykit.errors import SourceError
from replaykit.grading.verdict import Report
from replaykit.report.json_report import MADE_BY, read_json

_HEAD = 64
"""Bytes that distinguish a report from a bundle."""


def is_report(source: str) -> bool:
    """Whether a file is JSON, as a report is; bundles, folders and what cannot be read are not."""
    if not Path(source).is_file():  # whoever opens a pipe waits for its writer
        return False
    try:
        with Path(source).open("rb") as file:
            return file.read(_HEAD).lstrip().startswith(b"{")
    except OSError:
        return False


def load_report(source: str) -> Report:
    """Read a report. Raises SourceError for no file, TaskError for a file that is no report."""
    try:
        data = Path(source).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceError(
            source=source, operation="read the report", reason=f"{reason}; {MADE_BY}"
        ) from error
    return read_json(data, source)
