"""Texts that were typed in parts: key by key, or by several actions in one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from msgspec.structs import replace

from replaykit.grading.policies.events.event import (
    ENTER,
    Event,
    has_lines,
    is_printable,
    takes_no_letter,
)
from replaykit.grading.policies.events.plain_widgets.digit_boxes import WHOLE, with_codes
from replaykit.grading.policies.events.plain_widgets.keypads import with_whole_texts
from replaykit.trajectory import action as actions
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.text_changes import inserted

_ASIDE = (actions.ToolCall, actions.Wait, actions.Noop, actions.MouseMove, actions.Scroll, actions.KeyboardUp)
"""Actions that leave the focus where it is."""

_CELLS = ("cell", "gridcell")
"""Roles of targets in which a letter opens a field that begins with it."""

ENDS_AS = "ends as"
"""Key of what is known of a text that was taken back: what its field holds in its place."""

PARTS_MAX = 4000
"""Characters of a text that was typed in parts: it is searched again with each part."""


def joined(events: list[Event]) -> Iterator[Event]:
    """Yield the events with the whole of a text that was typed in parts on its last part."""
    found = with_whole_texts(with_codes(_join_parts(list(_join_presses(events)))))
    _learn_lines(found)
    _learn_parts(found)
    _learn_corrections(found)
    _learn_begun(found)
    yield from found


def _join_presses(events: list[Event]) -> Iterator[Event]:
    """Yield the events with the text of a run of single keys on its last key, or on a text typed behind it.

    An editor that puts the first key in the place of a selection itself reports no text for it (ProseMirror).
    """
    places = [place for place, event in enumerate(events) if event.kind == "action"]
    texts: dict[int, str] = {}
    for place, following in pairwise(places):
        first, second = events[place], events[following]
        if _key(first) and _key(second) and same_target(first, second):
            texts[following] = texts.get(place, _key(first)) + _key(second)
            texts[place] = ""
        elif _key(first) and _follows(texts.get(place, _key(first)), second) and same_target(first, second):
            texts[following] = texts.get(place, _key(first)) + _typed(second)
            texts[place] = ""
    for place, event in enumerate(events):
        text = texts.get(place)
        yield event if text is None else replace(event, values=((text,),) if text else ())


def _typed(event: Event) -> str:
    """Return the text of an action that types more than a key."""
    return event.action.value if isinstance(event.action, actions.Type) else ""


def _follows(keys: str, event: Event) -> bool:
    """Whether a text was typed behind the keys that a field holds already."""
    return bool(_typed(event)) and (event.held_before or "").rstrip("\n").endswith(keys)


def _join_parts(events: list[Event]) -> Iterator[Event]:
    """Yield the events; a text that was typed in parts is another reading of its last part.

    Only a text after which the field was not read: what it held says more.
    """
    last, whole = None, ""
    for event in events:
        part = _part(event)
        if part is None:
            last, whole = (last, whole) if is_aside(event) else (None, "")
            yield event
            continue
        whole = _typed_on(whole if last is not None and same_target(last, event) else "", part)
        last = event
        yield replace(event, values=((part, whole),)) if part and whole != part else event


def _typed_on(whole: str, part: str) -> str:
    """Return a text with a part typed behind it; an empty part is a key that erases its end."""
    return (whole + part)[-PARTS_MAX:] if part else whole[:-1]


def _part(event: Event) -> str | None:
    """Return the text of an action that types, empty of one that erases; None of any other event."""
    action = event.action if event.kind == "action" else None
    if isinstance(action, actions.KeyboardType | actions.Type):
        return action.value if action.value_after is None else None
    if not isinstance(action, actions.Press) or action.value_after is not None:
        return None
    typed = "".join(text for option in event.values for text in option)
    return typed or ("" if action.key == "Backspace" else None)


def is_aside(event: Event) -> bool:
    """Whether an event leaves the place where text goes, or is a key whose text a later key has."""
    return event.kind != "action" or isinstance(event.action, _ASIDE) or bool(_key(event))


def _learn_lines(events: Iterable[Event]) -> None:
    """Let each line that was typed into a field know the whole: Enter between two begins the next one."""
    lines: list[Event] = []
    for event in events:
        if lines and (_is_line_end(event) or is_aside(event)):
            continue
        is_line = has_lines(event.element) and any(text for option in event.values for text in option)
        if not is_line or (lines and not same_target(lines[-1], event)):
            _learn(lines)
            lines = []
        lines += [event] if is_line else []
    _learn(lines)


def _learn(lines: list[Event]) -> None:
    whole = "\n".join(line.values[0][-1] for line in lines)
    for line in lines if len(lines) > 1 else ():
        line.known[WHOLE] = whole


def _learn_parts(events: Iterable[Event]) -> None:
    """Let each text that goes on where the last one into the field ended know the whole."""
    parts: list[Event] = []
    for event in events:
        if parts and (is_aside(event) or _changes_nothing(parts[-1], event)):
            continue
        if parts and not _goes_on(parts[-1], event):
            _learn_whole(parts)
            parts = []
        parts += [event] if event.held and event.held_before is not None and any(event.values) else []
    _learn_whole(parts)


def _goes_on(last: Event, event: Event) -> bool:
    """Whether a text goes on where the last one ended: typing replaces what a page completed there."""
    if not event.held or not any(event.values) or not same_target(last, event):
        return False
    held = last.held[0].raw
    return held == event.held_before or event.held[0].raw in (held + text for text in event.values[0])


def _changes_nothing(last: Event, event: Event) -> bool:
    """Whether a key or a click leaves the text of the same field as it is, and sends nothing."""
    action = event.action
    is_key = isinstance(action, actions.Press) and action.key.rpartition("+")[2] not in ENTER
    return (is_key or isinstance(action, actions.Click)) and not event.held and same_target(last, event)


def _learn_whole(parts: list[Event]) -> None:
    whole = inserted(parts[0].held_before or "", parts[-1].held[0].raw) if len(parts) > 1 else ""
    for part in parts:
        if all(any(text and text in whole for text in option) for option in part.values):
            part.known.setdefault(WHOLE, whole)


def _learn_corrections(events: Iterable[Event]) -> None:
    """Let what was typed know what its field holds once keys have deleted and written there.

    Nothing was done elsewhere meanwhile, no key sent the field, and the page did not move on.
    """
    edits: list[Event] = []
    for event in events:
        if event.kind not in ("action", "visit") or (edits and _leaves(edits[-1], event)):
            continue
        if edits and not _is_edit_of(edits[-1], event):
            _learn_end(edits)
            edits = []
        edits += [event] if _is_typing(event) else []
    _learn_end(edits)


def _leaves(last: Event, event: Event) -> bool:
    """Whether an event leaves a field as it is: pages also write their own address to the history."""
    if event.kind == "visit":
        return event.url == last.url
    return isinstance(event.action, _ASIDE) or _changes_nothing(last, event)


def _is_typing(event: Event) -> bool:
    """Whether an event is an edit of a field of one line by keys."""
    is_key = isinstance(event.action, actions.Type | actions.Press)
    return is_key and bool(event.held) and event.element is not None and not has_lines(event.element)


def _is_edit_of(last: Event, event: Event) -> bool:
    return _is_typing(event) and same_target(last, event)


def _learn_end(edits: list[Event]) -> None:
    """Let each text of an edit know the final one: it is a part of that, or was taken back."""
    end = edits[-1].held[0].raw if len(edits) > 1 else ""
    whole = inserted(edits[0].held_before or "", end) if edits else ""
    for edit in (one for one in edits[:-1] if any(one.values) and one.held[0].raw != end):
        is_part = all(any(text and text in whole for text in option) for option in edit.values)
        edit.known.setdefault(WHOLE if is_part else ENDS_AS, whole)
    if len(edits) > 1 and edits[-1].values:
        edits[-1].known.setdefault(WHOLE, whole)


def _learn_begun(events: Iterable[Event]) -> None:
    """Let a text know the letter that a key on a cell put before it: the key opened the field."""
    for first, second in pairwise(event for event in events if event.kind == "action"):
        key = first.action.key if isinstance(first.action, actions.Press) else ""
        begun, held = second.held_before, [reading.raw for reading in second.held]
        is_cell = first.element is not None and first.element.role in _CELLS
        if (
            is_cell
            and begun
            and begun in (key, key == MASKED and begun[:1])
            and begun + _typed(second) in held
        ):
            for one in (first, second):
                one.known.setdefault(WHOLE, begun + _typed(second))


def _is_line_end(event: Event) -> bool:
    action = event.action
    is_enter = isinstance(action, actions.Press) and action.key.rpartition("+")[2] in ENTER
    return is_enter and has_lines(event.element)


def _key(event: Event) -> str:
    """Return the letter that a key wrote."""
    key = event.action.key if isinstance(event.action, actions.Press) else ""
    return key if is_printable(key) and not takes_no_letter(event.element) else ""


def same_target(first: Event, second: Event) -> bool:
    """Whether two actions have the same target, as far as the recording shows it."""
    one, other = first.element, second.element
    if one is None or other is None:
        return one is other
    if one.node is not None and other.node is not None:
        return one.node.number == other.node.number
    return (one.css, one.ref) == (other.css, other.ref)
