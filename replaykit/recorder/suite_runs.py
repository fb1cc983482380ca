"""Suite runs: every chosen task recorded so many times, each run into a bundle of its own.

One run that fails costs no other one. A bundle that exists is left as it is, so a suite run that was broken
off goes on where it stopped when it is started again.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from replaykit.bundle.reader import open_bundle
from replaykit.errors import AgentError, BundleError, MissingExtra, NoBrowser, ReplaykitError, UsageError
from replaykit.recorder.agent_runs import Recorded
from replaykit.tasks.suite_summary import sample
from replaykit.tasks.task import Task

LOG = "record.jsonl"
"""File of the output folder that takes a line for every run that was tried."""

_DEVICE = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE)
"""Names that Windows keeps for devices, with any extension."""

NAME_MAX = 120
"""Characters of a task id that a file name holds."""

FOR_ALL = (AgentError, MissingExtra, NoBrowser, UsageError)
"""Errors that would fail every other run as well."""

log = logging.getLogger("replaykit.recorder")


class SuiteRun(Struct, frozen=True, kw_only=True):
    """One attempt at one task."""

    task: Task
    """Task of the agent."""
    trial: int
    """From 1."""
    path: Path
    """Its bundle."""


class SuiteResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Result of one attempt; also a line of the log."""

    task: str
    """Id."""
    trial: int
    """From 1."""
    file: str
    """Name of the bundle in the folder."""
    state: Literal["recorded", "kept", "failed"]
    """`kept`: the bundle was there before. `failed`: nothing was recorded."""
    ending: str | None = None
    """How a recorded run ended; a run whose agent crashed is recorded as well."""
    cause: str | None = None
    """Who ended it."""
    digest: str | None = None
    """Trajectory digest."""
    error: str | None = None
    """Why nothing was recorded, or why the agent crashed."""
    notices: tuple[str, ...] = ()
    """Notes for the user."""


class TaskChoice(Struct, frozen=True, kw_only=True):
    """Which tasks of a suite."""

    level: str | None = None
    """Value of the metadata field `level`; None = any."""
    ids: tuple[str, ...] = ()
    """Only these; () = all."""
    per_level: int | None = None
    """A sample: so many tasks of every level."""
    seed: int = 42
    """Of the sample."""
    limit: int | None = None
    """The first so many of what is left."""


def choose(tasks: Sequence[Task], choice: TaskChoice) -> list[Task]:
    """Return the chosen tasks in the order of the suite; empty where no task fits. Raises UsageError."""
    unknown = sorted(set(choice.ids) - {task.id for task in tasks})
    if unknown:
        known = ", ".join(task.id for task in tasks[:12])
        raise UsageError(what=f"--task-ids: no task {', '.join(unknown)}; the suite begins {known}")
    left = [task for task in tasks if not choice.ids or task.id in choice.ids]
    if choice.level is not None:
        left = [task for task in left if level_of(task) == choice.level.casefold()]
    if choice.per_level is not None:
        left = sample(left, choice.per_level, choice.seed, "level")
    return left[: choice.limit]


def level_of(task: Task) -> str:
    """Return the task's level, case folded; "" without one."""
    return str(task.metadata.get("level", "")).casefold()


def runs_of(tasks: Iterable[Task], trials: int, folder: Path) -> list[SuiteRun]:
    """Return all attempts: every task once, then every task again; broken off, it has tried each."""
    chosen = list(tasks)
    # Some file systems take names that differ only in case for one.
    count = Counter(id.casefold() for id in {task.id for task in chosen})
    names = {task.id: _file_name(task.id, count[task.id.casefold()] == 1) for task in chosen}
    return [
        SuiteRun(task=task, trial=trial, path=folder / f"{names[task.id]}.{trial}.zst")
        for trial in range(1, trials + 1)
        for task in chosen
    ]


def record_suite(
    runs: Sequence[SuiteRun], record: Callable[[SuiteRun], Recorded], *, force: bool = False
) -> Iterator[SuiteResult]:
    """Record one run after the other and yield what came of each; a run that the person stopped is the last.

    `record` writes a run's bundle. What it raises fails that run only.
    """
    for run in runs:
        run.path.parent.mkdir(parents=True, exist_ok=True)
        if run.path.exists() and not force:
            yield _found(run)
            continue
        try:
            recorded = record(run)
        except FOR_ALL:
            raise
        except Exception as error:  # noqa: BLE001 - any defect is written down as the failure of this run, and the next run begins
            done = _failed(run, error)
        else:
            done = _recorded(run, recorded)
        _write_line(run.path.parent / LOG, done)
        yield done
        if is_stopped_by_person(done):
            return


def is_stopped_by_person(done: SuiteResult) -> bool:
    """Whether Ctrl-C ended the run: the rest of the suite is not wanted then."""
    return (done.ending, done.cause) == ("stopped", "person")


def summary(results: Sequence[SuiteResult], expected: int) -> str:
    """Return one line: how many were recorded, how those ended, and what is missing."""
    states = Counter(result.state for result in results)
    endings = Counter(result.ending for result in results if result.ending is not None)
    parts = [f"{states['recorded']} recorded" + _counts(endings)]
    parts += [f"{states[name]} {name}" for name in ("kept", "failed") if states[name]]
    if len(results) < expected:
        parts.append(f"{expected - len(results)} not begun")
    return ", ".join(parts)


def _found(run: SuiteRun) -> SuiteResult:
    try:
        with open_bundle(run.path) as bundle:
            is_sealed = bundle.layout == "sealed"
    except BundleError as error:
        return _failed(run, error)
    if is_sealed:
        return _result(run, "kept")
    return _failed(
        run, UsageError(what=f"{run.path} is unfinished; `replaykit seal` completes it, --force replaces it")
    )


def _counts(endings: Counter[str]) -> str:
    listed = ", ".join(f"{count} {name}" for name, count in sorted(endings.items()))
    return f" ({listed})" if listed else ""


def _recorded(run: SuiteRun, recorded: Recorded) -> SuiteResult:
    return msgspec.structs.replace(
        _result(run, "recorded"),
        ending=recorded.kind,
        cause=recorded.cause,
        digest=recorded.digest,
        error=recorded.error,
        notices=recorded.notices,
    )


def _failed(run: SuiteRun, error: Exception) -> SuiteResult:
    log.debug("task %s, trial %d", run.task.id, run.trial, exc_info=error)
    words = error.message if isinstance(error, ReplaykitError) else f"{type(error).__name__}: {error}"
    return msgspec.structs.replace(_result(run, "failed"), error=words)


def _result(run: SuiteRun, state: Literal["recorded", "kept", "failed"]) -> SuiteResult:
    return SuiteResult(task=run.task.id, trial=run.trial, file=run.path.name, state=state)


def _write_line(file: Path, result: SuiteResult) -> None:
    with file.open("ab") as lines:
        lines.write(msgspec.json.encode(result) + b"\n")


def _file_name(id: str, is_alone: bool) -> str:
    # An id that a name cannot hold as it is gets a digest: no two ids share a file.
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", id)[:NAME_MAX].strip("-")
    if name and name == id and is_alone and not _DEVICE.fullmatch(name):
        return name
    return f"{name or 'task'}-{hashlib.sha256(id.encode()).hexdigest()[:8]}"
