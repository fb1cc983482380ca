"""Actions that a change of a field may stand for, where no event of a page reports one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from replaykit.errors import ReplaykitError, Unsupported
from replaykit.grading.policies.events.last_gesture import added, bare, field_at
from replaykit.replay.dom import Node
from replaykit.replay.run_state import Page
from replaykit.trajectory import action as actions
from replaykit.trajectory.action import ActionBase, Element, NodeRef
from replaykit.trajectory.redaction_marks import MASKED

_FILE = "C:\\fakepath\\"
"""How the value of a file field begins."""

_FIELDS = "input, textarea, [contenteditable]"
_FIELDS_MAX = 500
_UNTYPED = frozenset({"checkbox", "radio", "submit", "button", "reset", "image"})

FieldChange = tuple[str, str, str]
"""Path of a field, its text before and after."""


def entries(rows: Iterable[FieldChange], page: Page | None) -> Iterator[ActionBase]:
    """Yield what an agent that made these changes would have done."""
    dom = page.dom if page is not None else None
    for path, before, after in rows:
        field = field_at(dom, path)
        if after and bare(before) != bare(after) and not _is_mask(field, after):
            yield from _entry(path, before, after, field, page)


def of_option(row: FieldChange, page: Page | None) -> Iterator[ActionBase]:
    """Yield the choice of the option of a list that a box is a part of."""
    field = field_at(page.dom, row[0]) if page is not None and row[2] == "true" else None
    option = field.closest("[role=option]") if field is not None else None
    if option is not None:
        labels = tuple(filter(None, [option.attribute("aria-label")]))
        text = option.text_content.strip()
        yield actions.SelectOption(element=Element(css=row[0]), values=(text,), labels=labels)


def filled(row: FieldChange) -> ActionBase:
    """Return the entry of all that a field holds now."""
    path, before, after = row
    return actions.Fill(element=Element(css=path, tag="input", value=before), value=after, value_after=after)


def is_set(action: ActionBase) -> bool:
    """Whether a box or a slider has another state: those have no text that a page could complete."""
    element = action.element or Element()
    return isinstance(action, actions.Check | actions.Uncheck) or element.type == "range"


def is_unseen(action: ActionBase) -> bool:
    """Whether pages write into the field by themselves: one that they hide, and an editor."""
    element = action.element or Element()
    return element.type == "hidden" or element.tag not in (None, "input", "select", "textarea")


def _entry(path: str, before: str, after: str, field: Node | None, page: Page | None) -> Iterator[ActionBase]:
    """Yield the action that sets a field; of one that is not there any more, all that may have."""
    tag = field.tag if field is not None else None
    kind = field.attribute("type") if field is not None else None
    element = Element(css=path, tag=tag, type=kind, value=before, node=_place(field, page))
    if tag == "select" or field is None:
        yield actions.SelectOption(element=element, values=(after,), labels=_labels(field, after))
    if after.startswith(_FILE):
        yield actions.UploadFile(element=element, files=(actions.FileInfo(name=after.removeprefix(_FILE)),))
    elif after in ("true", "false") and tag != "textarea":
        yield actions.Check(element=element) if after == "true" else actions.Uncheck(element=element)
    elif tag != "select":
        yield actions.Fill(element=element, value=added(before, after), value_after=after)


def _is_mask(field: Node | None, text: str) -> bool:
    """Whether a field only shows how to write in it, as it does before (`yyyy-MM-dd`)."""
    return field is not None and field.attribute("placeholder") == text


def _place(field: Node | None, page: Page | None) -> NodeRef | None:
    """Return where a field is in its page: by a path through shadow trees no names are found."""
    snapshot = page.snapshot_id if page is not None else None
    return NodeRef(snapshot=snapshot, number=field.number) if field is not None and snapshot else None


def _labels(field: Node | None, value: str) -> tuple[str, ...]:
    if field is None:
        return ()
    options = (one for one in field.dom.select_all("option") if one.attribute("value") == value)
    return tuple(dict.fromkeys(one.text_content.strip() for one in options))[:1]


def fields_of(page: Page | None) -> list[Node]:
    """Return the fields of a page that take a text."""
    dom = page.dom if page is not None else None
    try:
        return dom.pierce_all(_FIELDS) if dom is not None else []
    except ReplaykitError:
        return []


def texts_of(fields: list[Node]) -> Iterator[tuple[Node, str]]:
    """Yield those of the first fields that hold a text."""
    for node in fields[:_FIELDS_MAX]:
        text = _text(node)
        if isinstance(text, str) and text and not _is_untyped(node):
            yield node, text


def _text(node: Node) -> object:
    if node.tag not in ("input", "textarea"):
        return node.text_content
    try:
        return node.value
    except Unsupported:  # which secret it holds is not recorded
        return MASKED


def insertions(fields: list[Node], known: AbstractSet[str]) -> Iterator[ActionBase]:
    """Yield what an agent would have entered into fields with a new text; of too many, an unknown one."""
    for node, text in texts_of(fields):
        if text not in known:
            element = Element(tag=node.tag, type=node.attribute("type"), value="")
            yield actions.Fill(element=element, value=text, value_after=text)
    if len(fields) > _FIELDS_MAX:
        yield actions.Fill(value=MASKED)


def _is_untyped(node: Node) -> bool:
    return node.tag == "input" and (node.attribute("type") or "").lower() in _UNTYPED
