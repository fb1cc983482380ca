"""`replaykit export`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from replaykit.bundle.reader import open_bundle
from replaykit.cli.bundles import find_bundles, warn_of_unmatched
from replaykit.cli.command_options import PATH, option
from replaykit.cli.console import notice
from replaykit.cli.exchange.import_ import FAILED, NOTHING, lacking, report_failure
from replaykit.cli.maintain import completion
from replaykit.decoders import decode
from replaykit.errors import CannotExport, InteropError, OutputExists, ReplaykitError, UsageError
from replaykit.file_types import read_whole
from replaykit.grading.saved_reports import load_report
from replaykit.grading.verdict import Verdict
from replaykit.interop.bundle_export import EXPORTERS, Choices, export_run, exporter, targets, write_file
from replaykit.interop.parquet.parquet_export import write_tables
from replaykit.interop.stwebagentbench.stwab_submission import SubmissionOptions, build_submission
from replaykit.redaction.leftover_scan import scan
from replaykit.report.text.table import safe, table
from replaykit.secrets.redactor import Redactor
from replaykit.tasks.suite import load_suite
from replaykit.trajectory.plurals import counted

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

SUBMISSION = "stwab-submission"
"""The format that holds all bundles in one submission."""

SUBMISSION_HOLDS = "leaderboard submission of ST-WebAgentBench, of all bundles together"
"""In a few words, for the table of formats."""

CLOSED = ".closed.txt"
"""Ending of the file that lists what was exported as violated because the result is unknown, a line each."""


@click.command(epilog="Example: replaykit export playwright-trace run.zst -o run-trace.zip")
@click.argument("format", required=False, metavar="FORMAT", shell_complete=completion.export_formats)
@click.argument("bundles", nargs=-1, metavar="BUNDLE_OR_DIR...", shell_complete=completion.files)
@option("-o --output", "File to write, or folder for many bundles.", type=PATH)
@option("--list", "List the formats and export nothing.", name="is_list")
@option("--force", "Replace existing files.")
@option("--task-type WORD", "webarena-verified: RETRIEVE, MUTATE or NAVIGATE.")
@option("--status WORD", "webarena-verified: SUCCESS or one of the format's errors.")
@option("--attach", "har: write a zip that holds bodies as separate files.")
@option("--schema VERSION", "online-mind2web: v1 or v2. atif: 1.6 or 1.8.")
@option("--gaps", "online-mind2web v2: write a grey image for a step without a screenshot.")
@option("--images", "inspect: leave screenshots out with none.", choices=["all", "none"])
@option("--report FILE", "playwright-trace, inspect, parquet: add the verdicts of this report.")
@option("--allow-findings", "parquet: also export text that looks like a secret.")
@option("--suite FILE", "stwab-submission: the benchmark's tasks.")
@option(
    "--metadata FILE",
    "stwab-submission: JSON object of agent_id, model_name, team, code_repository_url, contact_email.",
    type=PATH,
)
@option("--benchmark DIR", "stwab-submission: checkout whose files are digested.")
@option("--date RFC3339", "stwab-submission: its date. Default: now.")
@option("--run-id NAME", "stwab-submission: name of the evaluation. Default: a new one.")
@option("--fail-closed", "stwab-submission: export undecided policies as violated, and list them.")
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
    **submission: Any,
) -> None:
    """Convert bundles to the formats of other tools. The bundles are not changed.

    FORMAT is a name from `--list`. A bundle that lacks something the format needs is reported and skipped
    (exit 3); nothing is made up. A submission holds all bundles in one file, or is not written.
    """
    if is_list:
        _list()
        return
    if format is None or not bundles or output is None:
        raise lacking("export", {"FORMAT": format, "BUNDLE...": bundles, "-o PATH": output})
    own = {"task_type": task_type, "status": status, "report": report, **submission}
    own |= {"schema": schema, "gaps": gaps, "images": images, "allow_findings": allow_findings}
    _refuse_foreign(format, [name for name, value in own.items() if value])
    if format == SUBMISSION:
        found = find_bundles(bundles)
        if found:
            _export_submission(found, output, force=force, **submission)
        ctx.exit(0 if found else NOTHING)
    if format == TABLES:
        found, report_ = find_bundles(bundles), _verdicts(report)
        if found:
            _export_tables(found, output, report_, allows_findings=allow_findings, force=force)
            _warn(report, report_, found)
        ctx.exit(0 if found else NOTHING)
    choices = Choices(
        task_type=task_type, status=status, attaches=attach, verdicts=_verdicts(report), schema=schema,
        has_images=images != "none", fills_gaps=gaps,
    )  # fmt: skip
    places = targets(format, find_bundles(bundles), output, choices)
    failed = sum(not _is_exported(format, bundle, places, choices, force=force) for bundle in places)
    notice(f"{len(places) - failed} exported, {failed} failed")
    _warn(report, choices.verdicts, list(places))
    ctx.exit(FAILED if failed else 0 if places else NOTHING)


def _warn(report: str | None, verdicts: Sequence[Verdict], bundles: Sequence[str]) -> None:
    if report is not None:
        warn_of_unmatched(verdicts, bundles, are_all_shown=False)


def _list() -> None:
    rows = [[name, exporter(name).writes] for name in EXPORTERS]
    rows += [[TABLES, TABLES_HOLD], [SUBMISSION, SUBMISSION_HOLDS]]
    click.echo("\n".join(table([["format", "writes"], *rows])))


def _is_exported(
    format: str, bundle: str, places: Mapping[str, Path], choices: Choices, *, force: bool
) -> bool:
    """Export a bundle; of several, one that cannot be exported is reported and skipped."""
    try:
        click.echo(safe(str(export_run(format, bundle, places[bundle], choices=choices, force=force))))
    except ReplaykitError as error:
        if len(places) == 1:
            raise
        report_failure(error)
        return False
    return True


def _refuse_foreign(format: str, names: list[str]) -> None:
    """Raise UsageError for options that another format takes."""
    for name in names:
        owners = OWNERS.get(name, (SUBMISSION,))
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


def _export_submission(
    bundles: Sequence[str],
    place: Path,
    *,
    suite: str | None,
    metadata: Path | None,
    benchmark: str | None,
    date: str | None,
    run_id: str | None,
    fail_closed: bool,
    force: bool,
) -> None:
    """Grade bundles as the benchmark does and write its submission. Raises CannotExport, UsageError."""
    if suite is None or metadata is None:
        raise UsageError(what=f"{SUBMISSION} needs --suite FILE (the benchmark's tasks) and --metadata FILE")
    beside = place.with_name(place.name.removesuffix(".json") + CLOSED)
    taken = [path for path in (place, beside) if os.path.lexists(path)]
    if taken and not force:
        raise OutputExists(source=str(taken[0]), operation="export")
    options = SubmissionOptions(
        metadata=_metadata(metadata), benchmark=benchmark, date=date, run_id=run_id, fail_closed=fail_closed
    )
    made = build_submission(bundles, load_suite(suite), options)
    if force:
        beside.unlink(missing_ok=True)
    if made.closed:
        write_file(beside, "".join(f"{name}\n" for name in made.closed).encode(), is_forced=force)
        notice(
            f"warning: exported as violated: {counted(len(made.closed), 'undecided policy')}, see {beside}"
        )
    write_file(place, msgspec.json.format(msgspec.json.encode(made.plain), indent=1) + b"\n", is_forced=force)
    click.echo(safe(str(place)))
    tasks = counted(len(made.plain["task_evidence"]), "task")
    notice(f"{counted(len(bundles), 'run')} of {tasks} exported")


def _metadata(file: Path) -> dict[str, Any]:
    try:
        return decode(read_whole(file), dict[str, Any])
    except OSError as error:
        raise InteropError(source=file, what=f"cannot read the metadata: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InteropError(source=file, what=f"the metadata have to be one JSON object: {error}") from error
