"""Actions in cells that no field of a table reads: those before the first row, calls in a second column.

Columns are guessed by their names, and another column may hold actions as well. If it holds one that no step
of the run has, the actions are partial. A user who names the column of the actions has decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from replaykit.interop.imported_run import INERT, Run
from replaykit.interop.online_mind2web.mind2web_actions import read_action
from replaykit.interop.table.table_actions import CALL_TYPES, WRAPPED, ActionCell, actions_of, decoded
from replaykit.interop.table.table_columns import OWN_ACTION, STEP_FIELDS, WRAPPERS, plain_name
from replaykit.interop.table.table_runs import list_of
from replaykit.interop.table.table_steps import TableStep, TableSteps
from replaykit.interop.text_action_parts import statements
from replaykit.trajectory.action import Action, Unknown, tag_of

LEVELS_MAX = 8
"""Lists and objects in one another that are looked into for calls."""

SUMMED_UP = 5
"""Actions before a row that its summary may be about."""

SUMMARY_MAX = 1024
"""Characters of a summary that are read."""

_EARLIER = frozenset({"previous", "prev", "past", "prior", "earlier", "history"})
_SUMMARY = frozenset({
    "summary", "summaries", "description", "note", "notes", "narration", "performed", "did", "done",
    "happened", "log", "activity", "report", "recap", "progress",
})  # fmt: skip
_NO_SUMMARY = frozenset({
    "page", "task", "goal", "element", "target", "screenshot", "image", "state", "site", "error", "next",
    "plan", "expected", "tool", "observation",
})  # fmt: skip
_ACTED = frozenset({"action", "actions"})
_COMMANDS = frozenset({
    "operation", "operations", "tool_call", "tool_calls", "function_call", "function_calls", "command",
    "commands", "actions", "action_list", "action_sequence",
})  # fmt: skip
_ACTIONS = _COMMANDS | frozenset(STEP_FIELDS["action"].split())
_CODE = frozenset({"code", "script", "name", "tool", "tool_name", "event", "type"})
_CALLED = ("name", "tool", "tool_name", "function_name")
_GIVEN = ("arguments", "input", "args", "action_input", "tool_input")
_OF_A_CALL = ("target", "arguments", "value", "point")
_LACKS = (
    "a column that may hold actions of no step: name the column of the actions with --columns,"
    " as `action: COLUMN`"
)
_EARLIER_LACKS = "a column of more earlier actions than there are steps before its row: steps are missing"


class UnreadActions:
    """Compares other cells with the steps of the run."""

    def __init__(self, run: Run, found: TableSteps, column: str | None) -> None:
        self._run, self._outer = run, found.unread
        self._is_trusted = column == OWN_ACTION
        self._is_stated = "action" in run.options.columns
        self._acted: list[Action] = []
        self._last: Mapping[str, Any] = {}
        self._pending: list[tuple[str, list[Action]]] = []

    def step(self, step: TableStep, acted: list[Action]) -> None:
        """Look at the other cells of a step with these actions."""
        for name, cell in _flat({} if self._is_trusted else step.unread):
            place = f"{step.place} {name}"
            if _is_earlier(name):
                self._earlier(name, cell, place)
            elif not self._is_stated and self._last.get(name) != cell:
                self._beside(name, cell, place, acted)
        self._acted += acted
        self._last = step.unread

    def bare(self, step: TableStep) -> bool:
        """Whether a row without an action may hold one in another cell."""
        if any(step.cells.get(name) not in (None, "", [], {}) for name in _OF_A_CALL):
            return True
        names = _COMMANDS | _CODE
        return any(next(_records(name, cell, names), None) is not None for name, cell in step.unread.items())

    def end(self) -> None:
        """Report what is stated and was not done in any step."""
        for name, cell in {} if self._is_stated or self._is_trusted else self._outer.items():
            self._beside(name, cell, name, self._acted, _ACTIONS)
        known = Counter(map(_exact, self._acted)) if self._pending else Counter()
        for place, stated in self._pending:
            if Counter(map(_exact, stated)) - known:
                self._run.cut(_LACKS, place)

    def _earlier(self, name: str, cell: Any, place: str) -> None:
        listed = list_of(cell)
        count = len(listed) if listed is not None else int(not self._acted and _is_text(cell))
        if count > len(self._acted) and (_words(name) & _ACTED or _is_of_actions(self._run, listed or [])):
            self._run.cut(_EARLIER_LACKS, place)

    def _beside(
        self, name: str, cell: Any, place: str, acted: list[Action], names: frozenset[str] = _COMMANDS
    ) -> None:
        records = _records(name, cell, names)
        stated = [action for one in records for action in _actions(self._run, one)]
        stated = stated or _listed(self._run, name, cell)
        is_same = len(stated) == len(acted) and all(map(_is_alike, stated, acted))
        if stated and not is_same:
            self._pending.append((place, stated))
        self._pending += [(place, [one]) for one in self._summed_up(name, cell, acted) if not stated]

    def _summed_up(self, name: str, cell: Any, acted: list[Action]) -> list[Action]:
        """Return the actions in the words of a summary that neither its row nor the one before has."""
        words = _words(name)
        if not isinstance(cell, str) or not words & _SUMMARY or words & _NO_SUMMARY:
            return []
        known = [*acted, *self._acted[-SUMMED_UP:]]
        stated = [read_action(part, self._run.wordings) for part in statements(cell[:SUMMARY_MAX])]
        sure = [one for one in stated if not isinstance(one, (Unknown, *INERT))]
        return [one for one in sure if not any(_is_about(one, other) for other in known)]


def _flat(unread: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and cell, of a cell that wraps others those inside."""
    for name, cell in unread.items():
        if plain_name(name) in WRAPPERS and isinstance(cell, dict):
            yield from ((f"{name}.{key}", part) for key, part in cell.items())
        else:
            yield name, cell


def _words(name: str) -> set[str]:
    return {*plain_name(name).split("_")}


def _is_earlier(name: str) -> bool:
    return bool(_words(name) & _EARLIER)


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str) and cell.strip().lower() not in ("", "none", "null", "n/a", "[]", "{}")


def _actions(run: Run, record: Any) -> list[Action]:
    return [action for action, _ in actions_of(run, ActionCell(record))]


def _is_of_actions(run: Run, listed: list[Any]) -> bool:
    """Whether every item states an action."""
    return bool(listed) and all(
        isinstance(one, dict | str) and not any(isinstance(part, Unknown) for part in _actions(run, one))
        for one in listed
    )


def _listed(run: Run, name: str, cell: Any) -> list[Action]:
    """Return the actions of a list of texts: each is one, or the name says that they are."""
    listed = list_of(cell) or []
    if not listed or not all(isinstance(one, str) for one in listed):
        return []
    stated = [action for one in listed for action in _actions(run, one)]
    is_sure = not any(isinstance(one, (Unknown, *INERT)) for one in stated)
    return stated if is_sure or plain_name(name).endswith("actions") else []


def _records(name: str, cell: Any, names: frozenset[str]) -> Iterator[Any]:
    """Yield the records of calls in a cell; all of it where its name is that of a call."""
    plain = decoded(cell)
    # A sheet may have two columns of one name: the second has its number behind it.
    base, _, number = plain_name(name).rpartition("_")
    is_named = plain_name(name) in names or (number.isdecimal() and base in _ACTIONS)
    if is_named and isinstance(plain, str | dict) and plain and not str(plain).isdecimal():
        yield plain
    else:
        yield from _calls(plain, 0)


def _calls(plain: Any, level: int) -> Iterator[Any]:
    if level > LEVELS_MAX:
        return
    if isinstance(plain, dict) and _is_call(plain):
        yield plain
        return
    parts = plain.values() if isinstance(plain, dict) else plain if isinstance(plain, list) else ()
    for part in parts:
        yield from _calls(part, level + 1)


def _is_call(plain: dict[str, Any]) -> bool:
    is_wrapped = any(isinstance(plain.get(key), dict) for key in WRAPPED)
    is_named = any(isinstance(plain.get(key), str) for key in _CALLED) and any(key in plain for key in _GIVEN)
    acted = plain.get("action") or plain.get("tool_calls") or plain.get("operation")
    return is_wrapped or is_named or plain.get("type") in CALL_TYPES or isinstance(acted, str | dict | list)


def _exact(action: Action) -> bytes:
    return msgspec.json.encode(action)


_TYPED = ("type", "keyboard_type", "keyboard_insert_text")
_COMPARED = ("value", "url", "key", "text", "tab")


def _is_alike(one: Action, other: Action) -> bool:
    """Whether two notations may be of one action: nothing that both state differs."""
    if _kind(one) != _kind(other) or isinstance(one, Unknown):
        return isinstance(one, Unknown) and isinstance(other, Unknown)
    pairs = [(getattr(one, key, None), getattr(other, key, None)) for key in _COMPARED]
    pairs += [(_target(one, key), _target(other, key)) for key in ("text", "name", "ref", "css")]
    return all(not a or not b or str(a).casefold() == str(b).casefold() for a, b in pairs)


_GROUPS = (
    {"click", "dblclick", "mouse_dblclick", "check", "uncheck", "select_option", "press"},
    {"fill", "press", "clear", "select_option"},
)
"""Kinds that one word of a summary may stand for: an option is clicked or selected."""


def _is_about(one: Action, other: Action) -> bool:
    """Whether the words of a summary may be about an action: its texts may be longer or shorter."""
    kinds = {_kind(one), _kind(other)}
    pairs = [
        (_target(one, "text") or _target(one, "name"), _target(other, "text") or _target(other, "name")),
        *((getattr(one, key, None), getattr(other, key, None)) for key in ("value", "url")),
    ]
    texts = [(str(a).casefold(), str(b).casefold()) for a, b in pairs if a and b]
    is_same_kind = len(kinds) == 1 or any(kinds <= group for group in _GROUPS)
    return is_same_kind and all(a in b or b in a for a, b in texts)


def _kind(action: Action) -> str:
    tag = tag_of(action)
    return "fill" if tag in _TYPED else "click" if tag == "mouse_click" else tag


def _target(action: Action, key: str) -> Any:
    element = getattr(action, "element", None)
    return getattr(element, key, None)
