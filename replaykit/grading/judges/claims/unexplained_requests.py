"""Requests that changed something and that neither a need nor the task explains."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from replaykit.grading.judges.claims.run_facts import RunFacts
from replaykit.grading.server_changes import Change, is_allowed

UNKNOWN = ({"note": "unknown: the network was not recorded"},)
"""The entry for a run without a network."""


NO_NETWORK = "the network was not recorded: what else the run changed is unknown"
"""Detail of a success that is taken back, where side effects fail a run."""


def unexplained(facts: RunFacts, explained: Collection[int]) -> tuple[dict[str, Any], ...]:
    """Return the changes that no supported need sent for and `allow:` does not expect.

    `explained`: requests by their positions in the story. The answer's own words explain nothing.
    """
    if not facts.has_network:
        return UNKNOWN
    left = [one.at_most for one in facts.allow]
    return tuple(
        plain_change(change)
        for change in facts.changes
        if change.event not in explained and not is_allowed(change, facts.allow, left)
    )


def plain_change(change: Change) -> dict[str, Any]:
    """Return what a judgement keeps of a change."""
    one = change.exchange
    return {
        "event": change.event,
        "step": one.step,
        "method": one.method,
        "url": one.url,
        "status": change.status,
    }
