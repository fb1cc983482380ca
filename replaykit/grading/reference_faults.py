"""Faults of what a task only names: judges, verifiers beside its file, plugins of installed packages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from replaykit.errors import JudgeError
from replaykit.grading.checks import check_plugins
from replaykit.grading.judges.judge_config import judges_of
from replaykit.grading.judges.judge_panel import members_of
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.policies import policy_plugins
from replaykit.tasks.checks import CheckFault, CheckPlugin, ProgramHtml
from replaykit.tasks.policy_rules import Plugin
from replaykit.tasks.state_checks import StateVerifier
from replaykit.tasks.task import Task


def reference_faults(tasks: Sequence[Task], folder: Path) -> list[CheckFault]:
    """Return what grading would refuse of it here; `folder` is that of the task file. No code is run."""
    return [
        CheckFault(task=task.id, path=path, message=message)
        for task in tasks
        for path, message in (*_of_judge(task), *_of_checks(task, folder), *_of_policies(task))
    ]


def _of_judge(task: Task) -> Iterator[tuple[str, str]]:
    try:
        for settings in judges_of(task, ()):
            for asked in members_of(settings, task.mode) or (settings,):
                build_judge(asked, task.mode)
    except JudgeError as error:
        yield "$.judge", error.message


def _of_checks(task: Task, folder: Path) -> Iterator[tuple[str, str]]:
    for number, check in enumerate(task.checks):
        at = f"$.checks[{number}]"
        if isinstance(check, StateVerifier):
            yield from _of_verifier(check, folder, at)
        elif isinstance(check, CheckPlugin):
            yield from _of_plugin(check.name, check_plugins.GROUP, f"{at}.name")
        elif isinstance(check, ProgramHtml) and not check.targets:
            yield f"{at}.targets", "no target: nothing is demanded of any page"


def _of_policies(task: Task) -> Iterator[tuple[str, str]]:
    for number, policy in enumerate(task.policies):
        if isinstance(policy.rule, Plugin):
            yield from _of_plugin(policy.rule.name, policy_plugins.GROUP, f"$.policies[{number}].rule.name")


def _of_verifier(check: StateVerifier, folder: Path, at: str) -> Iterator[tuple[str, str]]:
    file = (folder / check.file).resolve()
    if not file.is_relative_to(folder.resolve()) or not file.is_file():
        yield f"{at}.file", f"no such file beside the tasks: {check.file}"
    if not check.function.isidentifier():
        yield f"{at}.function", f"{check.function!r} is no name of a function"


def _of_plugin(name: str, group: str, at: str) -> Iterator[tuple[str, str]]:
    installed = sorted({point.name for point in entry_points(group=group)})
    if name not in installed:
        yield at, f"no plugin {name!r} is installed here; there are {', '.join(installed) or 'none'}"
