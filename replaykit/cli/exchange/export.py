"""`replaykit export`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from replaykit.bundle.reader import open_bundle
from replaykit.cli.bundles import find_bundles
from replaykit.cli.console import notice
from replaykit.cli.exchange import export_submission as submission
from replaykit.cli.exchange.import_ import tell_failure
from replaykit.cli.maintain import completion
from replaykit.errors import CannotExport, ReplaykitError, UsageError
from replaykit.grading.verdict import Verdict
from replaykit.interop.bundle_export import EXPORTERS, Choices, export_run, exporter, targets
from replaykit.interop.parquet.parquet_export import write_tables
from replaykit.redaction.leftover_scan import scan
from replaykit.report.report_reader import load_report
from replaykit.report.text.table import safe, table
from replaykit.secrets.redactor import Redactor

OWNERS = {
    "task_type": ("webarena-verified",),
    "status": ("webarena-verified",),
    "report": ("playwright-trace", "inspect", "parquet"),
    "schema": ("online-mind2web", "atif"),
    "gaps": ("online-mind2web",),
    "images": ("inspect",),
    "allow_findings": ("parquet",),
}
"""Option to the formats that take it; all others are those of submissions."""

TABLES = "parquet"
"""The format that holds all bundles in one folder of tables."""

TABLES_HOLD = "tables of all bundles together, one row a step and one row a run"
"""In a few words, for the table of formats."""

FAILED, NOTHING = 3, 4
"""Exit codes."""


@click.command(epilog="Example: replaykit export playwright-trace run.zst -o run-trace.zip")
@click.argument("format", required=False, metavar="FORMAT", shell_complete=completion.export_formats)
@click.argument("bundles", nargs=-1, metavar="BUNDLE_OR_DIR...", shell_complete=completion.files)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write, or folder for many bundles.",
)
@click.option("--list", "is_list", is_flag=True, help="List the formats and export nothing.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--task-type", metavar="WORD", help="webarena-verified: RETRIEVE, MUTATE or NAVIGATE.")
@click.option("--status", metavar="WORD", help="webarena-verified: SUCCESS or one of the format's errors.")
@click.option("--attach", is_flag=True, help="har: write a zip that holds bodies as separate files.")
@click.option("--schema", metavar="VERSION", help="online-mind2web: v1 or v2. atif: 1.6 or 1.8.")
@click.option(
    "--gaps", is_flag=True, help="online-mind2web v2: write a grey image for a step without a screenshot."
)
@click.option(
    "--images", type=click.Choice(["all", "none"]), help="inspect: leave screenshots out with none."
)
@click.option(
    "--report",
    metavar="FILE",
    help="playwright-trace, inspect, parquet: add the verdicts of this report.",
)
@click.option("--allow-findings", is_flag=True, help="parquet: also export text that looks like a secret.")
@click.option("--suite", metavar="FILE", help="stwab-submission: the benchmark's tasks.")
@click.option(
    "--metadata",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="stwab-submission: JSON object of agent_id, model_name, team, code_repository_url, contact_email.",
)
@click.option("--benchmark", metavar="DIR", help="stwab-submission: checkout whose files are digested.")
@click.option("--date", metavar="RFC3339", help="stwab-submission: its date. Default: now.")
@click.option(
    "--run-id", metavar="NAME", help="stwab-submission: name of the evaluation. Default: a new one."
)
@click.option(
    "--fail-closed",
    is_flag=True,
    help="stwab-submission: export undecided policies as violated, and list them.",
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    format: str | None,
    bundles: tuple[str, ...],
    output: Path | None,
    is_list: bool,
    force: bool,
    task_type: str | None,
    status: str | None,
    attach: bool,
    report: str | None,
    schema: str | None,
    gaps: bool,
    images: str | None,
    allow_findings: bool,
    **said: Any,
) -> None:
    """Convert bundles to the formats of other tools. The bundles are not changed.

    FORMAT is a name from `--list`. A bundle that lacks something the format needs is reported and skipped
    (exit 3); nothing is made up. A submission holds all bundles in one file, or is not written.
    """
    if is_list:
        rows = [[name, exporter(name).writes] for name in EXPORTERS]
        rows += [[TABLES, TABLES_HOLD], [submission.FORMAT, submission.WRITES]]
        click.echo("\n".join(table([["format", "writes"], *rows])))
        return
    if format is None or not bundles or output is None:
        raise UsageError(what=_lacking(format, bundles, output))
    own = {"task_type": task_type, "status": status, "report": report, **said}
    own |= {"schema": schema, "gaps": gaps, "images": images, "allow_findings": allow_findings}
    _refuse_foreign(format, [name for name, value in own.items() if value])
    if format == submission.FORMAT:
        found = find_bundles(bundles)
        if found:
            submission.export_submission(found, output, force=force, **said)
        ctx.exit(0 if found else NOTHING)
    if format == TABLES:
        found, report_ = find_bundles(bundles), _verdicts(report)
        if found:
            _export_tables(found, output, report_, allows_findings=allow_findings, force=force)
        ctx.exit(0 if found else NOTHING)
    choices = Choices(
        task_type=task_type, status=status, attaches=attach, verdicts=_verdicts(report), schema=schema,
        has_images=images != "none", fills_gaps=gaps,
    )  # fmt: skip
    places, failed = targets(format, find_bundles(bundles), output, choices), 0
    for bundle, place in places.items():
        try:
            click.echo(safe(str(export_run(format, bundle, place, choices=choices, force=force))))
        except ReplaykitError as error:
            if len(places) == 1:
                raise
            failed += 1
            tell_failure(error)
    notice(f"{len(places) - failed} exported, {failed} failed")
    ctx.exit(FAILED if failed else 0 if places else NOTHING)


def _lacking(format: str | None, bundles: tuple[str, ...], output: Path | None) -> str:
    said = {"FORMAT": format, "BUNDLE...": bundles, "-o PATH": output}
    missing = ", ".join(name for name, value in said.items() if not value)
    return f"export takes FORMAT, BUNDLE... and -o PATH, or --list; missing: {missing}"


def _refuse_foreign(format: str, said: list[str]) -> None:
    """Raise UsageError for options that another format takes."""
    for name in said:
        owners = OWNERS.get(name, (submission.FORMAT,))
        if format not in owners:
            option, belongs = name.replace("_", "-"), ", ".join(owners)
            raise UsageError(what=f"--{option} belongs to {belongs}, not to {format}")


def _verdicts(report: str | None) -> tuple[Verdict, ...]:
    return load_report(report).verdicts if report else ()


def _export_tables(
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
        raise CannotExport(format=TABLES, source=path, missing="; ".join(found[:5]) + more, advice=advice)
