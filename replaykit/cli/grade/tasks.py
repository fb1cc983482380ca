"""`replaykit tasks`: task files checked, counted, sampled, and their schema."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from secrets import randbelow
from typing import Any

import click

from replaykit.cli.command_options import COUNT, option
from replaykit.cli.console import detail, harmless, near_file, notice
from replaykit.errors import TaskError, UsageError
from replaykit.grading.checks.grading_faults import task_faults
from replaykit.grading.reference_faults import reference_faults
from replaykit.interop.wabe.wabe_scenario import OF_A_LEVEL, scarce, scenario_tables
from replaykit.report.json_report import report_schema
from replaykit.report.json_text import json_text
from replaykit.report.text.table import safe
from replaykit.tasks.benchmarks.mind2web import mind2web_faults, totals
from replaykit.tasks.benchmarks.record_faults import record_faults
from replaykit.tasks.checks import CheckFault
from replaykit.tasks.described_schema import schema_file
from replaykit.tasks.faults.policy_contradictions import notes
from replaykit.tasks.faults.suite_faults import scope_notes
from replaykit.tasks.policies_schema import policies_schema
from replaykit.tasks.suite import load_suite, mind2web_tables, suite_schema, survey_suite
from replaykit.tasks.suite_summary import Summary, fields_of, sample, summarize_tasks
from replaykit.tasks.written_file import WrittenFile, read_written
from replaykit.trajectory.plurals import counted

SEEDS = 1_000_000
"""Seeds that are drawn from: short enough to be typed again."""

_SCHEMAS = {"suite": suite_schema, "policies": policies_schema, "report": report_schema}


@click.group(epilog="Example: replaykit tasks validate suite.yaml")
def command() -> None:
    """Check task files, count what they contain, take a sample, print a schema."""


@command.command(
    short_help="Check task files.",
    epilog="Example: replaykit tasks validate suite.yaml",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.pass_context
def validate(ctx: click.Context, files: tuple[str, ...]) -> None:
    """Check task files: fields, policies, locators, references, expressions.

    Policies that contradict each other are noted. In the files of Online-Mind2Web and WABE, repeated texts
    are noted as well; errors there give exit 1, and a file without tasks gives exit 4.
    """
    ctx.exit(max(map(_validated, files)))


def _validated(file: str) -> int:
    """Report the faults of a file, or that it is no task file; return the exit code."""
    try:
        return _checked(file)
    except TaskError as error:
        click.echo(harmless(f"error: {error.message}{near_file(error)}"), err=True)
        return error.exit_code


def _checked(file: str) -> int:
    name, _, id = file.partition("#")
    written = read_written(name)
    tables = mind2web_tables(written.plain) if not id else None
    if tables is None:
        return _checked_suite(file, written)
    records, at = tables
    is_wrong = _report(file, len(records), mind2web_faults(records, at))
    for words in totals(records):
        detail(words)
    # No one's checks are wrong there: a finding, as with reports.
    return int(is_wrong) if records else 4


def _checked_suite(file: str, written: WrittenFile) -> int:
    """Report every fault: of fields, and of the checks in the tasks that are left."""
    name, _, id = file.partition("#")
    suite, error = survey_suite(written)
    if error is not None:
        click.echo(harmless(f"error: {error.message}"), err=True)
    tasks = (suite.task(id, name),) if id else suite.tasks
    faults = task_faults(tasks, tuple(suite.sites))
    faults += reference_faults(tasks, Path(name).parent)
    faults += record_faults(tasks)
    faults += scope_notes(tasks, suite.sites) if not id else []
    faults += [CheckFault(**note._asdict(), is_error=False) for note in notes(tasks)]
    if error is None or faults:
        return 3 if _report(file, len(tasks), faults) or error is not None else 0
    return error.exit_code


def _report(file: str, tasks: int, faults: Sequence[CheckFault]) -> bool:
    """Print faults; return whether there are errors."""
    errors = sum(fault.is_error for fault in faults)
    counts = f"{counted(errors, 'error')}, {counted(len(faults) - errors, 'note')}"
    click.echo(f"{file}: {counted(tasks, 'task')}, {counts}")
    for fault in faults:
        kind = "error" if fault.is_error else "note"
        click.echo(f"  {kind}: {safe(fault.task)}: {safe(fault.path)}: {safe(fault.message)}")
    return errors > 0


@command.command(
    "list",
    short_help="Count what a task file contains.",
    epilog="Example: replaykit tasks list suite.yaml",
)
@click.argument("file")
@option("--ids", "Print one line per task, with tabs: id, checks, intent.")
@option("--json", "Print the counts as one JSON object.", name="as_json")
def list_(file: str, ids: bool, as_json: bool) -> None:
    """Count the checks, requirements and policies of a task file, and the evidence they need."""
    tasks = load_suite(file).tasks
    if ids:
        for task in tasks:
            kinds = "+".join(str(type(check).__struct_config__.tag) for check in task.checks) or "none"
            click.echo(f"{safe(task.id)}\t{kinds}\t{safe(task.intent)}")
        return
    found = summarize_tasks(tasks)
    if as_json:
        click.echo(json_text(found))
        return
    _print(found)


@command.command("sample", epilog="Example: replaykit tasks sample suite.yaml --count 5")
@click.argument("file")
@option("--seed N", "Seed of the sample. Default: 42; with --toml a random one, which is printed.", type=int)
@option("--count", "Tasks per group. Default: 5; with --toml 3, as in WABE.", type=COUNT)
@option("--by FIELD", "Group by sites, dialect or a metadata field; with --toml by level.")
@option("--json", "Print a JSON list of ids.", name="as_json")
@option("--toml", "Print the [[tasks]] tables of a WABE scenario.", name="as_toml")
def sample_(
    file: str, seed: int | None, count: int | None, by: str | None, as_json: bool, as_toml: bool
) -> None:
    """Print the ids of some tasks. The same seed gives the same ids."""
    suite = load_suite(file)
    if as_toml:
        seed = randbelow(SEEDS) if seed is None else seed
        count, by = count or OF_A_LEVEL, by or "level"
        found = sample(suite.tasks, count, seed, by)
        for words in scarce(found, count) if by == "level" else ():
            notice(words)
        click.echo(scenario_tables(found, suite.sites, seed), nl=False)
        return
    if by is not None and by not in fields_of(suite.tasks):
        known = ", ".join(fields_of(suite.tasks))
        raise UsageError(what=f"--by {by}: no task of {file} has that field; there are {known}")
    found = sample(suite.tasks, count or 5, 42 if seed is None else seed, by)
    chosen = [task.id for task in found]
    if as_json:
        click.echo(json_text(chosen))
        return
    for name in chosen:
        click.echo(safe(name))


@command.command(
    short_help="Print the JSON Schema of suites, policies or reports.",
    epilog="Example: replaykit tasks schema suite",
)
@click.argument("name", default="suite", type=click.Choice([*_SCHEMAS]))
@option("--path", "Print the path of the schema's file, for editors.", name="as_path")
def schema(name: str, as_path: bool) -> None:
    """Print the JSON Schema of a task file, a policy file or a report."""
    click.echo(schema_file(name) if as_path else json_text(_SCHEMAS[name](), 1))


def _print(found: Summary) -> None:
    click.echo(f"{counted(found.tasks, 'task')}, {counted(found.policies, 'policy')}")
    for name, counts in _groups(found):
        if counts:
            click.echo(f"{name}:")
        for key, count in counts.items():
            click.echo(f"  {count:6} {safe(key)}")


def _groups(found: Summary) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("dialects", found.dialects),
        ("checks", found.checks),
        ("tasks by checks", found.kinds),
        ("references of answers", found.references),
        ("targets by page", found.targets),
        ("targets by what they read", found.locators),
        ("tasks that need", found.needs),
        ("sites", found.sites),
    ]
