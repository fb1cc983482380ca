"""Actions that were perhaps carried out: unknown ones with a record, which break no rule."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from replaykit.interop.password_masking import typed_password
from replaykit.trajectory.action import (
    Action,
    Fill,
    KeyboardInsertText,
    KeyboardType,
    ToolCall,
    Type,
    Unknown,
    tag_of,
)
from replaykit.trajectory.redaction_marks import MASKED


def uncertain(action: Action) -> Action:
    """Return an action on a page as an unknown one; a password that it types is hidden in its record."""
    if isinstance(action, Unknown | ToolCall):
        return action
    if isinstance(action, Fill | Type | KeyboardType | KeyboardInsertText) and typed_password(action):
        action = replace(action, value=MASKED)
    return Unknown(name=tag_of(action), raw=msgspec.json.encode(action).decode())
