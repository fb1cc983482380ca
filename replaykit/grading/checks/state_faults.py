"""Faults of state checks that show before anything is graded: places and patterns that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replaykit.grading.values.jsonpath import check_path
from replaykit.grading.values.path_bounds import PathFault
from replaykit.tasks.check_faults import CheckFault
from replaykit.tasks.regexes import regex_fault
from replaykit.tasks.state_checks import Predicate, StateHttp, StateScript
from replaykit.tasks.task import Task


def state_faults(tasks: Sequence[Task]) -> list[CheckFault]:
    """Return the faults of all state checks, each with its path in the task."""
    return [
        CheckFault(task=task.id, path=f"$.checks[{number}]{path}", message=message)
        for task in tasks
        for number, check in enumerate(task.checks)
        for path, message in _of_check(check)
    ]


def _of_check(check: object) -> Iterator[tuple[str, str]]:
    if isinstance(check, StateHttp):
        for number, predicate in enumerate(check.where):
            yield from ((f".where[{number}]{path}", message) for path, message in _of_predicate(predicate))
    elif isinstance(check, StateScript) and check.op == "matches":
        yield from _of_pattern(".expected", check.expected)


def _of_predicate(predicate: Predicate) -> Iterator[tuple[str, str]]:
    try:
        check_path(predicate.at)
    except PathFault as fault:
        yield ".at", f"{predicate.at!r} cannot be read: {fault}"
    if predicate.op == "matches":
        yield from _of_pattern(".value", predicate.value)


def _of_pattern(path: str, pattern: object) -> Iterator[tuple[str, str]]:
    fault = regex_fault(pattern) if isinstance(pattern, str) else (0, "a pattern is a text")
    if fault is not None:
        yield path, fault[1]
