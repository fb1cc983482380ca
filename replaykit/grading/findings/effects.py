"""Actions that came to nothing: without effect, failed, not what was meant, not understood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replaykit.grading.findings.taxonomy import found
from replaykit.grading.verdict import RunFinding
from replaykit.replay.state import State
from replaykit.trajectory import action as acts
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.rendering import render_action

_POINTED = (acts.Click, acts.DblClick, acts.Tap, acts.DragAndDrop)
"""Actions that are done for their effect on the page."""

_FIELDS = frozenset({"input", "textarea", "select", "option", "label"})
"""Elements that are clicked to be typed into: what they keep is not in the page's text."""


def vain(states: Sequence[State]) -> Iterator[RunFinding]:
    """Yield A1 to A4, each with whether a later action on the same element or address made up for it."""
    for place, state in enumerate(states):
        code = _code(state)
        if code is not None:
            note = _note(code, state)
            later = states[place + 1 :]
            yield found(
                code,
                [state.index],
                recovered=any(_makes_up(state, other) for other in later),
                action=render_action(state.action),
                url=state.url,
                note=note,
            )


def has_effect(state: State) -> bool:
    """Return whether anything followed an action: where it cannot be told, something did."""
    if state.navigations or state.exchanges or state.dialogs or state.messages:
        return True
    before, after = state.before, state.after
    if before is None or after is None or before.snapshot_id is None or after.snapshot_id is None:
        return True
    return before.snapshot_id != after.snapshot_id or before.seen.url != after.seen.url or _tabs(state)


def _tabs(state: State) -> bool:
    """Return whether a tab was opened or closed."""
    seen = state.before.seen if state.before is not None else None
    known = {tab.page for tab in seen.tabs} if isinstance(seen, Observation) else set()
    return bool(known) and known != {tab.page for tab in state.tabs}


def _code(state: State) -> str | None:
    action = state.action
    if state.step.error is not None:
        return "A2"
    if state.step.mismatch:
        return "A3"
    if isinstance(action, acts.Unknown):
        return "A4"
    is_pointed = isinstance(action, _POINTED) and _tag(action) not in _FIELDS
    return "A1" if is_pointed and state.step.seen and not has_effect(state) else None


def _note(code: str, state: State) -> str | None:
    error, declared = state.step.error, state.step.declared
    if code == "A2" and error is not None:
        return f"{error.name}: {error.message}"[:300] if error.message else error.name
    if code == "A3" and declared is not None:
        return f"the agent said: {render_action(declared)}"
    return None


def _makes_up(failed: State, later: State) -> bool:
    """Return whether a later action did what one that came to nothing was for."""
    meant = failed.step.declared or failed.action
    return later.step.done and _aim(later.action) == _aim(meant) and has_effect(later)


def _aim(action: acts.Action) -> object:
    """Return what an action is aimed at: its element, or all of it where it has none."""
    element = action.element
    if element is None:
        return render_action(action)
    named = (element.frame, element.tag, element.name or element.text, element.css or element.ref)
    return named if any(named[1:]) else render_action(action)


def _tag(action: acts.Action) -> str | None:
    return action.element.tag if action.element is not None else None
