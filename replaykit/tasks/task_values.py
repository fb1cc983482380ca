"""Common parts of task files: the fields that every check has, and how values are read."""

from typing import Literal, TypeAlias

from msgspec import Struct

from replaykit.tasks.dialect import Mode

Texts: TypeAlias = str | tuple[str, ...]
"""One text, or several that are all required."""

ValueType: TypeAlias = Literal[
    "auto", "text", "number", "currency", "date", "month", "boolean", "url", "duration", "distance"
]
"""How a value is read before it is compared."""


class Written(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of what people write: unknown fields are errors."""


class CheckBase(Written, frozen=True, kw_only=True, tag_field="type"):
    """Fields that every check has."""

    id: str | None = None
    """Unique id in the task; default: the position of the check."""
    mode: Mode | None = None
    """Mode of this check, instead of the task's mode."""


class NativeCheck(CheckBase, frozen=True, kw_only=True):
    """Base of checks that no benchmark has: they are graded strictly in either mode."""
