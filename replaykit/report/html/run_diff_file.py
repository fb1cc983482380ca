"""Two runs in one HTML file: their steps side by side, both runs whole behind them."""

from __future__ import annotations

from typing import IO, Any

from replaykit.bundle.reader import Bundle
from replaykit.report.html.bounded_text import line, without_empty
from replaykit.report.html.embedded_evidence import EmbeddedEvidence
from replaykit.report.html.escaping import data_block, packed_json
from replaykit.report.html.overview import link_ids
from replaykit.report.html.report_file import EVIDENCE_MAX
from replaykit.report.html.run_details import facts, recorded
from replaykit.report.html.run_diff_rows import sides
from replaykit.report.html.shell import data_behind, opening
from replaykit.report.run_diff import compare_runs
from replaykit.report.text.run_diff_text import run_diff_text


def write_run_diff(
    before: Bundle, after: Bundle, names: tuple[str, str], file: IO[str], most: int | None = EVIDENCE_MAX
) -> None:
    """Write what lies between two runs as HTML; `names` say which is which.

    `most`: bytes of screenshots and pages, None = all. Same bundles, names and options, same bytes (given one
    build of zlib). Memory: both stories, what lies between them, and one screenshot or page.
    """
    found = compare_runs(before, after)
    ids = link_ids([before.digest, after.digest])
    with data_behind(file) as blocks:
        evidence = EmbeddedEvidence(blocks, most)
        rows = {}
        for id, name, bundle in zip(ids, names, (before, after), strict=True):
            if id not in rows:
                run = recorded(bundle, evidence)
                blocks.write(data_block(f"r{id}", "run/deflate", packed_json(run)))
                rows[id] = _row(id, name, run)
        first = {
            "schema": found.schema,
            "runs": list(rows.values()),
            "sides": sides(found, ids, names),
            "left_out": {"pieces": evidence.left_out, "most": most or 0},
        }
        file.write(opening(" → ".join(names), first, run_diff_text(found)))


def _row(id: str, name: str, run: dict[str, Any]) -> dict[str, Any]:
    return without_empty({"id": id, "name": line(name), "task": run.get("task", {}).get("id"), **facts(run)})
