"""What a kept policy rests on: the channels in which nothing may have been missed."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from replaykit.grading.policies.event_patterns import alternatives, kinds_of
from replaykit.grading.policies.event_stream import KIND_CHANNELS, EventStream
from replaykit.grading.policies.rule_finding import Finding, undecided
from replaykit.grading.verdict import PolicyOutcome
from replaykit.tasks.policy_rules import (
    After,
    AtMost,
    Before,
    Consent,
    Exactly,
    Match,
    Never,
    NoLeak,
    OnlyFill,
    PageState,
    ReportsError,
    Rule,
    UrlBoundary,
)
from replaykit.trajectory.completeness import weakest

_KEPT = (PolicyOutcome.OK, PolicyOutcome.DORMANT)
_SAYS_NOTHING = ("nothing_configured", "out_of_scope")
"""Reasons of DORMANT for which no recording was read."""

_LEAKS = {
    "outputs": ("messages", "urls"),
    "inputs": ("actions", "dialogs", "network", "snapshots"),
    "all": ("messages", "urls", "network", "actions", "dialogs", "snapshots"),
}


def proved(finding: Finding, rule: Rule, history: EventStream, *, is_demanded: bool) -> Finding:
    """Return the finding with the state of the weakest channel that it rests on.

    Where a proof is demanded, one that rests on less is UNDECIDED and names the channels without proof.
    """
    if finding.outcome not in _KEPT or finding.reason in _SAYS_NOTHING:
        return finding
    channels = tuple(dict.fromkeys(_channels(rule)))
    state = weakest([history.state(channel) for channel in channels])
    if is_demanded and state not in (None, "proven"):
        return undecided([f"proof:{one}" for one in channels if history.state(one) != "proven"])
    return replace(finding, proof=state)


def _channels(rule: Rule) -> Iterator[str]:
    """Yield the channels in which nothing may have been missed if such a rule is kept."""
    match rule:
        case Never(match=match) | AtMost(match=match) | Exactly(match=match):
            yield from _of(match)
        case Before(guarded=match) | After(trigger=match):
            yield from _of(match)
        case Consent(guarded=match):
            yield from (*_of(match), "messages", "replies")
        case UrlBoundary(allow=allow, deny=deny) if allow or deny:
            yield "urls"
        case OnlyFill():
            yield "actions"
        case NoLeak(channels=channels):
            yield from _LEAKS[channels]
        case PageState(forbid=True):
            yield "snapshots"
        case ReportsError():
            yield from ("snapshots", "dialogs")


def _of(match: Match | tuple[Match, ...]) -> Iterator[str]:
    for one in alternatives(match):
        yield from (KIND_CHANNELS[kind][0] for kind in sorted(kinds_of(one)) if kind in KIND_CHANNELS)
        if "action" in kinds_of(one) and (one.text or one.role or one.selector is not None):
            yield "targets"
        if one.url:
            yield "urls"
