"""How values of the library show themselves: by functions of the report, found by name on first use.

The report imports verdicts and bundles; they do not import the report.
"""

from __future__ import annotations

import importlib
from typing import Any

_FUNCTIONS = {
    "verdict_text": "replaykit.report.text_cards",
    "report_text": "replaykit.report.text_cards",
    "verdict_html": "replaykit.report.notebook_cards",
    "report_html": "replaykit.report.notebook_cards",
    "bundle_html": "replaykit.report.notebook_cards",
    "flat_rows": "replaykit.report.flat_rows",
    "data_frame": "replaykit.report.flat_rows",
}


def display(function: str, *values: Any) -> Any:
    """Call a function that shows a value."""
    return getattr(importlib.import_module(_FUNCTIONS[function]), function)(*values)
