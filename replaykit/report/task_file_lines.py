"""Where a task file defines what a report found: the line of each task, check and policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

LAYOUTS = (".yaml", ".yml", ".json")
"""Endings of files whose lines are known: every JSON text is YAML."""

BYTES_MAX = 4 * 2**20
"""Bytes of a file whose lines are looked up: the parser that knows lines is slow."""


class TaskFile(NamedTuple):
    """A task file, as a check of it is pointed at."""

    name: str
    """Path as it was given, without `#ID`."""
    lines: dict[tuple[str, str, str], int]
    """(task, `check`, `policy` or empty, id) to line, from 1. The task is empty for policies of a suite."""

    def line(self, task: str, kind: str, id: str) -> int:
        """Return the line of a check or policy, else of its task, else the first."""
        known = ((task, kind, id), ("", kind, id), (task, "", ""))
        return next((self.lines[key] for key in known if key in self.lines), 1)


def task_file(named: str) -> TaskFile:
    """Return a task file with the lines that are known; any other layout has none."""
    file = Path(named.partition("#")[0])
    if file.suffix.lower() not in LAYOUTS or not file.is_file() or file.stat().st_size > BYTES_MAX:
        return TaskFile(str(file), {})
    import yaml  # loaded for who names a file

    try:
        root = yaml.compose(file.read_text("utf-8-sig"), yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return TaskFile(str(file), {})
    return TaskFile(str(file), {} if root is None else dict(_lines(root)))


def _lines(root: Any) -> Iterator[tuple[tuple[str, str, str], int]]:
    whole = _fields(root)
    yield from _policies(whole.get("policies"), "")
    tasks = whole.get("tasks")
    for task in _items(tasks) if tasks is not None else [root]:
        fields = _fields(task)
        id = _text(fields.get("id")) or _text(fields.get("task_id"))
        yield (id, "", ""), _line(task)
        yield from _policies(fields.get("policies"), id)
        for number, check in enumerate(_items(fields.get("checks"))):
            own = _fields(check)
            name = _text(own.get("id")) or f"{_text(own.get('type'))}[{number}]"
            yield (id, "check", name), _line(check)


def _policies(node: Any, task: str) -> Iterator[tuple[tuple[str, str, str], int]]:
    for policy in _items(node):
        yield (task, "policy", _text(_fields(policy).get("id"))), _line(policy)


def _fields(node: Any) -> dict[str, Any]:
    pairs = node.value if getattr(node, "id", "") == "mapping" else ()
    return {_text(key): value for key, value in pairs}


def _items(node: Any) -> list[Any]:
    return list(node.value) if getattr(node, "id", "") == "sequence" else []


def _text(node: Any) -> str:
    return str(node.value) if getattr(node, "id", "") == "scalar" else ""


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1
