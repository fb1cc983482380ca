"""How many bundles go to a worker at once: a message costs as much as a grading."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice

from replaykit.grading.workers.worker_messages import WorkItem

FIRST = 16
"""Bundles of a chunk while nothing is known of their cost."""

CHUNK_MAX = 256
"""Bundles of the largest chunk."""

SHARE = 4
"""Near the end a chunk is at most this part of a worker's share, so that all end together."""

LEAST_SECONDS = 0.005
"""Work that a chunk has even then, so that most of the end is no talk of ever smaller chunks."""


class Chunks:
    """Cuts items into chunks of about `seconds` each; `count`: how many there are, if that is known."""

    def __init__(self, items: Iterable[WorkItem], *, seconds: float, workers: int, count: int | None) -> None:
        self._items: Iterator[WorkItem] = iter(items)
        self._again: deque[list[WorkItem]] = deque()
        self._seconds = seconds
        self._workers = workers
        self._left = count
        self._spent = 0.0
        self._done = 0

    def next(self) -> list[WorkItem]:
        """Return the next chunk; empty at the end."""
        if self._again:
            return self._again.popleft()
        chunk = list(islice(self._items, self._size()))
        if self._left is not None:
            self._left = max(0, self._left - len(chunk))
        return chunk

    def again(self, chunk: list[WorkItem]) -> None:
        """Give a chunk back; it comes next."""
        self._again.append(chunk)

    def learn(self, done: int, seconds: float) -> None:
        """Record the time that a chunk took."""
        self._done += done
        self._spent += seconds

    def _size(self) -> int:
        size, least = FIRST, 1
        if self._done and self._spent > 0:
            size, least = self._worth(self._seconds), self._worth(LEAST_SECONDS)
        if self._left is not None:
            size = min(size, max(least, -(-self._left // (SHARE * self._workers))))
        return max(1, size)

    def _worth(self, seconds: float) -> int:
        return int(min(CHUNK_MAX, seconds * self._done / self._spent))
