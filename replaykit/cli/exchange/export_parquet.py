"""`replaykit export parquet`: many bundles, two tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from replaykit.bundle.reader import open_bundle
from replaykit.errors import CannotExport
from replaykit.grading.verdict import Verdict
from replaykit.interop.parquet.parquet_export import write_tables
from replaykit.redaction.leftover_scan import scan
from replaykit.report.text.table import safe
from replaykit.secrets.redactor import Redactor

FORMAT = "parquet"
"""What the command line calls it."""

WRITES = "tables of all bundles together, one row a step and one row a run"
"""In a few words, for the table."""


def export_tables(
    bundles: Sequence[str],
    folder: Path,
    verdicts: tuple[Verdict, ...],
    *,
    allows_findings: bool,
    force: bool,
) -> None:
    """Write the tables of bundles in which nothing looks like a secret. Raises CannotExport, BundleError."""
    for bundle in () if allows_findings else bundles:
        _refuse_findings(bundle)
    for path in write_tables(bundles, folder, verdicts, force=force):
        click.echo(safe(str(path)))


def _refuse_findings(path: str) -> None:
    with open_bundle(path) as bundle:
        found = [
            f"{one.place} holds what looks like a secret ({one.id})" for one in scan(bundle, Redactor({}))
        ]
    if found:
        more = f" (and {len(found) - 5} more)" if len(found) > 5 else ""
        advice = "Take them out with replaykit redact, or export them with --allow-findings."
        raise CannotExport(format=FORMAT, source=path, missing="; ".join(found[:5]) + more, advice=advice)
