"""An action in one line, in the style of Mind2Web's action history: `<button> Pay -> CLICK`."""

from __future__ import annotations

from replaykit.trajectory import action as actions
from replaykit.trajectory.step import Step

NAME_MAX = 80
"""Code points of an element's name."""

VALUE_MAX = 200
"""Code points of a value."""

_OPERATIONS = {
    "click": "CLICK", "tap": "CLICK", "dblclick": "DOUBLE_CLICK", "mouse_click": "CLICK",
    "mouse_dblclick": "DOUBLE_CLICK", "clear": "CLEAR", "hover": "HOVER", "focus": "FOCUS",
    "check": "CHECK", "uncheck": "UNCHECK", "go_back": "GO_BACK", "go_forward": "GO_FORWARD",
    "reload": "RELOAD", "close_tab": "CLOSE_TAB", "wait": "WAIT", "noop": "WAIT",
}  # fmt: skip

MESSAGES = ("send_msg_to_user", "answer", "report_infeasible")
"""Tags that never enter an action history."""


def render_step(step: Step) -> str:
    """Return the step's action in one line; a failed or unobserved action is marked."""
    line = render_action(step.action)
    return line if step.done else f"{line} | FAILED"


def render_action(action: actions.ActionBase) -> str:
    """Return `HEAD -> OPERATION`."""
    return f"{_head(action)} -> {_operation(action)}"


def element_name(element: actions.Element) -> str:
    """Return the first non-empty name, on one line, cut to 80 code points."""
    names = element.names
    found = [element.name, element.text]
    if names is not None:
        found += [names.label, names.aria_label, names.placeholder, names.title, names.alt]
    if element.tag == "button" or element.type in ("submit", "button", "reset"):
        found.append(element.value)
    named = (" ".join(text.split()) for text in found if text)
    return next((text[:NAME_MAX] for text in named if text), "")


def _head(action: actions.ActionBase) -> str:
    if action.element is not None:
        return f"<{action.element.tag or 'element'}> {element_name(action.element)}".rstrip()
    if isinstance(action, actions.MouseAction):
        return f"({action.point[0]}, {action.point[1]})"
    return "page"


def _operation(action: actions.ActionBase) -> str:
    tag = actions.tag_of(action)
    if getattr(action, "button", "left") == "right":
        return "RIGHT_CLICK"
    if tag in _OPERATIONS:
        return _OPERATIONS[tag]
    return _with_value(action, tag)


def _with_value(action: actions.ActionBase, tag: str) -> str:
    match action:
        case actions.Fill() | actions.Type():
            return f"TYPE: {_line(action.value)}" + (" [ENTER]" if action.submit else "")
        case actions.KeyboardType() | actions.KeyboardInsertText():
            return f"TYPE: {_line(action.value)}"
        case actions.Press():
            return f"PRESS: {action.key}"
        case actions.SelectOption():
            return f"SELECT: {_line(', '.join(action.labels or action.values))}"
        case actions.UploadFile():
            return f"UPLOAD: {_line(', '.join(file.name for file in action.files))}"
        case actions.DragAndDrop():
            return f"DRAG: {element_name(action.to)}" if action.to else "DRAG"
        case actions.Scroll():
            return f"SCROLL: {_direction(action)}"
        case actions.Goto():
            return f"GOTO: {_line(action.url)}"
        case actions.NewTab():
            return f"NEW_TAB: {_line(action.url)}" if action.url else "NEW_TAB"
        case actions.FocusTab():
            return f"SWITCH_TAB: {action.to_page if action.tab is None else action.tab}"
        case actions.HandleDialog():
            return f"DIALOG: {'accept' if action.accept else 'dismiss'}"
        case actions.ToolCall():
            return f"CALL: {action.name}"
        case actions.MouseAction():
            return f"MOUSE: {tag.removeprefix('mouse_')} {action.point[0]} {action.point[1]}"
        case actions.Unknown():
            return action.raw or action.name
    return f"{tag.upper()}: {_line(getattr(action, 'text', ''))}"


def _direction(scroll: actions.Scroll) -> str:
    if abs(scroll.dx) > abs(scroll.dy):
        return "right" if scroll.dx > 0 else "left"
    return "up" if scroll.dy < 0 else "down"


def _line(text: str) -> str:
    line = " ".join(text.split("\n"))
    return line if len(line) <= VALUE_MAX else line[: VALUE_MAX - 1] + "…"
