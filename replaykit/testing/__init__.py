"""Builders of runs and pages for tests: `from replaykit.testing import trajectory`."""

from replaykit.testing.builder import Builder, trajectory
from replaykit.testing.pages import snapshot

__all__ = ["Builder", "snapshot", "trajectory"]
