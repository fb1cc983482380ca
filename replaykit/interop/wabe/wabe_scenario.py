"""Tasks as the `[[tasks]]` tables of a WABE scenario, ready to be pasted into one.

Levels come in the order easy, medium, hard, then all others; within one, tasks keep their order. A field that
a task does not have is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from replaykit.interop.toml_text import toml_text
from replaykit.tasks.task import Sites, Task, agent_view

LEVELS = ("easy", "medium", "hard")
"""In their order in a scenario."""

OF_A_LEVEL = 3
"""Tasks of a level that WABE samples."""


def scenario_tables(tasks: Sequence[Task], sites: Sites, seed: int) -> str:
    """Return the tables of some tasks, the seed of their sample in a comment; ends in a newline."""
    ordered = sorted(tasks, key=lambda task: _rank(_level(task)))
    tables = [
        f"# {len(ordered)} tasks, sampled with --seed {seed}\n",
        *(_table(task, sites) for task in ordered),
    ]
    return "\n".join(tables)


def scarce(tasks: Sequence[Task], count: int) -> list[str]:
    """Return a remark for each level of a sample that has fewer tasks than were asked for."""
    levels = Counter(_level(task) or "none" for task in tasks)
    return [
        f"level {name}: {n} of {count} tasks, there are no more" for name, n in levels.items() if n < count
    ]


def _table(task: Task, sites: Sites) -> str:
    shown = agent_view(task, sites)
    length = task.metadata.get("reference_length")
    fields = {
        "task_id": toml_text(task.id),
        "confirmed_task": toml_text(shown.intent),
        "website": toml_text(shown.start_urls[0]) if shown.start_urls else None,
        "level": toml_text(_level(task)) if _level(task) else None,
        "reference_length": str(length) if isinstance(length, int) and not isinstance(length, bool) else None,
        "max_steps": str(task.max_steps) if task.max_steps is not None else None,
    }
    lines = [f"{name} = {value}" for name, value in fields.items() if value is not None]
    return "\n".join(["[[tasks]]", *lines]) + "\n"


def _level(task: Task) -> str:
    return str(task.metadata.get("level", "")).casefold()


def _rank(level: str) -> tuple[int, str]:
    return (LEVELS.index(level), "") if level in LEVELS else (len(LEVELS), level)
