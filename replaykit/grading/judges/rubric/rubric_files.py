"""Rubrics in files: read strictly, found by task in a folder, written for review."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from replaykit.decoders import convert
from replaykit.errors import JudgeError
from replaykit.grading.judges.bounded_file import file_bytes
from replaykit.grading.judges.judge_options import judge_settings
from replaykit.patterns import lazy_pattern
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.rubric import Rubric, intent_digest
from replaykit.tasks.task import Task
from replaykit.tasks.yaml_text import parsed_yaml, words_of

FILE_MAX = 2**18
"""Bytes of a rubric file."""

FILES_MAX = 100_000
"""Files of one folder."""

_NAME = lazy_pattern(r"[^A-Za-z0-9._-]+")


def read_rubric_file(path: Path) -> Rubric:
    """Read one rubric. Raises JudgeError naming file, place and what is expected."""
    return _parsed(path, file_bytes(path, FILE_MAX))


def rubric_from(plain: Any, source: str) -> Rubric:
    """Return the rubric that plain values describe; raise JudgeError naming their source and the place."""
    try:
        found: Rubric = convert(plain, Rubric)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise JudgeError(what=f"{source}: not a rubric: {error}") from error
    return found


def with_rubric(settings: JudgeSettings, task: Task, folder: str | None) -> JudgeSettings:
    """Return settings of the judge `rubric` with the criteria of a task: its own, the task's, the folder's.

    Other judges stay as they are, of a panel each member is looked at. Raises JudgeError for a rubric of
    another intent.
    """
    if settings.protocol == "panel":
        members = (with_rubric(judge_settings(one), task, folder) for one in settings.members)
        return replace(settings, members=tuple(members))
    if settings.protocol != "rubric":
        return settings
    given = settings
    if settings.rubric is None:
        given = _of_task(settings, task) or _of_folder(settings, task, folder)
    if given.rubric is not None and given.rubric.intent_sha256 != intent_digest(task.intent):
        what = f"the rubric of task {task.id!r} was written for another wording of the intent"
        raise JudgeError(what=f"{what}: write it again with `replaykit judge rubric`")
    return given


def file_name(task: str) -> str:
    """Return the name of a task's rubric file: its id, with what no file name holds as `-`."""
    return f"{_NAME.sub('-', task).strip('.') or 'task'}.yaml"


def rubric_yaml(rubric: Rubric) -> str:
    """Return the text of a rubric file."""
    import yaml  # loaded for files only: it takes longer to load than a bundle takes to grade

    plain = msgspec.to_builtins(rubric)
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100)


def _of_task(settings: JudgeSettings, task: Task) -> JudgeSettings | None:
    own = task.judge
    if not isinstance(own, JudgeSettings) or own.rubric is None:
        return None
    return replace(settings, rubric=own.rubric)


def _of_folder(settings: JudgeSettings, task: Task, folder: str | None) -> JudgeSettings:
    if folder is None:
        return settings
    path = Path(folder) / file_name(task.id)
    digest, files = _folder(folder)
    if path.name not in files:
        return settings
    found = read_rubric_file(path)
    if found.task != task.id:
        what = f"{path.name}: task: {found.task!r} is not {task.id!r}, whose name the file has"
        raise JudgeError(what=what)
    return replace(settings, rubric=found, rubrics=digest)


@lru_cache(maxsize=8)
def _folder(folder: str) -> tuple[str, Mapping[str, str]]:
    """Return the digest of a folder's rubrics, and name to digest of each."""
    if not Path(folder).is_dir():
        raise JudgeError(what=f"--rubrics: {Path(folder).name}: no such folder")
    paths = sorted(Path(folder).glob("*.yaml"))[:FILES_MAX]
    files = {path.name: hashlib.sha256(file_bytes(path, FILE_MAX)).hexdigest() for path in paths}
    whole = "\n".join(f"{name} {digest}" for name, digest in files.items())
    return "sha256:" + hashlib.sha256(whole.encode()).hexdigest(), files


def _parsed(path: Path, data: bytes) -> Rubric:
    try:
        plain = parsed_yaml(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise JudgeError(what=f"{path.name}: not a rubric: {words_of(error)}") from error
    return rubric_from(plain, path.name)
