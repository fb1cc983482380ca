"""`replaykit diff`."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.reader import open_bundle
from replaykit.cli.bundles import find_bundles, warn_of_unmatched
from replaykit.cli.command_options import option
from replaykit.cli.console import format_option, notice
from replaykit.errors import SourceError, UsageError
from replaykit.file_types import kind_of
from replaykit.grading.gate import is_graded
from replaykit.grading.saved_reports import is_report, load_report
from replaykit.grading.verdict import Report
from replaykit.report.html.report_file import HtmlOptions
from replaykit.report.json_text import json_text
from replaykit.report.report_diff import Comparison, diff
from replaykit.report.report_output import check_place, write_html_file, write_parting_file
from replaykit.report.text.report_diff_text import comparison_text
from replaykit.report.text.run_diff_text import run_diff_text
from replaykit.trajectory.plurals import counted

NAMES_MAX = 5
"""Tasks that a message names."""


@click.command(epilog="Example: replaykit diff before.json after.json --fail-on-regression")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@option("-o --output", "Write an HTML page instead of text.", type=click.Path(dir_okay=False, path_type=Path))
@option(
    "--runs BUNDLE_OR_DIR",
    "Reports only: bundles whose runs the page shows beside the verdicts; may be given again.",
    multiple=True,
)
@format_option
@option(
    "--fail-on-regression",
    "Reports only: exit 1 if a verdict got worse, 3 if a run of A is missing in B or a run of B could not be "
    "graded, 4 if they have no task in common.",
)
@click.pass_context
def command(
    ctx: click.Context,
    before: str,
    after: str,
    output: Path | None,
    runs: tuple[str, ...],
    format: str,
    fail_on_regression: bool,
) -> None:
    """Compare two reports (.json), or two recorded runs.

    \b
    Reports  which verdicts regressed, were fixed or changed, and what else
             differs: run, task, tape, mode, dialect, semantics. Rates over
             the tasks of both, with intervals and an exact test. In the
             page, each change links to its run, graded both ways.
    Bundles  where the runs diverge, step by step, and how they end. The
             page shows their steps and screenshots side by side.
    """
    for name in (before, after):
        _refuse_folder(name)
    if _is_report(before) != _is_report(after):
        kinds = f"{before} is {kind_of(before)}, {after} is {kind_of(after)}"
        raise UsageError(what=f"diff compares two reports or two bundles: {kinds}")
    if runs and output is None:
        raise UsageError(what="--runs are shown by a page: name it with -o FILE.html")
    if output is not None and output.suffix.lower() not in (".html", ".htm"):
        raise UsageError(what=f"diff writes pages, and {output} does not end in .html; --format prints json")
    if output is not None:
        check_place(output)
    if not _is_report(before):
        _refuse_verdicts(runs, fail_on_regression)
        _compare_runs(before, after, output, format)
        return
    ours, theirs = load_report(before), load_report(after)
    found = diff(ours, theirs)
    if output is not None:
        names = _names(before, after)
        _write_page(_named(ours, names[0]), _named(theirs, names[1]), runs, output)
    else:
        click.echo(comparison_text(found) if format == "text" else _json(found), nl=False)
    ctx.exit(_exit_code(found, theirs) if fail_on_regression else 0)


def _exit_code(found: Comparison, after: Report) -> int:
    """Return 1 for a regression, else 4 if no run was compared, 3 if one is gone or was not graded."""
    if found.count("regressed"):
        return 1
    if not found.pairs and not found.same:
        notice("not compared: the two reports have no task in common")
        return 4
    if found.removed:
        notice(
            f"not compared: {counted(len(found.removed), 'run')} of the first report, gone from the second: "
            + _shortened(found.removed)
        )
        return 3
    ungraded = tuple(one.task_id for one in after.verdicts if not is_graded(one))
    if ungraded:
        notice(
            f"not compared: {counted(len(ungraded), 'run')} of the second report that could not be graded: "
            + _shortened(ungraded)
        )
        return 3
    return 0


def _shortened(names: tuple[str, ...]) -> str:
    more = len(names) - NAMES_MAX
    return ", ".join(names[:NAMES_MAX]) + (f" and {more} more" if more > 0 else "")


def _refuse_folder(name: str) -> None:
    if Path(name).is_dir():
        found = f"diff compares two reports (.json) or two bundles (.zst); {name} is a folder"
        how = f"grade each, such as `replaykit grade {name} -o REPORT.json`, and compare the reports"
        raise UsageError(what=f"{found}: {how}")


def _refuse_verdicts(runs: tuple[str, ...], fail_on_regression: bool) -> None:
    if fail_on_regression:
        raise UsageError(what="--fail-on-regression compares verdicts: grade both bundles first")
    if runs:
        raise UsageError(what="--runs stand beside verdicts: a page of two bundles shows these two")


def _compare_runs(before: str, after: str, output: Path | None, format: str) -> None:
    with open_bundle(before) as one, open_bundle(after) as other:
        if output is not None:
            write_parting_file(one, other, _names(before, after), output)
            notice(f"written: {output}")
        else:
            parting = diff(one, other)
            click.echo(run_diff_text(parting) if format == "text" else _json(parting), nl=False)


def _names(before: str, after: str) -> tuple[str, str]:
    """Return what files are called, with their folders where they are called alike."""
    ours, theirs = Path(before), Path(after)
    if ours.stem != theirs.stem:
        return ours.stem, theirs.stem
    return str(ours.with_suffix("")), str(theirs.with_suffix(""))


def _write_page(before: Report, after: Report, runs: tuple[str, ...], output: Path) -> None:
    bundles = find_bundles(runs) if runs else []
    write_html_file(after, bundles, output, HtmlOptions(before=before))
    notice(f"written: {output}")
    warn_of_unmatched((*before.verdicts, *after.verdicts), bundles)


def _named(report: Report, name: str) -> Report:
    return replace(report, label=report.label or name)


def _is_report(source: str) -> bool:
    if not Path(source).is_file():
        raise SourceError(
            source=source, operation="read the report or bundle", reason="no such file, or not a regular one"
        )
    return is_report(source)


def _json(found: Struct) -> bytes:
    return json_text(found, 2) + b"\n"
