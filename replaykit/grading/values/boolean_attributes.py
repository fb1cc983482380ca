"""Attributes that are true if present: `disabled=""` is true as well."""

from __future__ import annotations

from replaykit.tasks.grammar.properties import BOOLEAN
from replaykit.trajectory.observation import Read


def presence(name: str | None, read: Read) -> tuple[str, ...] | None:
    """Return the texts that such an attribute is compared by: `true` and its own, or `false`.

    None for any other name, and where no element was found.
    """
    if name not in BOOLEAN:
        return None
    if read.kind == "null":
        return ("false",)
    return ("true", str(read.value)) if read.kind == "string" else None
