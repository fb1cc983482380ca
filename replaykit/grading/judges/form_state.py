"""What the fields of a page hold, by their labels, as a person would read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from replaykit.replay.dom import Dom, Node

CONTROLS = "input, select, textarea"
"""What has a state."""

CONTROLS_MAX = 200
"""Controls of a page that are read, the first ones."""

_SILENT = ("hidden", "password", "submit", "button", "image", "reset")


def form_state(dom: Dom) -> dict[str, str]:
    """Return label to value of the controls of a page; a label that stands twice is numbered.

    Raises ReplayError where the page cannot be asked.
    """
    labels = {node.attribute("for") or "": node.text for node in dom.select_all("label")}
    found: dict[str, str] = {}
    for node in dom.select_all(CONTROLS)[:CONTROLS_MAX]:
        label = next(filter(None, _names(node, labels)), "")
        if label and (node.attribute("type") or "").lower() not in _SILENT:
            found[_free(label, found)] = value_of(node)
    return found


def value_of(node: Node) -> str:
    """Return what a control holds: its text, its choice, or `checked` and `unchecked`."""
    if node.tag == "select":
        return ", ".join(one.text_content.strip() for one in node.options if one.selected)
    if node.attribute("type") in ("checkbox", "radio"):
        return "checked" if node.checked else "unchecked"
    return str(node.value or "")


def _names(node: Node, labels: Mapping[str, str]) -> Iterator[str]:
    above = node.closest("label")
    yield " ".join(above.text.split()) if above is not None else ""
    yield " ".join(labels.get(node.attribute("id") or "-", "").split())
    for name in ("aria-label", "placeholder", "title", "name"):
        yield node.attribute(name) or ""


def _free(label: str, taken: Mapping[str, str]) -> str:
    number = 1
    while (named := label if number == 1 else f"{label} #{number}") in taken:
        number += 1
    return named
