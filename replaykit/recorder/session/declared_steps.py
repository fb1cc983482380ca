"""Windows: what the harness declared from enter to exit, what was seen meanwhile, and the steps of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.recorder.session.action_matching import Merged, is_choice_by, merge
from replaykit.recorder.session.driver_messages import StepEnter, StepExit, Utterance
from replaykit.recorder.session.outbox import Blob, StepRef
from replaykit.recorder.session.page_message import ms
from replaykit.recorder.session.tabs import SKEW_MS
from replaykit.trajectory.action import Action
from replaykit.trajectory.observation import Observation, TabView
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import Step


class DeclaredAction(Struct, frozen=True, kw_only=True):
    """One action that is over."""

    ref: StepRef
    """The step that it will be part of."""
    page: int | None
    """Tab ordinal."""
    action: Action
    """The action of the step."""
    at: float
    """Start, ms."""
    end: float
    """End, ms."""
    seq: int = 0
    """The page's own counter."""
    before: Observation | None = None
    """The page acted on."""
    blobs: tuple[Blob, ...] = ()
    """Payloads that it refers to."""
    url: str | None = None
    """URL right after the action."""
    tabs: tuple[TabView, ...] = ()
    """Tabs right after the action."""
    error: Threw | None = None
    """The action failed."""


class DeclaredWindow:
    """A harness's declarations, from enter to exit."""

    def __init__(self, enter: StepEnter, page: int | None) -> None:
        self.enter = enter
        self.at = enter.at
        self.page = page
        self.is_resolved = False
        """Nothing may be added any more."""
        self.exit: StepExit | None = None
        self.thoughts: tuple[Utterance, ...] = ()
        """Thoughts before its end that have no step yet."""
        self.actions: list[DeclaredAction] = []
        self.begun: list[StepRef] = []
        self.ref = StepRef(enter.at, page)
        self.before: Observation | None = None
        self.blobs: tuple[Blob, ...] = ()
        self.url: str | None = None
        self.tabs: tuple[TabView, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether nothing may be added, and every action in it is over."""
        over = [action.ref for action in self.actions]
        return self.is_resolved and all(ref in over for ref in self.begun)

    @property
    def size(self) -> int:
        """Its steps, as far as known."""
        return len(self.enter.actions) or len(self.begun)

    def was_closed(self, until: float | None) -> bool:
        """Whether it was closed until then; None = at all."""
        return self.exit is not None and (until is None or self.exit.at <= until)

    def distance(self, at: float) -> float:
        """Return how far a time lies outside of it, ms."""
        return max(self.at - at, at - self.exit.at if self.exit else 0.0, 0.0)

    def covers(self, at: float) -> bool:
        """Whether an action at `at` falls into it."""
        is_over = self.exit is not None and at > self.exit.at + SKEW_MS
        return at >= self.enter.at - SKEW_MS and not is_over


def steps_of(window: DeclaredWindow, turn: int | None) -> list[tuple[Step, list[DeclaredAction]]]:
    """Return the steps of a window that declared actions, each with the actions that were seen for it."""
    # Actions come in the order in which they end; merging needs the order in which they began.
    actions = sorted(window.actions, key=lambda action: action.at)
    merged = merge(window.enter.actions, [action.action for action in actions])
    start = ms(window.enter.at)
    steps = []
    for one in merged:
        step = replace(_merged_step(window, one, actions, start), turn=turn, raw=plain(window.enter.raw))
        # A declared step without an event takes the time of the step before: time never runs back.
        start = max(start, step.t or 0)
        steps.append((step, [actions[at] for at in one.actions]))
    error = window.exit.error if window.exit else None
    if error is not None:
        at = _failed(merged)
        steps[at] = (replace(steps[at][0], error=Threw(name=error[0], message=error[1])), steps[at][1])
    return steps


def step_of(done: DeclaredAction, action: Action, *, origin: str = "observed") -> Step:
    """Return the step of an action; its index is not known yet."""
    return Step(
        t=ms(done.at),
        page=done.page,
        seq=done.seq,
        index=0,
        action=action,
        origin=origin,
        before=done.before,
        end=ms(done.end),
        url=done.url,
        tabs=done.tabs,
        error=done.error,
    )


def _merged_step(
    window: DeclaredWindow, merged: Merged, actions: Sequence[DeclaredAction], start: int
) -> Step:
    """Return the step of one declared action: times and page of the seen action, else of the window."""
    own = [actions[at] for at in merged.actions]
    if merged.matched is None:
        step = _declared_step(window, merged, start)
    else:
        action = actions[merged.matched]
        step = step_of(action, merged.action, origin=merged.origin)
        step = replace(step, before=step.before or window.before)
    is_choice = merged.matched is not None and is_choice_by(merged.action, actions[merged.matched].action)
    is_listed = len(own) > 1 or merged.declared is not None or is_choice
    seen = tuple(_timed(action) for action in own) if is_listed else ()
    return replace(step, declared=merged.declared, observed=seen, seen=merged.seen)


def _declared_step(window: DeclaredWindow, merged: Merged, start: int) -> Step:
    return Step(
        t=start,
        page=window.page,
        index=0,
        action=merged.action,
        origin=merged.origin,
        before=window.before,
        end=max(start, ms(window.exit.at)) if window.exit else None,
        url=window.url,
        tabs=window.tabs,
    )


def _timed(action: DeclaredAction) -> Action:
    return replace(action.action, t=ms(action.at), end=ms(max(action.at, action.end)))


def _failed(merged: Sequence[Merged]) -> int:
    """Return which of several actions an exception belongs to: the first that was not seen, else the last."""
    unseen = (number for number, one in enumerate(merged) if not one.seen)
    return next(unseen, len(merged) - 1)


def plain(value: Any) -> Any:
    """Return a harness's own record as JSON can hold it; what it cannot hold becomes its text."""
    try:
        return msgspec.to_builtins(value, str_keys=True)
    except (TypeError, ValueError, RecursionError):
        return str(value)
