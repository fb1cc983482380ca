"""`url_boundary`: where the agent may go."""

from __future__ import annotations

from replaykit.grading.policies.event import Event
from replaykit.grading.policies.finding import (
    Finding,
    Witness,
    broken,
    dormant,
    kept,
    never_triggered,
    undecided,
)
from replaykit.grading.policies.truth import FALSE, TRUE, Span, Truth, codes, some, unknown
from replaykit.grading.policies.url_terms import UrlTests
from replaykit.grading.policies.window import Window
from replaykit.grading.verdict import Evidence
from replaykit.tasks.policies import UrlBoundary

_VISITS = frozenset({"visit"})


def grade_boundary(rule: UrlBoundary, window: Window, witness: Witness) -> Finding:
    """Return VIOLATED for a visit to a denied place or outside of the allowed ones, or a missing one."""
    if not (rule.allow or rule.deny or rule.require):
        return dormant("nothing_configured")
    border = _Border(rule)
    trespasses = list(window.where(border.crossed, _VISITS))
    certain = [event for event, truth in trespasses if truth.holds]
    if certain:
        return broken(border.reason(certain[0]), (_evidence(witness, event, border) for event in certain))
    history, hidden = window.history, window.gaps("visit")
    required = some(truth for _, truth in window.where(border.reached, _VISITS)) if rule.require else TRUE
    if required.holds is False and not hidden and not history.unfinished:
        return broken("required_never_visited", [witness.end(history, "no visit matches require")])
    missing = [*codes(truth for _, truth in trespasses), *(hidden if rule.allow or rule.deny else ())]
    if not required.holds:
        missing += [*required.missing, *hidden, *(["trajectory.end"] if history.unfinished else [])]
    if missing:
        return undecided(missing)
    return kept() if any(True for _ in window.where(_is_visit, _VISITS)) else never_triggered(history)


class _Border:
    """The rule's lists, compiled."""

    def __init__(self, rule: UrlBoundary) -> None:
        self.allow, self.deny, self.require = (UrlTests(t) for t in (rule.allow, rule.deny, rule.require))
        self.attempts = rule.attempts

    def crossed(self, event: Event) -> Truth:
        """Return whether this visit is forbidden; one only tried counts as `attempts` says."""
        if _is_visit(event) is FALSE or not self.reason(event):
            return FALSE
        return TRUE if self.attempts else _arrived(event)

    def reached(self, event: Event) -> Truth:
        """Return whether this visit is a required one; one only tried does not count."""
        is_place = _is_visit(event) is TRUE and self.require.holds(event.url or "")
        return _arrived(event) if is_place else FALSE

    def reason(self, event: Event) -> str:
        """Return `denied`, `not_allowed` or nothing."""
        url = event.url or ""
        if self.deny.holds(url):
            return "denied"
        return "not_allowed" if self.allow and not self.allow.holds(url) else ""


def _arrived(event: Event) -> Truth:
    if event.failed is None:
        return unknown("urls.incomplete")
    return FALSE if event.failed else TRUE


def _is_visit(event: Event) -> Truth:
    """Return whether this is a visit to a place; empty tabs and error pages are none."""
    return TRUE if event.kind == "visit" and event.is_place else FALSE


def _evidence(witness: Witness, event: Event, border: _Border) -> Evidence:
    url = event.url or ""
    tab = "" if event.tab is None else f", tab {event.tab}"
    attempt = ", attempted only" if event.failed else ""
    return witness.at(event, Span(url, 0, len(url)), f"{border.reason(event)}{tab}{attempt}")
