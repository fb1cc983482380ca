"""Policies tried on one recorded run: what each found, and which of its breaches they would notice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import TaskError
from replaykit.grading.grader import stored_task
from replaykit.grading.policies.mutation import Mutation, mutate
from replaykit.grading.policies.policy_lab import Trial, trials_of
from replaykit.replay.player import Replay
from replaykit.tasks.dialect import Mode
from replaykit.tasks.policy_rules import Policy
from replaykit.tasks.task import Task, fill_task


class Trials(Struct, frozen=True, kw_only=True):
    """What trying policies on a run has shown."""

    policies: tuple[Trial, ...]
    """Each policy that counts, in order."""
    mutation: Mutation | None = None
    """The run broken on purpose; null where nobody asked for it."""


def try_policies(
    bundle: Bundle | str | Path,
    policies: Task | Sequence[Policy] | None = None,
    *,
    mode: Mode = "strict",
    mutates: bool = False,
) -> Trials:
    """Say of each policy what it found in a run, what it passed over, and what would break it.

    `bundle`: an open one, or its path or URL. `policies`: what `load_policies` gives, or a task's; by default
    those of the task that the run was recorded for. `mutates`: the run is broken on purpose, in memory, one
    edit at a time, and `mutation` counts which edits turn which policy VIOLATED. Raises `TaskError` where
    there is neither task nor policy, `BundleError` where the bundle is damaged.
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
