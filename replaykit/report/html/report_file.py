"""The HTML report: one file that holds everything, opened from anywhere, sending nothing.

Written in two passes, so that memory does not grow with the runs: data blocks go to a temporary file run by
run; then head, first screen and program are written before them.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

from msgspec import Struct, to_builtins

from replaykit.grading.verdict import Report
from replaykit.report.html.documents import page_style
from replaykit.report.html.evidence import Evidence
from replaykit.report.html.inert import data_block, inert_json, packed_json, source_hash, text
from replaykit.report.html.overview import is_well, overview, row, run_ids
from replaykit.report.html.runs import facts, run_data, sources_of
from replaykit.report.text import as_text

EVIDENCE_MAX = 64 * 2**20
"""Bytes of pictures and pages in one file, unless asked otherwise."""

SCRIPTS = (
    "nodes", "store", "words", "charts", "filters", "runs", "overview", "stage", "film", "steps",
    "verdict", "judge", "details", "run", "keys", "main",
)  # fmt: skip
"""Parts of the program, in order."""

_PLACE = re.compile(r"\{\{(\w+)\}\}")


class HtmlOptions(Struct, frozen=True, kw_only=True):
    """What goes into a report."""

    most: int | None = EVIDENCE_MAX
    """Bytes of pictures and pages; None = all. Runs that ask to be looked at come first."""
    replies: str | None = None
    """Tape, or folder of tapes; default: beside each bundle."""


def write_html(
    report: Report, sources: Iterable[str | Path], file: IO[str], options: HtmlOptions | None = None
) -> None:
    """Write the report as HTML; `sources` are bundles that show its verdicts, others are passed over.

    Same report, bundles and options, same bytes (given one build of zlib). Memory: the report, one row a
    run, and the run being written. A bundle that cannot be read is said so in the report.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", prefix="replaykit-") as blocks:
        first = _write_runs(report, sources, blocks, options or HtmlOptions())
        file.write(_opening(report, first))
        blocks.seek(0)
        shutil.copyfileobj(blocks, file)
        file.write("</body>\n</html>\n")


def _write_runs(
    report: Report, sources: Iterable[str | Path], blocks: IO[str], options: HtmlOptions
) -> dict[str, Any]:
    found, ids = sources_of(report, sources), run_ids(report)
    evidence = Evidence(blocks, options.most)
    rows: dict[int, dict[str, Any]] = {}
    # Where there is no room for all pictures, those of runs that did not go well are wanted most.
    for place in sorted(range(len(ids)), key=lambda place: (is_well(report.verdicts[place]), place)):
        verdict, source = report.verdicts[place], found.get(place)
        name = Path(source).stem if source else verdict.task_id
        run = (
            run_data(source, verdict, evidence, options.replies)
            if source
            else {"verdict": to_builtins(verdict)}
        )
        blocks.write(data_block(f"r{ids[place]}", "run/deflate", packed_json(run)))
        rows[place] = row(ids[place], name, verdict, facts(run))
    left_out = {"pieces": evidence.left_out, "most": options.most or 0}
    return overview(report, [rows[place] for place in range(len(ids))], left_out)


def _opening(report: Report, first: dict[str, Any]) -> str:
    style, script = _asset("report.css"), program()
    values = {
        "title": text(_title(report)),
        "policy": text(policy(script, style)),
        "style": style,
        "fallback": text(as_text(report, details=len(report.verdicts) <= 100)),
        "data": data_block("report", "application/json", inert_json(first)),
        "script": script,
    }
    return _PLACE.sub(lambda found: values[found[1]], _asset("shell.html"))


def policy(script: str, style: str) -> str:
    """Return the content security policy of the report: this program, these styles, nothing from anywhere."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {source_hash(script)}",
            f"style-src-elem {source_hash(style)} {source_hash(page_style())}",
            "style-src-attr 'unsafe-inline'",
            "img-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types replaykit-page",
        )
    )


def program() -> str:
    """Return the report's program: its parts in one function, strict."""
    parts = "\n".join(_asset("script", f"{name}.js") for name in SCRIPTS)
    return f'(function () {{\n"use strict";\n{parts}}})();\n'


def _title(report: Report) -> str:
    runs = len(report.verdicts)
    return report.label or (
        f"{report.verdicts[0].task_id} · replaykit" if runs == 1 else f"{runs} runs · replaykit"
    )


def _asset(*path: str) -> str:
    return files("replaykit.report.html").joinpath(*path).read_text("utf-8")
