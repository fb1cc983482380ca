"""Pseudo-classes that a recorded page can answer, as predicates over (tree, row)."""

from __future__ import annotations

from collections.abc import Callable

from replaykit.replay import form_values
from replaykit.replay.dom_tree import Tree
from replaykit.snapshot.snapshot_format import COMMENT, DOCUMENT, INSTRUCTION, SVG, TEXT

Predicate = Callable[[Tree, int], bool]


def position(tree: Tree, row: int, backwards: bool, of: Predicate) -> int:
    """Return the 1-based place of an element among those of its siblings that `of` accepts."""
    step = tree.after if backwards else tree.before
    place, row = 1, step[row]
    while row >= 0:
        place += of(tree, row)
        row = step[row]
    return place


def _root(tree: Tree, row: int) -> bool:
    return tree.kind[tree.parent[row]] == DOCUMENT and tree.up[row] < 0


def _empty(tree: Tree, row: int) -> bool:
    return not any(
        tree.kind[child] not in (COMMENT, INSTRUCTION)
        and not (tree.kind[child] == TEXT and not tree.name[child])
        for child in tree.children(row)
    )


def _first(tree: Tree, row: int) -> bool:
    return tree.before[row] < 0


def _last(tree: Tree, row: int) -> bool:
    return tree.after[row] < 0


def _first_of_type(tree: Tree, row: int) -> bool:
    return tree.ordinal(row, backwards=False, of_type=True) == 1


def _last_of_type(tree: Tree, row: int) -> bool:
    return tree.ordinal(row, backwards=True, of_type=True) == 1


def _checked(tree: Tree, row: int) -> bool:
    if tree.is_html(row, "option"):
        return bool(form_values.selected(tree, row))
    return form_values.input_type(tree, row) in ("checkbox", "radio") and bool(form_values.checked(tree, row))


def _indeterminate(tree: Tree, row: int) -> bool:
    if tree.is_html(row, "progress"):
        return not tree.has(row, "value")
    if not tree.is_html(row, "input"):
        return False
    kind = form_values.input_type(tree, row)
    if kind == "checkbox":
        return tree.state(row).indeterminate
    return kind == "radio" and not tree.memo(_checked_groups).get(_group(tree, row), False)


Group = tuple[object, ...]


def _checked_groups(tree: Tree) -> dict[Group, bool]:
    """Whether a radio button is checked, per group."""
    groups: dict[Group, bool] = {}
    for row in tree.by_tag.get("input", []):
        if form_values.input_type(tree, row) == "radio" and tree.is_html(row):
            group = _group(tree, row)
            groups[group] = groups.get(group, False) or bool(form_values.checked(tree, row))
    return groups


def _group(tree: Tree, row: int) -> Group:
    """Return what radio buttons of one group share; without a name each is its own."""
    name = tree.attribute(row, "name")
    return (tree.scope[row], _form(tree, row), name) if name else (row,)


def _form(tree: Tree, row: int) -> int:
    owner = tree.attribute(row, "form")
    if owner is None:
        return tree.memo(_forms_around)[row]
    found = (other for other in tree.by_id.get(owner, []) if tree.scope[other] == tree.scope[row])
    return next((other for other in found if tree.is_html(other, "form")), -1)


def _forms_around(tree: Tree) -> list[int]:
    """Per row: the form around it (or the form itself), -1 without one."""
    forms = [-1] * len(tree.kind)
    for row in tree.snapshot.nodes:
        above = tree.up[row]
        forms[row] = row if tree.is_html(row, "form") else forms[above] if above >= 0 else -1
    return forms


_DISABLEABLE = ("button", "input", "select", "textarea", "optgroup", "option", "fieldset")


def _is_disableable(tree: Tree, row: int) -> bool:
    return tree.is_html(row, *_DISABLEABLE) or tree.state(row).control


def disabled(tree: Tree, row: int) -> bool:
    """Whether a control is disabled, by its attribute, its group or a fieldset around it."""
    if not _is_disableable(tree, row):
        return False
    if tree.has(row, "disabled"):
        return True
    if tree.is_html(row, "option", "optgroup"):
        return _disabled_above(tree, row)
    return tree.memo(_disabled_inside)[row]


def _disabled_above(tree: Tree, row: int) -> bool:
    """Whether a group around an option is disabled, or the select that it belongs to."""
    for above in tree.ancestors(row):
        if tree.is_html(above, "select"):
            return disabled(tree, above)
        if tree.is_html(above, "option"):
            return False
        if tree.is_html(above, "optgroup") and tree.is_html(row, "option") and tree.has(above, "disabled"):
            return True
    return False


def _disabled_inside(tree: Tree) -> list[bool]:
    """Per row: whether a disabled fieldset is around it, other than by its first legend."""
    inside = [False] * len(tree.kind)
    legends: dict[int, int] = {}
    for row in tree.snapshot.nodes:
        above = tree.up[row]
        if above < 0:
            continue
        if tree.is_html(row, "legend"):
            legends.setdefault(above, row)
        shut = tree.is_html(above, "fieldset") and tree.has(above, "disabled") and legends.get(above) != row
        inside[row] = inside[above] or shut
    return inside


def _enabled(tree: Tree, row: int) -> bool:
    return _is_disableable(tree, row) and not disabled(tree, row)


def _link(tree: Tree, row: int) -> bool:
    if tree.kind[row] == SVG:
        return tree.name[row] == "a" and (tree.has(row, "href") or tree.has(row, "xlink:href"))
    return tree.is_html(row, "a", "area") and tree.has(row, "href")


def _required(tree: Tree, row: int) -> bool:
    return _may_be_required(tree, row) and tree.has(row, "required")


def _optional(tree: Tree, row: int) -> bool:
    return tree.is_html(row, "button", "input", "select", "textarea") and not _required(tree, row)


_NEVER_REQUIRED = ("hidden", "range", "color", "submit", "image", "reset", "button")


def _may_be_required(tree: Tree, row: int) -> bool:
    if tree.is_html(row, "input"):
        return form_values.input_type(tree, row) not in _NEVER_REQUIRED
    return tree.is_html(row, "select", "textarea")


_PLACEHOLDERS = ("text", "search", "url", "tel", "email", "password", "number")


def _placeholder_shown(tree: Tree, row: int) -> bool:
    if tree.is_html(row, "input") and form_values.input_type(tree, row) not in _PLACEHOLDERS:
        return False
    shown = tree.is_html(row, "input", "textarea") and tree.has(row, "placeholder")
    return shown and form_values.value(tree, row) == ""


def _modal(tree: Tree, row: int) -> bool:
    return tree.state(row).modal


def _popover_open(tree: Tree, row: int) -> bool:
    return tree.state(row).popover


def _never(tree: Tree, row: int) -> bool:
    return False


# `:visited` never matches: browsers hide history from selectors.
PREDICATES: dict[str, Predicate] = {
    "root": _root,
    "empty": _empty,
    "first-child": _first,
    "last-child": _last,
    "only-child": lambda tree, row: _first(tree, row) and _last(tree, row),
    "first-of-type": _first_of_type,
    "last-of-type": _last_of_type,
    "only-of-type": lambda tree, row: _first_of_type(tree, row) and _last_of_type(tree, row),
    "checked": _checked,
    "indeterminate": _indeterminate,
    "disabled": disabled,
    "enabled": _enabled,
    "link": _link,
    "any-link": _link,
    "-webkit-any-link": _link,
    "visited": _never,
    "required": _required,
    "optional": _optional,
    "placeholder-shown": _placeholder_shown,
    "modal": _modal,
    "popover-open": _popover_open,
}
