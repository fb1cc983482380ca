"""Fields that changed without an event: reported with the next observation, whichever snapshot that shows.

Own module: which change belongs to which observation is one rule, and needs nothing else of a tab.
"""

from __future__ import annotations

from collections import deque
from math import inf
from typing import NamedTuple

from replaykit.recorder.session.driver_messages import MAIN
from replaykit.recorder.session.observations.snapshot_history import PushedSnapshot

CHANGES_MAX = 64
"""Fields of one observation that changed without an event."""

Row = tuple[str, str, str]
"""CSS path, value before, value after."""


class FieldChange(NamedTuple):
    """A field that a snapshot found changed."""

    at: float
    shown: PushedSnapshot
    row: Row


class FieldChanges:
    """The changes of one tab. Most snapshots become no observation, so a later one reports theirs."""

    def __init__(self) -> None:
        self._found: deque[FieldChange] = deque(maxlen=CHANGES_MAX)
        self._reported = (-inf, -inf)

    def take(self, shown: PushedSnapshot) -> None:
        """Keep the changed fields of a snapshot."""
        self._found.extend(FieldChange(shown.at, shown, row) for row in shown.push.changed[:CHANGES_MAX])

    def until(self, shown: PushedSnapshot, at: float) -> tuple[Row, ...]:
        """Return what changed up to a moment, and after the observation before."""
        limit = max(at, shown.at)
        # The same look may be made twice, and a step may begin on what the step before led to.
        if limit > self._reported[1]:
            self._reported = (self._reported[1], limit)
        rows = (_placed(one, shown) for one in self._found if self._reported[0] < one.at <= limit)
        return tuple(dict.fromkeys(rows))


def _placed(change: FieldChange, shown: PushedSnapshot) -> Row:
    """Return a change with a path that leads nowhere on a page that does not hold the field."""
    path, before, after = change.row
    if change.shown.source != MAIN:
        return (f"iframe >>> {path}", before, after)
    return change.row if change.shown.document == shown.document else (f"left >>> {path}", before, after)
