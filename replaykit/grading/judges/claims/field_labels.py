"""Values beside their labels: in a row, on a line, in a definition, in a field."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from replaykit.errors import ReplayError
from replaykit.grading.judges.claims.run_facts import SeenPage
from replaykit.grading.values.normal_form import fold, includes
from replaykit.grading.values.typed_comparison import compare, detect
from replaykit.replay.dom import Node

CONTROLS = "input, select, textarea"
"""Selector of elements into which a value is entered."""


class LabelPlace(NamedTuple):
    """One place where a label stands, and what stands beside it."""

    candidates: tuple[str, ...]


def places_of(label: str, look: SeenPage) -> list[LabelPlace]:
    """Return where a label stands on a page with something beside it."""
    wanted = _bare(label)
    found = [*_rows(wanted, look), *_definitions(wanted, look)]
    return found + [LabelPlace((value,)) for value in _values(wanted, look)]


def of_type(value: str, candidates: tuple[str, ...], kind: str) -> list[str]:
    """Return the candidates that can be compared with a value."""
    if kind == "auto":
        kind = detect(value)
    if kind == "text":
        return [one for one in candidates if one.strip()]
    compared = ((one, compare(value, one, kind)) for one in candidates)
    return [one for one, result in compared if result.matches or result.reason == "differs"]


def count_of(label: str, look: SeenPage) -> int:
    """Return on how many lines of a page a label stands."""
    wanted = _bare(label)
    return sum(includes(wanted, line) for line in look.folded)


def controls_of(label: str, look: SeenPage) -> Iterator[Node]:
    """Yield the controls that have this label. Raises ReplayError where the page cannot be asked."""
    wanted = _bare(label)
    for node in look.dom.select_all(CONTROLS):
        if node.attribute("type") != "hidden" and wanted in {_bare(name) for name in _names(node)}:
            yield node


def _rows(wanted: str, look: SeenPage) -> Iterator[LabelPlace]:
    for line in look.lines:
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) > 1 and wanted in map(_bare, cells):
            yield LabelPlace(tuple(cell for cell in cells if cell and _bare(cell) != wanted))
        elif len(cells) == 1:
            label, colon, value = line.partition(":")
            if colon and _bare(label) == wanted and value.strip():
                yield LabelPlace((value.strip(),))


def _definitions(wanted: str, look: SeenPage) -> Iterator[LabelPlace]:
    with suppress(ReplayError):
        for term in look.dom.select_all("dt"):
            value = term.next_element
            is_shown = term.visible and value is not None and value.tag == "dd" and value.visible
            if is_shown and value is not None and _bare(term.text) == wanted:
                yield LabelPlace((value.text.strip(),))


def _values(wanted: str, look: SeenPage) -> Iterator[str]:
    with suppress(ReplayError):
        for node in controls_of(wanted, look):
            if node.attribute("type") not in ("checkbox", "radio", "password") and node.visible:
                yield _shown(node)


def _shown(node: Node) -> str:
    if node.tag == "select":
        return next((one.text_content.strip() for one in node.options if one.selected), "")
    return str(node.value or "")


def _names(node: Node) -> Iterator[str]:
    for name in ("aria-label", "placeholder", "title", "name"):
        yield node.attribute(name) or ""
    above = node.closest("label")
    if above is not None:
        yield above.text
    id = node.attribute("id")
    for label in node.dom.select_all("label") if id else ():
        if label.attribute("for") == id:
            yield label.text


def _bare(label: str) -> str:
    return fold(label).rstrip(":* ")
