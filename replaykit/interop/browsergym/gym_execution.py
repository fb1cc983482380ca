"""Which calls of an action string were carried out.

BrowserGym refuses some strings as a whole, before any call. It runs the others call by call until one raises,
and notes one error for all. An experiment that broke off has no page after its last string.

Own module: notices of the environment in one place, apart from the layout of a step.
"""

from __future__ import annotations

from collections.abc import Sequence

from replaykit.interop.uncertain_actions import uncertain
from replaykit.patterns import lazy_pattern
from replaykit.recorder.session.declared_actions import declared
from replaykit.trajectory.action import Action

_EMPTY = "ValueError: Received an empty action."
_SEVERAL = "ValueError: Received a multi-action, only single-actions are allowed."
_UNKNOWN = lazy_pattern(r"NameError: Invalid action type '([^'\s]{1,100})'\.")
_UNPARSED = "ParseException: "


def is_refused(stated: str, error: str | None) -> bool:
    """Whether the environment's own notice says that no call of a string was carried out."""
    if error is None:
        return False
    if error == _SEVERAL:
        return len(declared(stated)) > 1
    unknown = _UNKNOWN.fullmatch(error)
    if unknown is not None:
        return f"{unknown[1]}(" in stated
    return error == _EMPTY or error.startswith(_UNPARSED)


def executed(actions: Sequence[Action], error: str | None, *, is_reported: bool) -> list[Action]:
    """Return the actions, those unknown of which nothing says whether they were carried out.

    `is_reported`: whether the environment came back from the string.
    """
    certain = 0 if not is_reported else 1 if error else len(actions)
    return [*actions[:certain], *map(uncertain, actions[certain:])]
