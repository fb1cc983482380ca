"""Read back what `grade -o report.json` wrote, whoever saved it again in between."""

from __future__ import annotations

from pathlib import Path

import msgspec

from replaykit.decoders import decode
from replaykit.errors import SourceError, TaskError
from replaykit.file_types import HEAD, MARK, REPORT, kind_of_bytes, read_whole
from replaykit.grading.verdict import SCHEMA, Report

_START = 64
"""Bytes that distinguish a report from a bundle."""

MADE_BY = "`replaykit grade RUNS -o report.json` writes one"
"""Advice where a file is not a report."""


class _Named(msgspec.Struct):
    """A JSON object with the name of its layout."""

    schema: str = ""


def is_report(source: str) -> bool:
    """Whether a file is JSON, as a report is; bundles, folders and what cannot be read are not."""
    if not Path(source).is_file():  # whoever opens a pipe waits for its writer
        return False
    try:
        with Path(source).open("rb") as file:
            return file.read(_START).removeprefix(MARK).lstrip().startswith(b"{")
    except OSError:
        return False


def names_a_report(data: bytes) -> bool:
    """Whether bytes are one JSON object that calls itself a report, of whichever version."""
    try:
        return decode(data.removeprefix(MARK), _Named).schema.startswith("replaykit.report/")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


def load_report(source: str | Path) -> Report:
    """Read a report. Raises SourceError for no file, TaskError for a file that is no report."""
    try:
        data = read_whole(source)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceError(
            source=str(source), operation="read the report", reason=f"{reason}; {MADE_BY}"
        ) from error
    return read_report(data, str(source))


def read_report(data: bytes, source: str) -> Report:
    """Read a report back. Raises `TaskError` naming the path of what is wrong."""
    try:
        found = decode(data.removeprefix(MARK), Report)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        found_kind = kind_of_bytes(data[:HEAD])
        what = "a report with a fault" if found_kind == REPORT else f"not a report, found {found_kind}"
        raise TaskError(source=source, path="$", reason=f"{what} ({error}); {MADE_BY}") from error
    if found.schema != SCHEMA:
        reason = f"a report of another version, {found.schema!r:.80}; expected {SCHEMA!r}: {MADE_BY}"
        raise TaskError(source=source, path="$.schema", reason=reason)
    return found
