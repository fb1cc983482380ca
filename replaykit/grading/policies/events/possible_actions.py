"""Actions that the agent may have taken unreported by any page: by a script, or by a driver command.

A page may have done the same by itself, so nothing of this is certain. Where the commands of the agent were
logged, and it had run no script, it was the page.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.agent_script_times import SLACK_MS, WAYS, AgentScriptTimes, actions_of
from replaykit.grading.policies.events.event import PRESSED, types_text
from replaykit.grading.policies.events.field_changes import (
    entries,
    fields_of,
    filled,
    insertions,
    is_set,
    is_unseen,
    of_option,
    texts_of,
)
from replaykit.grading.policies.events.handlers.site_handlers import SiteHandlers, TextOf
from replaykit.grading.policies.events.handlers.written_handlers import LOOKS_MAX, WrittenHandlers
from replaykit.grading.policies.events.last_gesture import (
    LastGesture,
    has_date,
    is_in,
    is_typed_in,
    same_place,
    typed_by,
)
from replaykit.grading.policies.events.plain_widgets.certain_choices import certain_choices, taken_from_popup
from replaykit.grading.policies.events.plain_widgets.entries_that_lead_on import EntriesThatLeadOn, last_look
from replaykit.grading.policies.events.plain_widgets.page_change import PageChange
from replaykit.grading.policies.events.plain_widgets.presets import set_by_presets
from replaykit.grading.policies.events.plain_widgets.row_boxes import set_and_unset
from replaykit.grading.policies.events.plain_widgets.shared_names import named_by_row
from replaykit.grading.policies.events.popup_documents import PopupDocuments
from replaykit.grading.policies.events.shown_choices import BEFORE_MAX, shown_choices
from replaykit.grading.policies.events.unreported_commands import unreported_commands
from replaykit.replay.run_state import Page
from replaykit.trajectory import action as actions
from replaykit.trajectory.action import ActionBase, DragAndDrop, Element, NodeRef
from replaykit.trajectory.command import Command
from replaykit.trajectory.exchange import Exchange, Navigation, ScriptEvent, TabChange
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Step, Trajectory

_EFFECT_MS = 200
"""Time after a step within which the effects of its own task arrive, ms."""

_STACKED = ("evaluated", "agent")
"""Initiators for which the call stack names a script of an agent."""

_BY_GESTURE = "gesture"
"""Initiator of the request of a form that a gesture sent, whatever scripts ran meanwhile."""

_FORM = "form"
"""Initiator of the request of a form that a script sent."""

_POINTED = (actions.Click, actions.DblClick, actions.Tap, actions.MouseAction)
_TWICE = (actions.DblClick, actions.MouseDblClick)
_UNSCRIPTED = (*_POINTED, *WAYS)
"""Actions that drivers carry out without a script in the page."""

_BUTTONS = "button, input[type=submit], input[type=image]"
_PRESSABLE = f"{_BUTTONS}, input[type=button], a, summary, [role=button], [role=menuitem], [onclick]"
_BUTTONS_MAX = 500

_OF_PAGES = ("step", "script")
"""Causes of navigations that no command asked for."""

_PRESSING = ("script", "popup")
"""Kinds of navigations that the script of a control may lead to."""

_READS = ("GET", "HEAD", "OPTIONS")

_ASIDE = ("ping",)
"""Resources by which pages report what happened, and do nothing else."""


class PossibleAction(NamedTuple):
    """An action that the agent may have done."""

    action: ActionBase
    code: str
    """Code of the missing evidence, without the step."""
    page: Page | None = None
    """The page that it was done on."""
    is_by_value: bool = False
    """Nothing but the value points to the agent."""
    is_chosen: bool = False
    """The widget that the agent used entered the value."""
    is_shown: bool = False
    """The page shows it as the choice of the last gesture: certain if nothing else was done before."""


class PossibleActions:
    """The possible actions of one run."""

    def __init__(self, run: Trajectory, text_of: TextOf) -> None:
        self._scripts = AgentScriptTimes(run)
        self._handlers = WrittenHandlers(self._scripts, SiteHandlers(run.of_type(Exchange), text_of))
        self._unreported = unreported_commands(run)
        self._asked = {one.id: one for one in run.of_type(Exchange)}
        self._documents = PopupDocuments(self._asked.values())
        #: Steps that report what a script did, or that drivers carry out by own scripts, and their end.
        self._reporting = {step.index: _ended(step) for step in run.steps if _is_reporting(step)}
        self._gestures: dict[int | None, list[Step]] = {}
        for step in run.steps:
            if _place(step.action):
                self._gestures.setdefault(step.page, []).append(step)
        self._typed = {text for step in run.steps for one in step.actions for text in _typed(one)}
        self._looked_at: dict[int | None, int] = {}
        self._left: dict[int | None, Navigation] = {}
        self._shown: dict[int | None, Page | None] = {}
        self._looks: dict[int | None, deque[tuple[int, Page]]] = {}
        self._pressed: dict[int | None, Step] = {}
        self._leading_on = EntriesThatLeadOn()
        self._openers: dict[int | None, int] = {}
        rested = (one for one in self._asked.values() if self._scripts.rested(one.page, one.t or 0))
        #: What pages sent while the agent did nothing.
        self._unprompted = {
            (one.page, one.method, one.url, one.post) for one in rested if _is_comparable(one)
        }

    def request_of(self, navigation: Navigation) -> Exchange | None:
        """Return the request that a navigation began with; redirects may have followed."""
        known = navigation.exchange
        found = self._documents.of(navigation) if known is None else self._asked.get(known)
        while found is not None and found.redirect_from is not None:
            found = self._asked.get(found.redirect_from)
        return found

    def may_be_scripted(self, step: Step, page: Page) -> bool:
        """Whether a script of the agent may have changed what a look after a step shows."""
        return not self._scripts.is_logged or self._scripts.ran(step.t or 0, page.t or 0)

    def left(self, navigation: Navigation) -> None:
        """Forget what a tab showed: until it is looked at again, which controls it has is unknown.

        A change within a document, such as of the address by a script, leaves what the gesture was on.
        """
        if navigation.same_document:
            return
        tab = navigation.page
        self._left[tab] = navigation
        self._handlers.left(tab)
        self._leading_on.left(tab, self._shown.get(tab), self._looks.get(tab, ()), navigation.t or 0)
        for by_tab in (self._shown, self._looks, self._pressed):
            by_tab.pop(tab, None)

    def entered(self, seen: Observation, page: Page | None, is_forged: bool) -> Iterator[PossibleAction]:
        """Yield what a script may have entered since the tab was seen last."""
        since, until = self._looked_at.get(seen.page, 0), seen.t or 0
        before = self._shown.get(seen.page)
        self._looked_at[seen.page] = until
        left = self._left.get(seen.page)
        # A step that led on may be written after its effect, with the page before.
        if left is None or until >= (left.t or 0) or seen.url == left.url:
            self._shown[seen.page] = page
            self._handlers.looked_at(seen, page)
            if page is not None:
                self._looks.setdefault(seen.page, deque(maxlen=LOOKS_MAX)).append((until, page))
                for action in self._leading_on.taken(seen.page, self._gestures.get(seen.page, []), page):
                    yield PossibleAction(action, "choice")
        # Values of a new document at the first look are its site's, if no script ran before.
        asked_since = since if before is not None or left is None else left.t or 0
        if is_forged or self._scripts.ran(asked_since, until):
            known = self._typed.union(() if is_forged else (text for _, text in texts_of(fields_of(before))))
            for action in insertions(fields_of(page), known):
                yield PossibleAction(action, "value.by_script", page, is_by_value=True)
        if before is not None and page is not None and page.snapshot_id != before.snapshot_id:
            yield from self._shown_after(seen, PageChange(before, page))
        rows = seen.changed_without_event
        if rows and not self._scripts.may_have_set(seen):
            yield from self._chosen(rows, seen, page, before)
        elif rows:
            yield from (one for one in self._chosen(rows, seen, page, before) if not one.is_by_value)
            is_near = self._scripts.ran(since, until)
            for action in entries(rows, page):
                yield PossibleAction(action, "value.by_script", page, not is_near or is_unseen(action))

    def _chosen(
        self,
        rows: tuple[tuple[str, str, str], ...],
        seen: Observation,
        page: Page | None,
        before: Page | None,
    ) -> Iterator[PossibleAction]:
        """Yield what the page entered for the agent, which used a widget or the field itself."""
        steps = self._until(seen)
        if not steps:
            return
        places = {same_place(_place(step.action)) for step in steps}
        last = LastGesture(steps[-1].action, page)
        typed = "".join(typed_by(step.action) for step in steps[-1 - BEFORE_MAX :])
        looks = self._looks.get(seen.page, ())
        preset = set_by_presets(rows, steps, looks, page) if last.is_pressing else set()
        is_dated = last.dates(rows)
        for row in (one for one in rows if not last.opens(one[0], one[2])):
            if last.steps(*row):
                is_shown = last.steps_for_certain(row[0], row[1])
                yield PossibleAction(filled(row), "choice", page, is_chosen=True, is_shown=is_shown)
                continue
            is_set_by = row[0] in preset or (bool(preset) and has_date(row[2]))
            for action in last.taken(row, page, is_used=same_place(row[0]) in places, is_preset=is_set_by):
                yield PossibleAction(action, "choice", page, is_chosen=True, is_shown=True)
            if last.moves_to(row[0]) or last.files(row):
                yield from (PossibleAction(action, "choice", page) for action in entries([row], page))
            is_there = last.has(row[0])
            is_option = last.is_option or last.offers(row[2])
            if is_there or is_option or any(is_in(row[0], place) for place in places):
                # A page that writes a typed text in its own way enters nothing.
                for action in of_option(row, page):
                    yield PossibleAction(action, "choice", page, is_chosen=True)
                is_completed = last.completes(row, before)
                is_typed = row[1] in self._typed and not is_completed
                is_typed |= is_typed_in(typed, row)
                is_new = (is_completed or not last.is_typing) and not is_typed
                is_new &= is_there or same_place(row[0]) in places
                for action in entries([row], page):
                    # A button or box may set all boxes of a page.
                    is_state = (is_there or last.is_option) and is_set(action)
                    named = last.naming(action) if is_there and is_state else last.by_option(action)
                    yield from self.named(action, page) if is_state else ()
                    is_new |= last.offers(row[2]) or is_dated
                    is_shown = is_there and is_state and len(rows) == 1 and last.is_direct
                    yield PossibleAction(named, "choice", page, not is_state, is_new, is_shown)

    def _shown_after(self, seen: Observation, looks: PageChange) -> Iterator[PossibleAction]:
        """Yield what the last gesture chose, as the page shows."""
        steps = self._until(seen, BEFORE_MAX + 1)
        since = steps[0].t or 0 if steps else 0
        earlier = last_look(self._looks.get(seen.page, ()), since)
        gestures = [step.action for step in steps]
        for action in certain_choices(gestures, looks, earlier) if steps else ():
            is_text = isinstance(action, actions.SelectOption)
            yield PossibleAction(action, "choice", looks.before, is_chosen=is_text, is_shown=True)
        for action in shown_choices(gestures, looks, earlier) if steps else ():
            is_text = isinstance(action, actions.SelectOption)
            yield PossibleAction(action, "choice", looks.before, is_chosen=is_text)
        for action in taken_from_popup(gestures, looks, earlier) if steps else ():
            yield PossibleAction(action, "choice", looks.before, is_chosen=True)

    def _until(self, seen: Observation, most: int | None = None) -> list[Step]:
        """Return the gestures in a tab until it was looked at, all or the last ones."""
        tab = self._gestures.get(seen.page, [])
        end = bisect_right(tab, seen.t or 0, key=lambda step: step.t or 0)
        return tab[0 if most is None else max(0, end - most) : end]

    def repeated(self, step: Step, page: Page | None) -> Iterator[PossibleAction]:
        """Yield what two clicks may have set and unset: nothing of it shows afterwards."""
        last, self._pressed[step.page] = self._pressed.get(step.page), step
        if not isinstance(step.action, _TWICE) and not (last is not None and _is_again(last, step)):
            return
        element = step.action.element
        for action in set_and_unset(element, page) if element is not None else ():
            yield PossibleAction(action, "choice", page)

    def named(self, action: ActionBase, page: Page | None) -> Iterator[PossibleAction]:
        """Yield an action on a box that a person may call by its row."""
        yield from (PossibleAction(one, "names.row", page) for one in named_by_row(action, page))

    def handled(self, step: Step, action: ActionBase, page: Page | None) -> Iterator[PossibleAction]:
        """Yield what a handler may press that a script of the agent wrote into the target of a gesture."""
        target = action.element
        if target is not None and self._handlers.may_serve(target, step.page, page, step.t or 0):
            for pressed in _buttons(page, _PRESSABLE):
                yield PossibleAction(pressed, "handler.by_script", page)

    def moved(self, navigation: Navigation) -> Iterator[PossibleAction]:
        """Yield what a script of the agent may have done: a call stack says so, or no gesture explains it."""
        tab, asked = self.mover(navigation), self.request_of(navigation)
        at = _asked_at(navigation, asked)
        if asked is not None and self._is_by_gesture(asked, navigation.kind):
            return
        is_stacked = asked is not None and self._is_by_script(asked)
        is_form = asked is not None and (_is_form(asked) or asked.initiator == _FORM)
        is_direct = navigation.kind not in _PRESSING or is_form
        if not is_stacked and not (
            navigation.cause in _OF_PAGES and self._is_after_script(tab, at, is_direct)
        ):
            return
        page, css = self._shown.get(tab), _pressed(navigation, asked.initiator if asked is not None else None)
        for action in (*_moves(navigation), *(_buttons(page, css) if css else ())):
            yield PossibleAction(action, "navigation.by_script", page)

    def sent(self, exchange: Exchange) -> Iterator[PossibleAction]:
        """Yield what a script of the agent may have pressed, by calling what the page does then."""
        if exchange.method.upper() in _READS or exchange.page is None:
            return
        is_stacked = exchange.initiator == "evaluated" and self._is_by_script(exchange)
        if is_stacked or self._is_unexplained(exchange):
            page = self._shown.get(exchange.page)
            for action in _buttons(page, _PRESSABLE):
                yield PossibleAction(action, "request.by_script", page)

    def mover(self, navigation: Navigation) -> int | None:
        """Return the tab whose page moved: of a new tab, the one that opened it."""
        is_popup = navigation.kind == "popup"
        return self._openers.get(navigation.page, navigation.page) if is_popup else navigation.page

    def _is_unexplained(self, sent: Exchange) -> bool:
        """Whether a request may come of a script, and not of a gesture, nor of the page's own accord."""
        is_new = (sent.page, sent.method, sent.url, sent.post) not in self._unprompted
        is_new &= not self._is_by_gesture(sent)
        return is_new and _is_plain(sent) and self._is_after_script(sent.page, sent.t or 0, _is_form(sent))

    def _is_by_gesture(self, sent: Exchange, kind: str = "") -> bool:
        """Whether a gesture sent a form; who stops the scripts of a page may send one within a gesture."""
        is_form = kind == "form" or _is_form(sent)
        return is_form and sent.initiator == _BY_GESTURE and not self._scripts.may_have_paused

    def _is_after_script(self, tab: int | None, at: int, is_direct: bool) -> bool:
        """Whether a page did something after a script; `is_direct`: at once, unlike handlers that wait."""
        return (self._scripts.came_last if is_direct else self._scripts.came_alone)(tab, at)

    def opened(self, tab: TabChange) -> None:
        """Record which tab opened another."""
        if tab.opener is not None and tab.page is not None:
            self._openers[tab.page] = tab.opener

    def _is_by_script(self, sent: Exchange) -> bool:
        """Whether a script of the agent asked for a request, by its call stack, that no step reports."""
        at = sent.t or 0
        if not (sent.initiator in _STACKED and self._scripts.began_before(at)):
            return False
        reported = self._reporting.get(-1 if sent.step is None else sent.step)
        return reported is None or at - reported > _EFFECT_MS or self._scripts.asked_between(reported, at)

    def scripted(self, event: ScriptEvent) -> Iterator[PossibleAction]:
        """Yield what a script of the agent may have clicked or pressed by an event that it made."""
        if not self._scripts.may_have_made_event(event.t or 0):
            return
        page = self._shown.get(event.page)
        for action in actions_of(event):
            yield PossibleAction(action, "event.by_script", page)

    def commanded(self, command: Command) -> Iterator[PossibleAction]:
        """Yield what a command did that no page reports."""
        action = self._unreported.get(id(command))
        if action is not None:
            yield PossibleAction(action, "command.unreported")


def _is_again(last: Step, step: Step) -> bool:
    """Whether a step clicks what the last one clicked, on a page that looks as it did before that one."""
    is_same = _place(last.action) == _place(step.action) is not None
    is_click = isinstance(last.action, _POINTED) and isinstance(step.action, _POINTED)
    return is_same and is_click and _look_before(last) == _look_before(step) is not None


def _look_before(step: Step) -> object:
    return step.before.snapshot if step.before is not None else None


def _asked_at(navigation: Navigation, asked: Exchange | None) -> int:
    """Return when a page asked to move on. A new tab may wait for the recorder, and then asks late."""
    at = (asked.t if asked is not None else None) or navigation.t or 0
    return min(at, (navigation.t or 0) + SLACK_MS) if navigation.kind == "popup" else at


def _is_form(sent: Exchange) -> bool:
    return sent.resource == "document" and sent.method.upper() not in _READS


def _is_reporting(step: Step) -> bool:
    return not isinstance(step.action, _UNSCRIPTED) or not step.action.trusted


def _ended(step: Step) -> int:
    """Return when the last event of a step came, as far as is known."""
    moments = (step.t, step.end, *(at for one in step.observed for at in (one.t, one.end)))
    return max((at for at in moments if at is not None), default=0)


def _pressed(navigation: Navigation, initiator: str | None) -> str | None:
    """Return the controls that a script of the agent may have called to lead on; None = it did so itself."""
    if navigation.kind == "form":
        return _BUTTONS
    is_called = initiator == "evaluated" or (navigation.kind in _PRESSING and initiator != "agent")
    return _PRESSABLE if is_called else None


def _moves(navigation: Navigation) -> tuple[ActionBase, ...]:
    match navigation.kind:
        case "script":
            return (actions.Goto(url=navigation.url),)
        case "popup":
            return (actions.NewTab(url=navigation.url),)
        case "reload":
            return (actions.Reload(),)
        case "back":
            return (actions.GoBack(),)
        case "forward":
            return (actions.GoForward(),)
    return ()


def _buttons(page: Page | None, css: str) -> Iterator[ActionBase]:
    """Yield a click on each of these elements; of an unknown page, or one with too many, on something."""
    dom = page.dom if page is not None else None
    if page is None or dom is None or page.snapshot_id is None:
        yield actions.Click()
        return
    try:
        found = dom.pierce_all(css)
    except ReplaykitError:
        found = []
    if len(found) > _BUTTONS_MAX:
        yield actions.Click()
    for node in found[:_BUTTONS_MAX]:
        place = NodeRef(snapshot=page.snapshot_id, number=node.number)
        element = Element(tag=node.tag, type=node.attribute("type"), role="button", node=place)
        yield actions.Click(element=element)


def is_unattributed(step: Step, action: ActionBase) -> bool:
    """Whether a script did it, and it is unknown whether it was one of the agent."""
    return not action.trusted and action.by == "unknown" and step.origin == "observed"


def dragged(action: DragAndDrop, page: Page | None) -> Iterator[PossibleAction]:
    """Yield the actions that a drag may stand for: it activates a control, or gives a field a value."""
    for end in (action.element, action.to):
        if end is not None and end.role in PRESSED and not _is_draggable(end):
            click = actions.Click(element=end, modifiers=action.modifiers)
            yield PossibleAction(click, "drag.activates", page)
    if action.element is not None and action.element.role == "slider" and action.element.tag != "input":
        yield PossibleAction(actions.Fill(element=action.element, value=MASKED), "choice", page)
    if action.to is not None and types_text(action.to):
        # Which text came in is not recorded.
        yield PossibleAction(actions.Fill(element=action.to, value=MASKED), "value.dropped", page)


def _is_draggable(element: Element) -> bool:
    """Whether an element declares that it is there to be dragged: libraries give it the role of a button."""
    attributes = element.attributes or {}
    return "aria-roledescription" in attributes or attributes.get("draggable", "").lower() == "true"


def _is_plain(exchange: Exchange) -> bool:
    """Whether neither its call stack nor a navigation tells more of a request, and it is no mere report."""
    is_page = exchange.resource == "document" and not exchange.frame
    is_known = exchange.initiator in _STACKED or exchange.source == "netlog"
    return not (is_page or is_known or exchange.resource in _ASIDE)


def _is_comparable(exchange: Exchange) -> bool:
    """Whether all that a request sent is known."""
    return _is_plain(exchange) and not isinstance(exchange.post, Omitted)


def _typed(action: ActionBase) -> Iterator[str]:
    """Yield the texts that an action left in its field."""
    texts = (getattr(action, "value", None), getattr(action, "value_after", None))
    yield from (text for text in texts if isinstance(text, str))


def _place(action: ActionBase) -> str | None:
    """Return the CSS path of what a gesture is on."""
    return action.element.css if action.element is not None else None
