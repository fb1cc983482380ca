"""`replaykit diff`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec
from msgspec import Struct

from replaykit.bundle.reader import open_bundle
from replaykit.errors import SourceError, UsageError
from replaykit.report.comparison import compare
from replaykit.report.comparison_text import comparison_text
from replaykit.report.load import is_report, load_report
from replaykit.report.parting import part
from replaykit.report.parting_text import parting_text


@click.command(epilog="Example: replaykit diff before.json after.json --fail-on-regression")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option(
    "--format",
    "format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format on stdout.",
)
@click.option("--fail-on-regression", is_flag=True, help="Exit 1 where a verdict got worse (reports only).")
@click.pass_context
def command(ctx: click.Context, before: str, after: str, format: str, fail_on_regression: bool) -> None:
    """Compare two reports (.json), or two recorded runs.

    \b
    Reports  which verdicts regressed, were fixed or changed, and what else
             differs with them: run, task, tape, mode, dialect, semantics;
             rates over the tasks of both, with intervals and an exact test.
    Bundles  where the runs part, step by step, and how they end.
    """
    if _is_report(before) != _is_report(after):
        raise UsageError(what=f"diff compares two reports or two bundles, not {before} with {after}")
    if not _is_report(before):
        if fail_on_regression:
            raise UsageError(what="--fail-on-regression compares verdicts: grade both bundles first")
        with open_bundle(before) as one, open_bundle(after) as other:
            parting = part(one, other)
        click.echo(parting_text(parting) if format == "text" else _json(parting), nl=False)
        return
    found = compare(load_report(before), load_report(after))
    click.echo(comparison_text(found) if format == "text" else _json(found), nl=False)
    ctx.exit(1 if fail_on_regression and found.count("regressed") else 0)


def _is_report(source: str) -> bool:
    if not Path(source).is_file():
        raise SourceError(source=source, operation="compare", reason="no such file")
    return is_report(source)


def _json(found: Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n"
