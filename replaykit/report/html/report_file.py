"""The HTML report: one file that holds everything, opened from anywhere, sending nothing.

Written in two passes, so that memory does not grow with the runs: data blocks go to a temporary file run by
run; then head, first screen and program are written before them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from msgspec import Struct, to_builtins

from replaykit.grading.verdict import Report
from replaykit.report.html.embedded_evidence import EmbeddedEvidence
from replaykit.report.html.escaping import data_block, packed_json
from replaykit.report.html.measured_judges import JudgeMeasures, measured_judges, measured_text
from replaykit.report.html.overview import is_well, overview, row, run_ids
from replaykit.report.html.report_diff_page import Gradings, changes, gradings
from replaykit.report.html.run_details import facts, run_data, sources_of
from replaykit.report.html.shell import data_behind, opening
from replaykit.report.report_diff import compare
from replaykit.report.report_formats import OnRun
from replaykit.report.text.report_diff_text import comparison_text
from replaykit.report.text.text_report import as_text

EVIDENCE_MAX = 64 * 2**20
"""Bytes of screenshots and pages in one file, unless asked otherwise."""


class HtmlOptions(Struct, frozen=True, kw_only=True):
    """Contents of a report."""

    most: int | None = EVIDENCE_MAX
    """Bytes of screenshots and pages; None = all. Runs that ask to be looked at come first."""
    replies: str | None = None
    """Tape, or folder of tapes; default: beside each bundle."""
    before: Report | None = None
    """An earlier report: the first screen is what lies between the two."""
    measures: JudgeMeasures = JudgeMeasures()
    """How its judges were measured."""


def write_html(
    report: Report,
    sources: Iterable[str | Path],
    file: IO[str],
    options: HtmlOptions | None = None,
    on_run: OnRun | None = None,
) -> None:
    """Write the report as HTML; `sources` are bundles that show its verdicts, others are skipped.

    Same report, bundles and options, same bytes (given one build of zlib). Memory: the report, one row a
    run, and the run being written. A bundle that cannot be read is reported there.
    """
    options = options or HtmlOptions()
    with data_behind(file) as blocks:
        first = _write_runs(report, sources, blocks, options, on_run)
        file.write(opening(_title(report, options.before), first, _fallback(report, options)))


def as_html(report: Report, sources: Iterable[str | Path] = ()) -> bytes:
    """Return the report as HTML."""
    text = io.StringIO(newline="\n")
    write_html(report, sources, text)
    return text.getvalue().encode("utf-8", "replace")


def _write_runs(
    report: Report,
    sources: Iterable[str | Path],
    blocks: IO[str],
    options: HtmlOptions,
    on_run: OnRun | None,
) -> dict[str, Any]:
    graded = gradings(options.before, report)
    found, ids = sources_of(graded.verdicts, sources), run_ids(graded.verdicts)
    evidence = EmbeddedEvidence(blocks, options.most)
    rows: dict[int, dict[str, Any]] = {}
    for place in _wanted_first(graded):
        verdict, source = graded.verdicts[place], found.get(place)
        name = Path(source).stem if source else verdict.task_id
        run = (
            run_data(source, verdict, evidence, options.replies)
            if source
            else {"verdict": to_builtins(verdict)}
        )
        if place in graded.earlier:
            run["earlier"] = to_builtins(graded.earlier[place])
        blocks.write(data_block(f"r{ids[place]}", "run/deflate", packed_json(run)))
        rows[place] = row(ids[place], name, verdict, facts(run))
        if on_run:
            on_run(name)
    shown = [rows[place] for place in range(len(ids))]
    first = overview(report, shown[: len(report.verdicts)], _left_out(evidence, options))
    measured = measured_judges(options.measures, report)
    if measured:
        first["measured"] = measured
    if options.before is not None:
        first["comparison"] = changes(options.before, report, graded, ids)
        first["earlier"] = shown[len(report.verdicts) :]
    return first


def _wanted_first(graded: Gradings) -> list[int]:
    """Return places in the order in which screenshots get room: what differs, then what did not go well."""
    differ = graded.differing()
    places = range(len(graded.verdicts))
    return sorted(places, key=lambda place: (place not in differ, is_well(graded.verdicts[place]), place))


def _left_out(evidence: EmbeddedEvidence, options: HtmlOptions) -> dict[str, int]:
    return {"pieces": evidence.left_out, "most": options.most or 0}


def _title(report: Report, before: Report | None) -> str:
    if before is not None:
        return f"{before.label or 'before'} → {report.label or 'after'}"
    runs = len(report.verdicts)
    return report.label or (
        f"{report.verdicts[0].task_id} · replaykit" if runs == 1 else f"{runs} runs · replaykit"
    )


def _fallback(report: Report, options: HtmlOptions) -> str:
    text = as_text(report, details=len(report.verdicts) <= 100)
    measured = measured_text(options.measures)
    if measured:
        text = f"{text}\n{measured}"
    return text if options.before is None else f"{comparison_text(compare(options.before, report))}\n{text}"
