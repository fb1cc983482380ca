"""Limits of searches for places in JSON, and the fault of a path that breaks them."""

from __future__ import annotations

VISITS_MAX = 200_000
"""Nodes that one search visits, and values that its filters compare."""


class PathFault(ValueError):
    """A path that cannot be read, or that visits too much."""
