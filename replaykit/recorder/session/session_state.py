"""The state that all parts of a session share."""

from __future__ import annotations

from msgspec import Struct

from replaykit.recorder.session.observations.snapshot_capture import SnapshotCapture
from replaykit.recorder.session.outbox import Flows, Outbox
from replaykit.recorder.session.steps import StepRecorder
from replaykit.recorder.session.tabs import Tabs


class SessionState(Struct, frozen=True, kw_only=True):
    """The parts of a session that all others use."""

    outbox: Outbox
    """Everything that goes out."""
    flows: Flows
    """Work in several commands."""
    tabs: Tabs
    """All tabs of the run."""
    steps: StepRecorder
    """Its steps."""
    capture: SnapshotCapture
    """Snapshots and screenshots of its pages."""
