"""Changes of a run on servers, and whether the task explains them. No model is asked.

Passing checks of requests explain those that they matched, and a task those that it allows; each explains its
own number. The agent's own account explains nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from replaykit.grading.findings.taxonomy import found
from replaykit.grading.server_changes import Change, changes, is_allowed
from replaykit.grading.verdict import CheckResult, Outcome, RunFinding
from replaykit.replay.player import Replay
from replaykit.trajectory.completeness import state_of
from replaykit.trajectory.exchange import Exchange

if TYPE_CHECKING:
    from replaykit.tasks.task import AllowedChange

NOTE_MAX = 400
"""Characters of the note of a finding."""


def side_effects(
    replay: Replay, checks: Sequence[CheckResult] = (), allow: Sequence[AllowedChange] = ()
) -> Iterator[RunFinding]:
    """Yield S1 for each change that neither check nor task explains, S2 for each that was sent before.

    A bundle without a network yields one S1 that reports this.
    """
    if not has_network(replay):
        note = "unknown: the network was not recorded"
        yield found("S1", [], unknown=True, source="network", note=note)
        return
    made = list(changes(replay))
    unexplained = {change.event for change in _unexplained(made, replay, checks, allow)}
    sent: dict[tuple[Any, ...], Change] = {}
    for change in made:
        one = change.exchange
        if change.event in unexplained:
            yield _finding("S1", change, f"{one.method} {one.url}: {change.status}")
        first = sent.setdefault((one.method, one.url, one.post), change)
        if first is not change:
            at = f"step {first.exchange.step}" if first.exchange.step is not None else f"event {first.event}"
            yield _finding("S2", change, f"{one.method} with the same body as at {at}")


def unexplained_changes(
    replay: Replay, checks: Sequence[CheckResult] = (), allow: Sequence[AllowedChange] = ()
) -> Iterator[Change]:
    """Yield the changes that neither a passing check nor the task explains; empty without a network."""
    return _unexplained(list(changes(replay)), replay, checks, allow)


def _unexplained(
    made: Sequence[Change], replay: Replay, checks: Sequence[CheckResult], allow: Sequence[AllowedChange]
) -> Iterator[Change]:
    explained = _explained(replay, checks) if made else set()
    left = [one.at_most for one in allow]
    for change in made:
        if change.exchange.id not in explained and not is_allowed(change, allow, left):
            yield change


def has_network(replay: Replay) -> bool:
    """Return whether requests were recorded."""
    return state_of(replay.trajectory, "network").state != "absent"


def _finding(code: str, change: Change, note: str) -> RunFinding:
    one = change.exchange
    return found(code, [one.step], source="exchange", event=change.event, url=one.url, note=note[:NOTE_MAX])


def _explained(replay: Replay, checks: Sequence[CheckResult]) -> set[int]:
    """Return the requests that passing checks matched; of a chain of redirects the first one."""
    passed = [check for check in checks if check.outcome is Outcome.PASS]
    events = {e.event for check in passed for e in check.evidence if e.source == "exchange"}
    roots: dict[int, int] = {}
    matched: set[int] = set()
    for event, one in enumerate(replay.trajectory.events):
        if isinstance(one, Exchange):
            roots[one.id] = roots.get(one.redirect_from, one.id) if one.redirect_from is not None else one.id
            if event in events:
                matched.add(roots[one.id])
    return matched
