"""Questions about page messages: who, where, what. What a page sends need not have the right shape."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

from replaykit.recorder.session.driver_messages import PageMessage
from replaykit.trajectory.action import Element, FileInfo
from replaykit.trajectory.observation import Stale
from replaykit.trajectory.scalars import INT_MAX, Point

BUTTONS = {0: "left", 1: "middle", 2: "right", 3: "back", 4: "forward"}
"""`MouseEvent.button` to the field's words."""

MODIFIERS = ("Alt", "Control", "Meta", "Shift")
"""Modifier keys, as both `key` and modifier."""

CHORD_MODIFIERS = frozenset({"Alt", "Control", "Meta"})
"""Modifiers that make a printable key a command."""

CONTROLS = frozenset({"a", "button", "input", "select", "textarea", "option", "summary", "label"})
"""Tags of controls, in addition to widgets by role, `onclick` and contenteditable."""

TOGGLES = frozenset({"checkbox", "radio"})
"""Input types whose click changes `checked`."""


def ms(at: float) -> int:
    """Return a time as whole ms since recording start, at least 0."""
    return int(min(max(at, 0.0), INT_MAX)) if math.isfinite(at) else 0


def point_of(message: PageMessage) -> Point | None:
    """Return where the pointer was, CSS px of the viewport."""
    value = message.event.data.get("point")
    if isinstance(value, (list, tuple)) and len(value) == 2 and all(map(_is_number, value)):
        return (_pixel(value[0]), _pixel(value[1]))
    return message.event.element.point if message.event.element else None


def number_of(message: PageMessage, key: str) -> int:
    """Return a whole number of the event's own data; 0 if absent."""
    value = message.event.data.get(key)
    return _pixel(value) if _is_number(value) else 0


def text_of(message: PageMessage, key: str) -> str | None:
    """Return a text of the event's own data."""
    value = message.event.data.get(key)
    return value if isinstance(value, str) else None


def texts_of(message: PageMessage, key: str) -> tuple[str, ...]:
    """Return a list of texts of the event's own data; a single text counts as one."""
    value = message.event.data.get(key)
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, (list, tuple)) else ()


def files_of(message: PageMessage) -> tuple[FileInfo, ...]:
    """Return the files that were chosen: base names, sizes, media types."""
    value = message.event.data.get("files")
    items = value if isinstance(value, (list, tuple)) else ()
    return tuple(_file(item) for item in items if isinstance(item, dict))


def keys_of(message: PageMessage) -> tuple[int | None, ...]:
    """Return by which numbers the page still has those files; None = it does not."""
    value = message.event.data.get("files")
    items = value if isinstance(value, (list, tuple)) else ()
    keys = (item.get("key") for item in items if isinstance(item, dict))
    return tuple(int(key) if _is_number(key) else None for key in keys)


def button_of(message: PageMessage) -> str:
    """Return the mouse button by its word."""
    value = message.event.data.get("button", 0)
    if isinstance(value, str):
        return value if value in BUTTONS.values() else "left"
    return BUTTONS.get(value, "left") if isinstance(value, int) else "left"


def modifiers_of(message: PageMessage) -> tuple[str, ...]:
    """Return the modifier keys held down, in fixed order."""
    held = texts_of(message, "modifiers")
    return tuple(name for name in MODIFIERS if name in held)


def key_of(message: PageMessage) -> str:
    """Return the key with its modifiers: `Enter`, `Control+a`."""
    chord = text_of(message, "chord") or text_of(message, "key") or "Unidentified"
    return f"{chord[:-1]}Space" if chord.endswith(" ") else chord


def is_plain_key(message: PageMessage) -> bool:
    """Whether the key enters a character: printable and no chord."""
    is_printable = message.event.data.get("printable") is True
    return is_printable and not CHORD_MODIFIERS.intersection(modifiers_of(message))


def is_same(one: Element | None, other: Element | None) -> bool:
    """Whether two descriptors are of one element, as far as they say."""
    if one is None or other is None:
        return one is other
    return (one.css, one.frame, one.tag) == (other.css, other.frame, other.tag)


def is_root(element: Element | None) -> bool:
    """Whether it is the root of the document that reports it."""
    return element is not None and element.tag == "html" and not element.frame


def is_stray(message: PageMessage) -> bool:
    """Whether a pointer went up that no document of the page saw go down."""
    return message.event.trusted and message.event.data.get("stray") is True


def is_toggle(element: Element | None) -> bool:
    """Whether it is a checkbox or a radio button."""
    return element is not None and element.tag == "input" and element.type in TOGGLES


def is_label(element: Element | None) -> bool:
    """Whether it is a label, which passes clicks on."""
    return element is not None and element.tag == "label"


def is_button(element: Element | None) -> bool:
    """Whether a click on it does what it is for: a button, also one of the page's own making."""
    if element is None or element.tag in ("label", "select", "textarea"):
        return False
    return element.tag != "input" or element.type in ("submit", "image", "reset", "button")


def is_select(element: Element | None) -> bool:
    """Whether it is a select."""
    return element is not None and element.tag == "select"


def is_upload(element: Element | None) -> bool:
    """Whether it is a file input."""
    return element is not None and element.tag == "input" and element.type == "file"


def is_control(element: Element | None) -> bool:
    """Whether an action by script on it is one that agents do."""
    if element is None:
        return False
    marks = element.attributes or {}
    return (element.tag or "") in CONTROLS or any(
        name in marks for name in ("role", "onclick", "contenteditable")
    )


def is_of_click(message: PageMessage) -> bool:
    """Whether a change came in the very task of the click before it."""
    return message.event.data.get("clicked") is True


def is_reaction(message: PageMessage) -> bool:
    """Whether a script made it in the very task of a user's click: the page's own, however long that took."""
    return message.event.data.get("reaction") is True


def is_caused(message: PageMessage) -> bool:
    """Whether a key, a pointer or a handler of the page caused it: it never begins an action of its own.

    Neither key nor pointer chooses files: a person does so in a window of its own, a driver by a command.
    """
    is_file = message.event.name == "change" and control_of(message) == "file"
    return message.event.cause in ("key", "pointer", "page") and not (is_file and message.event.trusted)


def is_page_own(message: PageMessage) -> bool:
    """Whether a script of the page, not of a driver, made it, as far as visible."""
    is_likely = message.event.cause == "unseen" and not is_reaction(message)
    return not (message.event.trusted or message.event.cause == "driver" or is_likely)


def is_command(message: PageMessage) -> bool:
    """Whether a script asked the browser to edit a text: trusted, and yet no input of a user."""
    return message.event.data.get("commanded") is True


def lag_of(message: PageMessage) -> Stale | None:
    """Return how far the page has gone since its latest snapshot in this gesture; None = not at all."""
    lag = message.event.data.get("lag")
    if not isinstance(lag, dict):
        return None
    age, mutations = (lag.get(key) for key in ("ms", "mutations"))
    return Stale(
        ms=ms(age) if _is_number(age) else 0, mutations=ms(mutations) if _is_number(mutations) else 0
    )


def control_of(message: PageMessage) -> str:
    """Return what kind of control changed: `text select check file`."""
    stated = text_of(message, "control")
    element = message.event.element
    if stated in ("text", "select", "check", "file"):
        return stated
    kinds = (("select", is_select), ("file", is_upload), ("check", is_toggle))
    return next((kind for kind, holds in kinds if holds(element)), "text")


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _pixel(value: float) -> int:
    return round(min(max(value, -INT_MAX), INT_MAX))


def _file(item: dict[str, Any]) -> FileInfo:
    name, size, mime = item.get("name"), item.get("size"), item.get("mime")
    base = str(name or "").replace("\\", "/").rsplit("/", 1)[-1]
    return FileInfo(
        name=base,
        size=int(size) if _is_number(size) and 0 <= size <= INT_MAX else None,
        mime=mime if isinstance(mime, str) else None,
    )
