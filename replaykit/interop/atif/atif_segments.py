"""Parts of a run that a trajectory of ATIF leaves to others: what was before, what follows, other agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

CONTINUED = "continued_trajectory_ref"
"""Key of the file in which a run goes on."""

SUBAGENT = "subagent_trajectory_ref"
"""Key of what another agent did for a result."""


def is_continued(root: Any) -> bool:
    """Whether the run goes on in another file, so that its end is not in this one."""
    return isinstance(root, dict) and bool(root.get(CONTINUED))


def parts_elsewhere(root: Any) -> Iterator[tuple[str, str]]:
    """Yield place and description of each part of a run that is not among its steps."""
    if not isinstance(root, dict):
        return
    if is_continued(root):
        yield CONTINUED, "of a run that goes on in another file: actions are partial, and its end is unknown"
    if root.get("subagent_trajectories"):
        yield "subagent_trajectories", "of other agents: their actions are kept beside the steps"
    for at, step in enumerate(_objects(root.get("steps"))):
        if step.get("is_copied_context") is True:
            yield f"steps[{at}]", "a copy of a step of an earlier file: actions are partial"
        seen = step.get("observation")
        results = _objects(seen.get("results") if isinstance(seen, dict) else None)
        if any(one.get(SUBAGENT) for one in results):
            yield f"steps[{at}]", "a call of another agent, whose actions are no steps: actions are partial"


def _objects(values: Any) -> list[dict[str, Any]]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []
