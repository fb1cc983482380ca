"""Cards of verdicts, reports and bundles for notebooks: HTML with inline styles, no script and no address.

Everything recorded is escaped: a notebook runs what it is given.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence

from replaykit.bundle.reader import Bundle
from replaykit.errors import BundleError
from replaykit.grading.verdict import CheckResult, Judgement, PolicyResult, Report, Value, Verdict
from replaykit.report.html.embedded_screenshots import screenshot
from replaykit.report.html.escaping import text
from replaykit.report.reasons import reason_text
from replaykit.report.text.table import safe, short
from replaykit.report.text_cards import problems, report_text, step_of, verdict_text
from replaykit.trajectory.action_rendering import render_step
from replaykit.trajectory.observation import Observation

ROWS_MAX = 50
"""Rows of a table."""

CELL_MAX = 200
"""Characters of a cell."""

THUMBNAILS_MAX = 5
THUMBNAIL_BYTES_MAX = 400_000
"""Bytes of a screenshot that is shown: it is embedded whole."""

_TABLE = "border-collapse:collapse;margin:4px 0"
_CELL = "text-align:left;vertical-align:top;padding:2px 10px 2px 0;border-bottom:1px solid #8884"
_TITLE = "font-weight:600;margin:4px 0"
_COLOURS = {
    "PASS": "#1a7f37", "SUCCESS": "#1a7f37", "OK": "#1a7f37",
    "FAIL": "#cf222e", "FAILURE": "#cf222e", "VIOLATED": "#cf222e", "ERROR": "#cf222e",
}  # fmt: skip
_UNKNOWN = "#9a6700"


def verdict_html(verdict: Verdict) -> str:
    """Return the head of a verdict and a table of what is not well."""
    rows = [
        [str(result.outcome), kind, name, reason_text(kind, result.reason), *_found(result)]
        for kind, name, result in problems(verdict)
    ]
    head = ["outcome", "kind", "id", "reason", "step", "expected", "found"]
    return _block(verdict_text(verdict).splitlines()[0], _table(head, rows))


def report_html(report: Report) -> str:
    """Return the head of a report and a row for each run."""
    rows = [
        [str(one.success or "-"), report.name(one), *verdict_text(one).splitlines()[0].partition(": ")[2:]]
        for one in report.verdicts
    ]
    lines = "".join(f"<div>{_text(line)}</div>" for line in report_text(report).splitlines()[1:5])
    return _block(report_text(report).splitlines()[0], lines + _table(["success", "run", "result"], rows))


def bundle_html(bundle: Bundle) -> str:
    """Return what a bundle holds: task, ending, steps, and a few of its screenshots."""
    try:
        run = bundle.trajectory
    except BundleError as error:
        return _block(bundle.name, f"<div>{_text(error.message)}</div>")
    ending = run.ending.kind if run.ending else "interrupted"
    intent = str((run.header.task or {}).get("intent", ""))
    rows = [[str(step.index), render_step(step)] for step in run.steps]
    looks = (one.screenshot for one in run.events if isinstance(one, Observation))
    shots = [one for one in looks if isinstance(one, str)]
    title = f"{bundle.name}: {len(run.steps)} steps, {ending}"
    return _block(
        title, f"<div>{_text(intent)}</div>{_thumbnails(bundle, shots)}{_table(['step', 'action'], rows)}"
    )


def _found(result: CheckResult | PolicyResult | Judgement) -> list[str]:
    if isinstance(result, Judgement):
        return ["", "", short(result.detail or "", CELL_MAX)]
    step = step_of(result.evidence)
    shown = next((one for one in result.evidence if one.expected or one.found), None)
    sides = ["", ""] if shown is None else [_side(shown.expected), _side(shown.found)]
    return ["" if step is None else str(step), *sides]


def _side(value: Value | None) -> str:
    return "" if value is None or value.raw is None else str(value.raw)


def _block(title: str, inner: str) -> str:
    return f'<div style="font-size:13px"><div style="{_TITLE}">{_text(title)}</div>{inner}</div>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    top = "".join(f'<th style="{_CELL}">{_text(name)}</th>' for name in head)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows[:ROWS_MAX])
    more = f"<div>and {len(rows) - ROWS_MAX} more</div>" if len(rows) > ROWS_MAX else ""
    return f'<table style="{_TABLE}"><tr>{top}</tr>{body}</table>{more}'


def _cells(row: Iterable[str]) -> str:
    return "".join(f'<td style="{_CELL}{_colour(cell)}">{_text(cell)}</td>' for cell in row)


def _colour(cell: str) -> str:
    unknown = _UNKNOWN if cell in ("UNDECIDED", "ABSTAIN") else ""
    colour = _COLOURS.get(cell, unknown)
    return f";color:{colour};font-weight:600" if colour else ""


def _text(words: str) -> str:
    return text(safe(short(words, CELL_MAX)))


def _thumbnails(bundle: Bundle, ids: Sequence[str]) -> str:
    """Show some screenshots, evenly spread over the run."""
    chosen = (
        dict.fromkeys(ids[place * len(ids) // THUMBNAILS_MAX] for place in range(THUMBNAILS_MAX))
        if ids
        else {}
    )
    found = [
        one
        for one in (screenshot(bundle, id) for id in chosen)
        if one and len(one.data) <= THUMBNAIL_BYTES_MAX
    ]
    return "".join(
        f'<img alt="screenshot" style="width:160px;margin:2px" '
        f'src="data:{one.media_type};base64,{base64.b64encode(one.data).decode()}">'
        for one in found
    )
