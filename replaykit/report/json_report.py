"""Reports as JSON: one document, or one verdict a line."""

from __future__ import annotations

from typing import Any

import msgspec

from replaykit.decoders import decode
from replaykit.errors import TaskError
from replaykit.grading.verdict import Report
from replaykit.report.json_text import json_text


def as_json(report: Report) -> bytes:
    """Return the report as indented JSON, UTF-8, ending in a newline: same report, same bytes."""
    return json_text(report, 2) + b"\n"


def as_jsonl(report: Report) -> bytes:
    """Return one verdict a line, UTF-8."""
    return b"".join(json_text(verdict) + b"\n" for verdict in report.verdicts)


def read_json(data: bytes, source: str) -> Report:
    """Read a report back. Raises `TaskError` naming the path of what is wrong."""
    try:
        return decode(data, Report)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise TaskError(source=source, path="$", reason=f"not a report: {error}") from error


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of the report."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "replaykit report",
        **msgspec.json.schema(Report),
    }
