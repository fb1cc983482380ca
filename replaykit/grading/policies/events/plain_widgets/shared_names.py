"""Boxes with a name that others have as well, such as `Select row`: a person calls each by its row.

Own module: it asks all boxes of a page for their names; row_boxes asks one row for the states of its boxes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.last_gesture import field_at
from replaykit.grading.policies.events.plain_widgets.page_change import ROWS_MAX, around, size_of, texts_in
from replaykit.grading.policies.events.widgets_around import LEVELS_MAX, PAGES
from replaykit.grading.values.normal_form import fold
from replaykit.replay.dom import Dom, Node
from replaykit.replay.dom_tree import Tree
from replaykit.replay.run_state import Page
from replaykit.trajectory.action import ActionBase, Element, Names

_BOXES = "input[type=checkbox], input[type=radio], [role=checkbox], [role=radio], [role=switch], label"
_ROWS = "tr, li, [role=row], [role=listitem], [role=option], [role=treeitem]"
_ROLES = ("checkbox", "radio", "switch")
_KINDS = frozenset({"checkbox", "radio", "switch", "toggle"})
"""Names that only say which kind of control it is."""


def named_by_row(action: ActionBase, page: Page | None) -> Iterator[ActionBase]:
    """Yield an action on a box whose name others share, with the text of its row in place of that name."""
    element = action.element
    if page is None or element is None or not _is_box(element):
        return
    try:
        text = _shown_by_row(element, page.dom)
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return
    if text:
        named = replace(element, text=text, name=text, names=Names(text=text), earlier=())
        yield replace(action, element=named)


def _is_box(element: Element) -> bool:
    return element.role in _ROLES or (element.tag == "input" and element.type in _ROLES)


def _shown_by_row(element: Element, dom: Dom | None) -> str:
    """Return the text of the row of a box with a name that others share, else nothing."""
    box = field_at(dom, element.css)
    if box is None or dom is None:
        return ""
    name = element.name or _label(box)
    is_shared = bool(name) and (_names(dom)[fold(name)] > 1 or fold(name) in _KINDS)
    row = (box.closest(_ROWS) or _with_text(box)) if is_shared else None
    return " ".join(_own_texts(row)) if row is not None and size_of(row) <= ROWS_MAX else ""


def _with_text(box: Node) -> Node | None:
    """Return the smallest element around a box that has a text, if it holds no other box."""
    row = next((one for one in around(box, LEVELS_MAX) if one.text_content.strip()), None)
    is_row = row is not None and row.tag not in PAGES and len(row.select_all(_BOXES)) == 1
    return row if is_row else None


def _own_texts(row: Node) -> Iterator[str]:
    """Yield the texts of a row that are no labels of boxes in it: those name one box each."""
    labels = Counter(text for label in row.select_all("label") for text in texts_in(label))
    yield from (Counter(texts_in(row)) - labels)


def _names(dom: Dom) -> Counter[str]:
    """Return how many boxes have each name, read once."""
    known = dom.tree.memo(_known_names)
    if not known:
        known.append(Counter(fold(_label(one) or one.text_content) for one in dom.pierce_all(_BOXES)))
    return known[0]


def _label(box: Node) -> str:
    return box.attribute("aria-label") or box.attribute("title") or ""


def _known_names(tree: Tree) -> list[Counter[str]]:
    """The names of the boxes of a page, filled when they are asked for."""
    return []
