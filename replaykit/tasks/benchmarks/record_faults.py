"""Misspelt fields in records of WebArena and its relatives, which their own code would ignore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import fields

from replaykit.tasks.benchmarks import webarena
from replaykit.tasks.checks import CheckFault
from replaykit.tasks.task import Task

_NEAR = 0.8
"""So alike is a name that is meant for another one."""

_DIALECTS = (webarena.DIALECT, webarena.VISUAL, "stwebagentbench")


def record_faults(tasks: Sequence[Task]) -> list[CheckFault]:
    """Return each field of an `eval` that is almost a known one: what it demands is not graded."""
    return [
        CheckFault(task=task.id, path=f"$.eval{path}", message=message)
        for task in tasks
        if task.dialect in _DIALECTS
        for path, message in _of_record(task.source_record.get("eval"))
    ]


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
