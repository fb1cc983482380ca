"""Actions of Stagehand: tools of its agents, computer use, and the calls that its `act` was resolved to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from replaykit.interop.imported_run import Run
from replaykit.interop.tool_calls import called_action
from replaykit.patterns import lazy_pattern
from replaykit.trajectory import action as actions
from replaykit.trajectory.redaction_marks import MASKED

Arguments = Mapping[str, Any]

READING = frozenset({
    "done", "think", "todo", "search", "extract", "observe", "screenshot", "ariatree", "close",
    "open_web_browser", "getstatus", "task_complete",
})  # fmt: skip
"""Tools that leave the page as it is, lower-case."""

TYPED_MAX = 65_536
"""Characters of a text that is typed several times."""

IN_WORDS = ("act", "fillForm")
"""Tools that a model resolves to calls."""


def mark_first_only(run: Run, tools: Iterable[str]) -> None:
    """Make the actions partial where `act` was called: of two calls that it made, it returns the first."""
    if "act" in tools:
        run.fills(actions="partial")


_VARIABLE = lazy_pattern(r"%[A-Za-z_][\w-]{0,127}%")
"""Text that Stagehand replaces by the value of a variable: models and logs see the name only."""


def _without_variables(action: actions.Action) -> actions.Action:
    """Return an action with a mask for each variable: its name was never entered."""
    if isinstance(action, actions.TextAction):
        return replace(action, value=_VARIABLE.sub(MASKED, action.value))
    if isinstance(action, actions.SelectOption):
        return replace(action, labels=tuple(_VARIABLE.sub(MASKED, one) for one in action.labels))
    return action


def actions_of(run: Run, name: str, arguments: Any, result: Any) -> list[actions.Action]:
    """Return what a tool did: of `act` and of forms what the result holds, else what their words state."""
    return [_without_variables(one) for one in _stated_actions(run, name, arguments, result)]


def _stated_actions(run: Run, name: str, arguments: Any, result: Any) -> list[actions.Action]:
    args = arguments if isinstance(arguments, dict) else {}
    # A resolved action has a selector; an instruction in words has to be interpreted.
    resolved = _resolved(result) or _resolved(args)
    if resolved:
        return [resolved_action(one) for one in resolved]
    plain = name.lower()
    if plain == "act":
        words = next((args[key] for key in ("action", "instruction") if isinstance(args.get(key), str)), "")
        return [worded(run, name, words, args)]
    fields = args.get("fields")
    if plain in ("fillform", "fillformvision") and isinstance(fields, list) and fields:
        return [_field(run, name, one) for one in fields]
    if plain in READING:
        return [actions.ToolCall(name=name[:64], arguments=dict(args))]
    return [_tool(plain, args) or called_action(run, name, arguments)]


def worded(run: Run, name: str, words: str, raw: Any) -> actions.Action:
    """Return the action that words say; unknown by its name where no wording fits."""
    action = run.wordings.action(words) if words else None
    return action if action is not None else _unknown(name, raw)


def resolved_action(resolved: Any) -> actions.Action:
    """Return the action of a selector, a method and its arguments, as Stagehand carries them out."""
    if not isinstance(resolved, dict):
        return _unknown("act", resolved)
    method, selector = str(resolved.get("method", "")), resolved.get("selector")
    given = resolved.get("arguments") if isinstance(resolved.get("arguments"), list) else []
    element = _element(selector, resolved.get("description"))
    make = _METHODS.get(method.lower().replace("_", ""))
    try:
        action = None if make is None else make(element, [str(one) for one in given or ()])
    except (IndexError, ValueError):
        action = None
    return _unknown(method or "act", resolved) if action is None else _without_variables(action)


def _resolved(value: Any) -> list[Any]:
    """Return the calls that a result or an action names; empty where it names none."""
    of = value.get("playwrightArguments") if isinstance(value, dict) else None
    return of if isinstance(of, list) else [of] if isinstance(of, dict) else []


def _unknown(name: str, raw: Any) -> actions.Unknown:
    return actions.Unknown(name=name[:64] or "act", raw=msgspec.json.encode(raw).decode())


def _element(selector: Any, description: Any) -> actions.Element | None:
    path = selector if isinstance(selector, str) and selector else None
    text = description if isinstance(description, str) and description else None
    if path is None and text is None:
        return None
    xpath = path.removeprefix("xpath=") if path and path.startswith(("xpath=", "/")) else None
    return actions.Element(ref=path, xpath=xpath, text=text)


def _need(element: actions.Element | None) -> actions.Element:
    if element is None:
        raise ValueError("no element")
    return element


_BUTTONS = ("right", "middle")
_Make = Callable[[actions.Element | None, list[str]], actions.Action]
_METHODS: dict[str, _Make] = {
    "click": lambda e, a: actions.Click(
        element=_need(e), button=a[0] if a and a[0] in ("right", "middle") else "left"
    ),
    "doubleclick": lambda e, a: actions.DblClick(element=_need(e)),
    "dblclick": lambda e, a: actions.DblClick(element=_need(e)),
    "fill": lambda e, a: actions.Fill(element=_need(e), value=a[0]),
    "type": lambda e, a: actions.Type(element=_need(e), value=a[0]),
    "press": lambda e, a: actions.Press(element=e, key=a[0]),
    "hover": lambda e, a: actions.Hover(element=_need(e)),
    "selectoption": lambda e, a: actions.SelectOption(element=_need(e), values=(), labels=tuple(a)),
    "selectoptionfromdropdown": lambda e, a: actions.SelectOption(
        element=_need(e), values=(), labels=tuple(a)
    ),
    "draganddrop": lambda e, a: actions.DragAndDrop(element=_need(e), to=_element(a[0], None)),
    # How far it goes is not stated: one px stands for the direction.
    "scroll": lambda e, a: actions.Scroll(element=e, dy=1, amount=a[0] if a else None),
    "scrollto": lambda e, a: actions.Scroll(element=e, dy=1, amount=a[0] if a else None),
    "nextchunk": lambda e, a: actions.Scroll(element=e, dy=1, amount="page"),
    "prevchunk": lambda e, a: actions.Scroll(element=e, dy=-1, amount="page"),
}
"""Method, lower-case and without underscores, to its action."""


def _field(run: Run, name: str, field: Any) -> actions.Action:
    if not isinstance(field, dict):
        return _unknown(name, field)
    words, value, point = field.get("action"), field.get("value"), _point(field.get("coordinates"))
    if isinstance(value, str) and point is not None:
        return actions.Fill(
            element=actions.Element(text=words if isinstance(words, str) else None, point=point), value=value
        )
    return worded(run, name, words if isinstance(words, str) else "", field)


def _point(place: Any) -> tuple[int, int] | None:
    both = [place.get("x"), place.get("y")] if isinstance(place, dict) else place
    if not isinstance(both, list) or len(both) != 2:
        return None
    numbers = [one for one in both if isinstance(one, int | float) and not isinstance(one, bool)]
    return (round(numbers[0]), round(numbers[1])) if len(numbers) == 2 else None


def _tool(name: str, args: Arguments) -> actions.Action | None:
    """Return the action of a tool that only Stagehand has, or calls by names of its own."""
    described, point = args.get("describe"), _point(args.get("coordinates"))
    text = described if isinstance(described, str) else None
    element = actions.Element(text=text, point=point) if text or point else None
    match name:
        case "click" | "clickandhold" if element is not None and text:
            return actions.Click(element=element, point=point)
        case "type" if element is not None and text and isinstance(args.get("text"), str):
            return actions.Type(element=element, value=args["text"])
        case "draganddrop" if _point(args.get("startCoordinates")) is not None:
            ends = (_point(args.get("startCoordinates")), _point(args.get("endCoordinates")))
            return actions.DragAndDrop(element=element, point=ends[0], to_point=ends[1])
        case "keys" if isinstance(args.get("value"), str):
            value, times = args["value"], args.get("repeat") or 1
            if args.get("method") == "press":
                return actions.Press(key=value)
            is_read = type(times) is int and 0 < times * len(value) <= TYPED_MAX
            return actions.KeyboardType(value=value * times) if is_read else None
        case "scroll" if args.get("direction") in ("up", "down") and "x" not in args:
            share = args.get("percentage")
            amount = f"{args['direction']} {share}%" if isinstance(share, int | float) else args["direction"]
            return actions.Scroll(dy=1 if args["direction"] == "down" else -1, amount=amount)
        case "wait" if isinstance(ms := args.get("timeMs"), int | float) and 0 <= ms < 2**53:
            return actions.Wait(ms=round(ms))
        case "navback":
            return actions.GoBack()
        case "tripleclick" | "doubleclick" if _point([args.get("x"), args.get("y")]) is not None:
            at = _point([args.get("x"), args.get("y")])
            return actions.DblClick(element=actions.Element(point=at), point=at)
    return None
