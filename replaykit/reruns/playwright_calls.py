"""One recorded action on a live page, as a call of Playwright: nothing of a recording is run as a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from replaykit.trajectory import action as actions

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

# Actions on an element that need nothing but it.
_PLAIN = {
    actions.Clear: "clear",
    actions.Hover: "hover",
    actions.Focus: "focus",
    actions.Check: "check",
    actions.Uncheck: "uncheck",
}

# Actions on a page that need nothing else.
_ON_PAGE = {
    actions.GoBack: "go_back",
    actions.GoForward: "go_forward",
    actions.Reload: "reload",
    actions.CloseTab: "close",
}

_PLACED = frozenset({"area", "canvas", "img", "svg"})
"""Elements where it matters at which point of them an action is done."""


def on_element(action: actions.Action, target: Locator, to: Locator | None, timeout: float) -> None:
    """Carry out an action on an element; `timeout` in ms. Raises playwright's Error."""
    if type(action) in _PLAIN:
        getattr(target, _PLAIN[type(action)])(timeout=timeout)
        return
    match action:
        case actions.Fill() if action.is_put_in:
            target.focus(timeout=timeout)
            target.page.keyboard.insert_text(action.value)
        case actions.Fill():
            target.fill(action.value, timeout=timeout)
        case actions.Type():
            # `fill` sends no keys, and a page may listen for them.
            target.press_sequentially(action.value, timeout=timeout)
        case actions.SelectOption():
            target.select_option(value=list(action.values), timeout=timeout)
        case actions.Press():
            target.press(action.key, timeout=timeout)
        case actions.Scroll():
            # The wheel turns whatever lies under the mouse.
            target.hover(timeout=timeout)
            target.page.mouse.wheel(action.dx, action.dy)
        case actions.DragAndDrop() if to is not None:
            target.drag_to(to, timeout=timeout)
        case _:
            _press(action, target, timeout)
    if isinstance(action, actions.Fill | actions.Type) and action.submit:
        target.press("Enter", timeout=timeout)


def _press(action: actions.Action, target: Locator, timeout: float) -> None:
    """Click, in the way that was recorded."""
    how: dict[str, Any] = {"timeout": timeout, "button": getattr(action, "button", "left")}
    if action.modifiers:
        how["modifiers"] = list(action.modifiers)
    how |= _point(action)
    if isinstance(action, actions.DblClick | actions.MouseDblClick):
        target.dblclick(**how)
    else:
        target.click(**how, click_count=getattr(action, "count", 1) or 1)


def _point(action: actions.Action) -> dict[str, Any]:
    """Return where in the element, where that matters and both are known."""
    element, point = action.element, getattr(action, "point", None)
    if element is None or element.box is None or point is None or element.tag not in _PLACED:
        return {}
    x, y = point[0] - element.box[0], point[1] - element.box[1]
    inside = 0 <= x < element.box[2] and 0 <= y < element.box[3]
    # A click outside of the element would hit another one.
    return {"position": {"x": x, "y": y}} if inside else {}


def on_page(action: actions.Action, page: Page, timeout: float) -> bool:
    """Carry out an action that has no element; False where it is not one. Raises playwright's Error."""
    if type(action) in _ON_PAGE:
        _call(page, _ON_PAGE[type(action)], timeout)
        return True
    match action:
        case actions.Goto():
            page.goto(action.url, timeout=timeout)
        case actions.NewTab():
            opened = page.context.new_page()
            if action.url:
                opened.goto(action.url, timeout=timeout)
        case actions.FocusTab():
            page.bring_to_front()
        case actions.Scroll():
            page.mouse.wheel(action.dx, action.dy)
        case actions.Press():
            page.keyboard.press(action.key)
        case _:
            return _keys_and_mouse(action, page)
    return True


def _call(page: Page, name: str, timeout: float) -> None:
    if name == "close":
        # It takes no timeout, unlike the others.
        page.close()
    else:
        getattr(page, name)(timeout=timeout)


def _keys_and_mouse(action: actions.Action, page: Page) -> bool:
    match action:
        case actions.KeyboardType():
            page.keyboard.type(action.value)
        case actions.KeyboardInsertText():
            page.keyboard.insert_text(action.value)
        case actions.KeyboardDown():
            page.keyboard.down(action.key)
        case actions.KeyboardUp():
            page.keyboard.up(action.key)
        case actions.MouseAction() | actions.Click() | actions.DblClick() | actions.Tap():
            return _mouse(action, page)
        case _:
            return False
    return True


def _mouse(action: Any, page: Page) -> bool:
    if action.point is None:
        return False
    x, y = action.point
    button: Any = action.button
    # `down` and `up` happen where the mouse is.
    page.mouse.move(x, y)
    match action:
        case actions.MouseMove():
            pass
        case actions.MouseDown():
            page.mouse.down(button=button)
        case actions.MouseUp():
            page.mouse.up(button=button)
        case _:
            twice = isinstance(action, actions.DblClick | actions.MouseDblClick)
            count = 2 if twice else getattr(action, "count", 1) or 1
            page.mouse.click(x, y, button=button, click_count=count)
    return True
