"""`never`: no event in force may match."""

from __future__ import annotations

from replaykit.grading.policies.finding import Finding, Witness, broken, kept, never_triggered, undecided
from replaykit.grading.policies.patterns import Pattern, Window, alternatives, any_of
from replaykit.grading.policies.truth import codes, some
from replaykit.tasks.policies import Never


def grade_never(rule: Never, window: Window, witness: Witness) -> Finding:
    """Return VIOLATED with every match; DORMANT where its subject was never met."""
    patterns = [Pattern(match) for match in alternatives(rule.match)]
    kinds = frozenset[str]().union(*(pattern.kinds for pattern in patterns))
    hits = list(window.where(any_of(patterns), kinds))
    certain = [(event, truth) for event, truth in hits if truth.holds]
    if certain:
        return broken("forbidden", (witness.at(event, truth.span) for event, truth in certain))
    hidden = [code for kind in sorted(kinds) for code in window.history.hidden(kind)]
    if hits or hidden:
        return undecided((*codes(truth for _, truth in hits), *hidden), (witness.at(e) for e, _ in hits[:3]))
    return _at_stake(patterns, window)


def _at_stake(patterns: list[Pattern], window: Window) -> Finding:
    stake = some(truth for pattern in patterns for _, truth in window.where(pattern.at_stake, pattern.kinds))
    if stake.holds is False:
        return never_triggered(window.history)
    return kept(stake.holds)
