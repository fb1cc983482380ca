"""Choices in lists, groups, boxes and sliders that a page built itself: the browser reports none.

Roles and keys: WAI-ARIA Authoring Practices, keyboard interaction. https://www.w3.org/WAI/ARIA/apg/patterns/
"""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.grading.policies.events.event import (
    ENTER,
    MOVING,
    SPACE,
    Event,
    is_moving,
    is_printable,
    takes_no_text,
)
from replaykit.grading.policies.events.last_gesture import field_at
from replaykit.grading.policies.events.moved_marks import MARK
from replaykit.grading.policies.events.plain_widgets.page_change import texts_in
from replaykit.grading.policies.events.recorded_targets import hosts_of_target, target_of
from replaykit.grading.policies.events.text_conditions import Reading
from replaykit.grading.policies.events.widgets_around import is_in_open_list, is_part_of_slider, is_shut
from replaykit.grading.values.dates import only_date
from replaykit.grading.values.normal_form import fold
from replaykit.replay.dom import Dom, Node
from replaykit.tasks.policy_rules import GROUPS
from replaykit.trajectory.action import (
    ActionBase,
    Check,
    DragAndDrop,
    Element,
    Fill,
    Press,
    SelectOption,
    Type,
    Uncheck,
    tag_of,
)
from replaykit.trajectory.redaction_marks import MASKED

_BY_KEY = frozenset({"click", "check", "uncheck", "select_option", "fill"})
"""Tags of actions that such a key may stand for."""

_BY_LETTER = _BY_KEY - {"click"}
"""Tags of actions that a letter may stand for on a list that is closed: no option is there to be pressed."""

_RADIOS = ("radio", "radiogroup", "menuitemradio")
_BY_ARROW = _BY_KEY - {"uncheck"}
"""Tags of actions that a key on a radio button may stand for: none unsets it."""

_TAKEN = frozenset({"check", "select_option", "fill"})
"""Tags of actions that the activation of an option may stand for."""

_SCALED = frozenset({"fill"})
_SCALES = ("slider", "spinbutton")
"""Roles of scales: what happens to one gives it a value."""

_TWICE = ("dblclick", "mouse_dblclick")
_BOTH = frozenset({"check", "uncheck"})
_BY_STATE = {"true": frozenset({"uncheck"}), "false": frozenset({"check"})}
"""Maps `aria-checked` of a checkbox to the result of its activation."""

_BOXES = ("checkbox", "switch", "menuitemcheckbox")
_OFFERS = ("option", "radio", "menuitemradio")

_NATIVE = ("checkbox", "radio")
"""Types of inputs that are boxes."""

_SET: dict[tuple[str, str], type[Check | Uncheck]] = {("false", "true"): Check, ("true", "false"): Uncheck}
"""State of a box before and after to what was done with it."""

_FIELDS = ("input", "select", "textarea", "option")
"""Tags of elements in which the browser reports what keys do."""

_TAKING = frozenset({"Enter", "NumpadEnter", "Tab"})
"""Keys that take the marked option of a list beside a field."""

_PRESSING = (*ENTER, *SPACE)
"""Keys that take the marked option of a list that holds the focus for its entries."""

_SETTABLE = ", ".join(f"[role={role}]" for role in (*_BOXES, *_OFFERS)) + ", [aria-checked]"
_GROUPS = "[role=radiogroup], [role=listbox]"
_OPTIONS = "[role=radio], [role=option], [role=menuitemradio]"
_KEYS = {
    **dict.fromkeys(("radio", "radiogroup", "menuitemradio", "slider", "spinbutton"), MOVING),
    **dict.fromkeys(("listbox", "option"), MOVING | {"letter"}),
    "combobox": frozenset({"letter"}),
}
"""Role to the keys that may choose there. In a combobox, Enter chooses, or a letter on a button."""


def choices_of(event: Event) -> frozenset[str]:
    """Return the tags of the possible results of an action: it chose something, or changed a value."""
    tags = {tag for action, _ in event.shows for tag in _ways(action)}
    return own_choices(event) | tags


def _shown_in(event: Event) -> tuple[str, ...]:
    """Return the value that a closed list shows in itself after a key on it; empty where it shows none."""
    if not isinstance(event.action, Press) or event.element is None:
        return ()
    chosen = (action for action, _ in event.shows if isinstance(action, SelectOption))
    own = (one for one in chosen if one.element is not None and one.element.css == event.element.css)
    return tuple(text for one in own for text in one.values)


def _ways(action: ActionBase) -> frozenset[str]:
    """Return the tags of what a shown choice may be called: who picks a day has filled its field."""
    tag = action.element.tag if action.element is not None else None
    is_field = isinstance(action, SelectOption) and tag in ("input", "textarea")
    return frozenset({tag_of(action)}) | (_SCALED if is_field else frozenset())


def own_choices(event: Event) -> frozenset[str]:
    """Return the tags of what the target itself may have chosen, or taken as a value."""
    element = event.element
    by_page = set_by_page(event)
    if by_page is not None:
        return frozenset({tag_of(by_page)})
    if _shown_in(event):
        return _TAKEN - _BOTH
    if _is_choosing_key(event) and element is not None:
        if _role(element) in _RADIOS:
            return _BY_ARROW
        scaled = _SCALED if _role(element) in _SCALES else None
        found = scaled or (_BY_LETTER if is_shut(element) else _BY_KEY)
        is_listed = _role(element) in _WITH_LISTS or element.tag in _FIELDS
        return found if not is_listed or _may_be_box(event) else found - _BOTH
    if isinstance(event.action, DragAndDrop):
        return _SCALED if is_scale(event) else frozenset()
    if element is None or not (_is_activated(event) or event.tag == "check"):
        return frozenset()
    if element.tag in _FIELDS:
        return _TAKEN if _is_box_of_option(event, element) else frozenset()
    return _by_activation(event, element)


def _is_box_of_option(event: Event, element: Element) -> bool:
    """Whether the target is a box of the browser that only shows the state of the option around it."""
    if element.type not in _NATIVE or event.page is None or event.page.lacks((b"option",)):
        return False
    target = target_of(event)
    return target is not None and target.closest("[role=option]") is not None


def set_by_page(event: Event) -> ActionBase | None:
    """Return what a script of the page did with the field in the target; None where nothing.

    As React Aria does: a click on a label does not reach its box, nor a key its slider. A script sets them.
    """
    rows = event.after.changed_without_event if event.after is not None else ()
    if not rows or not (_is_activated(event) or is_moving(event.action)):
        return None
    field = _own_field(event)
    states = [row[1:] for row in rows if field is not None and field_at(field.dom, row[0]) == field]
    return _as_set(event, field.attribute("type"), *states[0]) if field is not None and states else None


def _own_field(event: Event) -> Node | None:
    """Return the field that the target is, or the one in a label."""
    tag = event.element.tag if event.element is not None else None
    target = target_of(event) if tag in ("input", "label") else None
    inputs = target.select_all("input") if target is not None and tag == "label" else []
    return target if tag == "input" else inputs[0] if len(inputs) == 1 else None


def _as_set(event: Event, type: str | None, was: str, now: str) -> ActionBase | None:
    if type == "range" or (type == "number" and was and is_moving(event.action)):
        return Fill(element=event.element, value=now)
    done = _SET.get((was, now)) if type in _NATIVE else None
    return None if done is None else done(element=event.element)


def _by_activation(event: Event, element: Element) -> frozenset[str]:
    role, attributes = _control(event, element)
    if role in _OFFERS:
        return _TAKEN if role != "option" or _may_be_box(event) else _TAKEN - _BOTH
    taken = (_TAKEN - _BOTH if _is_day(element) else _TAKEN) if is_in_open_list(event) else frozenset()
    if role in _BOXES:
        checked = attributes.get("aria-checked", "")
        # Two clicks leave a box as it was.
        is_twice = event.tag in _TWICE
        return taken | (_BOTH if is_twice else _BY_STATE.get(checked, _BOTH))
    if role == "button" and day_of(element) is not None:
        return _TAKEN - _BOTH
    is_slid = role == "slider" and not isinstance(event.action, Press)
    return taken | (_SCALED if is_slid or is_part_of_slider(event) else frozenset())


def day_of(element: Element) -> str | None:
    """Return the date of a day in a calendar, whose number is all that it shows."""
    text = (element.text or "").strip()
    names = element.names
    named = (names.aria_label, names.title) if names is not None and text.isdecimal() else ()
    dates = (only_date(name) or "" for name in named if name)
    return next((date for date in dates if date.endswith(f"-{text:0>2}")), None)


def _is_day(element: Element) -> bool:
    """Whether an element is a cell with a number only, as a day of a calendar is: it is no box."""
    return element.role in _CELLS and (element.text or "").strip().isdigit()


_CELLS = ("cell", "gridcell")
_IN_LISTS = ("listbox", "option")
_WITH_LISTS = (*_IN_LISTS, "combobox")
_LISTS = "[role=listbox]"
_BOXED = (
    "[aria-checked], [role=checkbox], [role=switch], input[type=checkbox], input[type=radio], "
    "[class*=checkbox], [class*=Checkbox]"
)
"""Boxes in lists of which each entry is one."""
_SELECTED = "[role=option][aria-selected=true]"


def _may_be_box(event: Event) -> bool:
    """Whether the options of a list may be boxes: of one of which no more than one is chosen, none is."""
    if "box" not in event.known:
        event.known["box"] = _is_boxed(event)
    found: bool = event.known["box"]
    return found


def _is_boxed(event: Event) -> bool:
    target = target_of(event)
    marked = _option_marked(target) if target is not None else None
    around = marked.closest(_LISTS) if marked is not None else None
    if around is None or around.attribute("aria-multiselectable") == "true":
        return True
    try:
        selected = [one for one in around.dom.pierce_all(_SELECTED) if _is_within(one, around)]
        return len(selected) > 1 or any(_is_within(box, around) for box in around.dom.pierce_all(_BOXED))
    except (Unsupported, LocatorLimit):
        return True


def _option_marked(target: Node) -> Node | None:
    """Return the entry that has the mark for a target that has the focus; else the target."""
    id = target.attribute("aria-activedescendant")
    marked = [one for one in target.dom.pierce_all("[id]") if one.attribute("id") == id] if id else []
    return marked[0] if len(marked) == 1 else target


def _is_within(part: Node, around: Node) -> bool:
    return part.dom is not around.dom or around.row < part.row < around.dom.tree.end[around.row]


def _control(event: Event, element: Element) -> tuple[str, dict[str, str]]:
    """Return role and attributes of what is activated: a label in a shadow tree may stand for the host."""
    if element.tag != "label" or _role(element) in (*_BOXES, *_OFFERS):
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
        return action.key in _PRESSING
    return event.tag in GROUPS["@activate"] and getattr(action, "button", "left") == "left"


def is_segment(event: Event) -> bool:
    """Whether a text was entered into a part of a date or time that the page puts together itself."""
    element = event.element
    return element is not None and element.tag not in _FIELDS and _role(element) == "spinbutton"


def _is_choosing_key(event: Event) -> bool:
    action = event.action
    if _is_letter_on_list(event):
        return True
    if not isinstance(action, Press) or action.element is None:
        return False
    if action.element.tag in _FIELDS:  # what keys do in fields, the browser reports
        return action.key in _TAKING and _has_popup(action.element)
    if action.key in _PRESSING:
        return _is_open_list(action.element) or _is_choice_marked(event, action.element)
    keys = _KEYS.get(_role(action.element), frozenset())
    return action.key.rpartition("+")[2] in keys or ("letter" in keys and is_printable(action.key))


def _is_open_list(element: Element) -> bool:
    """Whether an element that is not a field has the focus for the entries of a list, which is open."""
    is_expanded = (element.attributes or {}).get("aria-expanded", "false") == "true"
    return _role(element) == "listbox" or (_role(element) == "combobox" and is_expanded)


def _is_choice_marked(event: Event, element: Element) -> bool:
    """Whether an element that has the focus for its entries marks one that can be set or chosen."""
    id = (element.attributes or {}).get("aria-activedescendant")
    if not id or isinstance(event.dom, tuple):
        return False
    try:
        marked = (one for one in event.dom.pierce_all(_SETTABLE) if one.attribute("id") == id)
        return next(marked, None) is not None
    except (Unsupported, LocatorLimit):
        return True


def _is_letter_on_list(event: Event) -> bool:
    """Whether a letter chooses in a list whose field takes no text."""
    action, element = event.action, event.element
    if element is None or _role(element) != "combobox" or not takes_no_text(element):
        return False
    is_letter = isinstance(action, Press) and is_printable(action.key) and action.key not in SPACE
    is_key = is_letter or (isinstance(action, Press) and action.key == MASKED)
    return is_key or isinstance(action, Type)


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
    if is_scale(event):
        return None
    shown = _shown_in(event)
    if shown:
        return tuple(Reading(text, event.step) for text in shown)
    if not _is_choosing_key(event):
        return _own_names(event)
    marked = _marked_names(event)
    if marked or isinstance(event.dom, tuple):
        return marked or None
    is_field = _is_field(event)
    try:
        nodes = _in_group(event, event.dom.pierce_all(_OPTIONS))
        # A field takes an option of an open list only.
        nodes = ([one for one in nodes if one.visible] if is_field else []) or nodes
        texts = list(_option_names(nodes, event.dom))
    except (Unsupported, LocatorLimit):
        return None
    if not nodes and is_field:
        return ()
    is_known = bool(nodes) and None not in texts
    return tuple(Reading(text, event.step) for text in texts if text) if is_known else None


def option_names(event: Event) -> tuple[Reading, ...]:
    """Return what the option that was taken is called; empty where the page does not say which it is."""
    if is_scale(event):
        return ()
    return _marked_names(event) if _is_choosing_key(event) else _own_names(event)


def _marked_names(event: Event) -> tuple[Reading, ...]:
    """Return the names of the option that a key found marked, or marked itself; more than one if unclear."""
    if MARK in event.known:
        return tuple(Reading(name, event.step) for name in event.known[MARK])
    takes = _is_field(event) or (isinstance(event.action, Press) and event.action.key in _PRESSING)
    marked = _marked(event.element) if event.element is not None and takes else None
    return tuple(Reading(name, event.step) for name in marked.split("\n")) if marked is not None else ()


def _is_field(event: Event) -> bool:
    """Whether the target is a field of the browser, and the key no letter that looks for an entry."""
    return event.element is not None and event.element.tag in _FIELDS and not _is_letter_on_list(event)


def _in_group(event: Event, options: list[Node]) -> list[Node]:
    """Return the options of the group or list that has the focus, if it is known; else all."""
    target = target_of(event)
    group = target.closest(_GROUPS) if target is not None else None
    own = [one for one in options if group is not None and one.closest(_GROUPS) == group]
    return own or options


def _option_names(options: list[Node], dom: Dom) -> Iterator[str | None]:
    """Yield what options are called; None in place of a name that stands nowhere on the page."""
    ids = {id for option in options for id in (option.attribute("aria-labelledby") or "").split()}
    by_id = dict[str | None, Node]()
    for node in dom.pierce_all("[id]") if ids else ():
        by_id.setdefault(node.attribute("id"), node)
    yield from (by_id[id].text_content if id in by_id else None for id in sorted(ids))
    labels = _labels_by_field(dom) if any(option.attribute("id") for option in options) else {}
    for option in options:
        host, label = option.host, option.closest("label")
        named = labels.get(option.attribute("id") or "", [])
        around = [" ".join(texts_in(label))] if label is not None else []
        shown = (option.text_content, option.attribute("aria-label"), host.text_content if host else None)
        texts = [text for text in (*shown, *named, *around) if text and text.strip()]
        if not texts:
            yield None
        yield from texts


def _labels_by_field(dom: Dom) -> dict[str, list[str]]:
    """Return the texts of labels by the id of the field that they name."""
    found: dict[str, list[str]] = {}
    for label in dom.pierce_all("label[for]"):
        found.setdefault(label.attribute("for") or "", []).append(" ".join(texts_in(label)))
    return found


def taken(event: Event) -> tuple[tuple[str, ...], ...] | None:
    """Return what an action may have entered by a choice, each with alternative names; None where nothing.

    A radio button enters no text, nor does Enter in a field where no option is marked.
    """
    element = event.element
    if element is None or not choices_of(event) & {"select_option", "fill"}:
        return None
    is_box = _is_box_of_option(event, element)
    is_field = _is_field(event) and not is_box
    if ("radio" in _role(element) and not is_box) or (is_field and _marked(element) is None):
        return None
    texts = tuple(reading.raw for reading in offered(event) or (Reading(MASKED, event.step),))
    is_any = _is_choosing_key(event) and not is_field
    return tuple((text,) for text in texts) if is_any else ((*texts, *_created(element, texts)),)


def _created(element: Element, texts: tuple[str, ...]) -> Iterator[str]:
    """Yield the typed text where an option has it in quotes: it makes a new entry of that."""
    typed = fold(element.value or "")
    if typed and any(f"{quote}{typed}{quote}" in fold(text) for text in texts for quote in "\"'"):
        yield typed


def is_scale(event: Event) -> bool:
    """Whether the target is a slider, or a part of one: which value it takes, no name says."""
    element = event.element
    return element is not None and (_role(element) in _SCALES or is_part_of_slider(event))


def _own_names(event: Event) -> tuple[Reading, ...]:
    """Return what an option that was activated is called; a box is chosen by no name."""
    element = event.element
    role, attributes = _control(event, element) if element is not None else ("", {})
    is_box = element is not None and _is_box_of_option(event, element)
    day = day_of(element) if element is not None and role == "button" else None
    if role not in _OFFERS and not is_box and day is None and not is_in_open_list(event):
        return ()
    if day is not None:
        return (*event.names, Reading(day, event.step))
    values = (attributes[name] for name in ("value", "data-value") if attributes.get(name))
    return (*event.names, *(Reading(value, event.step) for value in values))


def _role(element: Element) -> str:
    return _first((element.attributes or {}).get("role") or element.role)


def _first(roles: str | None) -> str:
    return (roles or "").strip().partition(" ")[0].lower()
