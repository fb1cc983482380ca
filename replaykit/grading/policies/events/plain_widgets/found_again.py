"""An element of the page before a gesture, found again on the page after it.

A path that begins with an id leads nowhere once the page gives that id to another element, as trees may do.
"""

from __future__ import annotations

from replaykit.grading.policies.events.last_gesture import field_at
from replaykit.grading.policies.events.plain_widgets.page_change import PageChange
from replaykit.replay.dom import Dom, Node


def found_again(css: str | None, change: PageChange) -> tuple[Node | None, Node | None]:
    """Return an element before and after; after it by its place, if its path leads nowhere then."""
    before, after = (field_at(page.dom, css) for page in change)
    if before is None or after is not None or change.after.dom is None or before.host is not None:
        return before, after
    return before, _at_its_place(before, change.after.dom)


def same_again(before: Node, change: PageChange) -> Node | None:
    """Return an element of the page before in the page after it: by its id, else by its place."""
    dom = change.after.dom
    id = before.attribute("id")
    if dom is None or before.host is not None:
        return None
    named = [one for one in dom.select_all("[id]") if one.attribute("id") == id] if id else []
    return named[0] if len(named) == 1 and named[0].tag == before.tag else _at_its_place(before, dom)


def _at_its_place(before: Node, dom: Dom) -> Node | None:
    found = _at(_place(before), dom)
    return found if found is not None and found.tag == before.tag else None


def _place(node: Node) -> list[int]:
    """Return which child each element is, from the root of its tree inwards."""
    places: list[int] = []
    around = node.parent
    while around is not None:
        places.append(around.children.index(node))
        node, around = around, around.parent
    return places[::-1]


def _at(places: list[int], dom: Dom) -> Node | None:
    node = dom.root
    for place in places:
        inside = node.children if node is not None else []
        node = inside[place] if place < len(inside) else None
    return node
