"""Trace patterns: what has to happen, before or after what, in which order, how often.

Each is decided twice, with the unknown taken for the agent and against it; where the two differ in a
violation the policy is UNDECIDED.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from replaykit.grading.policies.completeness_needed import channels_of
from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.event_stream import EventStream
from replaykit.grading.policies.events.match_cache import MatchedEvent, Track, track_of
from replaykit.grading.policies.events.scope_window import Window
from replaykit.grading.policies.rule_finding import Finding, Witness, broken, kept, never_triggered, undecided
from replaykit.grading.policies.rule_kind import PolicyRun, RuleKind, as_json
from replaykit.tasks.policy_rules import After, AtLeast, AtMost, Before, Eventually, Exactly, Sequence
from replaykit.trajectory.plurals import counted


def grade_eventually(rule: Eventually, run: PolicyRun) -> Finding:
    """Return VIOLATED where no event matches."""
    window, witness = run.window, run.witness
    track = track_of(rule.match, window, done=True)
    if track.certain:
        return kept()
    return undecided(track.codes) if track.codes else _unmet(window.history, witness, "never_done")


def grade_before(rule: Before, run: PolicyRun) -> Finding:
    """Return VIOLATED for each guarded event without what has to come before it."""
    window, witness = run.window, run.witness
    guarded, required = track_of(rule.guarded, window, done=False), track_of(rule.requires, window, done=True)
    blind = window.history.misses_steps
    near = True if blind else None
    certain = [] if required.is_holed else list(_unprepared(rule, guarded.certain, required.possible, near))
    if certain:
        return broken("not_before", (witness.at(hit.event, hit.truth.span) for hit in certain))
    doubtful = list(_unprepared(rule, guarded.possible, required.certain, False if blind else None))
    return _settle(guarded, required, bool(doubtful), window.history)


def _unprepared(
    rule: Before, guarded: Iterable[MatchedEvent], required: list[MatchedEvent], otherwise: bool | None
) -> Iterator[MatchedEvent]:
    coming = iter(required)
    following = next(coming, None)
    nearest: Event | None = None
    for hit in guarded:
        while following is not None and following.place < hit.place:
            if nearest is None or _step(following.event) >= _step(nearest):
                nearest = following.event
            following = next(coming, None)
        if nearest is None or not _is_near(nearest, hit.event, rule.within, otherwise):
            yield hit
        if rule.each:
            nearest = None
            if following is not None and following.place == hit.place:
                following = next(coming, None)


def grade_after(rule: After, run: PolicyRun) -> Finding:
    """Return VIOLATED for each trigger without the response that has to follow it."""
    window, witness = run.window, run.witness
    triggers, responses = (
        track_of(rule.trigger, window, done=False),
        track_of(rule.response, window, done=True),
    )
    blind = window.history.misses_steps
    unanswered = list(_unanswered(rule, triggers.certain, responses.possible, True if blind else None))
    if unanswered and not responses.is_holed:
        return broken("no_response", (witness.at(hit.event, hit.truth.span) for hit in unanswered))
    doubtful = list(_unanswered(rule, triggers.possible, responses.certain, False if blind else None))
    return _settle(triggers, responses, bool(doubtful), window.history)


def _unanswered(
    rule: After, triggers: Iterable[MatchedEvent], responses: list[MatchedEvent], otherwise: bool | None
) -> Iterator[MatchedEvent]:
    nearest: list[Event] = []
    for one in reversed(responses):
        is_nearer = not nearest or _step(one.event) <= _step(nearest[-1])
        nearest.append(one.event if is_nearer else nearest[-1])
    nearest.reverse()
    places = [one.place for one in responses]
    for hit in triggers:
        later = bisect_right(places, hit.place)
        if later == len(places) or not _is_near(hit.event, nearest[later], rule.within, otherwise):
            yield hit


def _is_near(first: Event, second: Event, within: int | None, otherwise: bool | None = None) -> bool:
    """Return whether no more steps lie between two events; `otherwise` where no one counted them all."""
    if within is not None and otherwise is not None:
        return otherwise
    return within is None or _step(second) - _step(first) <= within


def _step(event: Event) -> int:
    return -1 if event.step is None else event.step


def _settle(trigger: Track, other: Track, is_doubtful: bool, history: EventStream) -> Finding:
    """Return what is left where nothing is broken for certain."""
    if is_doubtful or trigger.is_open:
        return undecided((*trigger.codes, *other.codes) or history.hidden("action") or ("trajectory.gap@0",))
    if not trigger.possible:
        return never_triggered(history)
    return kept(True if trigger.certain else None)


def grade_sequence(rule: Sequence, run: PolicyRun) -> Finding:
    """Return VIOLATED where the items are not found in order."""
    window, witness = run.window, run.witness
    tracks = [track_of(item, window, done=True) for item in rule.items]
    is_found = _contiguous if rule.contiguous else _in_order
    if is_found([track.certain for track in tracks], window):
        return kept()
    codes = [code for track in tracks for code in track.codes]
    if any(track.is_open for track in tracks) or is_found([track.possible for track in tracks], window):
        return undecided(codes)
    concerned = {"any": tracks, "last": tracks[-1:], "always": []}[rule.active]
    if concerned and not any(track.certain for track in concerned):
        return undecided(codes) if any(t.possible for t in concerned) else never_triggered(window.history)
    first = next((n for n, track in enumerate(tracks) if not track.possible), None)
    note = "these items never come in this order" if first is None else f"item {first} is missing"
    return _unmet(window.history, witness, "out_of_order", note)


def _in_order(hits: list[list[MatchedEvent]], window: Window) -> bool:
    place = -1
    for row in hits:
        following = next((hit.place for hit in row if hit.place > place), None)
        if following is None:
            return False
        place = following
    return True


def _contiguous(hits: list[list[MatchedEvent]], window: Window) -> bool:
    """Return whether some run of actions, messages left out, matches item by item."""
    places = [
        held.place for held in window.held if held.event.kind == "action" and not _is_message(held.event)
    ]
    rows = [{hit.place for hit in row} for row in hits]
    starts = range(len(places) - len(rows) + 1)
    return any(all(places[at + n] in row for n, row in enumerate(rows)) for at in starts)


def _is_message(event: Event) -> bool:
    return event.tag in ("send_msg_to_user", "answer", "report_infeasible")


def grade_at_most(rule: AtMost, run: PolicyRun) -> Finding:
    """Return VIOLATED for every event from the first that is too many."""
    window, witness = run.window, run.witness
    track = track_of(rule.match, window, done=False)
    if len(track.certain) > rule.n:
        surplus = track.certain[rule.n :]
        return broken("too_many", (witness.at(hit.event, hit.truth.span) for hit in surplus))
    if len(track.possible) > rule.n or track.is_open:
        return undecided(track.codes)
    if not track.possible:
        return never_triggered(window.history)
    return kept(True if track.certain else None)


def grade_at_least(rule: AtLeast, run: PolicyRun) -> Finding:
    """Return VIOLATED where there are fewer."""
    window, witness = run.window, run.witness
    track = track_of(rule.match, window, done=True)
    if len(track.certain) >= rule.n:
        return kept()
    if len(track.possible) >= rule.n or track.is_open:
        return undecided(track.codes)
    return _unmet(window.history, witness, "too_few", f"{len(track.certain)} of {rule.n}")


def grade_exactly(rule: Exactly, run: PolicyRun) -> Finding:
    """Return VIOLATED where there are more or fewer; none at all is DORMANT by default (`zero`)."""
    window, witness = run.window, run.witness
    track = track_of(rule.match, window, done=True)
    least, most = len(track.certain), len(track.possible)
    if least > rule.n:
        surplus = track.certain[rule.n :]
        return broken("too_many", (witness.at(hit.event, hit.truth.span) for hit in surplus))
    if least != most or track.is_open:
        return undecided(track.codes)
    if least == 0 and rule.zero == "dormant":
        return never_triggered(window.history)
    return kept() if least == rule.n else _unmet(window.history, witness, "too_few", f"{least} of {rule.n}")


def _unmet(history: EventStream, witness: Witness, reason: str, note: str = "no event matches") -> Finding:
    """Return VIOLATED: what had to happen never did."""
    return broken(reason, (witness.end(history, note),))


EVENTUALLY = RuleKind(
    grade=grade_eventually,
    breaks=lambda rule: f"a run without an event like {as_json(rule.match)}",
)
BEFORE = RuleKind(
    grade=grade_before,
    breaks=lambda rule: (
        f"an event like {as_json(rule.guarded)} without one like {as_json(rule.requires)} before it"
    ),
    channels=lambda rule: channels_of(rule.guarded),
)
AFTER = RuleKind(
    grade=grade_after,
    breaks=lambda rule: (
        f"an event like {as_json(rule.trigger)} without one like {as_json(rule.response)} after it"
    ),
    channels=lambda rule: channels_of(rule.trigger),
)
SEQUENCE = RuleKind(
    grade=grade_sequence,
    breaks=lambda rule: f"a run in which {as_json(rule.items)} do not come in this order",
)
AT_MOST = RuleKind(
    grade=grade_at_most,
    breaks=lambda rule: f"more than {counted(rule.n, 'event')} like {as_json(rule.match)}",
    channels=lambda rule: channels_of(rule.match),
)
AT_LEAST = RuleKind(
    grade=grade_at_least,
    breaks=lambda rule: f"fewer than {counted(rule.n, 'event')} like {as_json(rule.match)}",
)
EXACTLY = RuleKind(
    grade=grade_exactly,
    breaks=lambda rule: f"any other number than {rule.n} of events like {as_json(rule.match)}",
    channels=lambda rule: channels_of(rule.match),
)
