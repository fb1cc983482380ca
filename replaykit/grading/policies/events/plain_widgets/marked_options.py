"""Options that a gesture marked all at once: a button for all of them, or a range.

Own module: it compares the options of a whole page; row_boxes looks at the box in one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from replaykit.grading.policies.events.plain_widgets.found_again import found_again
from replaykit.grading.policies.events.plain_widgets.page_change import PageChange
from replaykit.replay.dom import Dom, Node
from replaykit.trajectory.action import ActionBase, Element, SelectOption

OPTIONS_MAX = 1000
"""Options that are compared; of more, none is looked at."""

_MANY = 2
"""Options that have the mark more than before: a mark that only moves is on one at a time."""


def marked_options(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the choice of each option that has the mark now, if several were there without it before."""
    if change.before.lacks((b"option",)) or change.after.lacks((b"aria-selected",)):
        return
    yield from _around(element, change)
    before, after = (_options(page.dom) for page in change)
    marked = after[True] - before[True]
    taken = [text for text in marked if before[False][text]]
    if after[True].total() - before[True].total() >= _MANY and len(taken) >= _MANY:
        for text in taken:
            yield SelectOption(element=element, values=(text,))


def _around(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the choice of the option that the target is a part of, a box for instance."""
    parts = found_again(element.css, change) if element.role != "option" else ()
    options = [part.closest("[role=option]") for part in parts if part is not None]
    was, now = options if len(options) == len(change) else (None, None)
    if was is not None and now is not None and _is_marked(now) and not _is_marked(was):
        yield SelectOption(element=element, values=(was.text_content.strip(),), labels=(element.name or "",))


def _options(dom: Dom | None) -> dict[bool, Counter[str]]:
    """Return what the options that a person sees are called, by whether they have the mark."""
    found: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    options = dom.pierce_all("[role=option]") if dom is not None else []
    for one in options if len(options) <= OPTIONS_MAX else []:
        name = one.text_content.strip() or one.attribute("aria-label") or ""
        if name and one.visible:
            found[_is_marked(one)][name] += 1
    return found


def _is_marked(option: Node) -> bool:
    return option.attribute("aria-selected") == "true"
