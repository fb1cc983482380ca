"""One recorded act on a live page, as a call of Playwright: nothing of a recording is run as a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from replaykit.trajectory import action as acts

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

# Acts on an element that need nothing but it.
_PLAIN = {
    acts.Clear: "clear",
    acts.Hover: "hover",
    acts.Focus: "focus",
    acts.Check: "check",
    acts.Uncheck: "uncheck",
}

# Acts on a page that need nothing else.
_ON_PAGE = {
    acts.GoBack: "go_back",
    acts.GoForward: "go_forward",
    acts.Reload: "reload",
    acts.CloseTab: "close",
}

_PLACED = frozenset({"area", "canvas", "img", "svg"})
"""Elements where it matters at which point of them an act is done."""


def on_element(action: acts.Action, target: Locator, to: Locator | None, timeout: float) -> None:
    """Carry out an act on an element; `timeout` in ms. Raises playwright's Error."""
    if type(action) in _PLAIN:
        getattr(target, _PLAIN[type(action)])(timeout=timeout)
        return
    match action:
        case acts.Fill():
            target.fill(action.value, timeout=timeout)
        case acts.Type():
            # `fill` sends no keys, and a page may listen for them.
            target.press_sequentially(action.value, timeout=timeout)
        case acts.SelectOption():
            target.select_option(value=list(action.values), timeout=timeout)
        case acts.Press():
            target.press(action.key, timeout=timeout)
        case acts.Scroll():
            # The wheel turns whatever lies under the mouse.
            target.hover(timeout=timeout)
            target.page.mouse.wheel(action.dx, action.dy)
        case acts.DragAndDrop() if to is not None:
            target.drag_to(to, timeout=timeout)
        case _:
            _press(action, target, timeout)
    if isinstance(action, acts.Fill | acts.Type) and action.submit:
        target.press("Enter", timeout=timeout)


def _press(action: acts.Action, target: Locator, timeout: float) -> None:
    """Click, in the way that was recorded."""
    how: dict[str, Any] = {"timeout": timeout, "button": getattr(action, "button", "left")}
    if action.modifiers:
        how["modifiers"] = list(action.modifiers)
    how |= _point(action)
    if isinstance(action, acts.DblClick | acts.MouseDblClick):
        target.dblclick(**how)
    else:
        target.click(**how, click_count=getattr(action, "count", 1) or 1)


def _point(action: acts.Action) -> dict[str, Any]:
    """Return where in the element, where that matters and both are known."""
    element, point = action.element, getattr(action, "point", None)
    if element is None or element.box is None or point is None or element.tag not in _PLACED:
        return {}
    x, y = point[0] - element.box[0], point[1] - element.box[1]
    inside = 0 <= x < element.box[2] and 0 <= y < element.box[3]
    # A click outside of the element would hit another one.
    return {"position": {"x": x, "y": y}} if inside else {}


def on_page(action: acts.Action, page: Page, timeout: float) -> bool:
    """Carry out an act that has no element; False where there is no such act. Raises playwright's Error."""
    if type(action) in _ON_PAGE:
        _call(page, _ON_PAGE[type(action)], timeout)
        return True
    match action:
        case acts.Goto():
            page.goto(action.url, timeout=timeout)
        case acts.NewTab():
            opened = page.context.new_page()
            if action.url:
                opened.goto(action.url, timeout=timeout)
        case acts.FocusTab():
            page.bring_to_front()
        case acts.Scroll():
            page.mouse.wheel(action.dx, action.dy)
        case acts.Press():
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


def _keys_and_mouse(action: acts.Action, page: Page) -> bool:
    match action:
        case acts.KeyboardType():
            page.keyboard.type(action.value)
        case acts.KeyboardInsertText():
            page.keyboard.insert_text(action.value)
        case acts.KeyboardDown():
            page.keyboard.down(action.key)
        case acts.KeyboardUp():
            page.keyboard.up(action.key)
        case acts.MouseAct() | acts.Click() | acts.DblClick() | acts.Tap():
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
        case acts.MouseMove():
            pass
        case acts.MouseDown():
            page.mouse.down(button=button)
        case acts.MouseUp():
            page.mouse.up(button=button)
        case _:
            twice = isinstance(action, acts.DblClick | acts.MouseDblClick)
            count = 2 if twice else getattr(action, "count", 1) or 1
            page.mouse.click(x, y, button=button, click_count=count)
    return True
