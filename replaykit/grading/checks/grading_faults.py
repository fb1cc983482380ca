"""All faults of a task file that grading would refuse: references, patterns and paths that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replaykit.grading.checks.benchmark_rules import PeerRaises, fulfils
from replaykit.grading.checks.pages.calls import unknown_helper
from replaykit.grading.checks.requests.request_faults import request_faults
from replaykit.grading.checks.requests.state_faults import state_faults
from replaykit.grading.values.typed_comparison import compare
from replaykit.tasks.checks import CheckFault, PageCheck, ProgramHtml, StringMatch, texts
from replaykit.tasks.faults.check_faults import check_faults
from replaykit.tasks.state_checks import StateHttp, StateScript
from replaykit.tasks.task import Task

_DETECTED = ("auto", "text")


def task_faults(tasks: Sequence[Task], known_sites: Sequence[str] = ()) -> list[CheckFault]:
    """Return the faults of all checks; `known_sites` are those whose roots are known.

    A task without faults is graded without an error that the task file is the cause of.
    """
    blank = [
        CheckFault(task=task.id, path="$.intent", message="it is empty: agent and judge are given no task")
        for task in tasks
        if not task.intent.strip()
    ]
    return [*blank, *check_faults(tasks, known_sites), *value_faults(tasks), *request_faults(tasks)]


def value_faults(tasks: Sequence[Task]) -> list[CheckFault]:
    """Return the faults of all references and state checks, each with its path in the task."""
    return [
        CheckFault(task=task.id, path=f"$.checks[{number}]{path}", message=message)
        for task in tasks
        for number, check in enumerate(task.checks)
        for path, message in _of_check(check)
    ]


def _of_check(check: object) -> Iterator[tuple[str, str]]:
    match check:
        case PageCheck():
            yield from _of_page(check)
        case StringMatch():
            yield from _of_answer(check)
        case ProgramHtml():
            yield from _of_targets(check)
        case StateHttp() | StateScript():
            yield from state_faults(check)


def _of_targets(check: ProgramHtml) -> Iterator[tuple[str, str]]:
    for number, target in enumerate(check.targets):
        for name, text in (("url", target.url), ("locator", target.locator)):
            if (fault := unknown_helper(text)) is not None:
                yield f".targets[{number}].{name}", fault


def _of_page(check: PageCheck) -> Iterator[tuple[str, str]]:
    if check.expect.equals is not None:
        yield from _of_values(".expect.equals", (check.expect.equals,), check.value_type)
    for kind in ("contains", "any_of", "all_of", "excludes") if check.value_type == "date" else ():
        yield from _of_values(f".expect.{kind}", texts(getattr(check.expect, kind)), "date")


def _of_answer(check: StringMatch) -> Iterator[tuple[str, str]]:
    for kind in ("exact", "one_of"):
        yield from _of_values(f".{kind}", texts(getattr(check, kind)), check.value_type)
    for kind in ("must_include", "must_exclude") if check.value_type == "date" else ():
        yield from _of_values(f".{kind}", texts(getattr(check, kind)), "date")
    for number, required in enumerate(texts(check.required_values)):
        try:
            fulfils(required, 0.0)
        except PeerRaises as fault:
            yield f".required_values[{number}]", f"{fault}; write, for example, `<= 700` or `== 0`"


def _of_values(path: str, references: Sequence[str], value_type: str) -> Iterator[tuple[str, str]]:
    if value_type in _DETECTED:
        return
    for number, reference in enumerate(references):
        parts = [part for part in reference.split(" |OR| ") if compare(part, part, value_type).reason]
        yield from ((f"{path}[{number}]", f"{part!r} is no {value_type}") for part in parts)
