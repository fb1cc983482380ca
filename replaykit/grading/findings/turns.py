"""Steps as detectors see them: the pages before and after, and whether anything followed. One pass."""

from __future__ import annotations

from msgspec import Struct

from replaykit.replay.player import Replay
from replaykit.trajectory.action import Action
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Step


class Turn(Struct, frozen=True, gc=False):
    """One step with what was seen around it."""

    step: Step
    """The step."""
    action: Action
    """The action of the step."""
    before: Observation | None
    """The page acted on."""
    after: Observation | None
    """The last look at what followed."""
    is_followed: bool
    """A navigation, request, dialog or message came of it."""


def turns(replay: Replay) -> list[Turn]:
    """Return every step in order."""
    looks = {seen.of: seen for seen in replay.trajectory.of_type(Observation) if seen.role == "after"}
    followed = {
        event.step
        for events in (replay.navigations, replay.exchanges, replay.dialogs, replay.messages)
        for event in events
    }
    return [
        Turn(step, step.action, step.before, looks.get(step.index), step.index in followed)
        for step in replay.steps
    ]


def page_of(seen: Observation | None) -> str | None:
    """Return the snapshot of a look; None if absent."""
    return seen.snapshot if seen is not None and isinstance(seen.snapshot, str) else None
