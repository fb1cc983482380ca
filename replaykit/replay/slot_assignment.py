"""Which slot of a shadow tree takes which child of its host (DOM 4.2.2.3)."""

from __future__ import annotations

from replaykit.replay.dom_tree import Tree
from replaykit.snapshot.snapshot_format import TEXT


def slotted(tree: Tree, host: int) -> dict[int, int]:
    """Return the slot per child of a shadow host; children that none takes are left out."""
    slots = [node for node in tree.descendants(host + 1) if tree.is_html(node, "slot")]
    if any(tree.state(slot).assigned is not None for slot in slots):
        return _given(tree, host, slots)
    names: dict[str, int] = {}
    for slot in slots:
        names.setdefault(tree.attribute(slot, "name") or "", slot)
    wanted = {child: _wanted(tree, child) for child in tree.children(host)}
    return {child: names[name] for child, name in wanted.items() if name in names}


def _wanted(tree: Tree, child: int) -> str | None:
    """Return the name of the slot that a child asks for; None where it fits no slot."""
    if tree.is_element(child):
        return tree.attribute(child, "slot") or ""
    return "" if tree.kind[child] == TEXT else None


def _given(tree: Tree, host: int, slots: list[int]) -> dict[int, int]:
    """Return what a script gave to the slots, by the places of the children."""
    places = {place: slot for slot in slots for place in tree.state(slot).assigned or ()}
    return {child: places[place] for place, child in enumerate(tree.children(host)) if place in places}
