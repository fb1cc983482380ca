"""How many pages, frames and workers there were, and whether each was listened to before it ran."""

from __future__ import annotations

from math import inf

from msgspec import Struct, field

from replaykit.recorder.browser.witnesses.earlier_workers import EarlierWorkers
from replaykit.recorder.browser.witnesses.own_workers import OwnWorkers

LATE = "target.late"
"""Code of a gap: a target did something before the recorder was attached to it, or may have."""


class Census(Struct, kw_only=True):
    """Counts of one recording."""

    seen: int = 0
    """Pages, frames in processes of their own, and workers."""
    armed: int = 0
    """Those that the recorder listened to before they did anything unseen."""
    held: int = 0
    """Those of them that waited for it before they ran."""
    late: int = 0
    """Those that may have done something before; a gap says of each which channels that concerns."""
    cut: int = 0
    """Those that were too many to be followed."""
    touched_at: float = inf
    """When the agent last did what may reach any frame, ms since recording start; `inf`: unknown."""
    workers: EarlierWorkers = field(default_factory=EarlierWorkers)
    """Service workers that were there before the run."""
    own_workers: OwnWorkers = field(default_factory=OwnWorkers)
    """Lookups of those that it has installed."""

    def met(self) -> None:
        """Count a page that the recorder listens to."""
        self.seen += 1
        self.armed += 1

    def missed(self, *, is_empty: bool) -> None:
        """Count a page that was not listened to; an empty one has done nothing."""
        self.seen += 1
        self.late += not is_empty

    @property
    def lacks(self) -> tuple[str, ...]:
        """Codes of what it cannot account for by a gap of a channel."""
        return ("targets.cut",) if self.cut else ()

    @property
    def counts(self) -> dict[str, int]:
        """Counts of the census, by name."""
        return {"seen": self.seen, "armed": self.armed, "held": self.held, "late": self.late}
