"""A table for spreadsheets: one line a run, RFC 4180."""

from __future__ import annotations

import csv
import io

from replaykit.grading.verdict import Report
from replaykit.report.flat_rows import COLUMNS, flat_rows

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(report: Report) -> bytes:
    """Return one line a run below a line of names, UTF-8; lines end in CR LF.

    Texts that a spreadsheet would take for a formula begin with an apostrophe.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS["runs"])
    for row in flat_rows(report, "runs"):
        writer.writerow([_safe(cell) if isinstance(cell, str) else cell for cell in row.values()])
    return out.getvalue().encode(errors="replace")


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
