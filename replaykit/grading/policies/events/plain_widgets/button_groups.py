"""Groups of buttons of which a class says which one is chosen: no role or attribute does.

Own module: it compares the classes of buttons beside each other; row_boxes compares those of one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from replaykit.grading.policies.events.plain_widgets.found_again import found_again
from replaykit.grading.policies.events.plain_widgets.page_change import (
    ROWS_MAX,
    PageChange,
    around,
    shown_texts,
    size_of,
)
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Node
from replaykit.trajectory.action import ActionBase, Check, Element, NodeRef, Uncheck

BUTTONS_MAX = 50
"""Buttons of a group that are compared."""

_LEVELS = 3
"""Elements around a button that may say what the group is for."""

_MARKS = lazy_pattern(
    r"(?:^|[-_:])(?:active|checked|chosen|is-?on|on|picked|pressed|primary|selected|toggled)(?:$|[-_])"
    r"|(?<=[a-z])(?:Active|Checked|Chosen|On|Picked|Selected)(?:$|[-_])"
)
"""A class that may say that a button is chosen: `active`, `is-on`, `btn-primary`, `Mui-selected`."""

_WAYS = lazy_pattern(
    r"(?i)(?:^|[-_\s])(?:accordion|breadcrumbs?|carousel|menu(?:bar)?|nav(?:bar|igation)?|page[rs]?|paginat\w*"
    r"|slides?|steps?|stepper|tab(?:s|list|bar)?)(?:$|[-_\s])"
)
"""A class of an element whose buttons lead somewhere, and choose nothing."""

_WHEELS = lazy_pattern(r"(?i)(?:^|[-_\s])(?:pickers?|wheels?)(?:$|[-_\s])")
"""A class of an element whose buttons may be the values of a wheel: those are no boxes."""

_OPENING = frozenset({"aria-expanded", "aria-haspopup", "aria-roledescription", "data-toggle", "draggable"})
"""Attributes of buttons with a state that is no choice: of a menu, or of a drag."""

_FOCUS = lazy_pattern(r"(?i)focus|hover|ripple|touch|visited")
"""A class of an element that was used last, or that the pointer is on."""

_STATES = ("aria-pressed", "data-active", "data-selected", "data-state")
_SET = ("", "true", "on", "active", "checked", "selected")
"""Values of such an attribute by which a button is chosen."""

_BY_STATE: dict[str | None, type[Check | Uncheck]] = {"true": Check, "false": Uncheck}

_Classes = set[str]


def moved_mark(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the choice of a button that has the mark now that another button of its group had before.

    Days and pages have a number. A page that shows more than a mark has opened a tab or entered a value.
    """
    before, after, others = _group(element, change)
    if before is None or after is None or before.text_content.strip().isdigit():
        return
    gained, lost = _classes(after) - _classes(before), _classes(before) - _classes(after)
    is_moved = _is_exchanged(gained, lost, others) and any(map(_MARKS.search, gained))
    if is_moved and not change.after.changed_without_event and not _new_texts(change):
        yield Check(element=element)


def moved_for_certain(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the choice of a button that has the mark now, unless it may be a value of a wheel."""
    yield from (choice for choice in moved_mark(element, change) if not _is_in_wheel(element, change))


def _is_in_wheel(element: Element, change: PageChange) -> bool:
    before, _ = found_again(element.css, change)
    levels = around(before, _LEVELS) if before is not None else ()
    return any(_WHEELS.search(one.attribute("class") or "") for one in levels)


def marked_buttons(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what a button of a group may have become by a class that it gained or lost."""
    before, after, others = _group(element, change)
    if before is None or after is None or not others:
        return
    gained, lost = _classes(after) - _classes(before), _classes(before) - _classes(after)
    if any(map(_MARKS.search, gained)) or _is_exchanged(gained, lost, others):
        yield Check(element=element)
    elif any(map(_MARKS.search, lost)):
        yield Uncheck(element=element)


def pressed_states(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what became of toggles, of which the target is one, or that it holds the focus for."""
    if change.before.lacks((b"aria-pressed",)) or change.after.lacks((b"aria-pressed",)):
        return
    before, after = (_toggles(one) for one in found_again(element.css, change))
    for was, now in zip(before, after, strict=True) if len(before) == len(after) else ():
        state = now.attribute("aria-pressed")
        if was.attribute("aria-pressed") != state and state in _BY_STATE:
            yield _BY_STATE[state](element=_toggle(was, element, change))


def _toggles(node: Node | None) -> list[Node]:
    if node is None or size_of(node) > ROWS_MAX:
        return []
    inside = (node, *node.descendants())
    return [one for one in inside if one.attribute("aria-pressed") is not None]


def _toggle(node: Node, element: Element, change: PageChange) -> Element:
    place = (
        NodeRef(snapshot=change.before.snapshot_id, number=node.number) if change.before.snapshot_id else None
    )
    return Element(tag=node.tag, role="button", css=element.css, node=place)


def _is_exchanged(gained: _Classes, lost: _Classes, others: list[tuple[_Classes, _Classes]]) -> bool:
    """Whether one other button of a group lost what a button gained, and the other way round."""
    return bool(gained) and sum((was - now, now - was) == (gained, lost) for was, now in others) == 1


def _group(
    element: Element, change: PageChange
) -> tuple[Node | None, Node | None, list[tuple[_Classes, _Classes]]]:
    """Return a button before and after, and the classes of those beside it before and after."""
    if (element.attributes or {}).get("type") == "submit":  # it sends a form, and chooses nothing
        return None, None, []
    before, after = found_again(element.css, change)
    if before is None or after is None or _leads_on(before):
        return None, None, []
    was, now = (_row_of(one) for one in (before, after))
    pairs = list(zip(was, now, strict=False)) if len(was) == len(now) else []
    beside = (pair for pair in pairs if pair[0].tag == before.tag == pair[1].tag and pair[0] != before)
    return before, after, [(_classes(one), _classes(other)) for one, other in beside]


def _row_of(button: Node) -> list[Node]:
    """Return the buttons of a group; each may have an element of its own around it."""
    depth, top = 0, button
    while top.parent is not None and len(top.parent.children) == 1 and depth < _LEVELS:
        depth, top = depth + 1, top.parent
    beside = top.parent.children[:BUTTONS_MAX] if top.parent is not None else []
    for _ in range(depth):
        beside = [one.children[0] for one in beside if len(one.children) == 1]
    return beside


def _leads_on(button: Node) -> bool:
    """Whether a button opens something, is there to be dragged, or is one of those that lead somewhere."""
    if button.attribute("role") == "tab" or not _OPENING.isdisjoint(button.attributes):
        return True
    return any(_WAYS.search(one.attribute("class") or "") for one in around(button, _LEVELS))


def _classes(node: Node) -> _Classes:
    """Return the classes of a button, and the states that other attributes say in the same way."""
    names = (node.attribute("class") or "").split()
    states = (f"{name}-{node.attribute(name)}" for name in _STATES if node.attribute(name) in _SET)
    return {name for name in (*names, *states) if not _FOCUS.search(name)}


def _new_texts(change: PageChange) -> Counter[str]:
    return shown_texts(change.after) - shown_texts(change.before)
