"""Channels on which a kept policy rests: nothing may have been missed in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from replaykit.grading.policies.events.event_patterns import alternatives
from replaykit.grading.policies.events.event_stream import KIND_CHANNELS, EventStream
from replaykit.grading.policies.rule_finding import Finding, undecided
from replaykit.grading.verdict import PolicyOutcome
from replaykit.tasks.policy_rules import Match, kinds_of
from replaykit.trajectory.completeness import weakest

_KEPT = (PolicyOutcome.OK, PolicyOutcome.DORMANT)
_NOTHING_READ = ("nothing_configured", "out_of_scope")
"""Reasons of DORMANT for which no recording was read."""


def proved(finding: Finding, channels: Iterable[str], history: EventStream, *, is_demanded: bool) -> Finding:
    """Return the finding with the state of the weakest of the channels that it rests on.

    Where a proof is demanded, one that rests on less is UNDECIDED and names the channels without proof.
    """
    if finding.outcome not in _KEPT or finding.reason in _NOTHING_READ:
        return finding
    needed = tuple(dict.fromkeys(channels))
    state = weakest([history.state(channel) for channel in needed])
    if is_demanded and state not in (None, "proven"):
        return undecided([f"proof:{one}" for one in needed if history.state(one) != "proven"])
    return replace(finding, proof=state)


def channels_of(match: Match | tuple[Match, ...]) -> Iterator[str]:
    """Yield the channels in which nothing may have been missed if no event matches."""
    for one in alternatives(match):
        yield from (KIND_CHANNELS[kind][0] for kind in sorted(kinds_of(one)) if kind in KIND_CHANNELS)
        if "action" in kinds_of(one) and (one.text or one.role or one.selector is not None):
            yield "targets"
        if one.url:
            yield "urls"
