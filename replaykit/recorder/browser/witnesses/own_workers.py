"""Whether the browser may have looked for a new version of a service worker that the run has installed.

It asks for the worker's script, and for what that imports; no client is given these requests. But before
that it looks the worker up, and counts how often it did so for any worker. To install one adds nothing to
that count, or too much. The recorder looks one up as well: then the count has to be one higher, not more.

Own module: it is about the counts of a browser, which no tab and no site knows.
"""

from __future__ import annotations

from typing import Any

LOOKUPS = "ServiceWorker.LiveRegistrationKeyMatched"
"""Name under which the browser counts how often it looked up a worker that is installed."""


class OwnWorkers:
    """Counts of one recording."""

    def __init__(self) -> None:
        self.is_active = False
        """One that the run has installed was active."""
        self._before: int | None = None
        self._after: int | None = None
        self._is_asked = False
        self._is_found = False

    def began(self, count: int) -> None:
        """Note the count from before the first page is recorded."""
        self._before = count if self._before is None else self._before

    @property
    def is_due(self) -> bool:
        """Whether the recorder is to look one up: once."""
        return self.is_active and not self._is_asked

    def asked(self) -> None:
        """Note that it looks one up."""
        self._is_asked = True

    def found(self) -> None:
        """Note that the recorder has found one."""
        self._is_found = True

    def ended(self, count: int) -> None:
        """Note the count at the end."""
        self._after = count

    @property
    def may_be_updated(self) -> bool:
        """Whether the browser may have looked one up as well."""
        if not self.is_active:
            return False
        is_counted = self._is_found and self._before is not None
        return not is_counted or self._after != (self._before or 0) + 1


def count_of(answer: dict[str, Any]) -> int:
    """Return the count of lookups in an answer of `Browser.getHistograms`."""
    return sum(int(one["count"]) for one in answer["histograms"] if one["name"] == LOOKUPS)
