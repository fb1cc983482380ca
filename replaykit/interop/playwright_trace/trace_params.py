"""Actions as calls of Playwright's protocol: class, method, parameters."""

from __future__ import annotations

from typing import Any

import msgspec

from replaykit.trajectory import action as actions

Call = tuple[str, str, dict[str, Any]]

_FRAME = ("check", "uncheck", "hover", "focus", "tap")
_PAGE = {"go_back": "goBack", "go_forward": "goForward", "reload": "reload", "close_tab": "close"}
_KEYS = {"keyboard_down": "keyboardDown", "keyboard_up": "keyboardUp"}
_MOUSE = {
    "mouse_click": "mouseClick",
    "mouse_move": "mouseMove",
    "mouse_down": "mouseDown",
    "mouse_up": "mouseUp",
}


def call_of(action: actions.ActionBase) -> Call:
    """Return the call that an action is; of one without a call its name and fields, for people."""
    tag = actions.tag_of(action)
    aim = {"selector": selector_of(action.element)} if action.element is not None else {}
    match action:
        case actions.Click() | actions.DblClick():
            more = {"clickCount": 2} if isinstance(action, actions.DblClick) else {}
            held = {"modifiers": list(action.modifiers)} if action.modifiers else {}
            return "Frame", "click", {**aim, "button": action.button, **more, **held}
        case actions.Fill():
            value = action.value_after if action.is_put_in else action.value
            return "Frame", "fill", {**aim, "value": value}
        case actions.Type():
            return "Frame", "type", {**aim, "text": action.value}
        case actions.Press() if action.element is not None:
            return "Frame", "press", {**aim, "key": action.key}
        case actions.Press():
            return "Page", "keyboardPress", {"key": action.key}
        case actions.KeyboardType():
            return "Page", "keyboardType", {"text": action.value}
        case actions.KeyboardInsertText():
            return "Page", "keyboardInsertText", {"text": action.value}
        case actions.SelectOption():
            values = [{"value": one} for one in action.values] or [{"label": one} for one in action.labels]
            return "Frame", "selectOption", {**aim, "options": values}
        case actions.UploadFile():
            return "Frame", "setInputFiles", {**aim, "payloads": [{"name": one.name} for one in action.files]}
        case actions.DragAndDrop():
            ends = {"source": selector_of(action.element), "target": selector_of(action.to)}
            return "Frame", "dragAndDrop", ends
        case actions.Scroll():
            return "Page", "mouseWheel", {"deltaX": action.dx, "deltaY": action.dy}
        case actions.NewTab():
            return "BrowserContext", "newPage", {}
        case actions.HandleDialog():
            text = {} if action.text is None else {"promptText": action.text}
            return "Dialog", "accept" if action.accept else "dismiss", text
        case actions.MouseAction() if tag in _MOUSE:
            place = {"x": action.point[0], "y": action.point[1], "button": action.button}
            return "Page", _MOUSE[tag], place
        case actions.Answer() | actions.SendMsgToUser() | actions.ReportInfeasible():
            return "Tracing", "tracingGroup", {"name": f"{tag}: {action.text}"}
        case actions.Unknown():
            return "Page", action.name, {"raw": action.raw}
    return _plain(action, tag, aim)


def selector_of(element: actions.Element | None) -> str:
    """Return what names an element: its path, else the agent's own reference, else its name."""
    if element is None:
        return ""
    return element.css or element.ref or element.name or element.tag or ""


def _plain(action: actions.ActionBase, tag: str, aim: dict[str, Any]) -> Call:
    if tag == "goto":
        return "Frame", "goto", {"url": getattr(action, "url", "")}
    if tag in _FRAME:
        return "Frame", tag, aim
    if tag in _PAGE:
        return "Page", _PAGE[tag], {}
    if tag in _KEYS:
        return "Page", _KEYS[tag], {"key": getattr(action, "key", "")}
    fields = msgspec.to_builtins(action)
    return "Page", tag, {name: value for name, value in fields.items() if name not in ("type", "element")}
