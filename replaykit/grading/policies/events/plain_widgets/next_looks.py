"""The look at a page that follows an action before anything else happens: a witness of what it did.

Own module: the stream of events asks it for each action, and knows nothing of widgets.
"""

from __future__ import annotations

from collections.abc import Iterable

from replaykit.grading.policies.events.possible_actions import PossibleActions
from replaykit.replay.run_state import Page
from replaykit.trajectory.step import Step, Trajectory


class NextLooks:
    """The looks after the steps of one run."""

    def __init__(self, run: Trajectory, pages: Iterable[Page], possible: PossibleActions) -> None:
        self._steps = run.steps
        self._possible = possible
        self._first: dict[int | None, Page] = {}
        for page in pages:
            if page.role == "after":
                self._first.setdefault(page.step, page)

    def after(self, step: Step) -> Page | None:
        """Return the first look after a step, if neither a step nor a script of the agent came before it."""
        page = self._first.get(step.index)
        if page is None or len(step.actions) > 1:
            return None
        following = self._steps[step.index + 1 : step.index + 2]
        is_next = all((page.t or 0) <= (one.t or 0) for one in following)
        return page if is_next and not self._possible.may_be_scripted(step, page) else None
