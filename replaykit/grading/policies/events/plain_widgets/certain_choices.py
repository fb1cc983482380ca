"""Choices that a page shows so plainly after a gesture that they are certain, if nothing else came between.

A popup gives the control that opened it the name of its entry, one box in a row has another state, one number
has another value, or a mark goes from one button of a group to another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import ENTER, SPACE, is_moving, is_printable, types_text
from replaykit.grading.policies.events.last_gesture import bare
from replaykit.grading.policies.events.plain_widgets.button_groups import moved_for_certain
from replaykit.grading.policies.events.plain_widgets.found_again import found_again
from replaykit.grading.policies.events.plain_widgets.marked_options import option_around
from replaykit.grading.policies.events.plain_widgets.page_change import NAME_MAX, PageChange
from replaykit.grading.policies.events.plain_widgets.presets import came
from replaykit.grading.policies.events.plain_widgets.row_boxes import only_box
from replaykit.grading.policies.events.plain_widgets.sliders import NUMBERS, stepped_scales
from replaykit.grading.policies.events.shown_choices import new_texts, new_texts_in
from replaykit.grading.policies.events.text_conditions import find
from replaykit.grading.policies.events.widgets_around import ENTRIES, PAGES, PARTS, is_shut
from replaykit.grading.values.dates import only_date
from replaykit.grading.values.normal_form import fold
from replaykit.replay.run_state import Page
from replaykit.tasks.policy_rules import GROUPS
from replaykit.trajectory.action import ActionBase, Element, Press, SelectOption, tag_of

_PRESSED = ("button", "link")
"""Roles of entries of a popup that its author took for buttons or links."""

_NOWHERE = ("", "#", "javascript:", "javascript:;", "javascript:void(0)", "javascript:void(0);")
"""Addresses of links that lead nowhere: a script serves them."""


def certain_choices(
    gestures: Sequence[ActionBase], change: PageChange, earlier: Page | None
) -> Iterator[ActionBase]:
    """Yield the choices that the last of these gestures made for certain.

    `earlier` is what the page showed before the first of them.
    """
    element = gestures[-1].element
    if element is None or element.tag in PAGES:
        return
    try:
        yield from _certain(gestures, element, change, earlier)
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return


def _certain(
    gestures: Sequence[ActionBase], element: Element, change: PageChange, earlier: Page | None
) -> Iterator[ActionBase]:
    if is_shut(element) and _chooses(gestures[-1]):
        yield from _shown_in_list(element, change)
    if not _presses(gestures[-1]):
        return
    numbers = list(stepped_scales(element, change, NUMBERS))
    yield from numbers if len(numbers) == 1 else ()
    if element.role in (*PARTS, "button"):
        yield from only_box(element, change)
    if element.role == "button":
        yield from moved_for_certain(element, change)
    if element.role in PARTS:
        yield from option_around(element, change)
    if element.role in ENTRIES or _leads_nowhere(element):
        for choice in taken_from_popup(gestures, change, earlier):
            text = choice.values[0]
            if any(fold(text) == label or _is_same_day(label, text) for label in choice.labels):
                yield replace(choice, labels=())


def _shown_in_list(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what a closed list shows only after a key on it, if it stays closed."""
    before, after = found_again(element.css, change)
    is_closed = after is not None and after.attribute("aria-expanded") == "false"
    texts = new_texts_in(before, after) if is_closed else []
    if len(texts) == 1:
        yield SelectOption(element=element, values=tuple(texts))


def _chooses(action: ActionBase) -> bool:
    """Whether an action is a key that looks for an entry of a list, or goes on to the next one.

    With Alt, an arrow opens or closes the list.
    """
    if not isinstance(action, Press) or action.modifiers:
        return False
    return is_moving(action) or is_printable(action.key)


def taken_from_popup(
    gestures: Sequence[ActionBase], change: PageChange, earlier: Page | None
) -> Iterator[SelectOption]:
    """Yield the choice of an entry that came once another element was used, which shows its name now."""
    entry = gestures[-1].element or Element()
    called = (name for name in (entry.text, entry.name) if name and len(name) <= NAME_MAX)
    # A key of a keypad has one character.
    names = {fold(name) for name in called if len(bare(name)) > 1}
    is_sending = (entry.attributes or {}).get("type") == "submit"
    if entry.role not in (*ENTRIES, *_PRESSED) or not names or is_sending:
        return
    used = [one.element for one in gestures[:-1] if one.element is not None]
    for shown in {one.css: one for one in reversed(used) if one.css != entry.css}.values():
        for text in new_texts(shown.css, change):
            matching = [name for name in names if find(name, fold(text)) >= 0 or _is_same_day(name, text)]
            if matching and came(entry, earlier, change.before):
                yield SelectOption(element=shown, values=(text,), labels=(max(matching, key=len),))


def _is_same_day(name: str, text: str) -> bool:
    """Whether two texts give one date, each in its own way."""
    return only_date(text) is not None and only_date(name) == only_date(text)


def _presses(action: ActionBase) -> bool:
    """Whether an action presses its target."""
    if isinstance(action, Press):
        return action.key in (*ENTER, *SPACE) and not types_text(action.element)
    return tag_of(action) in GROUPS["@activate"] and getattr(action, "button", "left") == "left"


def _leads_nowhere(element: Element) -> bool:
    """Whether an element is a button, or a link that a script serves."""
    href = (element.attributes or {}).get("href", "").strip().lower()
    return element.role in _PRESSED and href in _NOWHERE
