"""Calls of tools that a model made, as actions: by our own names, `--tools`, then names of known tools."""

from __future__ import annotations

from typing import Any

import msgspec

from replaykit.decoders import convert
from replaykit.interop.run import Run
from replaykit.interop.tool_actions import computer_action
from replaykit.trajectory.action import Action, Unknown


def called_action(run: Run, name: str, arguments: Any) -> Action:
    """Return the action of a call; unknown by its name where nobody says what it does.

    Arguments may be an object, or the text of one.
    """
    plain = _object(arguments)
    tag = run.options.tools.get(name, name)
    if plain is not None:
        try:
            action: Action = convert({**plain, "type": tag}, Action)
            return action
        except msgspec.ValidationError:
            known = computer_action(tag, plain)
            if known is not None:
                return known
    elif arguments not in (None, ""):
        run.flaw("arguments that are no object: the action is unknown", f"a call of {name!r:.80}")
    return Unknown(name=name[:64] or "call", raw=msgspec.json.encode(arguments).decode())


def _object(arguments: Any) -> dict[str, Any] | None:
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments)
        except (msgspec.DecodeError, RecursionError):
            return None
    if arguments is None:
        return {}
    return arguments if isinstance(arguments, dict) else None
