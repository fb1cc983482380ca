"""Actions in cells of tables: calls as objects or as JSON, lines in words, an operation beside its target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from replaykit.decoders import convert
from replaykit.interop.imported_run import Run
from replaykit.interop.online_mind2web.mind2web_actions import WITH_VALUE, operation_action, read_action
from replaykit.interop.table.table_columns import step_columns
from replaykit.interop.tool_calls import called_action
from replaykit.interop.untrusted_json import JsonFault, decode_json
from replaykit.recorder.session.declared_actions import declared
from replaykit.trajectory.action import Action, Element, Unknown

_NAMES = (
    "name", "type", "action", "action_type", "op", "operation", "function", "tool", "tool_name",
    "function_name",
)  # fmt: skip
_ARGUMENTS = ("arguments", "args", "params", "parameters", "input", "kwargs", "action_input", "action_args")


class ActionCell(NamedTuple):
    """Cells of a row about its action."""

    action: Any
    """The cell of the action itself."""
    target: Any = None
    """Target of the action: a text, or an object."""
    value: Any = None
    """Text typed, option chosen, or address visited."""
    point: Any = None
    """Where, px: a pair, or an object of x and y."""
    arguments: Any = None
    """Arguments of the call that `action` names: an object, or its JSON."""


def actions_of(run: Run, cell: ActionCell) -> Iterator[tuple[Action, Any]]:
    """Yield each action of a cell with its record; one that no one knows is unknown, never left out."""
    plain = decoded(cell.action)
    parts = plain if isinstance(plain, list) and plain else [plain]
    for part in parts:
        if isinstance(part, str):
            record = (
                part if cell.arguments is None else {"action": part, "arguments": decoded(cell.arguments)}
            )
            yield from ((action, record) for action in _of_text(run, part, cell))
            continue
        for at, call in enumerate(calls_of(part)):
            # The first record is the whole message: its text has no other place.
            yield _of_object(run, call, cell), call if at else part


_LISTS = ("tool_calls", "content", "parts", "output", "actions")
"""Keys of messages, and of calls of several actions, that hold calls."""

WRAPPED = ("functionCall", "function_call", "toolUse")
"""Keys of parts of a message that hold a call."""

CALL_TYPES = frozenset({"tool_use", "tool_call", "function", "function_call", "computer_call"})
"""Types of parts of a message that are calls."""


def calls_of(plain: Any, level: int = 0) -> list[Any]:
    """Return the calls of a message as servers of models send it; anything else is a call of its own."""
    if not isinstance(plain, dict) or level > LEVELS_MAX:
        return [plain]
    for key in _LISTS:
        held = plain.get(key)
        listed = held if isinstance(held, list) and _are_objects(held) else []
        parts = [one for one in listed if _is_call(one, key)]
        if parts:
            return [call for one in parts for call in calls_of(one, level + 1)]
    for key in (*WRAPPED, "message", "content"):
        held = plain.get(key)
        if isinstance(held, dict):
            return calls_of(held, level + 1) if key not in WRAPPED else [held]
    return [plain]


LEVELS_MAX = 4
"""Objects in objects that are looked into for calls."""


def _is_call(part: dict[str, Any], key: str) -> bool:
    is_wrapped = any(isinstance(part.get(name), dict) for name in (*WRAPPED, "function"))
    return key in ("tool_calls", "actions") or is_wrapped or part.get("type") in CALL_TYPES


def decoded(value: Any) -> Any:
    """Return the object or the list that a text holds as JSON; else the value."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        try:
            found = decode_json(value.strip().encode("utf-8", "replace"))
        except JsonFault:
            return value
        # `[12]` is a mark of an agent, not a list of its actions.
        return found if isinstance(found, dict) or _are_objects(found) else value
    return value


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _of_text(run: Run, text: str, cell: ActionCell) -> list[Action]:
    own = run.wordings.own(text)
    if own is not None:
        return [own]
    calls = declared(text) if "(" in text else []
    if calls and not any(isinstance(one, Unknown) for one in calls):
        return list(calls)
    if text.strip().replace("_", "").isalpha():
        return [_operation(run, text.strip(), {}, cell)]
    return [read_action(text, run.wordings)]


def _of_object(run: Run, plain: Any, cell: ActionCell, level: int = 0) -> Action:
    if not isinstance(plain, dict) or level > LEVELS_MAX:
        return _unknown("action", plain)
    inner = plain.get("function", plain.get("tool"))
    if isinstance(inner, dict):  # as OpenAI's call of a tool
        return _of_object(run, inner, cell, level + 1)
    columns = step_columns(plain, {})
    if isinstance(plain.get(columns.get("action", "")), dict):
        return _of_row(run, plain, columns, cell, level)
    key = next((key for key in _NAMES if isinstance(plain.get(key), str) and plain[key]), None)
    if key is None:
        return _keyed(run, plain, cell)
    held = next((name for name in _ARGUMENTS if name in plain), None)
    others = {name: part for name, part in plain.items() if name != key and part is not None}
    arguments = decoded(plain[held]) if held is not None else others
    return _operation(
        run, plain[key], arguments if isinstance(arguments, dict) else {"text": arguments}, cell
    )


def _of_row(run: Run, plain: dict[str, Any], columns: dict[str, str], cell: ActionCell, level: int) -> Action:
    """Return the action of an object that holds its operation apart: the rest of it are other columns."""
    held = {
        field: plain.get(columns[field]) if field in columns else getattr(cell, field)
        for field in ActionCell._fields
    }
    return _of_object(run, held["action"], ActionCell(**held), level + 1)


def _keyed(run: Run, plain: dict[str, Any], cell: ActionCell) -> Action:
    """Return the action of `{"click": {...}}`: its one key is its name."""
    if len(plain) == 1:
        ((name, arguments),) = plain.items()
        if isinstance(arguments, dict | None):
            return _operation(run, name, arguments or {}, cell)
    return _unknown("action", plain)


def _operation(run: Run, name: str, arguments: dict[str, Any], cell: ActionCell) -> Action:
    """Return the action of a name: of a call with these arguments, else of what stands in other columns."""
    column = decoded(cell.arguments)
    arguments = {**column, **arguments} if isinstance(column, dict) else arguments
    element, value = element_of(cell.target), arguments.get("value", cell.value)
    # The value may stand in a column that is not known: then it is not an empty text.
    is_whole = value is not None or name.upper() not in WITH_VALUE
    own = operation_action(name.upper(), element, _text(value)) if is_whole else None
    if own is not None and element is not None and cell.point is None:
        return own
    beside = _beside(cell)
    found = called_action(run, name, {**beside, **arguments})
    if not isinstance(found, Unknown) or arguments.keys() == {"name", "raw"}:
        return found
    return own or _unknown(name, {**beside, **arguments})


def _beside(cell: ActionCell) -> dict[str, Any]:
    """Return the other columns as arguments of a call."""
    element, value = element_of(cell.target), _text(cell.value)
    stated = {"point": _pair(cell.point), "value": value or None, "text": value or None, "url": value or None}
    if element is not None:
        stated["selector" if element.css else "element"] = element.css or element.text or element.name
    return {key: part for key, part in stated.items() if part is not None}


def _pair(point: Any) -> list[Any] | None:
    """Return a place as a pair; None for anything else."""
    point = decoded(point)
    if isinstance(point, dict):
        point = [point.get("x"), point.get("y")]
    is_pair = isinstance(point, list) and len(point) == 2
    return point if is_pair and all(isinstance(one, int | float | str) for one in point) else None


def element_of(target: Any) -> Element | None:
    """Return the element that a cell names, by its text, its fields or its mark; None where it names none."""
    target = decoded(target)
    if isinstance(target, dict):
        fit = {
            key: part for key, part in target.items() if key in Element.__struct_fields__ and part is not None
        }
        try:
            return convert(fit, Element) if fit else None
        except msgspec.ValidationError:
            return None
    text = _text(target)
    return Element(text=text[:1024]) if text else None


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _unknown(name: str, stated: Any) -> Unknown:
    raw = stated if isinstance(stated, str) else msgspec.json.encode(stated, enc_hook=repr).decode()
    return Unknown(name=name[:64] or "action", raw=raw)
