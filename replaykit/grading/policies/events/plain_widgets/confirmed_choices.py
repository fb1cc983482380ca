"""Choices in controls that a page built, where the next look at the page confirms what was chosen.

The browser reports nothing of such a control. But a box says another state afterwards, and only then an
option is marked, or a field shows what it is called. That is a witness.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.aria_choices import (
    is_scale,
    option_names,
    own_choices,
    set_by_page,
    taken,
)
from replaykit.grading.policies.events.event import Event, is_moving
from replaykit.grading.policies.events.plain_widgets.found_again import found_again, same_again
from replaykit.grading.policies.events.plain_widgets.page_change import PageChange, shown_texts
from replaykit.grading.policies.events.plain_widgets.sliders import stepped_scales
from replaykit.grading.policies.events.shown_choices import new_texts_in
from replaykit.grading.policies.events.widgets_around import open_fields
from replaykit.grading.values.normal_form import fold
from replaykit.replay.dom import Node
from replaykit.replay.run_state import Page
from replaykit.trajectory.action import ActionBase, Check, Element, Fill, NodeRef, SelectOption, Uncheck

CONFIRMED = frozenset({"check", "uncheck", "select_option", "fill"})
"""Tags of actions that a page may confirm."""

_STATES: dict[tuple[str | None, str | None], type[Check | Uncheck]] = {
    ("false", "true"): Check,
    ("mixed", "true"): Check,
    ("true", "false"): Uncheck,
    ("mixed", "false"): Uncheck,
}
"""State of a box before and after to the action on it."""

_OPEN_MAX = 20
"""Elements with something open that may show what was chosen."""


def confirmed(event: Event) -> tuple[Event, ...]:
    """Return the event as each choice that it made; empty where no look at the page confirms one."""
    if "confirmed" not in event.known:
        event.known["confirmed"] = tuple(_confirmed(event))
    found: tuple[Event, ...] = event.known["confirmed"]
    return found


def _confirmed(event: Event) -> list[Event]:
    element, page = event.element, event.page
    if element is None or page is None or event.after is None or isinstance(event.dom, tuple):
        return []
    shown = [_as(event, action, page) for action, page in event.shows]
    try:
        change = PageChange(page, event.after)
        made = list(_choices(event, element, change)) if own_choices(event) else []
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return shown
    return [_as(event, action, page) for action in made] + shown


def _as(event: Event, action: ActionBase, page: Page | None) -> Event:
    """Return an event as what it chose, on the page that holds the control."""
    role = action.element.role if action.element is not None else None
    return replace(event, action=action, values=_values(action), role=role, page=page, shows=())


def with_all_shown(choice: Event) -> Event:
    """Return a choice with all texts that the page shows only after it, as a slider may stand for another."""
    if choice.page is None or choice.after is None:
        return choice
    texts = shown_texts(choice.after) - shown_texts(choice.page)
    rows = (row[-1] for row in choice.after.changed_without_event)
    return replace(choice, values=((*texts, *rows),))


def may_be_shown(choice: Event) -> bool:
    """Whether the page may show what was chosen in another way: a slider may stand for a place in a list.

    The number in a field is shown as it is, unless it is a part of what another field holds.
    """
    element = choice.element or Element()
    is_field = element.tag == "input" and element.type != "range" and element.role != "slider"
    rows = choice.after.changed_without_event if choice.after is not None else ()
    return isinstance(choice.action, Fill) and (not is_field or len(rows) > 1)


def _values(action: ActionBase) -> tuple[tuple[str, ...], ...]:
    """Return what was entered, with its other names."""
    match action:
        case SelectOption():
            return ((*action.values, *action.labels),)
        case Fill():
            return ((action.value, *_as_whole(action.value), *filter(None, (action.value_after,))),)
    return ()


def _as_whole(number: str) -> Iterator[str]:
    """Yield a number without its point, if nothing but zeros follows it."""
    whole, _, part = number.partition(".")
    if part and not part.strip("0"):
        yield whole


def _choices(event: Event, element: Element, change: PageChange) -> Iterator[ActionBase]:
    by_page = set_by_page(event)
    if by_page is not None:
        yield by_page
    elif is_scale(event):
        yield from _scale(element, change)
    elif is_moving(event.action) and element.role == "radio":
        yield from _radio_reached(element, change)
    else:
        yield from _box(element, change)
        yield from _option(event, element, change)


def _option(event: Event, element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the choice of the option that was taken, if the page shows one of its names only afterwards."""
    if taken(event) is None:
        return
    names = {fold(one.raw): one.raw for one in option_names(event)}
    names.pop("", None)
    shown = (text for text in _shown(element, change) if fold(text) in names) if names else iter(())
    yield from (
        SelectOption(element=element, values=(text,), labels=tuple(names.values()))
        for text in islice(shown, 1)
    )


def _box(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what became of the target, if it is a box or a radio button."""
    if any(page.lacks((b"aria-checked",)) for page in change):
        return
    before, after = found_again(element.css, change)
    if before is not None and after is not None and _is_same(before, after):
        done = _STATES.get((before.attribute("aria-checked"), after.attribute("aria-checked")))
        yield from () if done is None else (done(element=element),)


def _radio_reached(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the one radio button of a group that is set only after a key moved in the group."""
    before, after = (_radios(one) for one in found_again(element.css, change))
    pairs = list(zip(before, after, strict=True)) if len(before) == len(after) else []
    states = [tuple(one.attribute("aria-checked") for one in pair) for pair in pairs]
    at = change.before.snapshot_id
    if states.count(("false", "true")) == 1 and at is not None:
        node = before[states.index(("false", "true"))]
        place = NodeRef(snapshot=at, number=node.number)
        yield Check(element=Element(tag=node.tag, role="radio", node=place))


def _radios(target: Node | None) -> list[Node]:
    """Return the radio buttons of the group of one."""
    group = target.closest("[role=radiogroup]") if target is not None else None
    return group.select_all("[role=radio]")[:_OPEN_MAX] if group is not None else []


def _scale(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the value that the target has now, as a number and as a text, if it is a slider or a number.

    The track of a slider has the value of the only one beside it.
    """
    before, after = found_again(element.css, change)
    if before is None or after is None or before.attribute("role") != after.attribute("role"):
        return
    if before.attribute("aria-valuenow") is None:
        beside = list(stepped_scales(element, change))
        yield from beside if len(beside) == 1 else ()
    was, now = (one.attribute("aria-valuenow") for one in (before, after))
    if was is not None and now and was != now:
        yield Fill(element=element, value=now, value_after=after.attribute("aria-valuetext"))


def _is_same(before: Node, after: Node) -> bool:
    """Whether an element is still the one at its path: rows of a list may have moved.

    A tick may be a text in a box, so what is around the box is compared as well.
    """
    is_like = all(before.attribute(name) == after.attribute(name) for name in ("role", "id", "aria-label"))
    is_same = bool(before.attribute("id")) or fold(before.text_content) == fold(after.text_content)
    return is_like and (is_same or _text_around(before) == _text_around(after) != "")


def _text_around(box: Node) -> str:
    """Return the text beside a box."""
    whole = fold(box.parent.text_content) if box.parent is not None else ""
    return whole.replace(fold(box.text_content), "", 1).strip()


def _shown(element: Element, change: PageChange) -> Iterator[str]:
    """Yield what fields, the option itself and open widgets show only afterwards."""
    for _, was, now in change.after.changed_without_event:
        if fold(was) != fold(now):
            yield now
    before, after = found_again(element.css, change)
    if before is not None and after is not None and _is_same(before, after):
        marks = (before.attribute("aria-selected"), after.attribute("aria-selected"))
        yield from (element.text or "", element.name or "") if marks == ("false", "true") else ()
    dom = change.before.dom
    for field in open_fields(dom)[:_OPEN_MAX] if dom is not None else ():
        yield from new_texts_in(field, same_again(field, change))
