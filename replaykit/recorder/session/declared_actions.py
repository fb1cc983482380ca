"""Actions as a harness declares them: as structs, as plain values, or as BrowserGym's strings.

The strings are calls with literal arguments (`click('a51')`), parsed and never run; what is not such a call,
or no call that is known, becomes an unknown action with the whole text. Names and arguments:
https://github.com/ServiceNow/BrowserGym, `browsergym/core/action/functions.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from replaykit.decoders import convert
from replaykit.errors import UsageError
from replaykit.trajectory.action import Action, ActionBase, Unknown

Utterance: TypeAlias = ActionBase | Mapping[str, Any] | str
"""An action as a harness may give it."""

_PLACE = ("x", "y", "button")
_CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "click": ("click", ("ref", "button", "modifiers")),
    "dblclick": ("dblclick", ("ref", "button", "modifiers")),
    "tap": ("tap", ("ref",)),
    "fill": ("fill", ("ref", "value")),
    "type": ("type", ("ref", "value")),
    "press": ("press", ("ref", "key")),
    "clear": ("clear", ("ref",)),
    "hover": ("hover", ("ref",)),
    "focus": ("focus", ("ref",)),
    "check": ("check", ("ref",)),
    "uncheck": ("uncheck", ("ref",)),
    "select_option": ("select_option", ("ref", "values")),
    "upload_file": ("upload_file", ("ref", "files")),
    "drag_and_drop": ("drag_and_drop", ("ref", "to")),
    "scroll": ("scroll", ("dx", "dy")),
    "keyboard_press": ("press", ("key",)),
    "keyboard_type": ("keyboard_type", ("value",)),
    "keyboard_insert_text": ("keyboard_insert_text", ("value",)),
    "keyboard_down": ("keyboard_down", ("key",)),
    "keyboard_up": ("keyboard_up", ("key",)),
    "mouse_click": ("mouse_click", _PLACE),
    "mouse_dblclick": ("mouse_dblclick", _PLACE),
    "mouse_move": ("mouse_move", ("x", "y")),
    "mouse_down": ("mouse_down", _PLACE),
    "mouse_up": ("mouse_up", _PLACE),
    "goto": ("goto", ("url",)),
    "go_back": ("go_back", ()),
    "go_forward": ("go_forward", ()),
    "reload": ("reload", ()),
    "new_tab": ("new_tab", ()),
    "tab_close": ("close_tab", ()),
    "tab_focus": ("focus_tab", ("tab",)),
    "noop": ("noop", ("ms",)),
    "send_msg_to_user": ("send_msg_to_user", ("text",)),
    "report_infeasible": ("report_infeasible", ("text",)),
    "answer": ("answer", ("text",)),
}
_NAMES = {
    "bid": "ref",
    "from_bid": "ref",
    "to_bid": "to",
    "options": "values",
    "file": "files",
    "key_comb": "key",
}
_NAMES |= {"delta_x": "dx", "delta_y": "dy", "wait_ms": "ms", "index": "tab", "reason": "text"}


def declared(stated: Utterance | None) -> tuple[Action, ...]:
    """Return the actions that were stated: one per call in a string, none for None.

    Raises UsageError for plain values that are no action.
    """
    if stated is None:
        return ()
    if isinstance(stated, Action):
        return (stated,)
    if isinstance(stated, str):
        return _calls(stated)
    try:
        return (convert(dict(stated) if isinstance(stated, Mapping) else stated, Action),)
    except msgspec.ValidationError as error:
        raise UsageError(what=f"not an action: {stated!r}: {error}") from error


def _calls(text: str) -> tuple[Action, ...]:
    try:
        lines = ast.parse(text.strip()).body
        return tuple(_call(line) for line in lines) or (_unknown(text),)
    # The text is hostile: deep nesting makes `ast.parse` raise RecursionError or MemoryError.
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, msgspec.ValidationError):
        return (_unknown(text),)


def _unknown(text: str) -> Unknown:
    name = text.partition("(")[0].strip()
    return Unknown(name=name if name.isidentifier() else "text", raw=text)


def _call(line: ast.stmt) -> Action:
    call = line.value if isinstance(line, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in _CALLS:
        return _unknown(ast.unparse(line))
    tag, names = _CALLS[call.func.id]
    given = [ast.literal_eval(argument) for argument in call.args]
    named = {_NAMES.get(k.arg or "", k.arg or ""): ast.literal_eval(k.value) for k in call.keywords}
    if len(given) > len(names) or not named.keys() <= set(names):
        raise ValueError(call.func.id)
    fields = dict(zip(names, given, strict=False)) | named
    action: Action = convert({"type": tag, **_shaped(fields)}, Action)
    return action


def _shaped(fields: dict[str, Any]) -> dict[str, Any]:
    shaped = dict(fields)
    if "ref" in shaped:
        shaped["element"] = {"ref": str(shaped.pop("ref"))}
    if "to" in shaped:
        shaped["to"] = {"ref": str(shaped["to"])}
    if "x" in shaped:
        shaped["point"] = (round(shaped.pop("x")), round(shaped.pop("y")))
    if isinstance(shaped.get("values"), str):
        shaped["values"] = (shaped["values"],)
    if "files" in shaped:
        files = [shaped["files"]] if isinstance(shaped["files"], str) else shaped["files"]
        shaped["files"] = [{"name": str(file).replace("\\", "/").rpartition("/")[2]} for file in files]
    return shaped | {name: round(shaped[name]) for name in ("dx", "dy", "ms") if name in shaped}
