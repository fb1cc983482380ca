"""Read older formats: one small function per version step, over plain dicts, in memory only.

The file and its digest stay as they are.
Own module: a new format version adds its step here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import ValidationError

from replaykit.bundle.bundle_format import FORMAT_VERSION
from replaykit.bundle.storable_values import numbers_fit

Event: TypeAlias = dict[str, Any]
"""A header or event as JSON has it."""

STEPS: Mapping[int, Callable[[Event], Event]] = {}
"""Format version to the function that lifts one event to the next version.

A step takes events of every type, unknown ones included, and returns those that it does not concern.
"""

# Errors of a migration step on an event that does not have the form of its version.
_MISFITS = (LookupError, TypeError, ValueError, AttributeError)


def upgrade(event: Any, found: int) -> Event:
    """Lift a header or event of format `found` to the format of today, step by step.

    Raises msgspec.ValidationError if it does not fit a step.
    """
    if not isinstance(event, dict):
        raise ValidationError(f"Expected `object`, got `{type(event).__name__}`")
    if not numbers_fit(event):
        raise ValidationError("a number over 2^53")
    lifted: Event = event
    for version in range(found, FORMAT_VERSION):
        lifted = _lift(lifted, version, STEPS[version])
    return lifted


def _lift(event: Event, version: int, step: Callable[[Event], Event]) -> Event:
    try:
        return step(event)
    except _MISFITS as error:
        raise ValidationError(f"not an event of format {version}: {error!r}") from error
