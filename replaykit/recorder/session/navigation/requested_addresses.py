"""Addresses that were first asked for: redirects lead elsewhere, and a download or an empty answer nowhere.

Own module: it knows neither tabs nor steps, and outlives each navigation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from replaykit.recorder.session.outbox import StepRef
from replaykit.trajectory.exchange import Navigation

ELSEWHERE_MAX = 1000
"""Addresses kept that were asked for in tabs of their own, and of which no tab is known."""

_REMOTE = ("http:", "https:")


class RequestedAddresses:
    """Follows addresses that pages asked for in tabs of their own, until a tab shows where they led."""

    def __init__(self, write: Callable[[Navigation, StepRef | None], None]) -> None:
        self._write = write
        self._open: list[tuple[Navigation, StepRef | None]] = []

    def ask(self, navigation: Navigation, ref: StepRef | None) -> bool:
        """Keep one that has led nowhere yet; returns False where there are too many."""
        if is_remote(navigation.url) and len(self._open) < ELSEWHERE_MAX:
            self._open.append((navigation, ref))
            return True
        return not is_remote(navigation.url)

    def arrived(self, navigation: Navigation) -> None:
        """Forget the one that led to this navigation."""
        places = {_bare(navigation.url), _bare(navigation.requested or navigation.url)}
        found = next((one for one in self._open if _bare(one[0].url) in places), None)
        if found is not None:
            self._open.remove(found)

    def finish(self) -> None:
        """Report those of which no tab has shown where they led."""
        left, self._open = self._open, []
        for navigation, ref in left:
            self._write(navigation, ref)


def is_remote(url: str) -> bool:
    """Whether a server answers for an address, which may lead elsewhere."""
    return url.startswith(_REMOTE)


def requested_of(entries: Sequence[tuple[str, str]], url: str) -> str | None:
    """Return what was first asked for of a document; `entries`: those of `TabOpened.requested`.

    A page that changes its address keeps its entry. None: the history is empty.
    """
    found = next((first for shown, first in reversed(entries) if shown == url), None)
    return found or (entries[-1][1] if entries else None)


def elsewhere(requested: str | None, url: str) -> str | None:
    """Return an address that was first asked for, if it is not the one that was reached."""
    is_other = requested is not None and is_remote(requested) and _bare(requested) != _bare(url)
    return requested if is_other else None


def _bare(url: str) -> str:
    return url.partition("#")[0]
