"""Faults in forms: a field that kept another value, and an error message that was ignored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from replaykit.grading.findings.endings import error_on
from replaykit.grading.findings.taxonomy import found
from replaykit.grading.findings.turns import Turn
from replaykit.grading.values.normal_form import fold
from replaykit.grading.verdict import RunFinding
from replaykit.replay.player import Replay
from replaykit.replay.run_state import State
from replaykit.trajectory import action as actions
from replaykit.trajectory.action_rendering import render_action

_ENTRIES = (actions.Fill, actions.Type)

_MASK = "⟦"
"""Begins what stands for a secret."""

REACTIONS = 3
"""Actions after an error message that may still attend to it."""


def wrong_values(turns: Sequence[Turn]) -> Iterator[RunFinding]:
    """Yield D1 for each entry that its field did not keep: letters and digits count, not how they are set.

    Recovered where the same field later kept what was entered.
    """
    for place, turn in enumerate(turns):
        if isinstance(turn.action, _ENTRIES) and _kept(turn) is False:
            later = (other for other in turns[place + 1 :] if _field(other) == _field(turn))
            value = getattr(turn.action, "value_after", None)
            yield found(
                "D1",
                [turn.step.index],
                recovered=any(_kept(other) for other in later),
                action=render_action(turn.action),
                url=turn.step.url,
                note=f"the field holds {value!r}"[:300],
            )


def passed_over(replay: Replay) -> Iterator[RunFinding]:
    """Yield E6 where an error message appeared and none of the next three actions was on that page.

    A run that ended before had no three actions to show for it. Recovered where a later action went back.
    """
    looks = {page.step: page for page in replay.pages if page.role == "after"}
    if not looks:
        return
    errors = [error_on(looks.get(step.index)) for step in replay.steps]
    for place, (shown, error) in enumerate(pairwise(("", *errors))):
        look = looks.get(replay.steps[place].index)
        if error and error != shown and look is not None and place + REACTIONS < len(errors):
            at, later = _bare(look.url), replay[place + 1 :]
            if not any(_is_at(state, at) for state in later[:REACTIONS]):
                back = any(_is_at(state, at) for state in later[REACTIONS:])
                yield found("E6", [look.step], recovered=back, url=look.url, excerpt=error)


def _kept(turn: Turn) -> bool | None:
    """Return whether a field kept an entry; None where nothing was entered or it is unknown."""
    action = turn.action
    if not isinstance(action, _ENTRIES) or action.value_after is None or turn.step.error is not None:
        return None
    if _MASK in action.value + action.value_after or not _letters(action.value):
        return None
    return _letters(action.value) in _letters(action.value_after)


def _letters(text: str) -> str:
    return "".join(letter for letter in fold(text) if letter.isalnum())


def _field(turn: Turn) -> object:
    element = turn.action.element
    if element is None:
        return None
    return element.frame, element.css or element.ref, element.name


def _is_at(state: State, url: str) -> bool:
    """Return whether an action was on an element of a page; a navigation by URL is not."""
    page = state.before.url if state.before is not None else None
    return state.action.element is not None and _bare(page) == url


def _bare(url: str | None) -> str:
    return (url or "").partition("#")[0].partition("?")[0]
