"""Rulings that rest on something that did not happen: only a complete channel shows that."""

from __future__ import annotations

from msgspec.structs import replace

from replaykit.grading.checks.requirement import Ruling, Terms, undecided
from replaykit.replay.player import Replay
from replaykit.trajectory.completeness import lacking, state_of


def resting_on(ruling: Ruling, replay: Replay, terms: Terms) -> Ruling:
    """Return the ruling with the state of the network, on which it rests; UNDECIDED if that is too little."""
    codes = lacking(replay.trajectory, "network")
    if codes:
        return undecided("not_recorded", *codes)
    state = state_of(replay.trajectory, "network").state
    if terms.require_proof and state != "proven":
        return undecided("not_proven", "proof:network")
    return replace(ruling, proof=state)
