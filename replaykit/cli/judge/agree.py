"""`replaykit agree`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from replaykit.cli.command_options import option
from replaykit.cli.console import notice
from replaykit.errors import LabelError, UsageError
from replaykit.file_types import PIPE, kind_of
from replaykit.grading.agreement.calibration import agree, calibration
from replaykit.grading.agreement.calibration_gate import read_calibration, read_measured
from replaykit.grading.agreement.labels import left_out
from replaykit.grading.agreement.threshold_choice import read_aims
from replaykit.grading.agreement.verifier_labels import LabelRule
from replaykit.grading.statistics import FEW
from replaykit.report.json_text import json_text
from replaykit.report.report_output import write_file
from replaykit.report.text.cost_text import judging_cost
from replaykit.report.text.table import safe, table
from replaykit.trajectory.plurals import counted

_NAME_MAX = 80
"""Characters of a run's name."""

_SHOWN = ("precision", "recall", "tnr", "fpr", "npv", "f1", "accuracy", "balanced_accuracy", "kappa")


@click.command(epilog="Example: replaykit agree labels.jsonl report.json")
@click.argument("labels", type=click.Path(path_type=Path))
@click.argument("other", metavar="REPORT_OR_LABELS", type=click.Path(path_type=Path))
@option("--json", "Print everything as JSON, with intervals and excluded runs.", name="is_json")
@option(
    "-o --output",
    "Write a calibration for `grade --require-calibration`: how well each judge agreed. "
    "Judges are identified by fingerprint.",
    type=click.Path(dir_okay=False, path_type=Path),
)
@option(
    "--choose AIM",
    "Choose thresholds of each judge with a share (votes, members, process score) on one half of the"
    " tasks, and report them on the other. fpr<=RATE bounds false successes, fnr<=RATE false failures; an"
    " aim that is left out equals the other. `grade --calibrated` applies what -o writes. Exit 3 where an"
    " aim is not reached.",
    name="aims",
)
@option(
    "--agent NAME",
    "Agent whose runs of AgentRewardBench's annotations.csv (model_name), or whose column of "
    "Online-Mind2Web's human_label.json, to use; they are then matched by task.",
)
@option(
    "--question NAME",
    "Compare the answers to this question of the labels instead of success: `looping` with finding C2,"
    " `side_effect` with finding S1, both with judges that were asked (agent_reward). Yes is positive.",
)
@option(
    "--label-rule",
    "CUAVerifierBench's tables: the strict majority of the blind judgements, a tie being "
    "unsure (default), or the final label.",
    choices=["majority", "adjudicated"],
)
@option(
    "--prices IN/OUT",
    "Price of a million tokens read and written, such as 3/15. Also print what each judge took per run,"
    " stage and correct verdict. Tokens that no tape holds are estimated (~).",
    name="priced",
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    labels: Path,
    other: Path,
    is_json: bool,
    output: Path | None,
    aims: str | None,
    agent: str | None,
    label_rule: LabelRule | None,
    question: str | None,
    priced: str | None,
) -> None:
    """Compare labels with a report's judges and checks, or with other labels.

    LABELS is a file of JSON lines or CSV, or a label file of AgentRewardBench, Online-Mind2Web or
    CUAVerifierBench (also Parquet).
    """
    if question is not None and (output is not None or aims is not None):
        raise UsageError(what="--question: a calibration is of success; leave -o and --choose away")
    for file in (labels, other):
        _refuse_kind(file)
    chosen = read_aims(aims) if aims is not None else None
    agreed = agree(labels, other, agent=agent, rule=label_rule, aims=chosen, question=question, prices=priced)
    if output is not None:
        plain = msgspec.json.encode(calibration(agreed))
        write_file(output, msgspec.json.format(plain, indent=1) + b"\n")
        notice("\n".join(_calibrated(output)))
    if is_json:
        click.echo(json_text(agreed, 1))
    else:
        _print(agreed)
        for words in _unmatched(agreed["labels"], other):
            notice(words)
    if any(one["decided"]["n"] for one in agreed["graders"]):
        ctx.exit(_chosen(agreed["graders"]) if chosen is not None else 0)
    notice(f"no run of {other} that was decided has a label in {labels}: {_joined(agreed['labels'])}")
    ctx.exit(4)


def _unmatched(found: dict[str, Any], other: Path) -> Iterator[str]:
    """Yield what of the labels was not used, and why."""
    yield from left_out(found["replaced"], found["unanswered"])
    if found["unmatched"]:
        names = ", ".join(safe(name)[:_NAME_MAX] for name in found["such_as"])
        yield (
            f"{counted(found['unmatched'], 'labelled run')} not in {other.name}, such as {names}: "
            f"{_joined(found)}"
        )
    if found["of_several"]:
        yield (
            f"of these, {counted(found['of_several'], 'label')} of a task with several runs: "
            "name each run by its digest, the `trajectory` of the report"
        )


def _refuse_kind(file: Path) -> None:
    """Refuse what holds neither labels nor a report before it is read as text."""
    kind = kind_of(file)
    if file.exists() and kind not in _READ:
        reason = f"neither labels nor a report: found {kind}; `replaykit label RUNS -o FILE` writes labels"
        raise LabelError(source=str(file), line=0, reason=reason)


_READ = (
    "a report of `replaykit grade`", "a file of labels", "a JSON file", "a text file", "a Parquet file", PIPE,
)  # fmt: skip
"""Kinds of files that may hold labels or verdicts."""


def _calibrated(file: Path) -> Iterator[str]:
    """Yield what `grade --require-calibration` will make of each judge."""
    yield f"written: {file}"
    judges = read_calibration(file)
    names = read_measured(file)
    for mark, one in judges.items():
        lacks = "; ".join(one.lacks)
        may = f"may not decide a gate yet: {lacks}" if lacks else "may decide a gate"
        yield f"  judge {safe(names[mark].name)} {may}"
    if not judges:
        yield "  it has no judge: the report was graded without one (grade --judge NAME)"
    else:
        yield f"  use it: replaykit grade RUNS --require-calibration {file}"


def _chosen(graders: list[dict[str, Any]]) -> int:
    """Report what keeps judges from having thresholds; return the exit code."""
    with_share = [one for one in graders if "thresholds" in one]
    if not with_share:
        notice("no judge of the report has a share: thresholds need votes, a panel, or judge rubric")
        return 4
    lacks = [f"{safe(one['name'])}: {lack}" for one in with_share for lack in one["thresholds"]["lacks"]]
    for lack in lacks:
        notice(lack)
    return 3 if lacks else 0


def _joined(labels: dict[str, Any]) -> str:
    """Return by what runs and labels are joined, and what to do."""
    if len(labels["agents"]) > 1:
        return f"it labels runs of {', '.join(labels['agents'])}; choose one with --agent, to join by task"
    return "runs are joined by task" if labels["agents"] else "runs are known by their digests"


def _print(agreed: dict[str, Any]) -> None:
    if "question" in agreed:
        click.echo(f"question {safe(agreed['question'])}: positive = yes")
    counts = ", ".join(f"{n} {name}" for name, n in agreed["labels"]["counts"].items())
    click.echo(f"labels: {counts}")
    if agreed["people"] is not None:
        click.echo(f"two people, {_people(agreed['people'])}")
        if not agreed["labels"]["rule"]:
            click.echo("  where several people labelled a run, the first label of the file counts")
        for name, found in agreed["people"]["questions"].items():
            click.echo(f"  {safe(name)}, {_people(found)}")
    for grader in agreed["graders"]:
        _print_grader(grader, "no" if "question" in agreed else "failure")
    for pair in agreed["pairs"]:
        first, second = (safe(name) for name in pair["graders"])
        click.echo(
            f"\n{first} against {second}: {counted(pair['n'], 'run')}, only one right: "
            f"{pair['only_first_right']} and {pair['only_second_right']}, p {_number(pair['mcnemar_p'])}"
        )


def _people(found: dict[str, Any]) -> str:
    numbers = f"accuracy {_number(found['accuracy'])}, kappa {_number(found['kappa'])}"
    return f"{counted(found['n'], 'run')}: {numbers}"


def _print_grader(grader: dict[str, Any], negative: str) -> None:
    click.echo(f"\n== {safe(grader['name'])}")
    rows = [["", "decided", "95 %", "fail closed"]]
    rows += [_row(name, grader) for name in _SHOWN]
    click.echo("\n".join(table(rows, indent="  ")))
    _print_counts(grader, negative)
    if "thresholds" in grader:
        _print_thresholds(grader["thresholds"])
    if grader.get("cost") and grader["cost"]["prices"]:
        click.echo(judging_cost(grader["cost"]))
    for note in _notes(grader):
        click.echo(f"  {note}")


def _print_counts(grader: dict[str, Any], negative: str) -> None:
    for name in ("decided", "fail_closed"):
        cells = ", ".join(f"{cell} {n}" for cell, n in grader[name]["matrix"].items())
        click.echo(f"  {name.replace('_', ' ')}: {cells}")
    click.echo(f"  {_shares(grader['rates'], grader['corrected'])}".rstrip())
    always = (f"{name} {_number(found['accuracy'])}" for name, found in grader["baselines"].items())
    click.echo(f"  accuracy of {', '.join(always)}")
    bound = grader["fail_closed"]["fpr"]
    click.echo(
        f"  fail closed, false positives in {bound['tasks_wrong']} of {counted(bound['tasks'], 'task')} "
        f"with a {negative}: at most {_number(bound['high95'])} with 95 % confidence"
    )


def _shares(rates: dict[str, Any], corrected: dict[str, Any]) -> str:
    clipped = " (clipped)" if corrected["clipped"] else ""
    return (
        f"share of positives {_number(rates['grader'])}, by people {_number(rates['people'])}, "
        f"gap {_number(rates['gap'])}; corrected for errors {_number(corrected['value'])}{clipped} "
        f"{_interval(corrected['ci95'])}"
    )


def _notes(grader: dict[str, Any]) -> Iterator[str]:
    """Yield what limits the figures: few runs, shared input, duplicates, runs left out."""
    decided, duplicates = grader["decided"], grader["duplicates"]
    if decided["few"]:
        yield f"few: {counted(decided['n'], 'run')} decided; below {FEW} these are uncertain"
    if grader["depends_on"]:
        yield f"its input includes {safe(grader['depends_on'])}: the two are not compared"
    if duplicates:
        yield f"{counted(duplicates, 'duplicate')}: further verdicts of the same runs, equal"
    if grader["excluded"]:
        yield "left out: " + ", ".join(f"{n} {safe(why)}" for why, n in grader["excluded"].items())


def _print_thresholds(found: dict[str, Any]) -> None:
    for side, error, of in (("accept", "fpr", "failure"), ("reject", "fnr", "success")):
        one = found[side]
        at = (
            "never"
            if one["at"] is None
            else f"{'from' if side == 'accept' else 'up to'} a share of {one['at']}"
        )
        click.echo(f"  {side} {at} ({error}<={one['aim']:g}): {_bounded(one, of)}")
    other = found["reported"]
    cells = ", ".join(f"{cell} {n}" for cell, n in other["matrix"].items())
    click.echo(
        f"  on the other half, {counted(other['tasks'], 'task')}: {cells}, abstained {other['abstained']}; "
        f"wrongly accepted in {_bounded(other['fpr'], 'failure')}; "
        f"wrongly rejected in {_bounded(other['fnr'], 'success')}"
    )


def _bounded(found: dict[str, Any], of: str) -> str:
    tasks = f"{found['tasks_wrong']} of {counted(found['tasks'], 'task')} with a {of}"
    return f"{tasks}, at most {_number(found['high95'])}"


def _row(name: str, grader: dict[str, Any]) -> list[str]:
    decided, closed = grader["decided"][name], grader["fail_closed"][name]
    return [
        name.replace("_", " "),
        _number(decided["value"]),
        _interval(decided["ci95"]),
        _number(closed["value"]),
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _interval(bounds: list[float] | None) -> str:
    return "" if bounds is None else f"{_number(bounds[0])} to {_number(bounds[1])}"
