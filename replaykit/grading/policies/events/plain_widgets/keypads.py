"""Keypads that a page draws: each key adds a character to a text that the page shows.

Own module: it compares one text with itself; the other modules look for the name of what was clicked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.last_gesture import bare
from replaykit.grading.policies.events.plain_widgets.digit_boxes import WHOLE
from replaykit.grading.policies.events.plain_widgets.found_again import found_again
from replaykit.grading.policies.events.plain_widgets.page_change import PageChange, shown_texts
from replaykit.replay.dom import Node
from replaykit.trajectory.action import ActionBase, Element, Fill


def keyed_texts(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the entry of a text that now has the character by which the target is called at its end."""
    keys = {bare(name) for name in (element.text, element.name) if name and len(bare(name)) == 1}
    if not keys:
        return
    if _holds_scale(found_again(element.css, change)[0]):
        return  # the number on a slider is its value
    before, after = (shown_texts(page) for page in change)
    gone = {"", *(_stem(bare(text)) for text in before - after)}
    longer = (one for one in after - before if bare(one)[-1:] in keys and _stem(bare(one)[:-1]) in gone)
    # A line that holds the text has more words.
    text = min(longer, key=lambda one: (len(one), one), default=None)
    if text is not None:
        yield Fill(element=replace(element, css=None), value=text, value_after=text)


def _holds_scale(node: Node | None) -> bool:
    return node is not None and bool(node.select_all("[role=slider]"))


def with_whole_texts(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the events; what a keypad entered one character at a time knows the text that it became."""
    found, runs = tuple(events), dict[str | None, list[Event]]()
    for event in found:
        if event.kind == "maybe" and isinstance(event.action, Fill):
            run = runs.setdefault(event.element.css if event.element is not None else None, [])
            if run and _stem(_entered(event)[:-1]) != _stem(_entered(run[-1])):
                _close(run)
            run.append(event)
    for run in runs.values():
        _close(run)
    return found


def _close(run: list[Event]) -> None:
    """Tell the events of a run the text that the last of them completed, and empty it."""
    for part in run[:-1]:
        part.known[WHOLE] = _held(run[-1])
    run.clear()


def _stem(text: str) -> str:
    """Return letters and digits without the zeros that an amount begins with."""
    return text.lstrip("0")


def _entered(event: Event) -> str:
    return bare(_held(event))


def _held(event: Event) -> str:
    return getattr(event.action, "value_after", None) or ""
