"""Calls that hold several actions, in their order.

OpenAI's computer (`actions` of a `computer_call`), `computer_batch` and `batch_computer_actions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

ACTIONS = "actions"
"""Key of the list."""

_NAMES = ("type", "action", "name", "action_type", "function")
"""Keys that name an action in a list; the first that holds a text does."""

_ARGUMENTS = ("arguments", "args", "params", "parameters", "input")
"""Keys that hold its arguments, where they do not stand beside its name."""


class BatchPart(NamedTuple):
    """One action of a call."""

    name: str
    """Its name; that of the call where it has none."""
    arguments: Any
    """Its arguments."""
    record: Any
    """The arguments of the call with this action alone; what belongs to all of them is in the first."""


def parts_of(name: str, arguments: Any) -> list[BatchPart]:
    """Return the actions of a call: those of its list, else the call itself."""
    listed = arguments.get(ACTIONS) if isinstance(arguments, dict) else None
    if not isinstance(listed, list) or not any(_is_named(one) for one in listed):
        return [BatchPart(name, arguments, arguments)]
    others = {key: value for key, value in arguments.items() if key != ACTIONS}
    records = [{**(others if at == 0 else {}), ACTIONS: [one]} for at, one in enumerate(listed)]
    return [BatchPart(*_named(name, one), record) for one, record in zip(listed, records, strict=True)]


def _is_named(one: Any) -> bool:
    return isinstance(one, dict) and any(isinstance(one.get(key), str) for key in _NAMES)


def _named(call: str, one: Any) -> tuple[str, Any]:
    if not _is_named(one):
        return call, one
    name = next(one[key] for key in _NAMES if isinstance(one.get(key), str))
    inner: Mapping[str, Any] | None = next(
        (one[key] for key in _ARGUMENTS if isinstance(one.get(key), dict)), None
    )
    return name, one if inner is None else inner
