"""`replaykit policies`: policy files checked, and tried on recorded runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.cli.bundles import find_bundles
from replaykit.cli.command_options import option
from replaykit.cli.console import notice
from replaykit.cli.grade.policy_lint import policies_in, validated
from replaykit.grading.grader import stored_task
from replaykit.grading.policies.policy_debugging import Trial
from replaykit.grading.policies.run_mutations import Mutation
from replaykit.grading.policy_trials import Trials, try_policies
from replaykit.report.json_text import json_text
from replaykit.report.text.table import safe, table
from replaykit.tasks.dialect import Mode
from replaykit.tasks.faults.policy_contradictions import contradictions
from replaykit.tasks.suite import Suite, load_suite
from replaykit.tasks.task import Task

SHOWN_MAX = 10
"""Lines of one kind that the text shows."""


@click.group(epilog="Example: replaykit policies validate policies.yaml")
def command() -> None:
    """Check policy files, and try policies on recorded runs."""


@command.command(
    short_help="Check policy files without a run.",
    epilog="Example: replaykit policies validate policies.yaml --task suite.yaml",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@option("--task FILE", "Task file whose tasks and sites `when` has to name.")
@click.pass_context
def validate(ctx: click.Context, files: tuple[str, ...], task: str | None) -> None:
    """Check policy files, and list what each policy applies to and what violates it.

    A policy that can never be violated is an error. Notes name policies that are violated wherever they
    apply, and policies that contradict each other. FILE may also be a task file: then `when` has to name
    its tasks and sites. The exit code is 3 if a file has errors.
    """
    suite = None if task is None else load_suite(task)
    ctx.exit(max(validated(file, suite) for file in files))


@command.command(
    "try",
    short_help="Report what each policy found, and what would violate it.",
    epilog="Example: replaykit policies try policies.yaml run.zst --mutate",
)
@click.argument("file", metavar="FILE[#ID]")
@click.argument("bundles", nargs=-1, required=True, metavar="BUNDLE_OR_DIR...")
@option(
    "--mutate",
    "Break each run on purpose in every way that applies, and count which policies notice.",
    name="mutates",
)
@option(
    "--mode",
    "strict: careful rules. compat: the rules of the original benchmark.",
    choices=["strict", "compat"],
    default="strict",
)
@option("--json", "Print one JSON object per bundle, one per line.", name="as_json")
@click.pass_context
def attempt(
    ctx: click.Context, file: str, bundles: tuple[str, ...], mutates: bool, mode: Mode, as_json: bool
) -> None:
    """Report what each policy of FILE found in each run, what it skipped, and what would violate it.

    FILE holds policies, or it is a task file, and each run uses the task with its own id.
    """
    sources = find_bundles(bundles)
    if not sources:
        ctx.exit(4)
    policies = policies_in(file)
    for fault in contradictions(policies) if isinstance(policies, tuple) else ():
        notice(f"warning: {fault.message}")
    for source in sources:
        with open_bundle(source) as bundle:
            chosen = _of_run(bundle, policies) if isinstance(policies, Suite) else policies
            found = try_policies(bundle, chosen, mode=mode, mutates=mutates)
        if not found.policies:
            notice(f"{file}: no policies for {source}: write `policies` in its task, or name a file of them")
        if as_json:
            click.echo(json_text(_plain(source, found)))
        else:
            click.echo("\n".join(_text(source, found)))


def _of_run(bundle: Bundle, suite: Suite) -> Task:
    """Return the task that a run was recorded for, or the one that was chosen."""
    stored = stored_task(bundle)
    return suite.task_of_run(stored.id if stored is not None else None, bundle.name)


def _plain(source: str, found: Trials) -> dict[str, Any]:
    plain = {"bundle": source, "policies": msgspec.to_builtins(found.policies)}
    if (mutation := found.mutation) is not None:
        plain["mutation"] = {
            "made": len(mutation.mutants),
            "noticed": mutation.noticed,
            "scores": {id: {"noticed": hit, "made": made} for id, (hit, made) in mutation.scores.items()},
            "mutants": msgspec.to_builtins(mutation.mutants),
        }
    return plain


def _text(source: str, found: Trials) -> Iterator[str]:
    yield safe(Path(source).name)
    for trial in found.policies:
        yield from (f"  {safe(line)}" for line in _of_trial(trial))
    if found.mutation is not None:
        yield from (f"  {safe(line)}" for line in _of_mutation(found.mutation))


def _of_trial(trial: Trial) -> Iterator[str]:
    result = trial.result
    why = ", ".join((*([result.reason] if result.reason else []), *result.missing))
    yield f"{result.outcome} {result.id}{f': {why}' if why else ''}"
    for evidence in result.evidence[:SHOWN_MAX]:
        parts = (
            f"step {evidence.step}" if evidence.step is not None else "",
            evidence.url,
            evidence.excerpt,
            evidence.note,
        )
        yield "  found: " + ", ".join(part for part in parts if part)
    hits = [look for look in trial.looks if look.holds is not False]
    for look in hits[:SHOWN_MAX]:
        word = "matched" if look.holds else "may match"
        yield f"  {word} ({look.pattern}): step {look.step}: {look.shown}"
    missed = Counter((look.pattern, look.first_miss) for look in trial.looks if look.holds is False)
    for (pattern, field), count in list(missed.items())[:SHOWN_MAX]:
        yield f"  skipped ({pattern}): {count} for their {field}"
    yield f"  broken by: {trial.breaks}"


def _of_mutation(mutation: Mutation) -> Iterator[str]:
    rows = [["policy", "noticed", "made"]]
    rows += [[id, str(hit), str(made)] for id, (hit, made) in mutation.scores.items()]
    rows.append(["all together", str(mutation.noticed), str(len(mutation.mutants))])
    yield "mutants"
    yield from (f"  {line}" for line in table(rows))
    unnoticed = [mutant for mutant in mutation.mutants if not mutant.noticed]
    for mutant in unnoticed[:SHOWN_MAX]:
        at = "" if mutant.step is None else f", step {mutant.step}"
        yield f"  not noticed: {mutant.edit}{at}: {mutant.what}"
    if len(unnoticed) > SHOWN_MAX:
        yield f"  and {len(unnoticed) - SHOWN_MAX} more"
