"""Widgets that a page built from parts: a slider around its track, a box in a row, the list of an open field.

The part that takes the click has no role of its own. Which widget it belongs to, only the page around says.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.recorded_targets import target_of
from replaykit.replay.dom import Dom, Node
from replaykit.replay.dom_tree import Tree
from replaykit.snapshot.snapshot_format import SHADOW
from replaykit.trajectory.action import Element

LEVELS_MAX = 4
"""Elements around a part that may still be its widget."""

PAGES = ("html", "body", "form", "main", "table", "tbody")
"""Tags of elements that hold widgets, and are no widgets themselves."""

_CONTROLS = (
    "a[href], button, input:not([type=hidden], [tabindex='-1']), select, textarea, summary, "
    "[role=slider], [role=button], "
    "[role=link], [role=checkbox], [role=radio], [role=switch], [role=option], [role=tab], [role=textbox]"
)
_SLIDERS = "[role=slider]"
_BUTTONS = "button, a[role=button], [role=button]"
_BUTTONS_MAX = 3
"""Buttons beside a number that may step it."""
_OPEN_FIELDS = (
    "[role=combobox][aria-expanded=true], [aria-haspopup=listbox][aria-expanded=true], "
    "[aria-haspopup=tree][aria-expanded=true], input[aria-expanded=true]"
)

PARTS = (
    None, "cell", "generic", "graphics-document", "gridcell", "img", "listitem", "none", "presentation",
    "row",
)  # fmt: skip
"""Roles of parts that no one operates by themselves."""

ENTRIES = (*PARTS, "menuitem", "menuitemcheckbox", "treeitem")
"""Roles that entries of a list beside a field may have; options say so themselves."""

_CONTROL_TAGS = (
    "a", "body", "button", "form", "html", "input", "label", "option", "select", "summary", "textarea",
)  # fmt: skip


def is_part_of_slider(event: Event) -> bool:
    """Whether the target is the track, or another part, of a slider that a page built."""
    return _is(event, PARTS, b"slider", _has_slider_around)


def is_in_open_list(event: Event) -> bool:
    """Whether the target may be an entry of a list that is open beside a field, and is no other control."""
    return _is(event, ENTRIES, b"aria-expanded", _has_open_field)


def open_fields(dom: Dom) -> list[Node]:
    """Return the elements that say that something of theirs is open, such as the list of a field."""
    return dom.pierce_all("[aria-expanded=true]")


def is_shut(element: Element) -> bool:
    """Whether an element that is not a field shows a choice, and its list is closed."""
    attributes = element.attributes or {}
    roles = (attributes.get("role") or element.role or "").split()[:1]
    is_list = roles == ["combobox"] and element.tag not in ("input", "select", "textarea", "option")
    return is_list and attributes.get("aria-expanded") == "false"


def is_beside(field: Node | None, part: Node | None) -> bool:
    """Whether what is around a field and holds no other control is also around a part of the page."""
    if field is None or part is None:
        return False
    above = set(part.dom.tree.ancestors(part.row)) | {part.row}
    return any(around.row in above for around in widgets_of(field)) or _share_shadow(field, part)


def _share_shadow(field: Node, part: Node) -> bool:
    """Whether both are in the shadow tree of one element, which has no other control in it."""
    tree = field.dom.tree
    scope = tree.scope[field.row]
    others = (row for row in _controls(field.dom).get(scope, []) if row != field.row)
    return tree.scope[part.row] == scope and tree.kind[scope] == SHADOW and not any(others)


def is_select_of(field: Node, part: Node) -> bool:
    """Whether a list of the browser stands in for a field that the page built: both are in one widget."""
    own = _by_tree(field.dom.tree, [field.row, part.row])
    above = set(part.dom.tree.ancestors(part.row))
    return field.tag == "select" and any(one.row in above for one in _owned_by(own, field))


def widgets_of(field: Node) -> Iterator[Node]:
    """Yield the elements around a field that hold no other control, the innermost first."""
    return _owned_by(_by_tree(field.dom.tree, [field.row]), field)


def is_step_button(field: Node | None, part: Node | None, *, is_sign: bool) -> bool:
    """Whether a part of the page is a button of a field: all that is around both is a few buttons.

    A button that is called by a sign only may be anywhere beside the field.
    """
    if field is None or part is None or field.tag != "input":
        return False
    tree = field.dom.tree
    above = set(part.dom.composed.ancestors(part.row)) | {part.row}
    if is_sign and tree.up[field.row] in above:
        return True
    buttons = _by_tree(tree, (one.row for one in field.dom.pierce_all(_BUTTONS)))
    unseen = (one.row for one in field.dom.pierce_all("input") if not one.visible)
    own = _by_tree(tree, [field.row, *unseen, *chain.from_iterable(buttons.values())])
    around = (one for one in _owned_by(own, field) if _held(tree, buttons, one.row) <= _BUTTONS_MAX)
    return any(one.row in above for one in around)


def _is(event: Event, roles: tuple[str | None, ...], word: bytes, ask: Callable[[Node], bool]) -> bool:
    """Return the answer about the target, where it is of one of these roles; asked once for all policies."""
    element = event.element
    if element is None or element.role not in roles or element.tag in _CONTROL_TAGS:
        return False
    if ask.__name__ not in event.known:
        event.known[ask.__name__] = _asked(event, word, ask)
    found: bool = event.known[ask.__name__]
    return found


def _asked(event: Event, word: bytes, ask: Callable[[Node], bool]) -> bool:
    try:
        # Most pages lack the word, and need not be decoded.
        target = None if event.page is None or event.page.lacks((word,)) else target_of(event)
        return target is not None and ask(target)
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return False


def _has_slider_around(part: Node) -> bool:
    above = {part.row, *islice(part.dom.tree.ancestors(part.row), LEVELS_MAX)}
    sliders = part.dom.pierce_all(_SLIDERS)
    own = _by_tree(part.dom.tree, (one.row for one in sliders))
    if part.dom.tree.state(part.row).control and any(
        part.row < one.row < part.dom.tree.end[part.row] for one in sliders
    ):
        return True
    return any(around.row in above for one in sliders for around in _owned_by(own, one))


def _has_open_field(part: Node) -> bool:
    end = part.dom.tree.end[part.row]
    return any(not part.row < field.row < end for field in part.dom.pierce_all(_OPEN_FIELDS))


def _owned_by(own: _Rows, node: Node) -> Iterator[Node]:
    """Yield the elements around a control that hold no other control than such, the innermost first."""
    tree, controls = node.dom.tree, _controls(node.dom)
    for row in islice(tree.ancestors(node.row), LEVELS_MAX):
        around = Node(node.dom, row)
        if _held(tree, controls, row) > _held(tree, own, row) or around.tag in PAGES:
            return
        yield around


_Rows = dict[int, list[int]]
"""Rows of elements in order, by the tree that they are in."""


def _held(tree: Tree, rows: _Rows, row: int) -> int:
    """Return how many of these elements are inside of an element, in its own tree."""
    known = rows.get(tree.scope[row], [])
    return bisect_left(known, tree.end[row]) - bisect_right(known, row)


def _by_tree(tree: Tree, rows: Iterable[int]) -> _Rows:
    found: _Rows = {}
    for row in sorted(rows):
        found.setdefault(tree.scope[row], []).append(row)
    return found


def _controls(dom: Dom) -> _Rows:
    """Return the controls of a page, looked for once."""
    known = dom.tree.memo(_known_controls)
    if not known:
        known.append(_by_tree(dom.tree, (one.row for one in dom.pierce_all(_CONTROLS))))
    return known[0]


def _known_controls(tree: Tree) -> list[_Rows]:
    """The controls of a page, filled as they are asked for."""
    return []
