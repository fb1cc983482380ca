"""Choices that only the page afterwards shows: lists without roles, boxes that a row sets, plain sliders.

A list that a page built of plain elements declares nothing. That an entry of it was chosen shows where an
element that was used before takes the name of the entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import ENTER, SPACE, is_moving, is_printable, types_text
from replaykit.grading.policies.events.last_gesture import field_at, is_in
from replaykit.grading.policies.events.plain_widgets.button_groups import (
    marked_buttons,
    moved_mark,
    pressed_states,
)
from replaykit.grading.policies.events.plain_widgets.closed_lists import (
    TEXTS_MAX,
    pressed_entries,
    taken_entries,
    widgets_around,
)
from replaykit.grading.policies.events.plain_widgets.found_again import found_again
from replaykit.grading.policies.events.plain_widgets.keypads import keyed_texts
from replaykit.grading.policies.events.plain_widgets.marked_options import marked_options
from replaykit.grading.policies.events.plain_widgets.page_change import (
    NAME_MAX,
    PART_MIN,
    ROWS_MAX,
    PageChange,
    shown_texts,
    size_of,
    texts_in,
)
from replaykit.grading.policies.events.plain_widgets.row_boxes import (
    built_boxes,
    drawn_boxes,
    set_boxes,
)
from replaykit.grading.policies.events.plain_widgets.sliders import moved_sliders, stepped_scales
from replaykit.grading.policies.events.text_conditions import find
from replaykit.grading.policies.events.widgets_around import ENTRIES, PAGES
from replaykit.grading.values.normal_form import fold
from replaykit.replay.dom import Node
from replaykit.replay.run_state import Page
from replaykit.tasks.policy_rules import GROUPS
from replaykit.trajectory.action import (
    ActionBase,
    DragAndDrop,
    Element,
    Press,
    Scroll,
    SelectOption,
    tag_of,
)
from replaykit.trajectory.redaction_marks import MASKED

_CHOOSING = ("check", *GROUPS["@activate"])

_LISTS = ("combobox", "listbox")
"""Roles of elements that may take the marked entry of an open list when they lose the focus."""

_SEARCH = "[role=combobox], [aria-autocomplete], [aria-haspopup=listbox], [aria-activedescendant]"
"""Fields that look for entries by what is typed."""

BEFORE_MAX = 4
"""Gestures before the last one whose targets may show what it chose."""


def shown_choices(
    gestures: Sequence[ActionBase], change: PageChange, earlier: Page | None
) -> Iterator[ActionBase]:
    """Yield the choices that the last of these gestures made, by what the page shows after it.

    `earlier` is what the page showed before the first of them.
    """
    element = gestures[-1].element
    try:
        yield from _choices(gestures, element, change, earlier) if element is not None else ()
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return


def _choices(
    gestures: Sequence[ActionBase], element: Element, change: PageChange, earlier: Page | None
) -> Iterator[ActionBase]:
    last = gestures[-1]
    if isinstance(last, Press):
        yield from taken_entries(last, element, _used(gestures, element), change)
        yield from pressed_entries(last, element, change, earlier)
    if element.tag not in PAGES:
        yield from moved_sliders(last, element, change)
        yield from marked_options(element, change)
        yield from stepped_scales(element, change) if _may_step(last) else ()
    yield from _left_open(gestures, element, change) if tag_of(last) in _CHOOSING else ()
    keyed = list(keyed_texts(element, change)) if _may_choose(last) else []
    yield from keyed
    roles = (*ENTRIES, "combobox") if isinstance(last, Press) else ENTRIES
    if keyed:
        return
    yield from pressed_states(element, change) if _may_choose(last) else ()
    if element.role in roles and element.tag not in PAGES and _may_choose(last):
        yield from set_boxes(element, change, earlier)
        yield from _named(gestures, element, change)
        yield from moved_mark(element, change)
    elif element.role == "option" and _may_choose(last):
        yield from drawn_boxes(element, change)
    elif element.role == "button" and _may_choose(last):
        yield from built_boxes(element, change)
        yield from marked_buttons(element, change)
        yield from _confirmed(gestures, element, change, earlier)
    elif element.role in ("checkbox", "radio") and (tag_of(last) in _CHOOSING or _may_choose(last)):
        yield from _named(gestures, element, change)


def _may_choose(action: ActionBase) -> bool:
    if not isinstance(action, Press):
        return tag_of(action) in GROUPS["@activate"] and getattr(action, "button", "left") == "left"
    # A cell that takes keys itself hides which they were.
    is_key = action.key in (*ENTER, *SPACE, MASKED) or action.key.rpartition("+")[2].startswith("Arrow")
    is_key |= is_printable(action.key) or (action.key == "Tab" and _role_of(action) == "combobox")
    return is_key and not types_text(action.element)


def _may_step(action: ActionBase) -> bool:
    """Whether an action may be on a button that steps a scale; what keys do on a scale, its role says."""
    is_key_on_scale = isinstance(action, Press) and _role_of(action) == "spinbutton"
    return _may_choose(action) and not is_key_on_scale


def _role_of(action: ActionBase) -> str | None:
    return action.element.role if action.element is not None else None


# Texts


def _named(gestures: Sequence[ActionBase], element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what an element took over of the target, or shows of the key that was pressed on it."""
    if isinstance(gestures[-1], Press):
        for text in new_texts(element.css, change):
            yield _selection(element, text)
    names = _names((element,))
    for shown in _used_before(gestures, element) if names else ():
        yield from _shown_as(shown, names, change)


def _left_open(gestures: Sequence[ActionBase], element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what a list took that lost the focus: what it shows only now, of the entries that it offered."""
    for shown in _used_before(gestures, element):
        texts = new_texts(shown.css, change) if shown.role in _LISTS else ()
        yield from (_selection(shown, text) for text in texts if text in shown_texts(change.before))


def _confirmed(
    gestures: Sequence[ActionBase], element: Element, change: PageChange, earlier: Page | None
) -> Iterator[ActionBase]:
    """Yield what a button confirmed: an element shows only now the name of an entry used after it.

    Who turns a wheel uses another entry than the one that is taken.
    """
    used = list(_used_before(gestures, element))
    for place, shown in enumerate(used):
        entries = [one for one in used[:place] if one.role in ENTRIES]
        yield from _shown_as(shown, _names(entries), change)
    for shown in used if any(map(_turns, gestures[:-1])) or _came(gestures[-1], change, earlier) else ():
        yield from _turned_to(shown, change, earlier)


def _came(action: ActionBase, change: PageChange, earlier: Page | None) -> bool:
    """Whether the target came with a popup: its button may take what the popup showed at first."""
    text = (action.element.text or "") if action.element is not None else ""
    return earlier is not None and shown_texts(change.before)[text] > shown_texts(earlier)[text]


def _turns(action: ActionBase) -> bool:
    """Whether an action may turn a wheel."""
    return isinstance(action, DragAndDrop | Scroll) or is_moving(action)


def _turned_to(shown: Element, change: PageChange, earlier: Page | None) -> Iterator[ActionBase]:
    """Yield the choice of a text that an element shows only afterwards, and that came while it was used."""
    texts = new_texts(shown.css, change)
    came = [*map(fold, shown_texts(change.before) - shown_texts(earlier))] if texts and earlier else []
    for text in texts:
        taken = [name for name in came[:TEXTS_MAX] if find(name, fold(text)) >= 0]
        if taken or len(came) > TEXTS_MAX:
            yield _selection(shown, text, *sorted(taken, key=len)[-1:])


def _names(elements: Iterable[Element]) -> set[str]:
    named = (name for one in elements for name in (one.text, one.name))
    return {fold(name) for name in named if name and len(name) <= NAME_MAX} - {""}


def _shown_as(shown: Element, names: set[str], change: PageChange) -> Iterator[ActionBase]:
    """Yield the choice of each text that an element shows only afterwards, if an entry is called so."""
    for text in new_texts(shown.css, change) if names else ():
        yield from (_selection(shown, text, name) for name in names if _is_called(fold(text), name))


def _selection(element: Element, text: str, *names: str) -> ActionBase:
    return SelectOption(element=element, values=(text,), labels=names)


def _used_before(gestures: Sequence[ActionBase], element: Element) -> Iterable[Element]:
    """Return the targets of earlier gestures that are apart from the last one, or hold it with the focus."""
    used = _used(gestures, element)
    return [one for one in used if _is_apart(one.css, element.css) or _holds(one, element)]


def _used(gestures: Sequence[ActionBase], element: Element) -> Iterable[Element]:
    """Return the other targets of the gestures before the last one, the last first."""
    earlier = [one.element for one in gestures[-1 - BEFORE_MAX : -1] if one.element is not None]
    return {one.css: one for one in reversed(earlier) if one.css != element.css}.values()


def _is_apart(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and not is_in(one, other) and not is_in(other, one)


def _holds(one: Element, element: Element) -> bool:
    """Whether an element that takes the focus is around another, as a list that holds its entries is."""
    return "tabindex" in (one.attributes or {}) and is_in(element.css or "", one.css)


def _is_called(text: str, name: str) -> bool:
    return name in text or (len(text) >= PART_MIN and text in name)


def new_texts(css: str | None, change: PageChange) -> list[str]:
    """Return the new texts of an element, of its host, or of the widget around a field."""
    host = (css or "").rpartition(" >>> ")[0]
    own = new_texts_in(*found_again(css, change))
    return own or (new_texts_in(*found_again(host, change)) if host else [])


def new_texts_in(before: Node | None, after: Node | None) -> list[str]:
    """Return the new texts of an element that was found again, or of the widget around a field."""
    is_field = before is not None and before.tag == "input"
    return _new_in(before, after) or (_new_in(*widgets_around(before, after)) if is_field else [])


def _new_in(before: Node | None, after: Node | None) -> list[str]:
    if before is None or after is None or max(map(size_of, (before, after))) > ROWS_MAX:
        return []
    return list(Counter(texts_in(after)) - Counter(texts_in(before)))


def tags_of(path: str, change: PageChange) -> list[str]:
    """Return the entries that a combobox shows as its tags only now, and that the page offered before.

    A search field in a popup goes with it: then those that the page still shows.
    """
    try:
        before, after = found_again(path, change)
        if before is None or not before.matches(_SEARCH):
            return []
        is_gone = field_at(change.after.dom, path) is None
        texts = shown_texts(change.after) if is_gone else new_texts_in(before, after)
        return [text for text in texts if text in shown_texts(change.before)]
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return []
