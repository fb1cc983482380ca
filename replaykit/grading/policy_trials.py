"""Policies tried on one recorded run: what each found, and which of its breaches they would notice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import TaskError
from replaykit.grading.grader import stored_task
from replaykit.grading.policies.policy_debugging import Trial, trials_of
from replaykit.grading.policies.run_mutations import Mutation, mutate
from replaykit.replay.player import Replay
from replaykit.tasks.dialect import Mode
from replaykit.tasks.policy_rules import Policy
from replaykit.tasks.task import Task, fill_task


class Trials(Struct, frozen=True, kw_only=True):
    """Result of trying policies on a run."""

    policies: tuple[Trial, ...]
    """Each graded policy, in order."""
    mutation: Mutation | None = None
    """Result for the changed run; None without `mutates`."""


def try_policies(
    bundle: Bundle | str | Path,
    policies: Task | Sequence[Policy] | None = None,
    *,
    mode: Mode = "strict",
    mutates: bool = False,
) -> Trials:
    """Try policies on one run: what each one finds, what it skips, and what would violate it.

    `bundle`: an open bundle, or its path or URL. `policies`: policies, or a task that has some; default:
    those of the task that the run was recorded for. `mutates`: also change the run in memory, one edit at a
    time; `mutation` of the result counts which edits make which policy VIOLATED. Raises TaskError without
    task and policies, BundleError for a damaged bundle.

    Example:
        for trial in replaykit.try_policies("run.zst").policies:
            print(trial.result.id, trial.result.outcome, trial.breaks)
    """
    if not isinstance(bundle, Bundle):
        with open_bundle(bundle) as opened:
            return try_policies(opened, policies, mode=mode, mutates=mutates)
    task, replay = _task(bundle, policies), Replay(bundle)
    return Trials(policies=trials_of(task, replay, mode), mutation=mutate(task, replay) if mutates else None)


def _task(bundle: Bundle, policies: Task | Sequence[Policy] | None) -> Task:
    stored = policies if isinstance(policies, Task) else stored_task(bundle)
    if stored is None and policies is None:
        raise TaskError(source=bundle.name, path="$", reason="no task was recorded: give policies to try")
    task = stored or Task(id="unknown", intent="")
    if policies is not None and not isinstance(policies, Task):
        task = replace(task, policies=tuple(policies))
    return fill_task(task, bundle.header.sites)
