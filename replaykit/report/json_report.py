"""Reports as JSON: one document, or one verdict a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from replaykit.grading.verdict import CheckResult, PolicyResult, Report, Verdict
from replaykit.report.json_text import json_text
from replaykit.report.remedies import family, remedy
from replaykit.tasks.described_schema import components, document

_NO_VERDICTS = b'\n  "verdicts": []'
"""How a report without verdicts names them; within texts a line feed is an escape."""


def as_json(report: Report) -> bytes:
    """Return the report as indented JSON, UTF-8, ending in a newline: same report, same bytes.

    `remedies` of its summary names for each kind of missing evidence what would have recorded it.
    """
    return b"".join(json_parts(report))


def json_parts(report: Report) -> Iterator[bytes]:
    """Yield what `as_json` returns verdict by verdict: memory does not grow with their number."""
    before, key, after = _frame(report, ()).partition(_NO_VERDICTS)
    yield before
    opening, kinds = key[:-1], set[str]()
    for verdict in report.verdicts:
        yield opening + b"\n    " + json_text(verdict, 2).replace(b"\n", b"\n    ")
        opening = b","
        kinds.update(map(family, _missing(verdict)))
    if kinds:
        after = _frame(report, kinds).partition(_NO_VERDICTS)[2]
    yield (b"\n  ]" if report.verdicts else key) + after + b"\n"


def _frame(report: Report, kinds: Iterable[str]) -> bytes:
    """Return the report without its verdicts, with what would have recorded these kinds of evidence."""
    more = {"remedies": {kind: remedy(kind) for kind in sorted(kinds)}} if kinds else {}
    return json_text(replace(report, summary={**report.summary, **more}, verdicts=()), 2)


def _missing(verdict: Verdict) -> Iterator[str]:
    results: tuple[CheckResult | PolicyResult, ...] = (*verdict.checks, *verdict.policies)
    for result in results:
        if result.outcome == "UNDECIDED":
            yield from result.missing


def as_jsonl(report: Report) -> bytes:
    """Return one verdict a line, UTF-8."""
    return b"".join(jsonl_parts(report))


def jsonl_parts(report: Report) -> Iterator[bytes]:
    """Yield what `as_jsonl` returns line by line."""
    return (json_text(verdict) + b"\n" for verdict in report.verdicts)


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of the report."""
    (report,), parts = components(Report)
    return document("replaykit report", "urn:replaykit:report:1", report, parts)
