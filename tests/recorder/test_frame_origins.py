from __future__ import annotations

from replaykit.recorder.session.driver_messages import MAIN
from replaykit.recorder.session.observations.frame_origins import FrameOrigins
from replaykit.recorder.session.observations.snapshot_history import SnapshotHistory
from tests.recorder.test_snapshot_history import AD, entry, shown


def test_a_frame_begins_where_its_content_does_less_what_is_scrolled() -> None:
    snapshots = SnapshotHistory()
    offsets = FrameOrigins(snapshots)
    snapshots.add(shown("main", 10, frames=(entry("F", origin=(50, 400)),)))
    snapshots.add(shown("ad", 11, AD, frames=(entry("H", origin=(5, 70)),)))
    offsets.scrolled(MAIN, 10, (0, 100))
    assert offsets.origin(MAIN, 0, 20) == (0, 0)
    assert offsets.origin(AD, 0, 20) == (50, 300)
    offsets.scrolled(MAIN, 15, (0, 250))
    offsets.scrolled(AD, 16, (1, 20))
    assert offsets.origin(AD, 0, 14) == (50, 300)
    assert offsets.origin(AD, 0, 20) == (50, 150)
    assert offsets.origin(("H", 3), 0, 20) == (54, 200)
    assert offsets.origin(("unknown", 0), 0, 20) is None
    assert offsets.origin(AD, 1, 20) is None
