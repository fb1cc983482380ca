"""Steps and observations of a trace: action calls, with the pages before and after them."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from replaykit.interop.extra_fields import holds_data
from replaykit.interop.imported_run import Run
from replaykit.interop.playwright_trace.trace_calls import action_of, raw_of, typed
from replaykit.interop.playwright_trace.trace_contexts import Trace, TraceCall, TraceSnapshot, page_id, text
from replaykit.interop.playwright_trace.trace_snapshots import BrokenSnapshot, Built, build
from replaykit.interop.playwright_trace.trace_verdicts import OURS
from replaykit.interop.playwright_trace.trace_versions import Event as Line
from replaykit.interop.playwright_trace.trace_versions import number
from replaykit.patterns import lazy_pattern
from replaykit.snapshot.snapshot_format import MEDIA_TYPE
from replaykit.trajectory import action as actions
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.observation import Frame, Observation
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.scalars import Omitted, Threw
from replaykit.trajectory.step import Event, Step

SHORT = 3
"""Characters of a password from which on it is taken out of logs: fewer say nothing and stand everywhere."""

_PAGE_EVENTS = ("close", "accept", "dismiss")
"""Methods whose page an event names."""

_PASSWORD = lazy_pattern("passw(or)?d|passphrase|passcode|pwd", re.IGNORECASE)
"""Marks of selectors of password fields: by type, by name, or by label."""

_AT = ("action", "before")
"""Phases of the page acted on, the nearest to the action first."""


class TraceSteps:
    """Builds the steps of a run. `thoughts`: call id to what the agent thought."""

    def __init__(self, run: Run, trace: Trace, thoughts: Mapping[str, str]) -> None:
        self._run, self._trace, self._thoughts = run, trace, thoughts
        self._tabs: dict[str, int] = {}
        self._built: dict[tuple[str, int], tuple[Any, Built | None]] = {}
        self._passwords: set[str] = set()
        self._state = {"targets": "recorded", "snapshots": "recorded", "screenshots": "recorded"}
        self._has_trees = False
        self._closed, self._asked = self._events("pageClosed"), self._events("dialog")
        self._mouse: dict[str, tuple[int, int]] = {}
        self._shared = self._overlapping()
        # By the time they were shown: page ids are random, and ordinals must not be.
        self._order_tabs()

    def events(self) -> list[Event]:
        """Return steps and observations."""
        acting = [call for call in self._trace.calls if self._is_action(call)]
        for call in acting:  # every password is known before the first log is kept
            for phase in ("before", "action", "after"):
                self._build_all(call, phase)
            self._learn(*self._unseen_password(call))
        found: list[Event] = []
        for index, call in enumerate(acting):
            found += self._of_call(index, call)
        final = self._final(acting)
        return [*found, final] if final is not None else found

    @property
    def count(self) -> int:
        """Number of calls that are actions on a page."""
        return sum(self._is_action(call) for call in self._trace.calls)

    def channels(self) -> dict[str, str]:
        """Return what the channels of pages hold."""
        state = self._state if self._trace.calls else dict.fromkeys(self._state, "recorded")
        shots = state["screenshots"] if self._trace.screencast or self._trace.shots else "absent"
        pages = state["snapshots"] if self._trace.shown else "absent"
        targets = state["targets"] if self._trace.shown else "partial"
        return {
            "targets": targets,
            "snapshots": pages,
            "form_state": pages,
            "screenshots": "partial" if shots == "recorded" and not self._trace.shots else shots,
            "a11y": "partial" if self._has_trees else "absent",
        }

    def ms(self, wall: float | None) -> int | None:
        """Return ms since the start of the run."""
        return None if wall is None else max(0, round(wall - self._trace.start))

    def tab(self, page: str) -> int:
        """Return the ordinal of a page."""
        return self._tabs.setdefault(page, len(self._tabs))

    def placed(self, exchange: Exchange, page: str) -> Exchange:
        """Return an exchange with its tab."""
        return replace(exchange, page=self.tab(page)) if page in self._tabs else exchange

    def _events(self, method: str) -> list[tuple[float, Line]]:
        """Return the events of a method with their times, in order."""
        return [(at, one) for at, _, one in self._trace.others if one.get("method") == method]

    def _overlapping(self) -> set[str]:
        """Return the ids of calls on an element that ran at the same time as another one of their page."""
        pages: dict[str, list[TraceCall]] = {}
        for call in self._trace.calls:
            shown = self._main(call, *_AT)
            if shown is not None and _selector(call):
                pages.setdefault(shown.page, []).append(call)
        return {id for calls in pages.values() for id in _overlapping(calls)}

    def _order_tabs(self) -> None:
        shown = [one for group in self._trace.shown.values() for one in group if one.page]
        for one in sorted(shown, key=lambda one: one.at):
            self.tab(one.page)

    def _is_action(self, call: TraceCall) -> bool:
        return action_of(call.begin, None) is not None

    def _shown(self, call: TraceCall, phase: str) -> list[TraceSnapshot]:
        return self._trace.shown.get((call.id, phase), [])

    def _main(self, call: TraceCall, *phases: str) -> TraceSnapshot | None:
        found = (one for phase in phases for one in self._shown(call, phase) if one.is_main)
        return next(found, None)

    def _build_all(self, call: TraceCall, phase: str) -> None:
        for one in self._shown(call, phase):
            self._snapshot(one)

    def _snapshot(self, one: TraceSnapshot) -> tuple[Any, Built | None]:
        """Return blob and content of a snapshot, made once."""
        key = (one.frame, one.place)
        if key not in self._built:
            self._built[key] = self._made(one)
        return self._built[key]

    def _made(self, one: TraceSnapshot) -> tuple[Any, Built | None]:
        keeps = self._run.options.keeps_secrets
        try:
            made = build(
                self._trace.frames, one.frame, one.place, url=one.url, call=one.call, keeps_secrets=keeps
            )
        except BrokenSnapshot as error:
            self._run.warn(f"a snapshot of {one.call} is left out: {error}")
            self._state["snapshots"] = "partial"
            return Omitted(why="failed"), None
        if not made.is_whole:
            self._state["snapshots"] = "partial"
        if not keeps:
            self._learn(*made.passwords)
            # Requests send the same fields by name.
            self._run.redactor.hide_fields(made.fields)
        # Kept without its bytes: a trace has thousands of snapshots.
        blob = self._run.put(MEDIA_TYPE, made.data)
        return blob, replace(made, data=b"")

    def _of_call(self, index: int, call: TraceCall) -> Iterator[Event]:
        before, after = self._main(call, *_AT), self._main(call, "after")
        element = self._element(call)
        shown = after if before is None else before
        page = self._page(call) if shown is None else shown.page
        action = action_of(call.begin, element) or actions.Unknown(name=call.method)
        action = self._moused(action, call, page)
        yield Step(
            index=index,
            t=self.ms(call.start),
            end=self.ms(call.over),
            page=self.tab(page) if page else None,
            action=self._masked(action),
            origin="imported",
            before=None if before is None else self._look(before, "before", call),
            url=after.url if after is not None else None,
            error=self._error(call),
            thought=self._thoughts.get(call.id),
            raw=self._hidden(raw_of(call.begin), action),
            log=tuple(self._without(line) for line in call.log),
            returned=_returned(call),
        )
        if after is not None:
            yield self._look(after, "after", call, of=index)
        # A tab that was closed has no page afterwards.
        elif self._trace.shown and call.end is not None and not isinstance(action, actions.CloseTab):
            self._state["snapshots"] = "partial"

    def _page(self, call: TraceCall) -> str:
        """Return the page of a call that nothing was shown of; version 10 leaves it to events."""
        method, start, over = call.method, call.start, call.over
        named = text(call.begin.get("pageId"))
        if named or start is None or over is None or method not in _PAGE_EVENTS:
            return named
        if method == "close":
            at = bisect_left(self._closed, start, key=_at)
            return next((page_id(one) for time, one in self._closed[at : at + 1] if time <= over), "")
        # The last dialog before the answer is the one that is open.
        at = bisect_right(self._asked, start, key=_at)
        return page_id(self._asked[at - 1][1]) if at else ""

    def _moused(self, action: actions.Action, call: TraceCall, page: str) -> actions.Action:
        """Return an action of the mouse where the mouse was: buttons go down and up where it moved last."""
        # The protocol sends no place with them.
        if isinstance(action, actions.MouseDown | actions.MouseUp):
            return replace(action, point=self._mouse.get(page, action.point))
        point = action.point if isinstance(action, actions.MouseMove | actions.MouseClick) else None
        if isinstance(
            action, actions.Click | actions.DblClick | actions.Hover | actions.Check | actions.Uncheck
        ):
            # Clicks move the mouse too.
            point = _numbers(call.input.get("point"), "x", "y")
        if point is not None:
            self._mouse[page] = point
        return action

    def _look(
        self, one: TraceSnapshot, role: str, call: TraceCall | None, of: int | None = None
    ) -> Observation:
        blob, made = self._snapshot(one)
        shot, is_exact = self._shot(one)
        tree = self._trace.trees.get((one.call, one.phase), "")
        self._has_trees = self._has_trees or tree in self._run.source
        return Observation(
            role=role,
            of=of,
            t=self.ms(one.at),
            page=self.tab(one.page),
            url=one.url,
            title=None if made is None else made.title,
            viewport=one.viewport,
            snapshot=blob,
            frames=() if made is None else self._frames(one, made),
            screenshot=shot,
            shot_exact=is_exact,
            a11y=self._run.put_file("text/yaml", tree) if tree in self._run.source else None,
        )

    def _frames(self, one: TraceSnapshot, made: Built) -> tuple[Frame, ...]:
        beside = {other.frame: other for other in self._trace.shown.get((one.call, one.phase), [])}
        found = []
        for _, id in made.frames[:256]:
            inner = beside.get(id)
            if inner is None or inner.is_main:
                found.append(Frame(why="unmatched"))
                continue
            blob, _ = self._snapshot(inner)
            found.append(Frame(snapshot=blob, url=inner.url))
        return tuple(found)

    def _shot(self, one: TraceSnapshot) -> tuple[Any, bool]:
        keyed = self._trace.shots.get((one.call, one.phase), "")
        if keyed in self._run.source:
            return self._run.image(keyed), True
        cast = self._trace.screencast.get(one.page, [])
        at = bisect_left(cast, (one.at, ""))
        # The screencast has frames of its own times; the nearest shows the page.
        near = sorted(cast[max(0, at - 1) : at + 1], key=lambda shot: abs(shot[0] - one.at))
        name = next((name for _, name in near if name in self._run.source), None)
        if name is None:
            self._state["screenshots"] = "partial"
            return None, True
        return self._run.image(name), False

    def _element(self, call: TraceCall) -> actions.Element | None:
        selector = _selector(call)
        for one in [one for phase in _AT for one in self._shown(call, phase)]:
            blob, made = self._snapshot(one)
            if (
                made is not None
                and made.target is not None
                and (made.is_named or call.id not in self._shared)
            ):
                node = actions.NodeRef(snapshot=blob, number=made.number) if isinstance(blob, str) else None
                return self._aimed(replace(made.target, ref=selector or None, node=node), call, one)
        if selector:
            self._state["targets"] = "partial"
        return self._aimed(actions.Element(ref=selector), call, None) if selector else None

    def _aimed(self, element: actions.Element, call: TraceCall, one: TraceSnapshot | None) -> actions.Element:
        point, box = call.input.get("point"), call.input.get("box")
        inner = one is not None and not one.is_main
        return replace(
            element,
            point=_numbers(point, "x", "y"),
            box=_numbers(box, "x", "y", "width", "height"),
            frame=self._ordinals(one) if one is not None and inner else (),
            frame_url=one.url if one is not None and inner else None,
        )

    def _ordinals(self, one: TraceSnapshot) -> tuple[int, ...]:
        """Return which frame of each document leads to a frame; empty where it is unknown."""
        found: list[int] = []
        shown = self._trace.shown.get((one.call, one.phase), [])
        frame = one.frame
        # Bounded: a damaged trace may have frames that hold each other.
        for _ in range(8):
            holder = next(
                ((other, at) for other in shown for at, id in self._inner(other) if id == frame), None
            )
            if holder is None:
                break
            found.insert(0, holder[1])
            frame = holder[0].frame
        return tuple(found)

    def _inner(self, one: TraceSnapshot) -> tuple[tuple[int, str], ...]:
        made = self._snapshot(one)[1]
        return () if made is None else made.frames

    def _error(self, call: TraceCall) -> Threw | None:
        end = call.end or self._trace.ends_of_runner.get(call.id)
        if end is None:
            return Threw(name="Unfinished", message="the trace ends before the call did")
        error = end.get("error")
        stated = error.get("error", error) if isinstance(error, dict) else None
        if isinstance(stated, dict) and stated.get("name") == OURS:
            return None  # a verdict that an export shows
        if not isinstance(stated, dict):
            return None
        return Threw(
            name=text(stated.get("name")) or "Error", message=self._without(text(stated.get("message")))
        )

    def _masked(self, action: actions.Action) -> actions.Action:
        value = typed(action)
        if value is None or self._run.options.keeps_secrets or not self._is_secret(action, value):
            return action
        self._learn(value)
        return replace(action, value=MASKED)

    def _learn(self, *passwords: str) -> None:
        """Know passwords from here on; where the run holds them elsewhere, it is read again without them."""
        self._passwords.update(passwords)
        for one in passwords:
            self._run.secret(one)

    def _is_secret(self, action: actions.Action, value: str) -> bool:
        element = action.element
        if element is not None and (element.type or "").lower() == "password":
            return True
        # A password may be typed in parts, a key at a time.
        return value in self._passwords or (
            len(value) >= SHORT and any(value in one for one in self._passwords)
        )

    def _unseen_password(self, call: TraceCall) -> Iterator[str]:
        """Yield what was typed into a field that nothing was shown of and whose selector names a password."""
        if self._run.options.keeps_secrets or any(self._shown(call, phase) for phase in _AT):
            return
        selector = _selector(call)
        action = action_of(call.begin, None) if _PASSWORD.search(selector) else None
        value = None if action is None else typed(action)
        if value:
            yield value

    def _hidden(self, raw: dict[str, Any] | None, action: actions.Action) -> dict[str, Any] | None:
        value = typed(action)
        if raw is None or value is None or self._masked(action) is action:
            return raw
        params = raw.get("params") or {}
        # The record holds the same text as the action.
        return {**raw, "params": {k: MASKED if v == value else v for k, v in params.items()}}

    def _without(self, line: str) -> str:
        # Longer ones first, as one may be a part of another.
        for one in sorted(self._passwords, key=len, reverse=True):
            line = line.replace(one, MASKED) if len(one) >= SHORT else line
        return line

    def _final(self, acting: list[TraceCall]) -> Observation | None:
        """Return the last page seen after the last action; None where nothing was seen since."""
        closed = {page_id(one) for _, one in self._closed}
        # Playwright 1.41 to 1.47 writes of no page that was closed.
        closed |= {
            text(one.begin.get("pageId")) for one in acting if isinstance(_action([one]), actions.CloseTab)
        }
        last = acting[-1].start or 0.0 if acting else 0.0
        afters = [
            one
            for (_, phase), group in self._trace.shown.items()
            for one in group
            if phase == "after" and one.is_main and one.page not in closed
        ]
        found = max(afters, key=lambda one: one.at, default=None)
        # An older page is not what the run ended with.
        is_late = found is not None and (found.at >= last or isinstance(_action(acting), actions.CloseTab))
        return self._look(found, "final", None) if found is not None and is_late else None


def _overlapping(calls: list[TraceCall]) -> set[str]:
    """Return the ids of calls, in order of their starts, that did not run by themselves."""
    found: set[str] = set()
    longest: TraceCall | None = None
    for call in calls:
        if longest is not None and (call.start or 0.0) < _over(longest):
            found |= {call.id, longest.id}
        longest = call if longest is None or _over(call) > _over(longest) else longest
    return found


def _selector(call: TraceCall) -> str:
    params = call.begin.get("params")
    return text(params.get("selector")) if isinstance(params, dict) else ""


def _over(call: TraceCall) -> float:
    return math.inf if call.over is None else call.over


def _returned(call: TraceCall) -> Any:
    result = None if call.end is None else call.end.get("result")
    return result if holds_data(result) else None


def _at(timed: tuple[float, Line]) -> float:
    return timed[0]


def _action(acting: list[TraceCall]) -> actions.Action | None:
    return action_of(acting[-1].begin, None) if acting else None


def _numbers(value: Any, *names: str) -> Any:
    """Return the rounded numbers of an object, None where one is missing."""
    found = [number(value.get(name)) for name in names] if isinstance(value, dict) else []
    return tuple(round(one) for one in found if one is not None) if found and None not in found else None
