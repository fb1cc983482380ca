"""Options and boxes that a gesture marked all at once: a button or box for all of them, or a range.

Own module: it compares the options of a whole page; row_boxes looks at the box in one row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from replaykit.grading.policies.events.plain_widgets.found_again import found_again
from replaykit.grading.policies.events.plain_widgets.page_change import (
    ROWS_MAX,
    PageChange,
    around,
    size_of,
)
from replaykit.replay.dom import Dom, Node
from replaykit.trajectory.action import ActionBase, Check, Element, SelectOption, Uncheck

OPTIONS_MAX = 1000
"""Options that are compared; of more, none is looked at."""

_MANY = 2
"""Options that have the mark more than before: a mark that only moves is on one at a time."""


_LEVELS = 2
"""Elements around a box without a name that may hold a text for it."""

_OPTIONS = "[role=option]"
_BOXES = "[role=checkbox], [role=switch], [role=menuitemcheckbox]"
_BY_STATE: dict[str, type[Check | Uncheck]] = {"true": Check, "false": Uncheck}

_Marks: TypeAlias = dict[str, Counter[str]]
"""Names by the state of a mark."""


def marked_options(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the choice of each option that has the mark now, if several were there without it before."""
    yield from _set_boxes(change)
    if change.before.lacks((b"option",)) or change.after.lacks((b"aria-selected",)):
        return
    yield from option_around(element, change)
    before, after = (_marks(page.dom, _OPTIONS, "aria-selected") for page in change)
    taken = _gained(before, after, "true")
    if after["true"].total() - before["true"].total() >= _MANY and len(taken) >= _MANY:
        for text in taken:
            yield SelectOption(element=element, values=(text,))


def _set_boxes(change: PageChange) -> Iterator[ActionBase]:
    """Yield what became of each box that a page built, if several were set or unset."""
    if any(page.lacks((b"aria-checked",)) for page in change):
        return
    before, after = (_marks(page.dom, _BOXES, "aria-checked") for page in change)
    for state, action in _BY_STATE.items():
        taken = _gained(before, after, state)
        for text in taken if len(taken) >= _MANY else ():
            yield action(element=Element(role="checkbox", name=text, text=text))


def _gained(before: _Marks, after: _Marks, state: str) -> list[str]:
    """Return what is called so in a state that it was not in before, and was there."""
    known = Counter[str]()
    for other in before.values():
        known += other
    return [text for text in after[state] - before[state] if known[text] > before[state][text]]


def option_around(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the choice of the option that the target is a part of, a box for instance."""
    parts = found_again(element.css, change) if element.role != "option" else ()
    options = [part.closest("[role=option]") for part in parts if part is not None]
    was, now = options if len(options) == len(change) else (None, None)
    if was is not None and now is not None and _is_marked(now) and not _is_marked(was):
        yield SelectOption(element=element, values=(was.text_content.strip(),), labels=(element.name or "",))


def _marks(dom: Dom | None, css: str, mark: str) -> _Marks:
    """Return what the elements that a person sees are called, by the state of a mark."""
    found: _Marks = defaultdict(Counter)
    nodes = dom.pierce_all(css) if dom is not None else []
    for one in nodes if len(nodes) <= OPTIONS_MAX else []:
        name = one.text_content.strip() or one.attribute("aria-label") or _text_beside(one)
        if name and one.visible:
            found[one.attribute(mark) or "false"][name] += 1
    return found


def _text_beside(box: Node) -> str:
    """Return the text in the smallest element around a box without a name that has any."""
    texts = (one.text_content.strip() for one in around(box, _LEVELS) if size_of(one) <= ROWS_MAX)
    return next(filter(None, texts), "")


def _is_marked(option: Node) -> bool:
    return option.attribute("aria-selected") == "true"
