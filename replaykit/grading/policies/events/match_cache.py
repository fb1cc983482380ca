"""Where matches were met in a run, looked for once however many policies ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.event_index import may_be_at_stake, may_match
from replaykit.grading.policies.events.event_patterns import Pattern, alternatives
from replaykit.grading.policies.events.scope_window import Held, Window
from replaykit.grading.policies.events.three_valued_truth import TRUE, Truth, every, some
from replaykit.tasks.policy_rules import Match
from replaykit.trajectory.completeness import END


class MatchedEvent(NamedTuple):
    """An event that matches, or may."""

    place: int
    event: Event
    truth: Truth


class Track:
    """Where a match was met in the part of the run that counts, and where it may have been."""

    def __init__(self, matches: Iterable[Match], window: Window) -> None:
        self.patterns = [Pattern(match) for match in matches]
        kinds = frozenset[str]().union(*(pattern.kinds for pattern in self.patterns))
        self.possible = list(self._hits(window))
        self.certain = [hit for hit in self.possible if hit.truth.holds]
        #: Why such events may be missing altogether.
        self.hidden = tuple(code for kind in sorted(kinds) for code in window.history.hidden(kind))
        gaps = [hit.event.code for hit in self.possible if hit.event.kind == "gap"]
        #: Whether any number of further events may have been missed before the recording ended.
        self.is_holed = bool(self.hidden) or any(code != END for code in gaps)
        #: Whether any number of further events may have been missed.
        self.is_open = self.is_holed or bool(gaps)
        self._stake: Truth | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the evidence that would decide the open ones."""
        return (*(code for hit in self.possible for code in hit.truth.missing), *self.hidden)

    def at_stake(self, window: Window) -> Truth:
        """Return whether some event in force was one that these matches could have been about."""
        if self._stake is None:
            self._stake = some(
                truth
                for pattern in self.patterns
                for _, truth in window.where(pattern.at_stake, may_be_at_stake(pattern, window))
            )
        return self._stake

    def _hits(self, window: Window) -> Iterator[MatchedEvent]:
        only = self.patterns[0] if len(self.patterns) == 1 else None
        for place, event, in_force in self._held(window):
            truth = only.truth(event) if only else some(pattern.truth(event) for pattern in self.patterns)
            truth = truth if truth.holds is False or in_force is TRUE else every((in_force, truth))
            if truth.holds is not False:
                yield MatchedEvent(place, event, truth)

    def _held(self, window: Window) -> Iterable[Held]:
        """Return the events that one of the patterns may hold for, in order."""
        if len(self.patterns) == 1:
            return may_match(self.patterns[0], window)
        found = {held.place: held for pattern in self.patterns for held in may_match(pattern, window)}
        return [found[place] for place in sorted(found)]


def track_of(match: Match | tuple[Match, ...], window: Window, *, done: bool) -> Track:
    """Return where a match was met in a window; with `done`, not where it was only tried."""
    wanted = [_done(one) if done else one for one in alternatives(match)]
    # Matches may hold dictionaries; their bytes can be a key.
    return window.known(msgspec.msgpack.encode(wanted), lambda: Track(wanted, window))


def _done(match: Match) -> Match:
    """Return the match for an action that is required: it has to succeed, unless the match sets `failed`."""
    return replace(match, failed=False) if match.failed is None else match
