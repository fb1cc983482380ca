"""The character before a text, which `text-transform: capitalize` looks at to see where a word starts.

Chromium takes it from the box before the text in pre-order, whatever stands between the two on the page:
what a float, a button or a field shows goes on in the text after it. Inline boxes and empty texts are passed
over; any other box without a text says that a word starts.
"""

from __future__ import annotations

from replaykit.replay import form_values
from replaykit.replay.dom_tree import SPACES, Tree
from replaykit.replay.form_values import is_menu
from replaykit.replay.rendered_text.boxes import Boxes
from replaykit.snapshot.snapshot_format import HTML, OTHER, TEXT

_START, _LETTER = -1, -2
"""In the place of a row: a box of no element, a letter that is generated."""


class Preceding:
    """Looks back from the texts of one page."""

    def __init__(self, boxes: Boxes) -> None:
        self.boxes = boxes
        self.tree = boxes.tree
        self._held: dict[int, list[int]] = {}
        self._places: dict[int, int] = {}

    def character(self, row: int) -> str:
        """Return the character before a text; a blank where a word starts."""
        found = ""
        while not found:
            row = self._previous(row)
            if row < 0:
                return "x" if row == _LETTER else " "
            found = "" if self._has_letter(row, "p") else self._shown(row)
        return found

    def holds(self, row: int) -> bool:
        """Whether a text has a box."""
        return row in self._inside(self._container(row))

    def _previous(self, row: int) -> int:
        above = self._container(row)
        boxes = self._inside(above)
        place = self._places.get(row, 0)
        if place == 0:
            return _LETTER if self._has_letter(above, "w") else above
        starts = not self._floats(row) and self._starts_line(above, boxes[place - 1])
        is_detail = self.tree.is_html(above, "details")
        return _START if starts or is_detail else self._deepest(boxes[place - 1])

    def _deepest(self, row: int) -> int:
        while self.tree.is_element(row) and not self._says_itself(row):
            if self._has_letter(row, "x"):
                return _LETTER
            inside = self._inside(row)
            if not inside:
                return _LETTER if self._has_letter(row, "w") else row
            row = inside[-1]
        return row

    def _has_letter(self, row: int, letter: str) -> bool:
        return self.tree.is_element(row) and letter in self.boxes.style(row).letters

    def _container(self, row: int) -> int:
        """Return the nearest box above in the flat tree."""
        boxes = self.boxes
        row = boxes.flat_parent(row)
        while self.tree.is_element(row) and boxes.style(row).display == "contents":
            row = boxes.flat_parent(row)
        return row

    def _inside(self, row: int) -> list[int]:
        """Return the boxes directly inside of one, and remember their places."""
        if row not in self._held:
            self._held[row] = self._found(row)
            self._places.update((box, place) for place, box in enumerate(self._held[row]))
        return self._held[row]

    def _found(self, row: int) -> list[int]:
        found: list[int] = []
        waiting = [*self.boxes.flat_children(row)][::-1]
        is_inline = self._is_inline(row)
        while waiting:
            child = waiting.pop()
            if self._is_contents(child):
                waiting += [*self.boxes.flat_children(child)][::-1]
            elif self._has_box(child, found, is_inline):
                found.append(child)
        return found

    def _is_contents(self, row: int) -> bool:
        return self.tree.is_element(row) and self.boxes.style(row).display == "contents"

    def _has_box(self, row: int, before: list[int], is_inline: bool) -> bool:
        """Whether a node has a box; a blank has one beside what is inline, and first in an inline box."""
        tree = self.tree
        if tree.kind[row] <= OTHER:
            return self.boxes.has_box(row)
        if tree.kind[row] != TEXT or not tree.name[row]:
            return False
        if tree.name[row].strip(SPACES):
            return True
        return self._is_beside(before[-1]) if before else is_inline

    def _is_beside(self, row: int) -> bool:
        is_break = self.tree.is_html(row, "br")
        return self.tree.kind[row] == TEXT or not (is_break or self._is_apart(row) or self._floats(row))

    def _is_inline(self, row: int) -> bool:
        tree = self.tree
        if not tree.is_element(row) or self._says_itself(row):
            return False
        return self.boxes.is_inline(row)

    def _starts_line(self, above: int, before: int) -> bool:
        """Whether lines start after a box: in a block that holds other blocks, after one of these."""
        gives_items = self.tree.is_element(above) and self.boxes.style(above).gives_items
        is_item = gives_items and self.tree.is_element(before)
        return is_item or (not self._is_inline(above) and self._is_apart(before))

    def _floats(self, row: int) -> bool:
        return self.tree.is_element(row) and "f" in self.boxes.style(row).letters

    def _is_apart(self, row: int) -> bool:
        return self.tree.is_element(row) and not self._floats(row) and self.boxes.is_block(row)

    def _says_itself(self, row: int) -> bool:
        """Whether nothing that is laid out inside counts; closed details end in a box of their own."""
        tree = self.tree
        is_shut = tree.is_html(row, "details") and not tree.has(row, "open")
        return is_shut or tree.is_html(row, "br", "object", "wbr", *_FIELDS)

    def _shown(self, row: int) -> str:
        """Return the last character of a box, empty of inline boxes."""
        tree = self.tree
        if tree.kind[row] == TEXT:
            return tree.name[row][-1]
        if tree.kind[row] == HTML and tree.name[row] in _FIELDS:
            return _field_text(tree, row)[-1:] or " "
        is_passed = self._is_inline(row) and not tree.is_html(row, "q")
        return "" if is_passed or tree.is_html(row, "wbr") else " "


_FIELDS = ("img", "input", "select", "textarea")
# What an input shows is a text of its own; in others something else stands after it.
_TYPED = ("text", "email", "url", "tel", "submit", "reset", "button", "file")
_CAPTIONS = {"submit": "Submit", "reset": "Reset", "file": "No file chosen"}


def _field_text(tree: Tree, row: int) -> str:
    tag = tree.name[row]
    if tag == "select":
        return _choice(tree, row)
    if tag == "img":
        is_asked = tree.has(row, "src") or tree.has(row, "srcset")
        return "" if is_asked else tree.attribute(row, "alt") or ""
    kind = form_values.input_type(tree, row) if tag == "input" else "text"
    if kind not in _TYPED:
        return ""
    return str(form_values.value(tree, row)) or ("" if tree.has(row, "value") else _CAPTIONS.get(kind, ""))


def _choice(tree: Tree, row: int) -> str:
    """Return what a select shows last: its choice, or where it is a list, its last line."""
    if is_menu(tree, row):
        choices = form_values.options(tree, row)
        index = form_values.selected_index(tree, row) or 0
        return _label(tree, choices[index]) if 0 <= index < len(choices) else ""
    lines = [node for node in tree.descendants(row) if tree.is_html(node, "option", "optgroup")]
    return _label(tree, lines[-1]) if lines else ""


def _label(tree: Tree, row: int) -> str:
    own = tree.attribute(row, "label") or ""
    return own or (form_values.option_text(tree, row) if tree.is_html(row, "option") else "")
