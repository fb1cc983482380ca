"""`replaykit separates`."""

from __future__ import annotations

from pathlib import Path

import click

from replaykit.cli.command_options import PATH, option
from replaykit.cli.console import format_option, notice
from replaykit.errors import UsageError
from replaykit.grading.agreement.labels import left_out, read_labels
from replaykit.grading.agreement.separation import WORDS, Rule, Separation, separation
from replaykit.grading.mutation_counts import read_mutations
from replaykit.grading.saved_reports import load_report
from replaykit.report.json_text import json_text
from replaykit.report.text.table import safe, short, table
from replaykit.trajectory.plurals import counted

_TITLE_MAX = 60
"""Characters of a rule's name."""


@click.command(epilog="Example: replaykit separates report.json --fail-on all_fail")
@click.argument("reports", nargs=-1, required=True, metavar="REPORT...")
@option(
    "--labels FILE",
    "People's labels, in a format that `agree` reads, to compare each rule with them.",
    type=PATH,
)
@option(
    "--mutations FILE",
    "Output of `policies try FILE RUNS --mutate --json`: how many breaches each policy notices.",
    type=PATH,
)
@option(
    "--fail-on WORD,...",
    f"Exit 1 if a rule is one of these, separated by commas: {', '.join(WORDS)}.",
)
@format_option
@click.pass_context
def command(
    ctx: click.Context,
    reports: tuple[str, ...],
    labels: Path | None,
    mutations: Path | None,
    fail_on: str | None,
    format: str,
) -> None:
    """Find rules that distinguish runs, and rules that never do.

    A rule is a check, one of its items, a policy, a judge, a criterion of its rubric, or a kind of finding.
    It separates runs if some pass it and some fail it. A rule that every run passes, or every run fails,
    shows nothing about agents.

    Reads only reports (.json).
    """
    refused = _words(fail_on)
    truth = read_labels(labels) if labels else None
    for words in left_out(truth.n_replaced, truth.n_unanswered) if truth else ():
        notice(words)
    tried = read_mutations(mutations) if mutations else None
    found = separation([load_report(name) for name in reports], truth, tried)
    if format == "json":
        click.echo(json_text(found, 2))
    else:
        _print(found)
    if not found.rules:
        ctx.exit(4)
    ctx.exit(1 if any(rule.word in refused for rule in found.rules) else 0)


def _words(text: str | None) -> tuple[str, ...]:
    given = tuple(part.strip() for part in (text or "").split(",") if part.strip())
    for word in given:
        if word not in WORDS:
            raise UsageError(what=f"--fail-on: {word!r} is not one of {', '.join(WORDS)}")
    return given


def _print(found: Separation) -> None:
    more = [
        f"{counted(found.duplicates, 'duplicate')} left out" if found.duplicates else "",
        f"{found.unreadable} could not be graded" if found.unreadable else "",
        f"{found.labelled} labelled" if found.labelled is not None else "",
    ]
    of = f"{counted(found.runs, 'run')} of {counted(found.tasks, 'task')}"
    click.echo(", ".join([of, *filter(None, more)]))
    for word, meaning in WORDS.items():
        if found.words[word]:
            click.echo(f"{found.words[word]} {word}: {meaning}")
    if found.rules:
        head = ["rule", "word", "n", "passed", "failed", "undecided", "tasks differ", "phi", "phi labels"]
        rows = [head, *map(_row, found.rules)]
        click.echo(
            "\n" + "\n".join(table(rows if found.labelled is not None else [row[:-1] for row in rows]))
        )
    for rule in found.rules:
        if rule.mutants is not None:
            edits = counted(rule.mutants.made, "edit")
            click.echo(f"{safe(rule.title)} notices {rule.mutants.noticed} of {edits} made on purpose")
        if rule.same_as is not None:
            click.echo(f"{safe(rule.title)} gives the same result for every run as {safe(rule.same_as)}")


def _row(rule: Rule) -> list[str]:
    return [
        short(rule.title, _TITLE_MAX),
        rule.word,
        str(rule.n),
        str(rule.passed),
        str(rule.failed),
        str(rule.undecided),
        f"{rule.tasks_differ}/{rule.tasks}",
        _number(rule.phi_success),
        _number(rule.phi_labels),
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"
