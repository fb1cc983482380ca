"""The agent's action history as the file of a run states it, for readers of Online-Mind2Web's layouts.

A run that was imported keeps each of its own lines in `Step.raw`; other runs have theirs rendered.
"""

from __future__ import annotations

from msgspec import Struct

from replaykit.trajectory.action import tag_of
from replaykit.trajectory.action_rendering import MESSAGES, render_step
from replaykit.trajectory.step import Step, Trajectory

OWN = ("online-mind2web", "wabe")
"""Formats whose steps hold lines of this layout."""

SECOND = "online-mind2web-v2"
"""The version of the layout whose last entry is the answer."""


class ActionHistory(Struct, frozen=True, kw_only=True):
    """Data of a run that Online-Mind2Web's own script reads."""

    actions: tuple[str, ...]
    """A line for each action."""
    thoughts: tuple[str, ...] | None
    """A text for each action, perhaps fewer or one more; None where the run has no reasoning."""


def action_history(run: Trajectory) -> ActionHistory:
    """Return the lines of a run, as its own file has them where it was imported.

    In the first version of the layout every line is kept, also an answer; of the second version the script
    drops the last line. In a run of any other origin, messages of the agent to the user are left out.
    """
    steps = [step for step in run.steps if is_own(run) or tag_of(step.action) not in MESSAGES]
    lines = tuple(stored_line(step) for step in steps)
    is_second = is_own(run) and _version(run) == SECOND
    return ActionHistory(actions=lines[:-1] if is_second else lines, thoughts=_thoughts(run, steps))


def is_own(run: Trajectory) -> bool:
    """Return whether a run was imported from a file of this layout."""
    return run.header.source is not None and run.header.source.format in OWN


def stored_line(step: Step) -> str:
    """Return the line of an imported step as its file has it; of another one its rendering."""
    is_stored = step.origin == "imported" and isinstance(step.raw, str)
    return str(step.raw) if is_stored else render_step(step)


def _version(run: Trajectory) -> str | None:
    return run.header.source.version if run.header.source is not None else None


def _thoughts(run: Trajectory, steps: list[Step]) -> tuple[str, ...] | None:
    extra = run.header.source.extra if run.header.source is not None else {}
    if all(step.thought is None for step in steps):
        # The script pairs actions with an empty list of thoughts, so that no action is left.
        return () if is_own(run) and extra.get("thoughts") == [] else None
    if not is_own(run):
        return tuple(step.thought or "" for step in steps)
    if _version(run) == SECOND:
        return tuple(str(step.thought) for step in steps)
    return tuple(step.thought for step in steps if step.thought is not None)
