"""Read older formats: one small function per version step, over plain dicts, in memory only.

The file and its digest stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from replaykit.bundle.format import FORMAT_VERSION

Event: TypeAlias = dict[str, Any]
"""A header or event as JSON has it."""

STEPS: Mapping[int, Callable[[Event], Event]] = {}
"""Format version to the function that lifts one event to the next version."""


def upgrade(
    event: Event, found: int, steps: Mapping[int, Callable[[Event], Event]] = STEPS, to: int = FORMAT_VERSION
) -> Event:
    """Lift a header or event of format `found` to format `to`, step by step."""
    for version in range(found, to):
        event = steps[version](event)
    return event
