"""`replaykit policies validate`: what a policy file says, without a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from replaykit.cli.console import harmless, near_file
from replaykit.errors import TaskError
from replaykit.grading.policies.events.event_patterns import concerns
from replaykit.grading.policies.policy_debugging import breaks_of
from replaykit.grading.reference_faults import reference_faults
from replaykit.report.text.table import safe
from replaykit.tasks.checks import CheckFault
from replaykit.tasks.faults.policy_contradictions import notes
from replaykit.tasks.faults.policy_reach import reach_of, scope_words, unapplied
from replaykit.tasks.faults.suite_faults import scope_notes
from replaykit.tasks.policy_rules import Policy
from replaykit.tasks.suite import Suite, load_suite, policies_of, survey_suite
from replaykit.tasks.task import Task
from replaykit.tasks.written_file import WrittenFile, read_written
from replaykit.trajectory.plurals import counted

_NO_TASK = Task(id="", intent="")
"""Stands for the tasks of a policy file, which are unknown."""


def policies_in(file: str) -> tuple[Policy, ...] | Suite:
    """Return the policies of a file, or a suite. Raises TaskError."""
    if "#" in file:  # only suites let a task be picked
        return load_suite(file)
    written = read_written(file, "policy file")
    try:
        return policies_of(written)
    except TaskError as error:
        found = _suite_in(written)
        if isinstance(found, Suite):
            return found
        # One reader refuses the layout of the other.
        is_suite = error.fields.get("path") == "$.schema" != found.fields.get("path")
        raise (found if is_suite else error) from None


def _suite_in(written: WrittenFile) -> Suite | TaskError:
    try:
        suite, error = survey_suite(written)
    except TaskError as error:
        return error
    return error or suite


def validated(file: str, tasks: Suite | None) -> int:
    """Report the faults of a file and what each of its policies means; return the exit code."""
    try:
        found = policies_in(file)
    except TaskError as error:
        click.echo(harmless(f"error: {error.message}{near_file(error)}"), err=True)
        return error.exit_code
    suite = found if isinstance(found, Suite) else tasks
    listed = _listed(found)
    faults = _faults(listed, suite, Path(file.partition("#")[0]).parent)
    errors = sum(fault.is_error for fault in faults)
    counts = f"{counted(errors, 'error')}, {counted(len(faults) - errors, 'note')}"
    click.echo(f"{file}: {counted(len(listed), 'policy')}, {counts}")
    for policy in listed:
        click.echo("\n".join(f"  {safe(line)}" for line in _lines(policy, suite)))
    for fault in faults:
        kind = "error" if fault.is_error else "note"
        click.echo(f"  {kind}: {safe(fault.path)}: {safe(fault.message)}")
    return 3 if errors else 0


def _listed(found: tuple[Policy, ...] | Suite) -> tuple[Policy, ...]:
    """Return the policies, those that tasks share once."""
    if not isinstance(found, Suite):
        return found
    policies = (policy for task in found.tasks for policy in task.policies)
    return tuple({(policy.id, repr(policy)): policy for policy in policies}.values())


def _faults(policies: Sequence[Policy], suite: Suite | None, folder: Path) -> list[CheckFault]:
    task = replace(_NO_TASK, policies=tuple(policies))
    faults = reference_faults([task], folder)
    faults += [CheckFault(**note._asdict(), is_error=False) for note in notes([task])]
    if suite is not None:
        own = [replace(one, policies=task.policies) for one in suite.tasks]
        faults += scope_notes(own, suite.sites)
    for number, policy in enumerate(policies):
        for path, _, why in reach_of(policy):
            message = f"{policy.id} is violated wherever it applies: {why}"
            faults.append(
                CheckFault(task="", path=f"$.policies[{number}]{path}", message=message, is_error=False)
            )
    return faults


def _lines(policy: Policy, suite: Suite | None) -> Iterator[str]:
    reason = unapplied(policy)
    yield f"{policy.id}: {f'never graded: {reason}' if reason else f'violated by {breaks_of(policy)}'}"
    yield f"  applies to {scope_words(policy.when)}{_share(policy, suite)}"


def _share(policy: Policy, suite: Suite | None) -> str:
    if suite is None:
        return ""
    chosen = [task for task in suite.tasks if concerns(policy.when, task)]
    return f" ({len(chosen)} of {counted(len(suite.tasks), 'task')})"
