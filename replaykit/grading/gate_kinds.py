"""The kinds of results that a gate may fail on."""

from __future__ import annotations

from collections.abc import Iterable

from replaykit.errors import UsageError

KINDS = ("success", "check", "policy", "judge", "side_effect", "undecided", "error")
"""As `--fail-on` names them; `success` is the run's own outcome, of checks and judges together; `side_effect`
is a state-changing request that no passing check explains."""

SIDE_EFFECT = "S1"
"""Code of the finding that is a side effect."""

DEFAULT = ("success", "check", "policy")
"""Kinds of results on which a gate fails by default."""


def checked_kinds(given: Iterable[str]) -> tuple[str, ...]:
    """Return kinds of results. Raises UsageError for an unknown one, and for a text of several."""
    if isinstance(given, str):
        raise UsageError(what=f"fail_on: expected a tuple of kinds, such as ('check',), got {given!r}")
    kinds = tuple(given)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise UsageError(what=f"cannot fail on {', '.join(unknown)}; there are {', '.join(KINDS)}")
    return kinds
