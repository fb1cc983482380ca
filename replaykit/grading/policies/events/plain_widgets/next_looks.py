"""The look at a page that follows an action before anything else happens: a witness of what it did.

Own module: the stream of events asks it for each action, and knows nothing of widgets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.last_gesture import field_at
from replaykit.grading.policies.events.plain_widgets.confirmed_choices import confirmed
from replaykit.grading.policies.events.possible_actions import PossibleAction, PossibleActions
from replaykit.grading.policies.events.widgets_around import PARTS
from replaykit.replay.run_state import Page
from replaykit.trajectory.action import ActionBase, Check, DragAndDrop, Element, Fill, SelectOption, Uncheck
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.step import Step, Trajectory

SHOWN_MAX = 20
"""Choices of one action that a look shows for certain; of a page that shows more, the others stay open."""

Shows: TypeAlias = tuple[tuple[ActionBase, Page | None], ...]
"""Choices that a look shows, each with the page that the control is on."""


class NextLooks:
    """The looks after the steps of one run."""

    def __init__(self, run: Trajectory, pages: Iterable[Page], possible: PossibleActions) -> None:
        self._steps = run.steps
        self._possible = possible
        self._after: dict[int | None, list[Page]] = {}
        #: Looks that are a witness, to the place of the action in the stream, and its tab.
        self._acted: dict[int, tuple[int, int | None]] = {}
        for page in pages:
            if page.role == "after":
                self._after.setdefault(page.step, []).append(page)

    def after(self, step: Step, acted: int) -> Page | None:
        """Return the first look after a step, if neither a step nor a script of the agent came before it.

        `acted` is the place of the action in the stream of events. A look at a drag that is under way shows
        what is only passed.
        """
        since = (step.end or 0) if isinstance(step.action, DragAndDrop) else 0
        page = next((one for one in self._after.get(step.index, ()) if (one.t or 0) >= since), None)
        if page is None or len(step.actions) > 1:
            return None
        following = self._steps[step.index + 1 : step.index + 2]
        is_next = all((page.t or 0) <= (one.t or 0) for one in following)
        if not is_next or self._possible.may_be_scripted(step, page):
            return None
        self._acted[page.place] = (acted, step.page)
        return page

    def acted(self, story: int, seen: Observation) -> int | None:
        """Return the place of the action that a look is a witness of."""
        acted, tab = self._acted.get(story, (None, None))
        return acted if tab == seen.page else None


def as_kept(action: ActionBase, before: Page | None, after: Page | None) -> ActionBase:
    """Return what became of a box, where its event says the opposite of the looks before and after it.

    A page may set a box at the click. Then the browser turns it, and the page sets it again.
    """
    element = action.element or Element()
    reported = isinstance(action, Check)
    if not isinstance(action, Check | Uncheck) or element.type != "checkbox" or element.frame:
        return action
    was, now = (_is_set(page, element.css) for page in (before, after))
    if (was, now) != (reported, not reported):
        return action
    kept = Uncheck if reported else Check
    return kept(**{name: getattr(action, name) for name in action.__struct_fields__})


def _is_set(page: Page | None, css: str | None) -> bool | None:
    field = field_at(page.dom, css) if page is not None else None
    try:
        return field.checked if field is not None else None
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return None


def parted(found: Iterable[PossibleAction], acted: Event) -> tuple[list[PossibleAction], Shows]:
    """Return what stays open after the look that follows an action, and what that look shows for certain."""
    listed = list(found)
    shown = [one for one in listed if one.is_shown][:SHOWN_MAX]
    shows = tuple((one.action, one.page) for one in shown)
    made = [*(action for action, _ in shows), *(one.action for one in confirmed(acted))]
    open_ = (one for one in listed if one not in shown and not _is_masked(one.action, made))
    open_ = (one for one in open_ if not _is_mark(one.action, acted, made))
    left = (
        one._replace(is_chosen=False, is_by_value=True) if _is_known(one.action, made) else one
        for one in open_
    )
    return list(left), shows


def _is_mark(possible: ActionBase, acted: Event, made: Sequence[ActionBase | None]) -> bool:
    """Whether a day, or a button of a number, only has the mark of what was used: a look shows its value."""
    element, place = acted.element, possible.element
    if element is None or place is None or not isinstance(possible, Check | Uncheck):
        return False
    is_value = any(isinstance(one, Fill) for one in made) and element.role in (*PARTS, "button")
    is_day = any(isinstance(one, SelectOption) for one in made) and (element.text or "").strip().isdigit()
    return place.css == element.css and (is_value or is_day)


def _is_masked(possible: ActionBase, made: Sequence[ActionBase | None]) -> bool:
    """Whether an action gives a slider an unknown value, and a look shows which it is."""
    is_slider = possible.element is not None and possible.element.role == "slider"
    is_unknown = is_slider and getattr(possible, "value", None) == MASKED
    return is_unknown and any(isinstance(one, Fill) for one in made)


def _is_known(possible: ActionBase, made: Sequence[ActionBase | None]) -> bool:
    """Whether a look shows what became of the same field."""
    places = {one.element.css for one in made if one is not None and one.element is not None} - {None}
    css = possible.element.css if possible.element is not None else None
    return isinstance(possible, Fill | SelectOption) and css in places
