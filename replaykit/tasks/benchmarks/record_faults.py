"""Faults in records of WebArena and its relatives, which their own code would ignore or meet late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import fields

from replaykit.errors import TaskError
from replaykit.tasks.benchmarks import webarena
from replaykit.tasks.benchmarks.stwab_rules import translate
from replaykit.tasks.checks import CheckFault, PageImages
from replaykit.tasks.policy_rules import Stwab
from replaykit.tasks.task import Task

_NEAR = 0.8
"""So alike is a name that is meant for another one."""

_DIALECTS = (webarena.DIALECT, webarena.VISUAL, "stwebagentbench")


def record_faults(tasks: Sequence[Task]) -> list[CheckFault]:
    """Return fields of an `eval` that are almost known ones, missing queries, and unreadable policies."""
    return [
        CheckFault(task=task.id, path=path, message=message, is_error=is_error)
        for task in tasks
        if task.dialect in _DIALECTS
        for path, message, is_error in _of_task(task)
    ]


def _of_task(task: Task) -> Iterator[tuple[str, str, bool]]:
    for path, message in _of_record(task.source_record.get("eval")):
        yield f"$.eval{path}", message, True
    if any(isinstance(check, PageImages) and not check.queries for check in task.checks):
        yield "$.eval.page_image_query", "`eval_types` names it, and it has no queries", True
    for number, policy in enumerate(task.policies):
        if isinstance(policy.rule, Stwab):
            for path, message, is_error in _of_policy(policy.rule.record):
                yield f"$.policies[{number}]{path}", message, is_error


def _of_policy(record: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    if "eval" not in record:
        yield "", "it has no `eval`: the agent is shown it, and it is not graded", False
        return
    try:
        translate(record)
    except TaskError as error:
        yield error.fields["path"].removeprefix("$"), error.fields["reason"], True


def _of_record(rules: Any) -> Iterator[tuple[str, str]]:
    yield from _misspelt(rules, webarena.EVAL, "")
    if not isinstance(rules, Mapping):
        return
    yield from _misspelt(rules.get("reference_answers"), webarena.REFERENCES, ".reference_answers")
    targets = rules.get("program_html")
    for number, target in enumerate(targets if isinstance(targets, list) else ()):
        at = f".program_html[{number}]"
        yield from _misspelt(target, webarena.TARGET, at)
        contents = target.get("required_contents") if isinstance(target, Mapping) else None
        yield from _misspelt(contents, webarena.CONTENTS, f"{at}.required_contents")


def _misspelt(given: Any, kind: type, at: str) -> Iterator[tuple[str, str]]:
    known = [field.encode_name for field in fields(kind)]
    unknown = [name for name in given if name not in known] if isinstance(given, Mapping) else []
    for name in unknown:
        from difflib import get_close_matches  # for what is wrong only

        free = [one for one in known if one not in given]
        for near in get_close_matches(str(name), free, 1, _NEAR):
            yield f"{at}.{name}", f"unknown field; did you mean {near}?"
