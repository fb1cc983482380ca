"""Actions of tools that agents are given: browsers by coordinates or by references, under many names.

Anthropic's and OpenAI's computer tools, Playwright MCP, Inspect's `web_browser`, and what is called alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import msgspec

from replaykit.interop.key_names import MODIFIERS, key_name
from replaykit.interop.tools import chrome_devtools
from replaykit.patterns import lazy_pattern
from replaykit.trajectory import action as actions

Arguments = Mapping[str, Any]


def computer_action(name: str, args: Arguments) -> actions.Action | None:
    """Return the action of a tool call, None where its name or its arguments are not known."""
    # MCP clients put the server's name before the tool's: `mcp__playwright__browser_click`.
    plain = name.strip().lower().replace("-", "_").rpartition("__")[2].removeprefix("functions.")
    plain = _DATED.sub("", plain)
    inner = args.get("action")
    if isinstance(inner, dict) and isinstance(inner.get("type"), str):
        return computer_action(inner["type"], inner)  # OpenAI's call of a computer
    plain = plain.removeprefix("browser_").removeprefix("web_browser_").removeprefix("computer_")
    if isinstance(inner, str) and inner != name and (plain in _CARRIERS or _is_another(plain, inner)):
        return computer_action(inner, args)
    make = _MAKERS.get(plain)
    try:
        return None if make is None else make(args)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, msgspec.ValidationError):
        return None


_CARRIERS = ("computer", "action", "use")
"""Tools whose argument `action` names what they do."""


def _is_another(plain: str, inner: str) -> bool:
    """Whether a tool that reads or waits was given an action of another name: that is what was done."""
    return inner.lower() in _MAKERS and plain in (*_READING, "wait", "done") and inner.lower() != plain


_DATED = lazy_pattern(r"_\d{8}$")
"""The date in the name of a computer tool: `computer_20250124`."""


def _number(value: Any) -> int:
    # Models write numbers as text.
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    return round(float(value))


def _point(args: Arguments, x: str = "x", y: str = "y", pair: str = "coordinate") -> tuple[int, int] | None:
    both = args.get(pair, args.get(pair + "s", args.get("point", args.get("position"))))
    both = args["target"] if both is None and isinstance(args.get("target"), dict) else both
    if isinstance(both, dict):
        both = both.get("coordinate", [both.get("x"), both.get("y")] if "x" in both else None)
    if isinstance(both, str):
        # Models write pairs as text.
        both = both.strip("[]() ").split(",")
    if isinstance(both, list | tuple) and len(both) == 2:
        return _place(both[0], both[1])
    return None if x not in args or y not in args else _place(args[x], args[y])


def _place(x: Any, y: Any) -> tuple[int, int]:
    """Return a place in px. Raises ValueError for fractions of a screen of unknown size."""
    place = (_number(x), _number(y))
    parts = [float(x), float(y)]
    # Fractions of the screen; (0, 1) may be a place in px all the same.
    if all(0 <= part <= 1 for part in parts) and not all(part.is_integer() for part in parts):
        raise ValueError
    return place


_NAMES = ("element", "target", "selector", "ref", "element_id", "label", "name", "text")


def _element(args: Arguments, *names: str) -> actions.Element | None:
    args = {key: int(part) if _is_whole(part) else part for key, part in args.items()}
    ref = next(
        (str(args[key]) for key in ("ref", "selector", "element_id", "uid", "index") if _is_given(args, key)),
        None,
    )
    if ref is None and isinstance(args.get("target"), dict) and _is_given(args["target"], "ref"):
        ref = str(args["target"]["ref"])
    target = args.get("target")
    # Playwright MCP: `element` is what a person reads, and may be missing.
    if ref is None and (("element" in args and _is_given(args, "target")) or _is_reference(target)):
        ref = str(target)
    text = next((args[key] for key in names or ("element", "target", "label", "description")
                 if isinstance(args.get(key), str) and args[key] != ref), None)  # fmt: skip
    return None if ref is None and text is None else actions.Element(ref=ref, text=text)


_REFERENCE = lazy_pattern(r"(?:f\d{1,6})?e\d{1,9}")
"""A reference of Playwright's accessibility snapshots."""


def _is_reference(value: Any) -> bool:
    return isinstance(value, str) and _REFERENCE.fullmatch(value) is not None


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def _is_given(args: Arguments, key: str) -> bool:
    value = args.get(key)
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


_BUTTONS = {"wheel": "middle", "l": "left", "r": "right", "m": "middle"}
"""Names of buttons that tools have of their own."""


def _click(args: Arguments, **fields: Any) -> actions.Action | None:
    point, element = _point(args), _element(args)
    name = str(args.get("button") or "left").lower()
    if name in ("back", "forward"):  # of a mouse that has them: OpenAI
        return actions.GoBack() if name == "back" else actions.GoForward()
    button = fields.get("button") or _BUTTONS.get(name, name)
    held = _modifiers(args)
    count = fields.get("count", _count(args))
    is_double = count == 2
    if point is not None and element is None:
        if is_double:
            return actions.MouseDblClick(point=point, button=button, modifiers=held)
        return actions.MouseClick(point=point, button=button, count=count, modifiers=held)
    # `text` holds the keys that are held, for Anthropic's tool.
    if element is None and isinstance(args.get("text"), str) and not held:
        element = actions.Element(text=args["text"])
    if element is None and not _is_at_pointer(args):
        return None
    if is_double:
        return actions.DblClick(element=element, point=point, modifiers=held)
    return actions.Click(element=element, point=point, button=button, modifiers=held)


def _count(args: Arguments) -> int:
    """Return how often a button is pressed: 2 for a double click."""
    if any(_is_yes(args.get(key)) for key in ("doubleClick", "dblClick")):
        return 2
    stated = args.get("clickCount", args.get("clicks"))
    return 1 if stated is None else max(1, _number(stated))


def _is_at_pointer(args: Arguments) -> bool:
    """Whether no argument names a place: the place is that of the pointer (Anthropic)."""
    return not any(args.get(key) is not None for key in _WHERE)


_WHERE = (
    "coordinate",
    "coordinates",
    "point",
    "position",
    "x",
    "y",
    "target",
    "element",
    "ref",
    "selector",
    "box",
)


def _modifiers(args: Arguments) -> tuple[str, ...]:
    """Return the keys held meanwhile: `modifiers`, `keys` (OpenAI) or `text` (Anthropic), if all are such keys."""
    for key in ("modifiers", "keys", "text"):
        value = args.get(key)
        parts = value.split("+") if isinstance(value, str) else value if isinstance(value, list) else []
        held = [MODIFIERS.get(str(one).strip().lower(), "") for one in parts]
        if held and all(held):
            return tuple(sorted(set(held)))
    return ()


def _type(args: Arguments) -> actions.Action | None:
    value = next((args[key] for key in ("text", "content", "value", "string", "message", "keys")
                  if isinstance(args.get(key), str)), None)  # fmt: skip
    if value is None:
        return None
    element = _element({key: part for key, part in args.items() if key != "text"})
    # A file is written, and nothing is typed.
    if element is None and any(isinstance(args.get(key), str) for key in _FILES):
        return actions.ToolCall(name="write", arguments=dict(args))
    if element is None and (point := _point(args)) is not None:
        element = actions.Element(point=point)
    # Chrome DevTools names the key that follows the text.
    last = args.get("submitKey")
    if last not in (None, "", "Enter"):
        return None
    is_sent = last == "Enter" or any(_is_yes(args.get(key)) for key in _SENDING)
    # Text without a field goes to whatever has the focus.
    if element is None and not is_sent:
        return actions.KeyboardType(value=value)
    return actions.Type(element=element, value=value, submit=is_sent)


_FILES = ("file_path", "filePath", "path", "filename", "file_name", "file")
"""Arguments that name a file."""

_SENDING = (
    "submit", "enter", "press_enter", "pressEnter", "press_enter_after", "press_enter_after_typing", "pressEnterAfter",
    "hit_enter", "then_enter", "send_enter", "submit_after",
)  # fmt: skip
"""Arguments by which Enter follows a text."""


def _is_yes(value: Any) -> bool:
    """Whether an argument says yes: models also write it as text or as a number."""
    return (
        value is True
        or value == 1
        or (isinstance(value, str) and value.strip().lower() in ("true", "yes", "1"))
    )


def _fill(args: Arguments) -> actions.Action | None:
    typed = _type(args)
    # Gemini's tool clears the field unless it is asked not to.
    if (
        isinstance(typed, actions.Type)
        and typed.element is not None
        and args.get("clear_before_typing") is not False
    ):
        return actions.Fill(element=typed.element, value=typed.value, submit=typed.submit)
    return typed


def _press(args: Arguments) -> actions.Action:
    keys = args.get("keys", args.get("key", args.get("text")))
    more = [args[key] for key in ("key2", "key3", "key4") if key in args]
    if isinstance(keys, list):
        return actions.Press(key="+".join(key_name(str(one)) for one in keys))
    return actions.Press(key="+".join(key_name(str(one)) for one in (keys, *more))) if keys else _refuse()


def _key(args: Arguments) -> str:
    return key_name(str(args.get("key") or args.get("text") or _refuse()))


def _refuse() -> NoReturn:
    raise ValueError


_WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def _scroll(args: Arguments) -> actions.Action:
    held = _modifiers({key: part for key, part in args.items() if key != "text"})
    for names in (("scroll_x", "scroll_y"), ("delta_x", "delta_y"), ("deltaX", "deltaY"), ("dx", "dy")):
        if names[0] in args or names[1] in args:
            dx, dy = (_number(0 if (part := args.get(name)) is None else part) for name in names)
            return actions.Scroll(dx=dx, dy=dy, modifiers=held)
    way = str(args.get("scroll_direction", args.get("direction", args.get("text")))).lower()
    dx, dy = _WAYS[way]
    if (pixels := args.get("magnitude_in_pixels")) is not None:
        return actions.Scroll(dx=dx * _number(pixels), dy=dy * _number(pixels), modifiers=held)
    far = args.get("scroll_amount", args.get("amount", args.get("magnitude")))
    # How far a notch or a page is, is not stated: one px stands for the direction.
    return actions.Scroll(dx=dx, dy=dy, amount=way if far is None else f"{way} {far}"[:64], modifiers=held)


def _scroll_to(args: Arguments) -> actions.Action:
    return actions.Scroll(element=_element(args) or _refuse(), amount="into view")


def _form_input(args: Arguments) -> actions.Action | None:
    value = args.get("value")
    # Anthropic's browser fills check boxes by true and false.
    if isinstance(value, bool):
        return (actions.Check if value else actions.Uncheck)(element=_element(args) or _refuse())
    return _fill({**args, "value": str(value)}) if value is not None else None


def _scroll_way(way: str) -> Callable[[Arguments], actions.Action]:
    return lambda args: actions.Scroll(dx=_WAYS[way][0], dy=_WAYS[way][1], amount=way)


def _goto(args: Arguments) -> actions.Action:
    url = args.get("url", args.get("text", args.get("address")))
    if url in _HISTORY and "url" in args:
        return _HISTORY[url]()
    return actions.Goto(url=url) if isinstance(url, str) and _is_address(url) else _refuse()


def _is_address(url: str) -> bool:
    """Whether a text may be an address: words apart are a name, or what is searched for."""
    parts = url.split()
    return len(parts) == 1 or (len(parts) > 1 and ":" in parts[0])


_HISTORY: dict[Any, Callable[[], actions.Action]] = {
    "back": actions.GoBack,
    "forward": actions.GoForward,
    "reload": actions.Reload,
}
"""Words of Anthropic's browser in the place of an address."""


def _drag(args: Arguments) -> actions.Action:
    path, held = args.get("path"), _modifiers(args)
    if isinstance(path, list) and len(path) > 1:
        ends = [_point({"point": path[at]}) for at in (0, -1)]
        return actions.DragAndDrop(point=ends[0], to_point=ends[1], modifiers=held)
    # These two name the end of a drag.
    first_args = {key: value for key, value in args.items() if key not in ("target", "coordinate")}
    start = _point(first_args, "x", "y", "start_coordinate")
    for names in (("startX", "startY", "start"), ("start_x", "start_y", "from")):
        # Each tool has names of its own for the ends.
        start = start if start is not None else _point(first_args, *names)
    over = _point({k: v for k, v in args.items() if k != "point"}, "to_x", "to_y", "coordinate")
    for names in (
        ("endX", "endY", "end"),
        ("end_x", "end_y", "end_coordinate"),
        ("destination_x", "destination_y", "destination"),
    ):
        over = over if over is not None else _point(args, *names)
    first, to = (_drag_end(args, *keys) or other for keys, other in ((_FROM, _element(args)), (_TO, None)))
    return (
        actions.DragAndDrop(element=first, to=to, point=start, to_point=over, modifiers=held)
        if start or first or over
        else _refuse()
    )


_FROM = (("startRef", "startTarget", "from_uid"), "startElement")
_TO = (("endRef", "endTarget", "to_uid"), "endElement")
"""References and description of both ends of a drag: Playwright MCP, Chrome DevTools."""


def _drag_end(args: Arguments, refs: tuple[str, ...], text: str) -> actions.Element | None:
    ref = next((str(args[key]) for key in refs if _is_given(args, key)), None)
    described = args.get(text) if isinstance(args.get(text), str) else None
    return None if ref is None and described is None else actions.Element(ref=ref, text=described)


def _wait(args: Arguments) -> actions.Action:
    if "ms" in args:
        return actions.Wait(ms=_number(args["ms"]))
    for key in ("seconds", "time", "duration", "timeout"):
        if isinstance(args.get(key), int | float):
            return actions.Wait(ms=round(float(args[key]) * 1000))
    return actions.Wait()


def _tabs(args: Arguments) -> actions.Action:
    match args.get("action"):
        case "new" | "create":
            return actions.NewTab(url=args.get("url") if isinstance(args.get("url"), str) else None)
        case "close":
            return actions.CloseTab()
        case "select" | "switch":
            return actions.FocusTab(tab=_number(args.get("index", 0)))
        case "list":
            return actions.ToolCall(name="tabs", arguments=dict(args))
    return _refuse()


def _option(args: Arguments) -> actions.Action:
    values = args.get("values", args.get("options", args.get("value", args.get("option"))))
    chosen = [values] if isinstance(values, str) else list(values) if isinstance(values, list) else _refuse()
    # Models choose by what they see, and those are labels.
    return actions.SelectOption(element=_element(args), values=(), labels=tuple(str(one) for one in chosen))


def _upload(args: Arguments) -> actions.Action | None:
    paths = next(
        (args[key] for key in ("paths", "files", "filePaths", "filePath", "path", "file") if key in args),
        None,
    )
    # Without any argument, the choice of a file is cancelled.
    if paths is None and args:
        return None
    names = [paths] if isinstance(paths, str) else paths if isinstance(paths, list) else []
    # Only the name: folders reveal the agent's machine.
    bases = tuple(actions.FileInfo(name=str(one).replace("\\", "/").rpartition("/")[2]) for one in names)
    return actions.UploadFile(element=_element(args), files=bases)


def _dialog(args: Arguments) -> actions.Action:
    given = next(
        (args[key] for key in ("promptText", "prompt_text", "text") if isinstance(args.get(key), str)), None
    )
    words = {str(args.get(key)).strip().lower() for key in ("accept", "action")}
    is_refused = bool(words & {"false", "no", "0", "dismiss", "cancel", "reject"})
    return actions.HandleDialog(accept=not is_refused, text=given)


def _end(args: Arguments) -> actions.Action:
    """Return the answer that an end holds; an end without one leaves the page as it is."""
    has_answer = any(isinstance(args.get(key), str) for key in _SAYING)
    return _answer(args) if has_answer else actions.ToolCall(name="done", arguments=dict(args))


_SAYING = ("answer", "text", "content", "result", "message", "summary", "output")


def _answer(args: Arguments) -> actions.Action:
    text = next((args[key] for key in _SAYING if isinstance(args.get(key), str)), None)
    return actions.Answer(text=text) if text is not None else _refuse()


def _read(name: str) -> Callable[[Arguments], actions.Action]:
    return lambda args: actions.ToolCall(name=name, arguments=dict(args))


def _is(kind: Callable[[], actions.Action]) -> Callable[[Arguments], actions.Action]:
    return lambda _: kind()


def _moved(kind: Callable[..., actions.Action]) -> Callable[[Arguments], actions.Action]:
    return lambda args: kind(point=_point(args) or _refuse())


def _hover(args: Arguments) -> actions.Action:
    point, element = _point(args), _element(args)
    if element is not None:
        return actions.Hover(element=element)
    return actions.MouseMove(point=point) if point is not None else _refuse()


_READING = (
    "screenshot", "take_screenshot", "cursor_position", "snapshot", "console_messages", "network_requests", "zoom",
    "get_page_text", "read_page", "find", "get_text", "get_content", "extract", "extract_content", "get_url",
    "list_tabs", "read_console", "read_network", "open_web_browser", "resize", "emulate_media", "network_request", "start_tracing", "stop_tracing", "start_video", "stop_video",
    "start_recording", "stop_recording", "install", "get_config", "pdf_save", "highlight", "hide_highlight", "annotate",
    *chrome_devtools.READING, "cookie_list", "cookie_get", "localstorage_list", "localstorage_get", "sessionstorage_list",
    "sessionstorage_get", "storage_state", "route_list", "console_clear", "network_clear",
    "verify_list_visible", "verify_value", "ariatree", "aria_tree", "read", "verify_element_visible", "verify_text_visible", "generate_locator",
)  # fmt: skip

_MAKERS: dict[str, Callable[[Arguments], actions.Action | None]] = {
    **dict.fromkeys(("click", "left_click", "single_click", "mouse_click", "tap", "mouse_click_xy", "click_at"), _click),
    **dict.fromkeys(("double_click", "dblclick", "doubleclick", "left_double"), lambda s: _click(s, count=2)),
    "triple_click": lambda s: _click(s, count=3),
    **dict.fromkeys(("right_click", "rightclick", "right_single"), lambda s: _click(s, button="right")),
    "middle_click": lambda s: _click(s, button="middle"),
    **dict.fromkeys(("mouse_move", "move", "moveto", "move_to", "mouse_move_xy"), _moved(actions.MouseMove)),
    "left_mouse_down": _moved(actions.MouseDown), "left_mouse_up": _moved(actions.MouseUp),
    **dict.fromkeys(("hover", "hover_at"), _hover),
    **dict.fromkeys(("drag", "left_click_drag", "drag_and_drop", "drag_to", "mouse_drag_xy", "dragto"), _drag),
    **dict.fromkeys(("type", "input", "input_text", "write", "typewrite", "type_text", "type_into"), _type),
    **dict.fromkeys(("fill", "type_text_at", "fill_field"), _fill),
    **chrome_devtools.MAKERS,
    "press_sequentially": lambda s: _type({"text": s["text"], "submit": s.get("submit")}),
    "drop": lambda s: _upload(s) if s.get("paths") and not s.get("data") else None,
    "keydown": lambda s: actions.KeyboardDown(key=_key(s)), "keyup": lambda s: actions.KeyboardUp(key=_key(s)),
    "type_submit": lambda s: _type({**s, "submit": True}),
    **dict.fromkeys(("key", "keypress", "press", "press_key", "hotkey", "key_press", "key_combination", "hold_key"), _press),
    "key_down": lambda s: actions.KeyboardDown(key=_key(s)), "key_up": lambda s: actions.KeyboardUp(key=_key(s)),
    "scroll_to": _scroll_to, "form_input": _form_input,
    "scroll": _scroll, "scroll_document": _scroll, "scroll_at": _scroll,
    "scroll_up": _scroll_way("up"), "scroll_down": _scroll_way("down"),
    **dict.fromkeys(("goto", "go", "navigate", "open", "open_url", "visit", "go_to", "go_to_url", "goto_url", "load",
                     "visit_url"), _goto),
    **dict.fromkeys(("back", "go_back", "goback", "navigate_back", "history_back"), _is(actions.GoBack)),
    **dict.fromkeys(("forward", "go_forward", "navigate_forward"), _is(actions.GoForward)),
    **dict.fromkeys(("refresh", "reload"), _is(actions.Reload)),
    "new_tab": lambda s: actions.NewTab(url=s["url"] if isinstance(s.get("url"), str) else None),
    "tab_new": lambda s: actions.NewTab(url=s["url"] if isinstance(s.get("url"), str) else None),
    "tabs": _tabs,
    "focus": lambda s: actions.Focus(element=_element(s) or _refuse()),
    "check": lambda s: actions.Check(element=_element(s) or _refuse()),
    "uncheck": lambda s: actions.Uncheck(element=_element(s) or _refuse()),
    "mouse_wheel": _scroll,
    "mouse_down": lambda s: actions.MouseDown(point=_point(s) or _refuse(), button=str(s.get("button", "left"))),
    "mouse_up": lambda s: actions.MouseUp(point=_point(s) or _refuse(), button=str(s.get("button", "left"))),
    **dict.fromkeys(("tab_close", "close_tab", "close"), _is(actions.CloseTab)),
    **dict.fromkeys(("tab_select", "switch_tab", "focus_tab"), lambda s: actions.FocusTab(tab=_number(s.get("index", s.get("tab"))))),
    **dict.fromkeys(("wait", "sleep", "wait_for"), _wait), "wait_5_seconds": lambda _: actions.Wait(ms=5000),
    **dict.fromkeys(("select", "select_option"), _option),
    **dict.fromkeys(("upload", "upload_file", "file_upload"), _upload),
    "handle_dialog": _dialog,
    **dict.fromkeys(("answer", "final_answer", "submit", "submit_answer", "respond"), _answer),
    **dict.fromkeys(("finished", "finish", "done", "complete", "stop", "terminate", "task_complete"), _end),
    **{name: _read(name) for name in _READING},
}  # fmt: skip
"""Name of a tool, without the prefix of its server, to its action."""
