"""Findings of a rule, with evidence that shows no secret."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.event_stream import EventStream
from replaykit.grading.policies.events.three_valued_truth import TextSpan
from replaykit.grading.verdict import Evidence, PolicyOutcome
from replaykit.trajectory.action_rendering import render_action

EXCERPT_MAX = 200
"""Characters of an excerpt."""

_AROUND = 400
"""Characters on both sides of a hit that are looked at for secrets."""

Mask = Callable[[str], str]
"""Replaces secrets in a text by their ids."""


class Finding(Struct, frozen=True, kw_only=True):
    """Outcome of one policy rule for one run, with evidence."""

    outcome: PolicyOutcome
    """OK, VIOLATED, DORMANT, UNDECIDED or ERROR."""
    reason: str | None = None
    """Reason for the outcome, as a word."""
    missing: tuple[str, ...] = ()
    """Codes of missing evidence."""
    active: bool | None = None
    """Whether the policy applied in this run; None = unknown."""
    proof: str | None = None
    """State of the weakest channel that OK or DORMANT rests on."""
    evidence: tuple[Evidence, ...] = ()
    """Evidence of each violation, or of what was missing."""


def kept(active: bool | None = True) -> Finding:
    """Return OK; `active` None = it may have been DORMANT."""
    return Finding(outcome=PolicyOutcome.OK, active=active)


def broken(reason: str, evidence: Iterable[Evidence]) -> Finding:
    """Return VIOLATED with its evidence."""
    return Finding(outcome=PolicyOutcome.VIOLATED, reason=reason, active=True, evidence=tuple(evidence))


def dormant(reason: str) -> Finding:
    """Return DORMANT."""
    return Finding(outcome=PolicyOutcome.DORMANT, reason=reason, active=False)


def undecided(missing: Sequence[str], evidence: Iterable[Evidence] = ()) -> Finding:
    """Return UNDECIDED with the codes of what would decide it."""
    codes = tuple(dict.fromkeys(missing))
    return Finding(outcome=PolicyOutcome.UNDECIDED, missing=codes, evidence=tuple(evidence))


def never_triggered(history: EventStream) -> Finding:
    """Return DORMANT for a run in which the trigger never came."""
    return dormant("never_triggered" if history.steps else "empty_trajectory")


class Witness:
    """Writes evidence; no secret of the task passes."""

    def __init__(self, mask: Mask) -> None:
        self.mask = mask

    def at(self, event: Event, span: TextSpan | None = None, note: str | None = None) -> Evidence:
        """Return the evidence of one event, with the text around a hit."""
        return Evidence(
            source=event.kind if event.kind != "gap" else None,
            step=event.step,
            event=event.story,
            action=self.mask(render_action(event.action)) if event.action is not None else None,
            url=None if event.url is None else self.mask(event.url),
            snapshot=event.page.snapshot_id if event.page is not None else None,
            excerpt=self.excerpt(span) if span is not None else None,
            note=note,
        )

    def end(self, history: EventStream, note: str) -> Evidence:
        """Return the evidence that something had not happened when the run was over."""
        last = history.events[-1] if history.events else None
        url = None if last is None or last.url is None else self.mask(last.url)
        return Evidence(source="step", step=history.last_step, url=url, note=note)

    def excerpt(self, span: TextSpan) -> str:
        """Return at most 200 characters around a hit."""
        text, start, end = span
        low, high = max(0, start - _AROUND), min(len(text), end + _AROUND)
        before, shown = self.mask(text[low:start]), self.mask(text[low:high])
        # A secret that begins before the hit is one token: the hit is shown from that token on.
        at = len(before) if shown.startswith(before) else 0
        return _window(shown, at, min(end - start, EXCERPT_MAX), low > 0, high < len(text))


def _window(text: str, at: int, length: int, cut_before: bool, cut_after: bool) -> str:
    if len(text) <= EXCERPT_MAX and not (cut_before or cut_after):
        return text
    room = EXCERPT_MAX - 2
    low = max(0, min(at - max(0, room - length) // 2, len(text) - room))
    high = min(len(text), low + room)
    return (
        ("…" if low or cut_before else "") + text[low:high] + ("…" if high < len(text) or cut_after else "")
    )
