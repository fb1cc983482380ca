"""Presets of a field: entries that come as it is used, and give it a value that they do not name (`Today`).

Own module: it asks what a tab showed before earlier gestures, which no other widget needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.field_changes import FieldChange
from replaykit.grading.policies.events.last_gesture import field_at, same_place, typed_by
from replaykit.grading.policies.events.plain_widgets.entries_that_lead_on import Looks, last_look
from replaykit.grading.policies.events.plain_widgets.page_change import shown_texts
from replaykit.grading.policies.events.widgets_around import is_beside, is_step_button
from replaykit.replay.run_state import Page
from replaykit.trajectory.action import Element
from replaykit.trajectory.step import Step

_FIELDS_MAX = 8
"""Fields that one preset sets: those of two dates, and unseen ones with their values. A form has more."""

_STEPS_MAX = 20
"""Gestures before the last one of which one may have opened what holds a preset."""


def set_by_presets(
    rows: Sequence[FieldChange], steps: Sequence[Step], looks: Looks, page: Page | None
) -> set[str]:
    """Return the paths of fields that the target of the last gesture came for."""
    paths = [row[0] for row in rows] if len(rows) <= _FIELDS_MAX else []
    return {path for path in paths if _is_preset(path, steps, looks, page)}


def _is_preset(path: str, steps: Sequence[Step], looks: Looks, page: Page | None) -> bool:
    """Whether the target of the last gesture came only as a field was used, and nothing was typed since.

    A page may write a typed text in its own way when a button takes it.
    """
    target = steps[-1].action.element or Element()
    earlier = steps[-1 - _STEPS_MAX : -1]
    opening = next((at for at, step in _backwards(earlier) if _is_of(path, step, page)), None)
    if opening is None or any(typed_by(step.action) for step in earlier[opening:]):
        return False
    shown = last_look(looks, steps[-1].t or 0)
    return came(target, last_look(looks, earlier[opening].t or 0), shown)


def _backwards(steps: Sequence[Step]) -> Iterable[tuple[int, Step]]:
    return reversed(list(enumerate(steps)))


def _is_of(path: str, step: Step, page: Page | None) -> bool:
    """Whether a gesture was on a field, on a part of its widget, or on one of the few buttons beside it."""
    css = step.action.element.css if step.action.element is not None else None
    if page is None or same_place(css) == same_place(path):
        return same_place(css) == same_place(path)
    field, part = field_at(page.dom, path), field_at(page.dom, css)
    try:
        return is_beside(field, part) or is_step_button(field, part, is_sign=True)
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return False


def came(entry: Element, earlier: Page | None, page: Page | None) -> bool:
    """Whether a page shows what an entry is called more often than it did earlier."""
    if earlier is None or page is None:
        return False
    try:
        before, now = shown_texts(earlier), shown_texts(page)
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return False
    return any(now[text] > before[text] for text in (entry.text, entry.name) if text)
