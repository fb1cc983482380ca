"""Calls of tools that a model made, as actions: by our own names, `--tools`, then names of known tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeGuard, get_args

import msgspec
from msgspec.structs import replace

from replaykit.decoders import convert, decode_plain
from replaykit.interop.imported_run import Run
from replaykit.interop.key_names import key_name
from replaykit.interop.repaired_values import whole_numbers
from replaykit.interop.screen_grid import is_on_grid
from replaykit.interop.tool_actions import computer_action
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Action, Click, DblClick, Fill, MouseAction, Press, Type, Unknown
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import AgentInfo, Step

ACTING = frozenset({
    "action", "browser", "browser_action", "computer", "computer_use", "do", "execute", "execute_action",
    "perform", "perform_action", "step", "take_action", "web", "web_action",
})  # fmt: skip
"""Names of tools whose one text is an action in plain words; what other tools get is something else."""


FIELDS = {str(kind.__struct_config__.tag): frozenset(kind.__struct_fields__) for kind in get_args(Action)}
"""Tag of an action to the names of its fields."""


def add_call(
    run: Run,
    name: str,
    arguments: Any,
    *,
    raw: Callable[[Any], Any],
    returned: Any = None,
    error: Threw | None = None,
    described: Callable[[Action], Action] = lambda action: action,
    **fields: Any,
) -> Step:
    """Add the steps of a call, one for each of its actions, and return the last: what the call gave is its.

    `raw`: the record of a step by the arguments that are its own. `described`: an action with what the page
    before it showed of its target.
    """
    plain = _object(arguments)
    parts = parts_of(name, arguments if plain is None else plain)
    add = partial(_add, run, run.header.get("agent"), described)
    for part in parts[:-1]:
        add(part.name, part.arguments, raw=raw(part.record), **fields)
    if error is not None and len(parts) > 1:
        run.flaw("a call of several actions that failed: the error is at the last of them", f"{name!r:.80}")
    last = parts[-1]
    record = last.record if len(parts) > 1 else arguments
    own = last.arguments if len(parts) > 1 or last.name != name else arguments
    return add(last.name, own, raw=raw(record), returned=returned, error=error, **fields)


def _add(
    run: Run,
    agent: AgentInfo | None,
    described: Callable[[Action], Action],
    name: str,
    arguments: Any,
    **fields: Any,
) -> Step:
    if is_on_grid(name, _object(arguments), None if agent is None else agent.model):
        run.on_grid.add(run.steps)
    return run.step(action=described(called_action(run, name, arguments)), **fields)


def called_action(run: Run, name: str, arguments: Any) -> Action:
    """Return the action of a call; unknown by its name where nothing describes it.

    Arguments may be an object, the text of one, or plain words.
    """
    plain = _object(arguments)
    given = arguments if plain is None else plain
    if isinstance(plain, dict) and plain.keys() == {"raw"} and isinstance(plain["raw"], str):
        return Unknown(name=name[:64] or "call", raw=plain["raw"])  # as exports write an unknown action
    found = own_action(run, name, given) or _known(run, name, plain) or _worded(run, name, given)
    if found is None and plain is None and arguments != "":
        run.flaw("arguments that are no object: the action is unknown", f"a call of {name!r:.80}")
    return found or Unknown(name=name[:64] or "call", raw=msgspec.json.encode(arguments).decode())


def own_action(run: Run, name: str, arguments: Any) -> Action | None:
    """Return what `--actions` makes of a call: of its one text, or of its name with that text; else None."""
    text = _text(arguments)
    lines = (name,) if text is None else (text, f"{name} {text}")
    found = (run.wordings.own(line) for line in lines)
    return next((action for action in found if action is not None), None)


def _known(run: Run, name: str, arguments: dict[str, Any] | None) -> Action | None:
    if arguments is None:
        return None
    tag = run.options.tools.get(name, name)
    # A null holds as little as an argument that is missing.
    arguments = {key: part for key, part in arguments.items() if part is not None}
    # Arguments that our own action has no field for, such as `x`, are those of another tool of that name.
    strange = arguments.keys() - FIELDS.get(tag, frozenset())
    known = computer_action(tag, arguments) if strange else None
    found = known or _own_form(tag, arguments) or computer_action(tag, arguments)
    return None if found is not None and _does_more(found, arguments) else found


_FURTHER = lazy_pattern(r"(?i)^(?:and_?|also_?|auto_?)?(?:then|click|tap|submit|press|hit)(?:$|[_A-Z])")
"""Names of arguments by which a tool does something else as well."""


def _does_more(action: Action, arguments: Mapping[str, Any]) -> bool:
    """Whether an argument asks for a further action, which the one that was read does not include."""
    is_sent = isinstance(action, Fill | Type) and action.submit
    further = (part for key, part in arguments.items() if _FURTHER.match(key))
    is_asked = any(part is True or isinstance(part, dict) for part in further)
    return is_asked and not is_sent and not isinstance(action, Click | DblClick | MouseAction)


def _own_form(tag: str, arguments: dict[str, Any]) -> Action | None:
    try:
        action: Action = convert(whole_numbers({**arguments, "type": tag}), Action)
    except msgspec.ValidationError:
        return None
    # A blank is a key of ours; other tools write names of keys in their own ways.
    return replace(action, key=key_name(action.key)) if _is_named_key(action) else action


def _is_named_key(action: Action) -> TypeGuard[Press]:
    return isinstance(action, Press) and len(action.key) > 1


def _worded(run: Run, name: str, arguments: Any) -> Action | None:
    text = _text(arguments) if name.rpartition(".")[2].lower() in ACTING else None
    return None if text is None else run.wordings.action(text)


def _text(arguments: Any) -> str | None:
    """Return the only text among arguments; None without a text, or with several."""
    if isinstance(arguments, str):
        return arguments
    found = (
        [part for part in arguments.values() if isinstance(part, str)] if isinstance(arguments, dict) else []
    )
    return found[0] if len(found) == 1 else None


def _object(arguments: Any) -> dict[str, Any] | None:
    if isinstance(arguments, str):
        try:
            arguments = decode_plain(arguments)
        except (msgspec.DecodeError, RecursionError):
            return None
    if arguments is None:
        return {}
    return arguments if isinstance(arguments, dict) else None


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
    """The arguments of the call with this action only; what belongs to all of them is in the first."""


def parts_of(name: str, arguments: Any) -> list[BatchPart]:
    """Return the actions of a call: those of its list or of the fields of its form, else the call itself."""
    for key, call in FORMS.items() if isinstance(arguments, dict) and name.endswith("fill_form") else ():
        fields = arguments.get(key)
        if isinstance(fields, list) and fields and all(isinstance(one, dict) for one in fields):
            return [BatchPart(*call(one), {key: [one]}) for one in fields]
    listed = arguments.get(ACTIONS) if isinstance(arguments, dict) else None
    if not isinstance(listed, list) or not any(_is_named(one) for one in listed):
        return [BatchPart(name, arguments, arguments)]
    others = {key: value for key, value in arguments.items() if key != ACTIONS}
    records = [{**(others if at == 0 else {}), ACTIONS: [one]} for at, one in enumerate(listed)]
    return [BatchPart(*_named(name, one), record) for one, record in zip(listed, records, strict=True)]


FORM = "fields"
"""Key of the fields of a form that Playwright MCP fills in one call."""

_FIELDS = {"checkbox": "check", "radio": "check", "combobox": "select_option"}
"""Type of a field of a form to what sets it; all others are filled."""


def form_call(field: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of the call that sets one field of a form."""
    kind, value = str(field.get("type")), str(field.get("value"))
    tool = "uncheck" if kind == "checkbox" and value.lower() != "true" else _FIELDS.get(kind, "fill")
    aim = {"element": field.get("name"), "ref": field.get("ref", field.get("target"))}
    return f"browser_{tool}", {**aim, "text": value, "values": [value]}


def _filled(field: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return "fill", {"uid": field.get("uid"), "value": field.get("value")}


FORMS = {FORM: form_call, "elements": _filled}
"""Key of the fields of a form to the call that sets one of them: Playwright MCP, Chrome DevTools."""


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
