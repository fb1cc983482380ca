"""The last gesture before a field changed without an event: whether the field belongs to its target."""

from __future__ import annotations

from msgspec.structs import replace

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import PRESSED, is_printable
from replaykit.grading.policies.events.widgets_around import ENTRIES, is_beside
from replaykit.grading.values.normal_form import fold
from replaykit.replay.dom import Dom, Node
from replaykit.replay.run_state import Page
from replaykit.trajectory.action import ActionBase, Element, Press

_OPTIONS = (*PRESSED, "checkbox", "radio")
"""Roles of targets that may stand for a choice in a field elsewhere."""


class LastGesture:
    """A gesture, on the page that a later look found."""

    def __init__(self, action: ActionBase, page: Page | None) -> None:
        self.element = action.element or Element()
        #: Whether it is a key of a text, or one that leaves a field: a page may rewrite what was typed.
        self.is_typing = isinstance(action, Press) and (is_printable(action.key) or action.key == "Tab")
        self.dom = page.dom if page is not None else None
        is_part = self.element.role is None and self.element.tag not in ("body", "html")
        self.part = field_at(self.dom, self.element.css) if is_part else None

    @property
    def is_option(self) -> bool:
        """Whether it was on a control that is pressed."""
        return self.element.role in _OPTIONS

    def has(self, path: str) -> bool:
        """Whether a field is the target, or is inside of it, or beside it."""
        is_own = is_in(path, self.element.css)
        return is_own or (self.part is not None and is_beside(field_at(self.dom, path), self.part))

    def offers(self, text: str) -> bool:
        """Whether the target is called as a field is now, so that it was an option of the field."""
        name = fold("\n".join(one for one in (self.element.text, self.element.name) if one))
        is_entry = self.is_option or self.element.role in ENTRIES
        return is_entry and bool(name) and (name in fold(text) or fold(text) in name)

    def naming(self, action: ActionBase) -> ActionBase:
        """Return an action on a field with the names of the target: they are all that a person saw of it."""
        one, field = self.element, action.element or Element()
        return replace(action, element=replace(field, text=one.text, name=one.name, names=one.names))


def is_in(path: str, place: str | None) -> bool:
    """Whether a field is an element, or is inside of it."""
    return place is not None and (path == place or path.startswith((f"{place} > ", f"{place} >>> ")))


def field_at(dom: Dom | None, path: str | None) -> Node | None:
    """Return the one element at a path of the document; None where it is not there."""
    if dom is None or path is None or " >>> " in path:
        return None
    try:
        found = dom.select_all(path)
    except ReplaykitError:
        return None
    return found[0] if len(found) == 1 else None
