"""Choices in lists, groups, boxes and sliders that a page built itself: the browser reports none.

Roles and keys: WAI-ARIA Authoring Practices, keyboard interaction. https://www.w3.org/WAI/ARIA/apg/patterns/
"""

from __future__ import annotations

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.grading.policies.events.event import ENTER, SPACE, Event, is_printable
from replaykit.grading.policies.events.recorded_targets import hosts_of_target
from replaykit.grading.policies.events.text_conditions import Reading
from replaykit.tasks.policy_rules import GROUPS
from replaykit.trajectory.action import Element, Press

_BY_KEY = frozenset({"click", "check", "uncheck", "select_option", "fill"})
"""Tags of actions that such a key may stand for."""

_BY_STATE = {"true": frozenset({"uncheck"}), "false": frozenset({"check"})}
"""Maps `aria-checked` of a checkbox to the result of its activation."""

_BOXES = ("checkbox", "switch", "menuitemcheckbox")
_OFFERS = ("option", "radio", "menuitemradio")

_FIELDS = ("input", "select", "textarea", "option")
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


def choices_of(event: Event) -> frozenset[str]:
    """Return the tags of the possible results of an action: it chose something, or changed a value."""
    element = event.element
    if element is not None and _is_activated(event) and element.tag not in _FIELDS:
        role, attributes = _control(event, element)
        if role in _BOXES:
            checked = attributes.get("aria-checked", "")
            return _BY_STATE.get(checked, frozenset({"check", "uncheck"}))
        if role in _OFFERS:
            return frozenset({"check", "select_option", "fill"})
        if role == "slider" and not isinstance(event.action, Press):
            return frozenset({"fill"})
    return _BY_KEY if _is_choosing_key(event) else frozenset()


def _control(event: Event, element: Element) -> tuple[str, dict[str, str]]:
    """Return role and attributes of what is activated: a label in a shadow tree may stand for the host."""
    if element.tag != "label":
        return _role(element), element.attributes or {}
    if "control" not in event.known:
        hosts = ((_first(host.attribute("role")), host.attributes) for host in hosts_of_target(event))
        offers = (found for found in hosts if found[0] in (*_BOXES, *_OFFERS))
        event.known["control"] = next(offers, ("", {}))
    found: tuple[str, dict[str, str]] = event.known["control"]
    return found


def _is_activated(event: Event) -> bool:
    action = event.action
    if isinstance(action, Press):
        return action.key in (*ENTER, *SPACE)
    return event.tag in GROUPS["@activate"] and getattr(action, "button", "left") == "left"


def is_segment(event: Event) -> bool:
    """Whether a text was entered into a part of a date or time that the page puts together itself."""
    element = event.element
    return element is not None and element.tag not in _FIELDS and _role(element) == "spinbutton"


def _is_choosing_key(event: Event) -> bool:
    action = event.action
    if not isinstance(action, Press) or action.element is None:
        return False
    if action.element.tag in _FIELDS:  # what keys do in fields, the browser reports
        return action.key in _TAKING and _has_popup(action.element)
    keys = _KEYS.get(_role(action.element), frozenset())
    return action.key.rpartition("+")[2] in keys or ("letter" in keys and is_printable(action.key))


def _has_popup(element: Element) -> bool:
    """Whether a field has a list of its own beside it: one that it says, or one with a marked option."""
    attributes = element.attributes or {}
    is_open = attributes.get("aria-expanded", "true") != "false"
    return is_open and (_is_combobox(element) or _marked(element) is not None)


def _is_combobox(element: Element) -> bool:
    return _role(element) == "combobox" or "aria-autocomplete" in (element.attributes or {})


def _marked(element: Element) -> str | None:
    """Return the name of the option that is marked in the list beside a field; None where none is known."""
    has_list = _is_combobox(element) or "aria-activedescendant" in (element.attributes or {})
    return element.names.active if has_list and element.names is not None else None


def offered(event: Event) -> tuple[Reading, ...] | None:
    """Return the names of what may have been chosen; None where the page does not say them."""
    is_scale = event.element is not None and _role(event.element) in ("slider", "spinbutton")
    if not _is_choosing_key(event) and not is_scale:
        return _own_names(event)
    marked = _marked(event.element) if event.element is not None and event.element.tag in _FIELDS else None
    if marked is not None:
        return (Reading(marked, event.step),)
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


def _own_names(event: Event) -> tuple[Reading, ...]:
    """Return what an option that was activated is called; a box is chosen by no name."""
    element = event.element
    role, attributes = _control(event, element) if element is not None else ("", {})
    if role not in _OFFERS:
        return ()
    values = (attributes[name] for name in ("value", "data-value") if attributes.get(name))
    return (*event.names, *(Reading(value, event.step) for value in values))


def _role(element: Element) -> str:
    return _first((element.attributes or {}).get("role") or element.role)


def _first(roles: str | None) -> str:
    return (roles or "").strip().partition(" ")[0].lower()
