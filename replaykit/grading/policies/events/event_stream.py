"""One ordered stream of events: what agent, page and user did, in the order that rules care about.

Before and after are positions in this stream. In a step: the page acted on, messages and replies recorded
before the action, the action, then dialogs, visits and messages as recorded. At the end: the final pages and
the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from itertools import zip_longest
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from replaykit.grading.policies.events.event import (
    ENTER,
    Event,
    is_printable,
    takes_no_letter,
    takes_no_text,
)
from replaykit.grading.policies.events.handlers.site_handlers import text_of_body
from replaykit.grading.policies.events.implied_actions import IMPLIED, ImpliedActions
from replaykit.grading.policies.events.moved_marks import with_marks
from replaykit.grading.policies.events.plain_widgets.confirmed_choices import confirmed
from replaykit.grading.policies.events.plain_widgets.next_looks import NextLooks, as_kept, parted
from replaykit.grading.policies.events.possible_actions import (
    PossibleAction,
    PossibleActions,
    dragged,
    is_unattributed,
)
from replaykit.grading.policies.events.recorded_order import answer_place, in_order
from replaykit.grading.policies.events.typed_parts import joined
from replaykit.grading.policies.events.url_conditions import address, is_blank
from replaykit.replay.agent_made_pages import is_forged
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page
from replaykit.trajectory import action as actions
from replaykit.trajectory import exchange
from replaykit.trajectory.action import ActionBase
from replaykit.trajectory.command import Command
from replaykit.trajectory.completeness import END, broke_off, is_filled, owed, state_of
from replaykit.trajectory.completeness_proof import GAPS
from replaykit.trajectory.observation import Observation, TabView
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.step import Step, Trajectory

KIND_CHANNELS = {
    "action": ("actions", "trajectory.gap"),
    "visit": ("urls", "urls.incomplete"),
    "message": ("messages", "message.channel"),
    "user_reply": ("replies", "user_reply"),
    "dialog": ("dialogs", "dialogs"),
    "page": ("snapshots", "snapshot.final"),
    "request": ("network", "network"),
}
"""Kind of event to the channel that proves its absence, and the code for where it does not."""


_WAYS: dict[str, tuple[ActionBase, ...]] = {"back": (actions.GoBack(),), "forward": (actions.GoForward(),)}
_ACTION = frozenset({"action"})
_VISIT = frozenset({"visit"})
_ANYTHING = frozenset({*KIND_CHANNELS, "answer"})


class EventStream(Struct, frozen=True, kw_only=True, dict=True):
    """A run as a stream of events, and what its recording cannot prove."""

    trajectory: Trajectory
    """The run."""
    events: tuple[Event, ...]
    """The stream."""

    @cached_property
    def known_errors(self) -> dict[tuple[str, ...], dict[int, Any]]:
        """Errors found before, by the phrases looked for and the place: many policies ask for the same."""
        return {}

    @cached_property
    def gaps(self) -> tuple[tuple[int, Event], ...]:
        """Places where events of some kind may be missing."""
        # An event that a step implies is a part of that step.
        hiding = ((place, event) for place, event in enumerate(self.events) if event.hides)
        return tuple((place, event) for place, event in hiding if not event.code.startswith(IMPLIED))

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Kind of event to the places of its events, in order."""
        found: dict[str, list[int]] = {}
        for place, event in enumerate(self.events):
            found.setdefault(event.kind, []).append(place)
        return found

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.trajectory.steps)

    def of_kinds(self, kinds: Iterable[str]) -> list[tuple[int, Event]]:
        """Return the events of these kinds with their places, in order."""
        places = sorted(at for kind in set(kinds) for at in self.places.get(kind, ()))
        return [(at, self.events[at]) for at in places]

    def hidden(self, kind: str) -> tuple[str, ...]:
        """Return why events of this kind may be missing anywhere; empty if all were recorded."""
        if kind not in self._hidden:
            self._hidden[kind] = tuple(_hidden(self.trajectory, kind))
        return self._hidden[kind]

    def state(self, channel: str) -> str:
        """Return `proven recorded auto_approve partial absent`: how complete a channel is."""
        if channel not in self._states:
            self._states[channel] = state_of(self.trajectory, channel).state
        return self._states[channel]

    @cached_property
    def _states(self) -> dict[str, str]:
        return {}

    @cached_property
    def _hidden(self) -> dict[str, tuple[str, ...]]:
        return {}

    @property
    def misses_steps(self) -> bool:
        """Whether steps may be missing, so that no one can count how many lie between two events."""
        within = (event for _, event in self.gaps if event.code != END)
        return bool(self.hidden("action")) or any("action" in event.hides for event in within)

    @property
    def last_step(self) -> int | None:
        """Index of the last step."""
        return self.steps - 1 if self.steps else None


def history(replay: Replay, *, with_requests: bool = False) -> EventStream:
    """Return the stream of a run; requests, the bulk of most runs, only where somebody asks for them."""
    pages = {page.place: page for page in replay.pages}
    forged = {place for place, page in pages.items() if is_forged(page, replay)}
    events = _Stream(replay, pages, forged, with_requests).run()
    return EventStream(trajectory=replay.trajectory, events=with_marks(joined(events)))


class _Stream:
    """Walks the story once and emits its events."""

    def __init__(self, replay: Replay, pages: dict[int, Page], forged: set[int], with_requests: bool) -> None:
        self.trajectory = trajectory = replay.trajectory
        self.with_requests = with_requests
        self.pages = pages
        self.forged = forged
        self.events: list[Event] = []
        self.urls: dict[int | None, str] = {}
        #: The addresses that tabs showed at this moment; a look at a page that was left may come later.
        self.arrived: dict[int | None, str] = {}
        self.statuses: dict[str, int] = {}
        self.tab: int | None = None
        self.step: int | None = None
        self.at: int | None = None
        self.log = {n.url for n in trajectory.of_type(exchange.Navigation) if _is_visit(n)}
        self.by_step: dict[int | None, set[str]] = {}
        for navigation in trajectory.of_type(exchange.Navigation):
            if _is_visit(navigation):
                self.by_step.setdefault(navigation.step, set()).add(_same(navigation.url))
        self.downloads = {one.url for one in trajectory.of_type(exchange.Download)}
        self.targets_recorded = trajectory.header.channels.get("targets") == "recorded"
        self.answer = answer_place(trajectory)
        self.possible = PossibleActions(trajectory, partial(text_of_body, replay))
        unmade = (page for place, page in pages.items() if place not in forged)
        self.looks = NextLooks(trajectory, unmade, self.possible)
        self.implied = ImpliedActions()

    def run(self) -> list[Event]:
        """Return the events; the answer that counts comes last."""
        for story, event in in_order(self.trajectory):
            self.at = event.t
            match event:
                case Step():
                    self._step(story, event)
                case Observation():
                    self._page(story, event, self.step)
                case exchange.Navigation():
                    self._navigation(story, event)
                case exchange.Dialog():
                    self._dialog(story, event)
                case exchange.Message():
                    self._message(story, event)
                case exchange.Gap():
                    self._gap(story, event)
                case Command():
                    self._perhaps(story, self.step, event.page, self.possible.commanded(event))
                case exchange.ScriptEvent():
                    self._perhaps(story, self.step, event.page, self.possible.scripted(event))
                case exchange.Exchange(actor="agent"):
                    self._request(story, event)
                case exchange.Download(suggested=str(name)) if self.with_requests:
                    self._emit("request", story, step=event.step, title=name)
                case exchange.TabChange():
                    self.possible.opened(event)
                    self._arrive(story, event.page, event.url, self.step)
        if self.trajectory.answer is not None:
            self.at = None if self.answer is None else self.trajectory.events[self.answer].t
            self._emit("answer", self.answer, message=self.trajectory.answer)
        if broke_off(self.trajectory):
            # Anything may have come after what was recorded last.
            self._emit("gap", None, hides=_ANYTHING, code=END)
        return self.events

    def _request(self, story: int, sent: exchange.Exchange) -> None:
        if self.with_requests:
            self._emit("request", story, step=sent.step, url=sent.url, exchange=sent)
        step = sent.step if sent.step is not None else self.step
        self._perhaps(story, step, sent.page, self.possible.sent(sent), self._shown(sent.page))

    def _emit(self, kind: str, story: int | None, **fields: object) -> None:
        now = {"step": self.step, "tab": self.tab, "url": self.urls.get(self.tab), "at": self.at}
        fields = now | fields
        self.events.append(Event(kind=kind, story=story, **fields))  # type: ignore[arg-type]  # fields of Event

    def _step(self, story: int, step: Step) -> None:
        page = self._before(story, step)
        self.step, self.tab = step.index, step.page
        url = step.before.url if step.before is not None and step.before.url else self.urls.get(step.page)
        for action in _expanded(step):
            if is_unattributed(step, action):
                self._perhaps(story, step.index, step.page, [PossibleAction(action, "event.by_script", page)])
            else:
                self._action(story, step, action, page, url)
            self._perhaps(story, step.index, step.page, self.possible.handled(step, action, page))
            self._perhaps(story, step.index, step.page, self.possible.named(action, page))
            if step.origin == "imported":
                self._perhaps(story, step.index, step.page, self.implied.of(action, page))
        self._perhaps(story, step.index, step.page, self.possible.repeated(step, page))
        self._arrive(story, step.page, step.url, step.index)
        self._tabs(story, step.tabs, step.index)

    def _action(self, story: int, step: Step, action: ActionBase, page: Page | None, url: str | None) -> None:
        failed = not step.done or not action.completed
        after = self.looks.after(step, len(self.events))
        action = as_kept(action, page, after)
        self._emit(
            "action",
            story,
            url=url,
            action=action,
            failed=failed,
            values=_values(action),
            role=action.element.role if action.element is not None else None,
            page=page,
            after=after,
        )
        if isinstance(action, actions.SendMsgToUser | actions.ReportInfeasible):
            self._emit("message", story, message=action.text)
        elif isinstance(action, actions.Answer) and story != self.answer:
            self._emit("answer", story, message=action.text)
        elif isinstance(action, actions.DragAndDrop) and not confirmed(self.events[-1]):
            self._perhaps(story, step.index, step.page, dragged(action, page))
        elif isinstance(action, actions.Goto | actions.NewTab) and action.url:
            self._attempt(story, step, action.url, failed)

    def _attempt(self, story: int, step: Step, url: str, failed: bool) -> None:
        """Emit a visit for a goto that arrived nowhere, or elsewhere, or with an unknown outcome."""
        arrived = self.by_step.get(step.index, set())
        if _same(url) in arrived | self.by_step.get(None, set()) or _same(url) == _same(step.url or ""):
            return
        has_failed = True if failed or arrived or step.url else None
        self._emit("visit", story, url=url, failed=has_failed)

    def _before(self, story: int, step: Step) -> Page | None:
        """Put the page acted on before the messages that were recorded since the last action."""
        if step.before is None:
            return None
        at = len(self.events)
        while at and self.events[at - 1].kind in ("message", "user_reply", "request"):
            at -= 1
        messages, self.events[at:] = self.events[at:], []
        page = self._page(story, step.before, step.index)
        self.events += messages
        return page

    def _page(self, story: int, seen: Observation, step: int | None) -> Page | None:
        tab = seen.page if seen.page is not None else self.tab
        step = seen.of if seen.role == "after" else step
        if seen.url is not None:
            self._arrive(story, tab, seen.url, step)
        url = seen.url or self.urls.get(tab)
        if self.tab is None:
            self.tab = tab
        page = self.pages.get(story)
        status = seen.status if seen.status is not None else self.statuses.get(url or "")
        self._emit(
            "page", story, step=step, tab=tab, url=url, page=page, status=status, title=seen.title,
            forged=story in self.forged, at=seen.t,
        )  # fmt: skip
        self._tabs(story, seen.tabs, step)
        found = self.possible.entered(seen, page, story in self.forged)
        acted = self.looks.acted(story, seen)
        left, shows = (found, ()) if acted is None else parted(found, self.events[acted])
        self._perhaps(story, step, seen.page, left)
        if acted is not None and shows:
            self.events[acted] = replace(self.events[acted], shows=shows)
        return page

    def _perhaps(
        self,
        story: int,
        step: int | None,
        tab: int | None,
        found: Iterable[PossibleAction],
        url: str | None = None,
    ) -> None:
        """Emit what the agent may have done, at an address; default: the one that the tab shows."""
        url = self.urls.get(tab) if url is None else url
        for action, code, page, is_by_value, is_chosen, _ in found:
            self._emit(
                "maybe", story, step=step, tab=tab, url=url, page=page, action=action,
                values=_values(action),
                role=action.element.role if action.element is not None else None,
                hides=_ACTION, code=f"{code}@{step or 0}", is_by_value=is_by_value, is_chosen=is_chosen,
            )  # fmt: skip

    def _shown(self, tab: int | None) -> str | None:
        return self.arrived.get(tab) or self.urls.get(tab)

    def _navigation(self, story: int, navigation: exchange.Navigation) -> None:
        if navigation.frame:
            return
        step = navigation.step if navigation.step is not None else self.step
        if navigation.ambiguous and navigation.cause != "unknown":
            self._perhaps_moved(story, navigation, step)
        mover = self.possible.mover(navigation)
        self._perhaps(story, step, mover, self.possible.moved(navigation), self._shown(mover))
        if navigation.committed:
            self.possible.left(navigation)
            self.urls[navigation.page] = self.arrived[navigation.page] = navigation.url
            if navigation.status is not None:
                self.statuses[navigation.url] = navigation.status
        self._requested(story, navigation, step)
        if navigation.committed or navigation.kind == "goto" or self._was_answered(navigation):
            # In a tab that was never listened in, it is unknown whether the page arrived.
            is_seen = not navigation.ambiguous or navigation.cause != "unknown"
            failed = not navigation.committed if is_seen else None
            self._emit("visit", story, step=step, tab=navigation.page, url=navigation.url, failed=failed)
        elif navigation.error is None:
            self._emit(
                "maybe", story, step=step, tab=navigation.page, url=navigation.url, failed=True,
                hides=_VISIT, code="urls.incomplete",
            )  # fmt: skip

    def _was_answered(self, navigation: exchange.Navigation) -> bool:
        """Whether a server answered what showed no page."""
        return navigation.status is not None or navigation.url in self.downloads

    def _requested(self, story: int, navigation: exchange.Navigation, step: int | None) -> None:
        """Emit a visit to the address that a link or form asked for, and that led elsewhere."""
        asked = self.possible.request_of(navigation)
        # The action of a goto states its address itself.
        first = asked.url if asked is not None and navigation.kind != "goto" else None
        url = navigation.requested or first
        if url is not None and _same(url) != _same(navigation.url):
            self._emit("visit", story, step=step, tab=navigation.page, url=url, failed=True)

    def _perhaps_moved(self, story: int, navigation: exchange.Navigation, step: int | None) -> None:
        """Emit what the agent may have done where the page's own back button looks the same."""
        url, code = self._shown(navigation.page), f"trajectory.gap@{step or 0}"
        for action in _WAYS.get(navigation.kind, (actions.GoBack(), actions.GoForward())):
            self._emit(
                "maybe", story, step=step, tab=navigation.page, url=url, action=action, hides=_ACTION,
                code=code,
            )  # fmt: skip

    def _arrive(self, story: int, tab: int | None, url: str | None, step: int | None) -> None:
        """Emit a visit for a URL that the navigation log lacks."""
        if url is None or self.urls.get(tab) == url:
            return
        if url not in self.log and not is_blank(url):
            self._emit("visit", story, step=step, tab=tab, url=url)
            self.arrived[tab] = url
        self.urls[tab] = url

    def _tabs(self, story: int, tabs: tuple[TabView, ...], step: int | None) -> None:
        for tab in tabs:
            self._arrive(story, tab.page, tab.url, step)

    def _dialog(self, story: int, dialog: exchange.Dialog) -> None:
        step = dialog.step if dialog.step is not None else self.step
        tab = dialog.page if dialog.page is not None else self.tab
        values = ((dialog.input,),) if dialog.input else ()
        url, role = self.urls.get(tab), dialog.kind
        self._emit(
            "dialog", story, step=step, tab=tab, url=url, message=dialog.message, values=values, role=role
        )
        # Who answers a prompt fills a field, which is on no page.
        if dialog.kind == "prompt" and dialog.input and dialog.input != dialog.default:
            action = actions.Fill(value=dialog.input, value_after=dialog.input)
            self._emit(
                "action", story, step=step, tab=tab, url=url, action=action, message=dialog.message,
                values=values, role="textbox",
            )  # fmt: skip

    def _message(self, story: int, message: exchange.Message) -> None:
        # Words that the agent puts into another's mouth prove nothing.
        if message.kind == "claim":
            return
        if message.role == "user":
            self._emit("user_reply", story, message=message.text, approved=message.approved)
        elif message.kind != "answer":
            self._emit("message", story, message=message.text)
        elif story != self.answer:
            self._emit("answer", story, message=message.text)

    def _gap(self, story: int, gap: exchange.Gap) -> None:
        # A closed shadow root hides nothing that text or selectors could have found.
        if (gap.channel == "snapshots" and gap.why.startswith("shadow")) or is_filled(self.trajectory, gap):
            return
        hides = frozenset(kind for kind, (channel, _) in KIND_CHANNELS.items() if channel == gap.channel)
        at = gap.step if gap.step is not None else self.step or 0
        if hides and not _is_anywhere(gap):
            code = f"{gap.why}@{at}" if gap.why in GAPS else _gap_code(gap.channel, at)
            self._emit("gap", story, step=at, hides=hides, code=code)


def _hidden(trajectory: Trajectory, kind: str) -> Iterator[str]:
    """Yield why events of a kind may be missing at an unknown place."""
    if kind == "answer":
        return
    channel, code = KIND_CHANNELS[kind]
    if trajectory.header.channels.get(channel, "absent") not in ("recorded", "auto_approve"):
        yield f"{code}@0" if code == "trajectory.gap" else code
    yield from owed(trajectory, channel)
    gaps = (gap for gap in trajectory.of_type(exchange.Gap) if gap.channel == channel)
    yield from (gap.why for gap in gaps if _is_anywhere(gap) and not is_filled(trajectory, gap))


def _is_anywhere(gap: exchange.Gap) -> bool:
    """Whether a gap means that something was missed, and not where."""
    return gap.why in GAPS and gap.step is None and gap.start is None


def _gap_code(channel: str, step: int) -> str:
    code = next(code for name, code in KIND_CHANNELS.values() if name == channel)
    return f"snapshot.before@{step}" if channel == "snapshots" else (
        f"{code}@{step}" if code == "trajectory.gap" else code
    )  # fmt: skip


def _is_visit(navigation: exchange.Navigation) -> bool:
    return navigation.committed and not navigation.frame


def _same(url: str) -> str:
    where = address(url) if url else None
    return where.href.partition("#")[0] if where else url


def _expanded(step: Step) -> Iterator[ActionBase]:
    """Yield the actions of a step; a text that was submitted is also the Enter that submitted it."""
    done = step.actions
    for number, action in enumerate(done):
        yield action
        following = done[number + 1] if number + 1 < len(done) else None
        is_entered = isinstance(following, actions.Press) and following.key in ENTER
        if isinstance(action, actions.Fill | actions.Type) and action.submit and not is_entered:
            yield actions.Press(key="Enter", element=action.element, t=action.t, completed=action.completed)


def _values(action: ActionBase) -> tuple[tuple[str, ...], ...]:
    match action:
        case actions.Type() if action.value_after is None and takes_no_text(action.element):
            return ()
        case actions.Fill() | actions.Type() | actions.KeyboardType() | actions.KeyboardInsertText():
            # The keys of a date are one way to write it.
            is_date = action.element is not None and action.element.type in actions.DATE_TYPES
            return (
                (action.value, action.value_after) if is_date and action.value_after else (action.value,),
            )
        case actions.SelectOption():
            rows = zip_longest(action.values, action.labels)
            return tuple(tuple(dict.fromkeys(text for text in row if text is not None)) for row in rows)
        case actions.UploadFile():
            return tuple((file.name,) for file in action.files)
        # A hidden key may be a part of a text as well, in a component that takes keys itself.
        case actions.Press() if is_printable(action.key) or action.key == MASKED:
            return () if takes_no_letter(action.element) else ((action.key,),)
    return ()
