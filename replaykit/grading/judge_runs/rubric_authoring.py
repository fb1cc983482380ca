"""Rubrics of tasks asked from a model before any run is judged, for people to review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from replaykit.bundle.reader import open_bundle
from replaykit.errors import TaskError
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import task_for
from replaykit.grading.judges.clients.client import Client
from replaykit.grading.judges.rubric.criteria import Criteria, read_rubric
from replaykit.grading.judges.rubric.rubric_judge import RubricJudge, starts
from replaykit.grading.judges.tape.tape import request_key
from replaykit.grading.model_request import ReplyFailure
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.suite import load_suite
from replaykit.tasks.task import Task, fill_task


class Authored(Struct, frozen=True, kw_only=True):
    """Result of the request for the rubric of one task."""

    task: str
    """Id of the task."""
    criteria: Criteria | None
    """The rubric; None = not written."""
    reason: str = ""
    """The reason why no rubric was written."""


def tasks_of(sources: Iterable[str | Path], options: GradeOptions) -> list[Task]:
    """Return the tasks of suites and bundles, each once, with their placeholders filled.

    Raises TaskError, also where two of one id have different intents.
    """
    found: dict[str, Task] = {}
    for source in sources:
        for task in _tasks(source, options):
            if found.setdefault(task.id, task).intent != task.intent:
                reason = f"two tasks have the id {task.id!r} and different intents"
                raise TaskError(source=str(source), path="id", reason=reason)
    return list(found.values())


def author_rubrics(tasks: Iterable[Task], settings: JudgeSettings, client: Client) -> Iterator[Authored]:
    """Ask for the rubric of each task, one after the other."""
    judge = RubricJudge(settings)
    for task in tasks:
        request = judge.about_task(task.intent, starts(task.start_urls, task.sites))
        reply = client.ask(request, {}).reply
        if isinstance(reply, ReplyFailure):
            yield Authored(task=task.id, criteria=None, reason=f"{reply.kind}: {reply.message}")
            continue
        read = read_rubric(reply, task.id, task.intent, request_key(request))
        is_read = isinstance(read, Criteria)
        yield Authored(
            task=task.id,
            criteria=read if isinstance(read, Criteria) else None,
            reason="" if is_read else str(read),
        )


def _tasks(source: str | Path, options: GradeOptions) -> Iterator[Task]:
    if Path(str(source).partition("#")[0]).suffix == ".zst":
        with open_bundle(source) as bundle:
            yield task_for(bundle, None, options)
        return
    suite = load_suite(source)
    for task in suite.tasks:
        yield fill_task(task, {**suite.sites, **options.sites}, str(source))
