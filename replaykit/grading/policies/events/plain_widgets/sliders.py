"""Sliders and pads without a role: a part without a text that a key, a drag or a click moves on its track.

Own module: it compares positions; the other modules compare texts.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from replaykit.grading.policies.events.event import MOVING, types_text
from replaykit.grading.policies.events.last_gesture import bare, field_at
from replaykit.grading.policies.events.plain_widgets.page_change import PageChange
from replaykit.replay.dom import Node
from replaykit.trajectory.action import ActionBase, DragAndDrop, Element, Fill, Press
from replaykit.trajectory.redaction_marks import MASKED

_UNROLED = (None, "generic", "link", "none", "presentation")
"""Roles of parts that may be the handle of a slider."""

_DRAWN = "img, svg, canvas, video"

PARTS_MAX = 20
"""Children of a track that are looked at."""


def moved_sliders(action: ActionBase, element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield the entry of an unknown value where a gesture moved the handle of a slider."""
    if element.role not in _UNROLED or types_text(element) or not _may_move(action):
        return
    before, after = (field_at(one.dom, element.css) for one in change)
    if before is None or after is None:
        return
    is_own = isinstance(action, Press | DragAndDrop)
    parts = [(before, after)] if is_own else zip(_handles(before), _handles(after), strict=False)
    if any(_is_slid(*part) for part in parts):
        yield Fill(element=replace(element, role="slider"), value=MASKED)


def _may_move(action: ActionBase) -> bool:
    return action.key.rpartition("+")[2] in MOVING if isinstance(action, Press) else True


def _handles(track: Node) -> list[Node]:
    """Return the parts of a track that take the focus."""
    return [one for one in track.children[:PARTS_MAX] if one.attribute("tabindex") is not None]


def _is_slid(before: Node, after: Node) -> bool:
    """Whether a part without a text was moved in its track: along one axis, or on a pad along both."""
    if bare(before.text_content).strip("0123456789") or before.select_all(_DRAWN):
        return False
    here, there = _place(before), _place(after)
    is_moved = here is not None and there is not None and here != there
    return is_moved and _is_inside(after)


def _is_inside(part: Node) -> bool:
    """Whether the middle of a part is inside of the element around it."""
    around = part.parent
    box, outer = part.box, around.box if around is not None else None
    if box is None or outer is None:
        return False
    middle = (box[0] + box[2] / 2, box[1] + box[3] / 2)
    return all(outer[at] <= middle[at] <= outer[at] + outer[at + 2] for at in (0, 1))


def _place(part: Node) -> tuple[int, int] | None:
    """Return where a part begins in the element around it, px."""
    around = part.parent
    box, outer = part.box, around.box if around is not None else None
    return None if box is None or outer is None else (box[0] - outer[0], box[1] - outer[1])
