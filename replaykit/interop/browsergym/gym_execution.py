"""Which calls of an action string were carried out.

BrowserGym refuses some strings as a whole, before any call. It runs the others call by call until one raises,
and notes one error for all. An experiment that broke off has no page after its last string.

Own module: notices of the environment in one place, apart from the layout of a step.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from replaykit.interop.password_masking import typed_password, without_passwords
from replaykit.patterns import lazy_pattern
from replaykit.recorder.session.declared_actions import declared
from replaykit.trajectory.action import Action, Fill, KeyboardType, Type, Unknown, tag_of
from replaykit.trajectory.redaction_marks import MASKED

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


def executed(
    actions: Sequence[Action], error: str | None, typed: Sequence[str], *, is_reported: bool
) -> list[Action]:
    """Return the actions, those unknown of which nothing says whether they were carried out.

    `typed`: passwords among their values; `is_reported`: whether the environment came back from the string.
    """
    certain = 0 if not is_reported else 1 if error else len(actions)
    return [*actions[:certain], *(_uncertain(one, typed) for one in actions[certain:])]


def _uncertain(action: Action, typed: Sequence[str]) -> Action:
    """Return an action that was perhaps carried out: unknown, with its record."""
    if isinstance(action, Unknown):
        return action
    if typed_password(action) in typed and isinstance(action, Fill | Type | KeyboardType):
        action = replace(action, value=MASKED)
    raw = without_passwords(msgspec.json.encode(action).decode(), list(typed))
    return Unknown(name=tag_of(action), raw=raw)
