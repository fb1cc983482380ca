"""Entries of a list that a key took as it led to another document: the page that showed them is gone.

Own module: it knows what tabs showed before they were left, which the other widgets never ask.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.agent_script_times import SLACK_MS
from replaykit.grading.policies.events.plain_widgets.closed_lists import pressed_entries
from replaykit.grading.policies.events.plain_widgets.page_change import PageChange
from replaykit.grading.policies.events.shown_choices import BEFORE_MAX
from replaykit.replay.run_state import Page
from replaykit.trajectory.action import ActionBase, Press
from replaykit.trajectory.step import Step

Looks = Sequence[tuple[int, Page]]
"""Looks at a tab in order, each with its time."""


def last_look(looks: Looks, at: int) -> Page | None:
    """Return what a tab showed at a moment; None if it was not looked at before."""
    return next((page for seen, page in reversed(looks) if seen <= at), None)


class _Left(NamedTuple):
    """A document that was left."""

    page: Page
    looks: Looks
    at: int


class EntriesThatLeadOn:
    """The documents that the tabs of one run left."""

    def __init__(self) -> None:
        self._left: dict[int | None, _Left] = {}

    def left(self, tab: int | None, page: Page | None, looks: Looks, at: int) -> None:
        """Keep what a tab showed until the next document is there."""
        if page is not None:
            self._left[tab] = _Left(page, looks, at)

    def taken(self, tab: int | None, gestures: Sequence[Step], page: Page) -> Iterator[ActionBase]:
        """Yield the press of each entry that the last key took before a tab showed this document."""
        left = self._left.pop(tab, None)
        if left is None:
            return
        end = bisect_right(gestures, left.at + SLACK_MS, key=lambda step: step.t or 0)
        steps = gestures[max(0, end - BEFORE_MAX - 1) : end]
        key = steps[-1].action if steps else None
        if not isinstance(key, Press) or key.element is None:
            return
        earlier = last_look(left.looks, steps[0].t or 0)
        try:
            yield from pressed_entries(key, key.element, PageChange(left.page, page), earlier)
        except ReplaykitError:  # faults of the page are reported by the rule that has to read it
            return
