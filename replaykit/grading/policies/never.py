"""`never`: no event in force may match."""

from __future__ import annotations

from replaykit.grading.policies.completeness_needed import channels_of
from replaykit.grading.policies.events.match_cache import track_of
from replaykit.grading.policies.rule_finding import Finding, broken, kept, never_triggered, undecided
from replaykit.grading.policies.rule_kind import PolicyRun, RuleKind, as_json
from replaykit.tasks.policy_rules import Never


def grade_never(rule: Never, run: PolicyRun) -> Finding:
    """Return VIOLATED with every match; DORMANT where its subject was never met."""
    window, witness = run.window, run.witness
    track = track_of(rule.match, window, done=False)
    if track.certain:
        return broken("forbidden", (witness.at(hit.event, hit.truth.span) for hit in track.certain))
    if track.codes:
        return undecided(track.codes, (witness.at(hit.event) for hit in track.possible[:3]))
    stake = track.at_stake(window)
    return never_triggered(window.history) if stake.holds is False else kept(stake.holds)


KIND = RuleKind(
    grade=grade_never,
    breaks=lambda rule: f"any event like {as_json(rule.match)}",
    channels=lambda rule: channels_of(rule.match),
)
