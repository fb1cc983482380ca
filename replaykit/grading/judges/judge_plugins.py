"""Judges in Python: code that a command names, never a bundle or a task."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replaykit.errors import RAISED_BY_LOADED_CODE, JudgeError
from replaykit.grading.judges.judge_interface import Judge
from replaykit.tasks.judge_settings import JudgeSettings

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "replaykit.judges"
"""Entry points that are judges."""

Maker = Callable[[JudgeSettings, str], Judge]
"""Makes a judge of settings and mode; a class with that constructor is one."""


def load_maker(entry: str) -> Maker:
    """Run the code of `file.py@NAME`, or of the entry point of that name. Raises JudgeError."""
    file, at, name = entry.rpartition("@")
    found = _of_file(Path(file), name) if at else _of_package(entry)
    if not callable(found):
        raise JudgeError(
            what=f"{Path(entry).name}: a judge is made by a callable, not a {type(found).__name__}"
        )
    maker: Maker = found
    return maker


def is_entry(named: str) -> bool:
    """Return whether a name stands for Python: `file.py@NAME`, or an entry point."""
    return ".py@" in named or _installed(named) is not None


def _of_file(file: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"replaykit_judge_{file.stem}", file)
    if spec is None or spec.loader is None or not file.exists():
        raise JudgeError(what=f"{file.name}: cannot read the judge: no such Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except RAISED_BY_LOADED_CODE as error:
        raise JudgeError(what=f"{file.name}: {type(error).__name__} while it was loaded: {error}") from error
    if not hasattr(module, name):
        raise JudgeError(what=f"{file.name}: it has no {name!r}")
    return getattr(module, name)


def _installed(name: str) -> EntryPoint | None:
    # Loaded for judges in Python only: metadata of packages takes longer to load than a run takes to grade.
    from importlib.metadata import entry_points

    return next(iter(entry_points(group=GROUP, name=name)), None)


def _of_package(name: str) -> Any:
    found = _installed(name)
    if found is None:
        raise JudgeError(
            what=f"no judge {name!r}: no installed package has an entry point {GROUP} of that name"
        )
    try:
        return found.load()
    except RAISED_BY_LOADED_CODE as error:
        raise JudgeError(what=f"judge {name}: {type(error).__name__} while it was loaded: {error}") from error
