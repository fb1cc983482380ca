"""Arguments of calls that a model wrote as text, such as `click(x=600, y=475)`, by their names."""

from __future__ import annotations

import ast
from typing import Any


def tool_arguments(name: str, text: str, of: str | None = None) -> dict[str, Any] | None:
    """Return the literal arguments of a call by their names; None where they are no literals.

    `of`: what the function is called of: `page` for Playwright, `pyautogui`.
    """
    try:
        # Parsed and never run: the text is a model's.
        call = ast.parse(f"f({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        given = [ast.literal_eval(one) for one in call.args]
        named = {one.arg: ast.literal_eval(one.value) for one in call.keywords if one.arg}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, AssertionError):
        return None
    # pyautogui counts notches, and positive ones go up.
    if of == "pyautogui" and name == "scroll" and len(given) == 1 and isinstance(given[0], int | float):
        return {"direction": "up" if given[0] > 0 else "down", "amount": abs(given[0])}
    in_page = _IN_PAGE.get(name) if of == "page" and _is_text(given) else None
    places = in_page or _PLACES.get(name.lower(), ("x", "y") if len(given) > 1 else ("text",))
    # One argument too many: the function is another one than its name suggests.
    if len(given) > len(places):
        return None
    return {**dict(zip(places, given, strict=False)), **named}


def _is_text(given: list[Any]) -> bool:
    return bool(given) and isinstance(given[0], str)


_IN_PAGE = {
    **dict.fromkeys(("click", "dblclick", "hover", "check", "uncheck", "focus", "tap"), ("selector",)),
    **dict.fromkeys(("fill", "type"), ("selector", "text")), "select_option": ("selector", "value"),
    "press": ("selector", "key"),
}  # fmt: skip
"""Methods of Playwright's page, whose first argument is a selector."""

_PLACES = {
    "select_option": ("element", "value"), "answer": ("text",),
    "goto": ("url",), "navigate": ("url",), "open": ("url",), "go_to": ("url",), "visit": ("url",),
    "press": ("key",), "key": ("key",), "keypress": ("key",), "hotkey": ("key", "key2", "key3", "key4"),
    "wait": ("seconds",), "sleep": ("seconds",), "scroll": ("x", "y", "dx", "dy"),
    "drag": ("x", "y", "to_x", "to_y"), "moveto": ("x", "y"), "type": ("text",), "write": ("text",),
}  # fmt: skip
