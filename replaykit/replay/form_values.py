"""Live values of form controls: what `value`, `checked`, `selectedIndex` gave when the page was recorded.

A snapshot keeps only what differs from the attributes; these functions put both together by the rules of
HTML. Every function takes a tree and the row of an element and returns None where the element has no such
property.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from replaykit.patterns import lazy_pattern
from replaykit.replay.dom_tree import SPACES, Tree, words
from replaykit.snapshot.snapshot_format import DOCUMENT, SHADOW, TEXT

_CHECKABLE = frozenset({"checkbox", "radio"})
_INPUT_TYPES = words(
    "hidden text search tel url email password date month week time datetime-local number range color "
    "checkbox radio file submit image reset button"
)

Value = str | int | float | None


def input_type(tree: Tree, row: int) -> str:
    """Return the type of an input as the DOM gives it: unknown ones are text."""
    kind = (tree.attribute(row, "type") or "").lower()
    return kind if kind in _INPUT_TYPES else "text"


def value(tree: Tree, row: int) -> Value:
    """Return the `value` property: text for controls, a number for `li`, `progress` and `meter`."""
    reader = _VALUES.get(tree.name[row]) if tree.is_html(row) else None
    return reader(tree, row) if reader else None


def checked(tree: Tree, row: int) -> bool | None:
    """Return the `checked` property of an input."""
    if not tree.is_html(row, "input"):
        return None
    live = tree.state(row).checked
    return tree.has(row, "checked") if live is None else live


def selected_index(tree: Tree, row: int) -> int | None:
    """Return the `selectedIndex` property of a select; -1 where nothing is selected."""
    if not tree.is_html(row, "select"):
        return None
    return (tree.state(row).selected or [-1])[0]


def selected(tree: Tree, row: int) -> bool | None:
    """Return the `selected` property of an option."""
    if not tree.is_html(row, "option"):
        return None
    owner = owner_select(tree, row)
    if owner < 0:
        live = tree.state(row).selected
        return tree.has(row, "selected") if live is None else bool(live)
    place = bisect_left(options(tree, owner), row)
    return place in (tree.state(owner).selected or ()) and options(tree, owner)[place] == row


def is_menu(tree: Tree, row: int) -> bool:
    """Whether the row is a drop-down select, whose options have no boxes on the page."""
    if not tree.is_html(row, "select"):
        return False
    size = integer(tree.attribute(row, "size") or "")
    return size == 1 if tree.has(row, "multiple") else size <= 1


def owner_select(tree: Tree, row: int) -> int:
    """Return the row of the select that an option or option group belongs to, -1 without one."""
    for above in tree.ancestors(row):
        if tree.is_html(above, "select"):
            return above
        if tree.is_html(above, "datalist", "option", "hr"):
            return -1
    return -1


def options(tree: Tree, row: int) -> list[int]:
    """Return the options of a select in order."""
    known = tree.memo(_known_options)
    if row not in known:
        known[row] = _find_options(tree, row)
    return known[row]


def _known_options(tree: Tree) -> dict[int, list[int]]:
    """Options per select, filled as selects are asked for."""
    return {}


def _find_options(tree: Tree, row: int) -> list[int]:
    found = []
    node, last = row + 1, tree.end[row]
    while node < last:
        if tree.is_html(node, "option"):
            found.append(node)
        # Neither an option nor another select or list lends its options to this one.
        skip = not tree.is_element(node) or tree.is_html(node, "option", "select", "datalist", "hr")
        node = tree.end[node] if skip else node + 1
    return found


def option_text(tree: Tree, row: int) -> str:
    """Return the `text` property of an option: its text without scripts, blanks collapsed."""
    texts = []
    node, last = row + 1, tree.end[row]
    while node < last:
        if tree.kind[node] == TEXT:
            texts.append(tree.name[node])
        skip = tree.is_html(node, "script", "template") or tree.kind[node] in (SHADOW, DOCUMENT)
        node = tree.end[node] if skip else node + 1
    return collapse("".join(texts))


def collapse(text: str) -> str:
    """Strip and collapse ASCII white space."""
    return _BLANKS.sub(" ", text).strip(" ")


_BLANKS = lazy_pattern(f"[{SPACES}]+")


def _input(tree: Tree, row: int) -> Value:
    kind, state = input_type(tree, row), tree.state(row)
    if kind == "file":
        # Browsers show this path in place of the real one (HTML standard).
        return f"C:\\fakepath\\{state.files[0][0]}" if state.files else ""
    if state.value is not None:
        return state.value
    default = "on" if kind in _CHECKABLE else ""
    found = tree.attribute(row, "value")
    return default if found is None else found


def _textarea(tree: Tree, row: int) -> Value:
    live = tree.state(row).value
    if live is not None:
        return live
    texts = [tree.name[node] for node in tree.children(row) if tree.kind[node] == TEXT]
    # The value of a textarea has line feeds only, whatever its source has.
    return "".join(texts).replace("\r\n", "\n").replace("\r", "\n")


def _select(tree: Tree, row: int) -> Value:
    index, rows = selected_index(tree, row), options(tree, row)
    return _option(tree, rows[index]) if index is not None and 0 <= index < len(rows) else ""


def _option(tree: Tree, row: int) -> Value:
    found = tree.attribute(row, "value")
    return option_text(tree, row) if found is None else found


def _attribute(tree: Tree, row: int) -> Value:
    return tree.attribute(row, "value") or ""


def _output(tree: Tree, row: int) -> Value:
    return tree.text_content(row)


def _li(tree: Tree, row: int) -> Value:
    return integer(tree.attribute(row, "value") or "")


def _progress(tree: Tree, row: int) -> Value:
    most = _number(tree, row, "max", 1.0)
    most = most if most > 0 else 1.0
    return _plain(min(max(_number(tree, row, "value", 0.0), 0.0), most))


def _meter(tree: Tree, row: int) -> Value:
    least = _number(tree, row, "min", 0.0)
    most = max(_number(tree, row, "max", 1.0), least)
    return _plain(min(max(_number(tree, row, "value", 0.0), least), most))


def integer(text: str) -> int:
    """Read an integer by the rules of HTML 2.3.4.1; 0 if absent or it does not fit 32 bits."""
    match = re.match(f"[{SPACES}]*([+-]?[0-9]{{1,10}})(?![0-9])", text)
    number = int(match[1]) if match else 0
    return number if -(2**31) <= number < 2**31 else 0


def _number(tree: Tree, row: int, name: str, default: float) -> float:
    match = _FLOAT.match(tree.attribute(row, name) or "")
    number = float(match[1]) if match else default
    return number if abs(number) <= _FLOAT_MAX else default


# Digits are bounded so that a hostile attribute costs nothing; no page states more than a double holds.
_FLOAT = lazy_pattern(
    f"[{SPACES}]*([+-]?(?:[0-9]{{1,400}}(?:\\.[0-9]{{1,400}})?|\\.[0-9]{{1,400}})(?:[eE][+-]?[0-9]{{1,4}})?)"
)
_FLOAT_MAX = 1.7976931348623157e308


def _plain(number: float) -> int | float:
    """Give whole numbers as integers: JavaScript has one number type and prints `3`, not `3.0`."""
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


_VALUES = {
    "input": _input,
    "textarea": _textarea,
    "select": _select,
    "option": _option,
    "button": _attribute,
    "data": _attribute,
    "param": _attribute,
    "output": _output,
    "li": _li,
    "progress": _progress,
    "meter": _meter,
}
