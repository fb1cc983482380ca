"""How an experiment of BrowserGym ended, by its summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from replaykit.trajectory.scalars import Threw


class GymEnding(NamedTuple):
    """Kind of ending, and the error that goes with it."""

    kind: str
    error: Threw | None = None


def ending_of(summary: Mapping[str, Any], answer: str | None, *, gave_up: bool | None = None) -> GymEnding:
    """Return how a run ended. `gave_up`: the agent was asked for an action and gave none; None if unknown."""
    stated = summary.get("err_msg")
    error = Threw(name="Error", message=stated) if isinstance(stated, str) and stated else None
    # The summary repeats the last error of any step, also of one from which the agent went on.
    is_cut = summary.get("truncated") is True
    is_over = summary.get("terminated") is True or (is_cut and gave_up is False)
    if error is not None and not is_over:
        return GymEnding("crashed", error)
    if answer is not None:
        return GymEnding("answered", error)
    return GymEnding("max_steps" if is_cut and not gave_up else "stopped", error)


def came_back(number: int, summary: Mapping[str, Any]) -> bool:
    """Whether the environment came back from the action of a last step: the summary counts one more."""
    count = summary.get("n_steps")
    is_over = summary.get("terminated") is True or summary.get("truncated") is True
    return isinstance(count, int) and count > number and is_over
