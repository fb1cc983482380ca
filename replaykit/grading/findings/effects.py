"""Detect actions that achieved nothing: without effect, failed, on the wrong target, or not understood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from replaykit.grading.findings.taxonomy import MOST, found
from replaykit.grading.findings.turns import Turn, page_of
from replaykit.grading.verdict import RunFinding
from replaykit.trajectory import action as actions
from replaykit.trajectory.action_rendering import render_action

_POINTED = (actions.Click, actions.DblClick, actions.Tap, actions.DragAndDrop)
"""Actions that are done for their effect on the page."""

_FIELDS = frozenset({"input", "textarea", "select", "option", "label"})
"""Elements that are clicked to be typed into: what they keep is not in the page's text."""


def vain(turns: Sequence[Turn]) -> Iterator[RunFinding]:
    """Yield A1 to A4, each with whether a later action on the same element or address made up for it."""
    count: Counter[str] = Counter()
    for place, turn in enumerate(turns):
        code = _code(turn)
        if code is not None and count[code] < MOST:
            count[code] += 1
            note = _note(code, turn)
            later = turns[place + 1 :]
            yield found(
                code,
                [turn.step.index],
                recovered=any(_makes_up(turn, other) for other in later),
                action=render_action(turn.action),
                url=turn.step.url,
                note=note,
            )


def has_effect(turn: Turn) -> bool:
    """Return whether anything followed an action: where the recording does not show it, something did."""
    if turn.is_followed or turn.before is None or turn.after is None:
        return True
    before, after = page_of(turn.before), page_of(turn.after)
    if before is None or after is None or before != after:
        return True
    return turn.before.url != turn.after.url or _tabs(turn)


def _tabs(turn: Turn) -> bool:
    """Return whether a tab was opened or closed."""
    known = {tab.page for tab in turn.before.tabs} if turn.before is not None else set()
    return bool(known) and known != {tab.page for tab in turn.step.tabs}


def _code(turn: Turn) -> str | None:
    step, action = turn.step, turn.action
    if step.error is not None:
        return "A2"
    if step.declared is not None:
        return "A3"
    if isinstance(action, actions.Unknown):
        return "A4"
    is_vain = not turn.is_followed and isinstance(action, _POINTED) and step.seen and not has_effect(turn)
    return "A1" if is_vain and _tag(action) not in _FIELDS else None


def _note(code: str, turn: Turn) -> str | None:
    error, declared = turn.step.error, turn.step.declared
    if code == "A2" and error is not None:
        return f"{error.name}: {error.message}"[:300] if error.message else error.name
    if code == "A3" and declared is not None:
        return f"the agent reported: {render_action(declared)}"
    return None


def _makes_up(failed: Turn, later: Turn) -> bool:
    """Return whether a later action achieved what an ineffective one attempted."""
    meant = failed.step.declared or failed.action
    return later.step.done and _aim(later.action) == _aim(meant) and has_effect(later)


def _aim(action: actions.Action) -> object:
    """Return what an action is aimed at: its element, or all of it where it has none."""
    element = action.element
    if element is None:
        return render_action(action)
    named = (element.frame, element.tag, element.name or element.text, element.css or element.ref)
    return named if any(named[1:]) else render_action(action)


def _tag(action: actions.Action) -> str | None:
    return action.element.tag if action.element is not None else None
