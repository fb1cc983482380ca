"""Choices by key in lists, radio groups and sliders that a page built itself: the browser reports none.

Roles and keys: WAI-ARIA Authoring Practices, keyboard interaction. https://www.w3.org/WAI/ARIA/apg/patterns/
"""

from __future__ import annotations

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.grading.policies.events.event import Event, is_printable
from replaykit.grading.policies.events.text_conditions import Reading
from replaykit.trajectory.action import Element, Press

CHOICES = frozenset({"click", "check", "uncheck", "select_option", "fill"})
"""Tags of actions that such a key may stand for."""

_FIELDS = ("input", "select", "textarea")
"""Tags of elements in which the browser reports what keys do."""

_TAKING = frozenset({"Enter", "NumpadEnter", "Tab"})
"""Keys that take the marked option of a list beside a field."""

_OPTIONS = "[role=radio], [role=option], [role=menuitemradio]"
_MOVING = frozenset({"ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "PageDown", "PageUp", "Home", "End"})
_KEYS = {
    **dict.fromkeys(("radio", "radiogroup", "menuitemradio", "slider", "spinbutton"), _MOVING),
    **dict.fromkeys(("listbox", "option"), _MOVING | {"letter"}),
}
"""Role to the keys that may choose there. In a combobox, Enter chooses."""


def may_choose(event: Event) -> bool:
    """Whether the event is a key that may have chosen something or changed a value."""
    action = event.action
    if not isinstance(action, Press) or action.element is None:
        return False
    if action.element.tag in _FIELDS:  # what keys do in fields, the browser reports
        return action.key in _TAKING and _has_popup(action.element)
    keys = _KEYS.get(_role(action.element), frozenset())
    return action.key.rpartition("+")[2] in keys or ("letter" in keys and is_printable(action.key))


def _has_popup(element: Element) -> bool:
    """Whether a field has a list of its own beside it, and does not say which option a key would take."""
    attributes = element.attributes or {}
    is_open = attributes.get("aria-expanded", "true") != "false"
    is_known = element.names is not None and bool(element.names.active)
    return is_open and not is_known and (_role(element) == "combobox" or "aria-autocomplete" in attributes)


def offered(event: Event) -> tuple[Reading, ...] | None:
    """Return the names of what such a key may have chosen; None where the page does not say them."""
    is_scale = event.element is not None and _role(event.element) in ("slider", "spinbutton")
    if is_scale or isinstance(event.dom, tuple):
        return None
    try:
        nodes = event.dom.pierce_all(_OPTIONS)
    except (Unsupported, LocatorLimit):
        return None
    if not nodes and event.element is not None and event.element.tag in _FIELDS:
        return ()
    if not nodes or any(node.attribute("aria-labelledby") for node in nodes):
        return None
    texts = (text for node in nodes for text in (node.text_content, node.attribute("aria-label")) if text)
    return tuple(Reading(text, event.step) for text in texts)


def _role(element: Element) -> str:
    roles = (element.attributes or {}).get("role") or element.role or ""
    return roles.strip().partition(" ")[0].lower()
