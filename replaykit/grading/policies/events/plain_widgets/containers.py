"""Targets that are not a control: a click on the ground of a page or a card is not one on the buttons in it.

A click inside of a control has that control as its target: texts of controls further in were not clicked.
"""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import ENTER, SPACE, Event
from replaykit.grading.policies.events.plain_widgets.page_change import ROWS_MAX, size_of
from replaykit.grading.policies.events.recorded_targets import target_of
from replaykit.grading.policies.events.text_conditions import Reading, TextTests
from replaykit.grading.policies.events.three_valued_truth import FALSE, Truth, unknown
from replaykit.grading.policies.events.widgets_around import PAGES
from replaykit.replay.dom import Dom, Node
from replaykit.replay.dom_tree import Tree
from replaykit.snapshot.snapshot_format import TEXT
from replaykit.trajectory.action import Press

_CONTROLS = (
    "a[href], button, input, select, textarea, option, summary, label, [onclick]:not(html, body), "
    "[contenteditable]:not([contenteditable=false i]), "
    "[role=button], [role=checkbox], [role=combobox], [role=gridcell], [role=link], [role=menuitem], "
    "[role=menuitemcheckbox], [role=menuitemradio], [role=option], [role=radio], [role=scrollbar], "
    "[role=searchbox], [role=slider], [role=spinbutton], [role=switch], [role=tab], [role=textbox], "
    "[role=treeitem]"
)
"""Elements that are the target of what happens inside of them."""

_HOLDERS = ("gridcell", "option", "row", "tab", "treeitem")
"""Roles of entries that may hold buttons: who clicks the entry presses none of them."""

_BUTTONS = "button, [role=button]"

_DIALOGS = "dialog, [role=dialog], [role=alertdialog]"


def name_on_ground(event: Event, names: TextTests) -> Truth | None:
    """Return whether a name is that of a container, or only of controls in it; None where that is not known.

    A card may be opened by a click anywhere, and then it is called by a link in it.
    """
    around = _container(event)
    own = names.truth(_own(event, around)) if around is not None else unknown()
    if around is None or own.holds is not False:
        return own if own.holds else None
    is_key = isinstance(event.action, Press) and event.action.key in (*ENTER, *SPACE)
    if _is_entry(around):
        return unknown(f"names.inside@{event.step}") if is_key else FALSE
    is_key &= isinstance(event.action, Press) and event.action.key in ENTER
    is_card = around.tag not in PAGES and size_of(around) <= ROWS_MAX and not _is_backdrop(around)
    return unknown(f"names.inside@{event.step}") if is_key or is_card else FALSE


def _is_backdrop(around: Node) -> bool:
    """Whether a container is a dialog, or has no controls outside of dialogs: a click on it opens nothing."""
    tree, controls = around.dom.tree, _controls(around.dom)
    dialogs = frozenset(one.row for one in around.dom.pierce_all(_DIALOGS))
    inside = range(around.row + 1, tree.end[around.row])
    in_dialogs = {part for row in inside if row in dialogs for part in range(row, tree.end[row])}
    return around.row in dialogs or all(row in in_dialogs for row in inside if row in controls)


def _container(event: Event) -> Node | None:
    """Return the target if it holds controls and is not one, or if it is the whole page."""
    if "container" not in event.known:
        event.known["container"] = _found(event)
    found: Node | None = event.known["container"]
    return found


def _found(event: Event) -> Node | None:
    try:
        node = target_of(event) if event.element is not None else None
        if node is None or "-" in node.tag:
            return None
        inside = range(node.row + 1, node.dom.tree.end[node.row])
        if _is_entry(node):
            return node if any(row in _buttons(node.dom) for row in inside) and _has_words(node) else None
        if node.row in _controls(node.dom):
            return None
        is_holder = node.tag in PAGES or any(row in _controls(node.dom) for row in inside)
        return node if is_holder else None
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return None


def _is_entry(node: Node) -> bool:
    return (node.attribute("role") or "").strip().lower() in _HOLDERS


def _has_words(entry: Node) -> bool:
    """Whether an entry has a text of its own, beside the buttons in it."""
    return any(char.isalnum() for text in _outside(entry) for char in text)


def _own(event: Event, node: Node) -> tuple[Reading, ...]:
    if "ground" not in event.known:
        event.known["ground"] = tuple(_own_names(event, node))
    found: tuple[Reading, ...] = event.known["ground"]
    return found


def _own_names(event: Event, node: Node) -> Iterator[Reading]:
    """Yield the names of a container without those of the controls in it; of a page, its own words."""
    names = event.element.names if event.element is not None else None
    marked = ((names.active if names is not None else None) or "").splitlines()
    texts = list(_words(node) if node.tag in PAGES else _outside(node))
    yield from event.labels
    for text in dict.fromkeys((*marked, "".join(texts), *texts)):
        yield Reading(text, event.step)


def _words(page: Node) -> Iterator[str]:
    """Yield the texts that stand in an element itself, and in none inside of it."""
    yield from (one.text_content for one in page.child_nodes if not one.is_element)


def _outside(node: Node) -> Iterator[str]:
    """Yield the texts in an element that stand in no control inside of it."""
    tree, controls = node.dom.tree, _controls(node.dom)
    row = node.row + 1
    while row < tree.end[node.row]:
        if row in controls:
            row = tree.end[row]
            continue
        if tree.kind[row] == TEXT:
            yield tree.name[row]
        row += 1


def _controls(dom: Dom) -> frozenset[int]:
    """Return the rows of all controls of a page, looked for once."""
    known = dom.tree.memo(_known_controls)
    if not known:
        known.append(frozenset(one.row for one in dom.pierce_all(_CONTROLS)))
    return known[0]


def _buttons(dom: Dom) -> frozenset[int]:
    """Return the rows of all buttons of a page, looked for once."""
    known = dom.tree.memo(_known_buttons)
    if not known:
        known.append(frozenset(one.row for one in dom.pierce_all(_BUTTONS)))
    return known[0]


def _known_buttons(tree: Tree) -> list[frozenset[int]]:
    """The buttons of a page, filled when they are asked for."""
    return []


def _known_controls(tree: Tree) -> list[frozenset[int]]:
    """The controls of a page, filled when they are asked for."""
    return []
