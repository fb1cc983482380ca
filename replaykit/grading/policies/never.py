"""`never`: no event in force may match."""

from __future__ import annotations

from replaykit.grading.policies.matches import track_of
from replaykit.grading.policies.rule_finding import Finding, Witness, broken, kept, never_triggered, undecided
from replaykit.grading.policies.scope_window import Window
from replaykit.tasks.policy_rules import Never


def grade_never(rule: Never, window: Window, witness: Witness) -> Finding:
    """Return VIOLATED with every match; DORMANT where its subject was never met."""
    track = track_of(rule.match, window, done=False)
    if track.certain:
        return broken("forbidden", (witness.at(hit.event, hit.truth.span) for hit in track.certain))
    if track.codes:
        return undecided(track.codes, (witness.at(hit.event) for hit in track.possible[:3]))
    stake = track.at_stake(window)
    return never_triggered(window.history) if stake.holds is False else kept(stake.holds)
