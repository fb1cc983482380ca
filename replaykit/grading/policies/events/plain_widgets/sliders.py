"""Sliders and pads without a role: a part without a text that a key, a drag or a click moves on its track.

Own module: it compares positions; the other modules compare texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from replaykit.grading.policies.events.event import MOVING, types_text
from replaykit.grading.policies.events.last_gesture import bare
from replaykit.grading.policies.events.plain_widgets.found_again import found_again
from replaykit.grading.policies.events.plain_widgets.page_change import (
    ROWS_MAX,
    PageChange,
    around,
    size_of,
)
from replaykit.grading.policies.events.widgets_around import LEVELS_MAX, PAGES
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Node
from replaykit.trajectory.action import ActionBase, DragAndDrop, Element, Fill, Press
from replaykit.trajectory.redaction_marks import MASKED

_UNROLED = (None, "generic", "link", "listbox", "none", "presentation")
"""Roles of parts that may be the handle of a slider, or its track."""

_POSITION = lazy_pattern(r"(?:left|right|top|bottom|transform|translate|inset[\w-]*)\s*:[^;]*")
"""The place of a part, as a style gives it."""

_Part = tuple[Node, Node]
"""A part of a track before and after."""

_DRAWN = "img, svg, canvas, video"
_SCALES = ("scrollbar", "slider", "spinbutton")
NUMBERS = "[role=spinbutton][aria-valuenow]"
_SCALED = "[role=slider][aria-valuenow], [role=spinbutton][aria-valuenow]"

PARTS_MAX = 20
"""Parts of a track that are looked at."""


def moved_sliders(action: ActionBase, element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the entry of an unknown value where a gesture moved the handle of a slider."""
    if element.role not in _UNROLED or types_text(element) or not _may_move(action):
        return
    before, after = found_again(element.css, change)
    if before is None or after is None:
        return
    is_own = isinstance(action, Press | DragAndDrop) and _is_slid(before, after)
    if is_own or any(_is_slid(*part) for part in _handles(before, after)) or _is_pad(before, after):
        yield Fill(element=replace(element, role="slider"), value=MASKED)


def stepped_scales(element: Element, change: PageChange, css: str = _SCALED) -> Iterator[ActionBase]:
    """Yield the value that a scale has now, and did not have before: buttons in it or beside it step it."""
    if change.before.lacks((b"aria-valuenow",)) or element.role == "slider":
        return
    was, now = (_values(one, css) for one in found_again(element.css, change))
    if len(was) == len(now):
        for value in (value for before, value in zip(was, now, strict=True) if before != value):
            yield Fill(element=replace(element, role="slider"), value=value, value_after=value)


def _values(part: Node | None, css: str) -> list[str]:
    """Return the values of the scales in the smallest element around a part that holds any."""
    if part is not None and part.attribute("role") == "spinbutton":
        return [part.attribute("aria-valuenow") or ""]
    for one in around(part, LEVELS_MAX) if part is not None else ():
        if one.tag in PAGES or size_of(one) > ROWS_MAX:
            return []
        if found := one.select_all(css):
            return [scale.attribute("aria-valuenow") or "" for scale in found]
    return []


def _may_move(action: ActionBase) -> bool:
    return action.key.rpartition("+")[2] in MOVING if isinstance(action, Press) else True


def _handles(before: Node, after: Node) -> Iterator[_Part]:
    """Yield the parts of a track that take the focus."""
    for part in zip(before.children[:PARTS_MAX], after.children[:PARTS_MAX], strict=False):
        if part[0].attribute("tabindex") is not None and part[1].attribute("tabindex") is not None:
            yield part


def _is_pad(before: Node, after: Node) -> bool:
    """Whether a part in an element without a text, or beside it, is elsewhere on it by its own style."""
    if bare(before.text_content) or bare(after.text_content):
        return False
    parts = zip(_parts_on(before), _parts_on(after), strict=False)
    return any(_is_restyled(*part) and _is_slid(*part) and _is_on(part[1], after) for part in parts)


def _parts_on(pad: Node) -> list[Node]:
    """Return the parts in an element, and those beside it."""
    beside = pad.parent.children if pad.parent is not None else []
    return [*islice(pad.descendants(), PARTS_MAX), *beside[:PARTS_MAX]]


def _is_restyled(before: Node, after: Node) -> bool:
    """Whether an attribute of an element gives it another place."""
    was, now = (_POSITION.findall(one.attribute("style") or "") for one in (before, after))
    return before.tag == after.tag and was != now and bool(now)


def _is_slid(before: Node, after: Node) -> bool:
    """Whether a part without a text was moved in its track: along one axis, or on a pad along both."""
    is_text = before.tag in ("input", "select", "textarea") or bare(before.text_content).strip("0123456789")
    if is_text or before.select_all(_DRAWN):
        return False
    here, there = _place(before), _place(after)
    is_moved = here is not None and there is not None and here != there
    return is_moved and after.parent is not None and _is_on(after, after.parent)


def _is_on(part: Node, ground: Node) -> bool:
    """Whether the middle of a part is inside of an element."""
    box, outer = part.box, ground.box
    if box is None or outer is None:
        return False
    middle = (box[0] + box[2] / 2, box[1] + box[3] / 2)
    return all(outer[at] <= middle[at] <= outer[at] + outer[at + 2] for at in (0, 1))


def _place(part: Node) -> tuple[int, int] | None:
    """Return where a part begins in the element around it, px."""
    track = part.parent
    box, outer = part.box, track.box if track is not None else None
    return None if box is None or outer is None else (box[0] - outer[0], box[1] - outer[1])
