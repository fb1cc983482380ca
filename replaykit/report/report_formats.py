"""Report formats by name and by extension; a renderer is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

UndecidedTag: TypeAlias = Literal["skipped", "failure", "error"]
"""Element of JUnit for a result that could not be decided."""

OnRun: TypeAlias = Callable[[str], None]
"""Called with the name of each run that is written."""

FORMATS = {
    "text": ("replaykit.report.text.text_report", "as_text"),
    "summary": ("replaykit.report.text.text_report", "as_summary"),
    "json": ("replaykit.report.json_report", "as_json"),
    "jsonl": ("replaykit.report.json_report", "as_jsonl"),
    "csv": ("replaykit.report.csv_report", "as_csv"),
    "junit": ("replaykit.report.junit", "as_junit"),
    "github": ("replaykit.report.github", "as_github"),
    "wabe": ("replaykit.report.wabe_report", "as_wabe"),
    "html": ("replaykit.report.html.report_file", "as_html"),
}
"""Format name to module and renderer."""

IN_PARTS = {
    "json": ("replaykit.report.json_report", "json_parts"),
    "jsonl": ("replaykit.report.json_report", "jsonl_parts"),
}
"""Format name to what yields it part by part: such a file may be larger than memory."""

SUMMARY_FROM = 200
"""Runs from which on a terminal shows the summary: no one reads so many rows."""

BY_EXTENSION = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".xml": "junit",
    ".md": "github",
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
}
"""Extension of a report's file to its format."""
