"""Boxes that a row sets, or a custom element that keeps its state to itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.last_gesture import field_at
from replaykit.grading.policies.events.plain_widgets.found_again import found_again
from replaykit.grading.policies.events.plain_widgets.page_change import (
    ROWS_MAX,
    PageChange,
    around,
    size_of,
)
from replaykit.grading.policies.events.widgets_around import LEVELS_MAX, PAGES, PARTS
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Node
from replaykit.replay.run_state import Page
from replaykit.trajectory.action import ActionBase, Check, Element, Uncheck

BOX_MAX = 48
"""Width and height of a box that is only drawn, px."""

_UNSET = ("checkbox", "menuitemcheckbox", "switch")
"""Roles of boxes that another click unsets; of radio buttons none does."""

_DRAWN_BOX = "checkbox"
_TICKS = frozenset("☐☑☒✓✔✕✖✗✘✅⬜🔲🔳")
"""Characters that are drawn as a box or a tick."""

_SET = lazy_pattern(
    r"(?:^|[-_])(?:checked|chosen|picked|selected|ticked)(?:$|[-_A-Z])"
    r"|(?<=[a-z])(?:Checked|Chosen|Picked|Selected|Ticked)(?:$|[-_A-Z])"
)
"""A class that says that something is set: `tag-checked`, `isSelected`."""

_STATES = ("data-checked", "data-selected", "data-state")
_VALUES = ("", "true", "false", "checked", "unchecked", "on", "off", "selected", "indeterminate")
"""Values of such an attribute of a box: others say that something is open."""

_CHOSEN = "[role=option][aria-selected=true]"
_IMAGES = ("i", "img", "svg")
_BY_MARK: dict[str | None, type[Check | Uncheck]] = {"true": Check, "false": Uncheck}

_State = tuple[str, str]
"""Role of a box, and whether it is set."""

_StateOf = Callable[[Node], _State | None]


def set_boxes(element: Element, change: PageChange, earlier: Page | None) -> Iterator[ActionBase]:
    """Yield what a row did with the box in it that a page built.

    `earlier` is what the page showed before the pointer came: stars are drawn as set while it is on them.
    """
    if element.tag is not None and "-" in element.tag:
        was_marked, is_marked = (_is_marked(one) for one in found_again(element.css, change))
        if was_marked != is_marked:
            yield Check(element=element) if is_marked else Uncheck(element=element)
    if _is_drawn(element) and _has_new_classes(element, change, earlier):
        yield from (Check(element=element), Uncheck(element=element))
    yield from drawn_boxes(element, change)
    yield from _set_by_class(element, change)
    yield from built_boxes(element, change)


def built_boxes(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what became of the boxes in the target, or beside it, that say their state."""
    if change.before.lacks((b"aria-checked",)) or change.after.lacks((b"aria-checked",)):
        return
    before, after = (_states(one) for one in found_again(element.css, change))
    if len(before) == len(after):
        for (_, was), (role, now) in zip(before, after, strict=True):
            if was != now and now == "true":
                yield Check(element=element)
            elif was != now and role in _UNSET:
                yield Uncheck(element=element)


def only_box(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what became of the one box in the target, or beside it."""
    if change.before.lacks((b"aria-checked",)) or change.after.lacks((b"aria-checked",)):
        return
    before, after = (_states(one) for one in found_again(element.css, change))
    if len(before) == len(after) == 1 and before[0][0] == after[0][0]:
        yield from built_boxes(element, change)


def set_and_unset(element: Element, page: Page | None) -> Iterator[ActionBase]:
    """Yield what two clicks on a part of a row may have done, which leave the page as it was."""
    try:
        part = field_at(page.dom, element.css) if page is not None else None
        is_box = part is not None and bool(part.dom.tree.state(part.row).control)
        roles = {role for role, _ in (*_states(part), *_native_states(part))} if part is not None else set()
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return
    if is_box or roles:
        yield Check(element=element)
    if is_box or not roles.isdisjoint(_UNSET):
        yield Uncheck(element=element)


def drawn_boxes(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what an entry did with a box or mark that is drawn in it."""
    yield from _drawn_in(element, *found_again(element.css, change))


def _drawn_in(element: Element, before: Node | None, after: Node | None) -> Iterator[ActionBase]:
    """Yield what an entry may have done with a box or mark that is drawn in it: no role says what it is."""
    if before is None or after is None:
        return
    was, now = (one.attribute("aria-selected") for one in (before, after))
    row, later = _row_of(before), _row_of(after)
    if _is_only_choice(before, after):
        return
    if _has_image(row) != _has_image(later):
        yield Check(element=element) if _has_image(later) else Uncheck(element=element)
    elif _ticks(row) != _ticks(later):
        yield from (Check(element=element), Uncheck(element=element))
    elif not (_draws_box(row) and _draws_box(later)):
        return
    elif was != now and now in _BY_MARK:
        yield _BY_MARK[now](element=element)
    elif list(map(_classes, _inside(row))) != list(map(_classes, _inside(later))):
        yield from (Check(element=element), Uncheck(element=element))


def _is_only_choice(before: Node, after: Node) -> bool:
    """Whether an option closed its list, in which at most one was chosen: a tick in it is no box."""
    around = [one.closest("[role=listbox]") for one in (before, after)]
    if after.visible or any(one is None or one.attribute("aria-multiselectable") == "true" for one in around):
        return False
    return all(len(one.select_all(_CHOSEN)) <= 1 for one in around if one is not None)


def _set_by_class(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what an entry may have become that only a class calls set, as tags and chips are."""
    before, after = found_again(element.css, change)
    if element.role not in PARTS or before is None or after is None:
        return
    was, now = (_states_by_class(_row_of(one), one) for one in (before, after))
    if now - was:
        yield Check(element=element)
    if was - now:
        yield Uncheck(element=element)


def _states_by_class(row: Node, part: Node) -> set[str]:
    """Return the classes of an element, and of those around it in its row, that say that it is set."""
    names: set[str] = set()
    for one in around(part, LEVELS_MAX):
        names |= {name for name in _classes(one) if _SET.search(name)}
        if one.row == row.row:
            break
    return names


def _row_of(part: Node) -> Node:
    """Return the largest element around a part that has no other text."""
    text, row = part.text_content.strip(), part
    for one in around(part, LEVELS_MAX):
        if one.tag in PAGES or size_of(one) > ROWS_MAX or one.text_content.strip() != text:
            break
        row = one
    return row


def _inside(row: Node) -> list[Node]:
    return [row, *islice(row.descendants(), ROWS_MAX)]


def _has_image(row: Node) -> bool:
    return any(one.tag in _IMAGES for one in _inside(row))


def _ticks(row: Node) -> list[str]:
    """Return the characters in a row that are drawn as a box or a tick."""
    return [one for one in row.text_content if one in _TICKS]


def _draws_box(row: Node) -> bool:
    """Whether a row holds an element without a text that is called a checkbox by its class."""
    boxes = (one for one in _inside(row) if _DRAWN_BOX in (one.attribute("class") or "").lower())
    return any(not one.text_content.strip() for one in boxes)


def _is_drawn(element: Element) -> bool:
    """Whether an element may be a box that is only drawn: small, without a text, and not a control."""
    width, height = element.box[2:] if element.box is not None else (BOX_MAX + 1, 0)
    is_named = bool((element.text or "").strip()) or bool(element.name)
    return element.role in (None, "generic") and not is_named and max(width, height) <= BOX_MAX


def _has_new_classes(element: Element, change: PageChange, earlier: Page | None) -> bool:
    """Whether a drawn part, or what is drawn around it, has other classes than before, or earlier."""
    before, after = found_again(element.css, change)
    is_own = element.node is not None and element.node.snapshot == change.before.snapshot_id
    first = field_at(earlier.dom, element.css) if earlier is not None and is_own else None
    if after is None:
        return False
    now = _drawn_classes(after)
    return any(_drawn_classes(one) != now for one in (before, first) if one is not None)


def _drawn_classes(part: Node) -> list[set[str]]:
    """Return the classes of a part, and of the small elements without a text around it."""
    drawn = (one for one in around(part, LEVELS_MAX) if one.row == part.row or _is_small(one))
    return [_classes(one) for one in drawn]


def _is_small(node: Node) -> bool:
    size = node.box[2:] if node.box is not None else (BOX_MAX + 1,)
    return max(size) <= BOX_MAX and not node.text_content.strip()


def _classes(node: Node) -> set[str]:
    """Return the classes of an element, and the states that other attributes say in the same way."""
    states = (f"{name}-{node.attribute(name)}" for name in _STATES if node.attribute(name) in _VALUES)
    return {*(node.attribute("class") or "").split(), *states}


def _is_marked(host: Node | None) -> bool:
    """Whether a custom element shows as checked; its script may keep the state where no attribute is."""
    if host is None or size_of(host) > ROWS_MAX:
        return False
    nodes = (Node(host.dom, row) for row in range(host.row, host.dom.tree.end[host.row]))
    marks = ((one.attribute("checked"), one.attribute("class")) for one in nodes if one.is_element)
    return any(checked is not None or "checked" in (names or "").split() for checked, names in marks)


def _states(part: Node | None) -> list[_State]:
    """Return the boxes in the smallest element around a part that has any that a page built."""
    return next(_found(part, _built), []) if part is not None else []


def _native_states(part: Node) -> list[_State]:
    """Return the boxes in the smallest element around a part that has any of the browser."""
    return next(_found(part, _native), [])


def _found(part: Node, state: _StateOf) -> Iterator[list[_State]]:
    tree = part.dom.tree
    for one in around(part, LEVELS_MAX):
        if one.tag in PAGES or size_of(one) > ROWS_MAX:
            return
        nodes = (Node(one.dom, row) for row in range(one.row, tree.end[one.row]) if tree.is_element(row))
        if found := [held for node in nodes if (held := state(node)) is not None]:
            yield found


def _built(node: Node) -> _State | None:
    state = node.attribute("aria-checked")
    return None if state is None else (node.attribute("role") or "", state)


def _native(node: Node) -> _State | None:
    kind = (node.attribute("type") or "").lower() if node.tag == "input" else ""
    return (kind, "") if kind in ("checkbox", "radio") else None
