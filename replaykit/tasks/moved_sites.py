"""Tasks of a file whose sites are elsewhere: a URL below the root that the file gives means the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from replaykit.decoders import convert
from replaykit.tasks.task import Sites, Task

_FIELDS = ("start_urls", "checks", "policies", "allow")
"""Fields of a task in which URLs stand."""
_RECORD = "record"
"""Field of a rule that keeps a record of a benchmark as it is."""
_SCHEME = re.compile(r"https?://")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
"""A name that a placeholder can have."""


def at_sites(task: Task, written: Sites, actual: Sites) -> Task:
    """Return a native task whose URLs name the site where they name the root that its file gives to it.

    `written`: roots of the file; `actual`: roots of the run. Where both are the same, the task stays as is.
    """
    moved = dict(sorted(_moved(written, actual), key=lambda one: -len(one[0])))
    if not moved or task.dialect != "native":
        return task
    plain = msgspec.to_builtins(task)
    pattern = re.compile(rf"\s*https?://({'|'.join(map(re.escape, moved))})(?=[/?#]|\s*$)", re.IGNORECASE)
    changed = {name: _renamed(plain[name], pattern, moved) for name in _FIELDS if name in plain}
    return convert({**plain, **changed}, Task) if changed != {key: plain[key] for key in changed} else task


def _moved(written: Sites, actual: Sites) -> Iterator[tuple[str, str]]:
    """Yield each root that the run does not have, without its scheme, and what stands for it."""
    for name, roots in written.items():
        there = {_bare(root) for root in actual.get(name, ())}
        for root in map(_bare, roots):
            if there and root not in there and _NAME.fullmatch(name):
                yield root, f"__{name.upper()}__"


def _bare(root: str) -> str:
    return _SCHEME.sub("", root.strip().lower(), count=1).rstrip("/")


def _renamed(value: Any, pattern: re.Pattern[str], moved: dict[str, str]) -> Any:
    if isinstance(value, str):
        found = pattern.match(value)
        return value if found is None else moved[found[1].lower()] + value[found.end() :]
    if isinstance(value, dict):
        return {key: one if key == _RECORD else _renamed(one, pattern, moved) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(one, pattern, moved) for one in value]
    return value
