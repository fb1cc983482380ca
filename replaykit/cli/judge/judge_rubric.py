"""Body of the command `replaykit judge rubric`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from replaykit.cli.console import notice
from replaykit.demo.starter_files import make_folder
from replaykit.errors import UsageError
from replaykit.grading.judge_runs.rubric_authoring import Authored, author_rubrics
from replaykit.grading.judges.clients.transports import client_or_own
from replaykit.grading.judges.rubric.rubric_files import file_name, rubric_yaml
from replaykit.report.text.table import safe
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task

SUITES = (".yaml", ".yml", ".json", ".toml", ".jsonl")
"""Suffixes of files that hold tasks."""


def with_model_of(settings: JudgeSettings, model: str | None) -> JudgeSettings:
    """Return settings of a judge `rubric` that asks this model. Raises UsageError for another judge."""
    if settings.protocol != "rubric":
        raise UsageError(what=f"--judge: expected settings of protocol rubric, got {settings.protocol}")
    return settings if model is None else replace(settings, model=model)


def write_rubrics(tasks: Sequence[Task], settings: JudgeSettings, folder: Path, base_url: str | None) -> int:
    """Ask for each rubric that has no file yet and write it; return the exit code."""
    files = [file_name(task.id) for task in tasks]
    repeated = next((name for name in files if files.count(name) > 1), None)
    if repeated is not None:
        raise UsageError(what=f"two tasks would have the rubric file {repeated}: ask for them in two folders")
    make_folder(folder)
    left = [task for task in tasks if not (folder / file_name(task.id)).exists()]
    with client_or_own(None, base_url) as client:
        found = [_written(one, folder) for one in author_rubrics(left, settings, client)]
    if len(left) < len(tasks):
        notice(f"{len(tasks) - len(left)} of {len(tasks)} tasks have a rubric file already: it stays")
    return 0 if all(found) else 3


def _written(one: Authored, folder: Path) -> bool:
    """Write one rubric and report it; return whether there is one."""
    if one.criteria is None:
        notice(f"{safe(one.task)}: no rubric: {safe(one.reason)}")
        return False
    path = folder / file_name(one.task)
    path.write_text(rubric_yaml(one.criteria.rubric), "utf-8")
    criteria = one.criteria
    click.echo(f"{path.name}  {len(criteria.rubric.criteria)} criteria  {criteria.rubric.validity}")
    if criteria.n_phantom:
        notice(f"{path.name}: {criteria.n_phantom} criteria ask for what the intent does not state: weight 0")
    for first, second in criteria.overlap:
        notice(f"{path.name}: {safe(first)} and {safe(second)} ask for the same")
    return True
