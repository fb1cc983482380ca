"""The recording's clock: ms since its start, from four kinds of time.

Arrival is the least of them: with Playwright's sync API an event waits until the agent next enters a call.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LAG_MAX_MS = 50.0
"""A page's message that is older on arrival comes from a backlog, and so do its neighbours."""


BACKLOG_MS = 100.0
"""Events of a backlog arrive one right after the other; an event after a longer pause is not part of it."""


class Clock:
    """Turns times of this process, the wall, a page and the browser's network into ms since start."""

    def __init__(self, wall: Callable[[], float] = time.time, ticks: Callable[[], float] = time.perf_counter):
        self._ticks = ticks
        # Ticks, not the wall clock: that may be set back while the recording runs.
        self._first = ticks()
        self.started = wall() * 1000
        """Recording start, epoch ms."""
        self._latest = 0.0
        self._lag = 0.0
        self._arrived_at = 0.0

    def now(self) -> float:
        """Ms since recording start; never goes back."""
        return (self._ticks() - self._first) * 1000

    def of_epoch(self, epoch_ms: float) -> float:
        """Turn ms since the epoch into ms since start; what was before it counts as its first moment."""
        return max(0.0, epoch_ms - self.started)

    def witnessed(self, at: float) -> float:
        """Note when an event that knows its own time has arrived; returns `at`."""
        self._arrived_at = self.now()
        self._latest, self._lag = at, self._arrived_at - at
        return at

    def arrived(self) -> float:
        """Return the best guess for an event without a time: now, or in a backlog that of its neighbour."""
        now = self.now()
        is_backlog = self._lag > LAG_MAX_MS and now - self._arrived_at <= BACKLOG_MS
        # A page whose clock lags, or that was busy, is no backlog for what comes long after it.
        self._lag = self._lag if is_backlog else 0.0
        self._arrived_at = now
        return self._latest if is_backlog else now


def offset(samples: list[tuple[float, float, float]]) -> float:
    """Return how far a page's clock is ahead of ours, ms.

    Samples are (asked, reported, answered), all epoch ms; the quickest round trip is the most exact.
    """
    asked, reported, answered = min(samples, key=lambda sample: sample[2] - sample[0])
    return reported - (asked + answered) / 2
