"""Faults of references that show before anything is graded: values that their own type cannot read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replaykit.grading.checks.benchmark_rules import PeerRaises, fulfils
from replaykit.grading.values.typed import compare
from replaykit.tasks.check_faults import CheckFault
from replaykit.tasks.checks import PageCheck, StringMatch, texts
from replaykit.tasks.task import Task

_DETECTED = ("auto", "text")


def reference_faults(tasks: Sequence[Task]) -> list[CheckFault]:
    """Return the faults of all references, each with its path in the task."""
    return [
        CheckFault(task=task.id, path=f"$.checks[{number}]{path}", message=message)
        for task in tasks
        for number, check in enumerate(task.checks)
        for path, message in _of_check(check)
    ]


def _of_check(check: object) -> Iterator[tuple[str, str]]:
    if isinstance(check, PageCheck):
        if check.expect.equals is not None:
            yield from _of_values(".expect.equals", (check.expect.equals,), check.value_type)
        for kind in ("contains", "any_of", "all_of", "excludes") if check.value_type == "date" else ():
            yield from _of_values(f".expect.{kind}", texts(getattr(check.expect, kind)), "date")
    elif isinstance(check, StringMatch):
        for kind in ("exact", "one_of"):
            yield from _of_values(f".{kind}", texts(getattr(check, kind)), check.value_type)
        for kind in ("must_include", "must_exclude") if check.value_type == "date" else ():
            yield from _of_values(f".{kind}", texts(getattr(check, kind)), "date")
        for number, required in enumerate(texts(check.required_values)):
            try:
                fulfils(required, 0.0)
            except PeerRaises as fault:
                yield f".required_values[{number}]", f"{fault}; write `<= 700`, `== 0`, say"


def _of_values(path: str, references: Sequence[str], value_type: str) -> Iterator[tuple[str, str]]:
    if value_type in _DETECTED:
        return
    for number, reference in enumerate(references):
        parts = [part for part in reference.split(" |OR| ") if compare(part, part, value_type).reason]
        yield from ((f"{path}[{number}]", f"{part!r} is no {value_type}") for part in parts)
