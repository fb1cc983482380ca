"""Steps: acts that pages and browser show, windows that the harness declares, thoughts that go before.

An act outside of any window is a step when it is over and all before it are. A window's acts wait until the
window is resolved: what was said and what was seen become one step per declared act.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.recorder.events import ms
from replaykit.recorder.ledger import Blob, Ledger, StepRef
from replaykit.recorder.merging import Merged, merge
from replaykit.recorder.messages import Said, StepEnter, StepExit
from replaykit.recorder.tabs import SKEW_MS
from replaykit.trajectory.action import Action
from replaykit.trajectory.observation import Observation, TabView
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import Step

REFS_MAX = 64
"""Acts that later events may still belong to."""


class Act(Struct, frozen=True, kw_only=True):
    """One act that is over."""

    ref: StepRef
    """The step that it will be part of."""
    page: int | None
    """Tab ordinal."""
    action: Action
    """What was done."""
    at: float
    """Start, ms."""
    end: float
    """End, ms."""
    seq: int = 0
    """The page's own counter."""
    before: Observation | None = None
    """The page acted on."""
    blobs: tuple[Blob, ...] = ()
    """What it refers to."""
    url: str | None = None
    """URL right after the act."""
    tabs: tuple[TabView, ...] = ()
    """Tabs right after the act."""
    error: Threw | None = None
    """The act failed."""


class Window:
    """What the harness declared, from enter to exit."""

    def __init__(self, enter: StepEnter, page: int | None) -> None:
        self.enter = enter
        self.page = page
        self.exit: StepExit | None = None
        self.acts: list[Act] = []
        self.begun: list[StepRef] = []
        self.ref = StepRef(enter.at, page)
        self.before: Observation | None = None
        self.blobs: tuple[Blob, ...] = ()
        self.url: str | None = None
        self.tabs: tuple[TabView, ...] = ()

    def was_closed(self, until: float | None) -> bool:
        """Whether it was closed until then; None = at all."""
        return self.exit is not None and (until is None or self.exit.at <= until)

    def covers(self, at: float) -> bool:
        """Whether an act at `at` falls into it."""
        is_over = self.exit is not None and at > self.exit.at + SKEW_MS
        return at >= self.enter.at - SKEW_MS and not is_over


class Stepping:
    """Numbers the steps and writes each one when it is over."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._windows: list[Window] = []
        self._line: list[StepRef] = []
        self._ready: dict[StepRef, Act] = {}
        self._refs: list[StepRef] = []
        self._thoughts: list[Said] = []
        self._turn = -1
        self.count = 0
        """Steps written so far."""

    @property
    def current(self) -> StepRef | None:
        """The latest step, over or not."""
        return self._refs[-1] if self._refs else None

    @property
    def previous(self) -> StepRef | None:
        """The latest step whose result can be looked at: not a window whose acts have their own."""
        idle = (ref for ref in reversed(self._refs) if not any(ref is w.ref for w in self._busy()))
        return next(idle, None)

    @property
    def window(self) -> Window | None:
        """The window that is open now."""
        last = self._windows[-1] if self._windows else None
        return last if last is not None and last.exit is None else None

    @property
    def has_windows(self) -> bool:
        """Whether declared steps wait for what pages may still tell."""
        return bool(self._windows)

    @property
    def promised(self) -> int:
        """Steps that there are and will be, as far as is known."""
        declared = sum(len(window.enter.actions) for window in self._windows)
        return self.count + len(self._line) + declared

    def ref_at(self, at: float) -> StepRef | None:
        """Return the step that an event at `at` may come from."""
        return next((ref for ref in reversed(self._refs) if ref.at <= at + 1), None)

    def think(self, thought: Said) -> None:
        """Keep a thought for the next step."""
        self._thoughts.append(thought)

    def leftover(self) -> str | None:
        """Return the thoughts that no step followed."""
        return _joined([thought.text for thought in self._thoughts])

    def enter(self, message: StepEnter, page: int | None) -> Window:
        """Open a window; one that is still open ends here."""
        if self.window is not None:
            self.exit(StepExit(at=message.at))
        window = Window(message, page)
        self._windows.append(window)
        self._note(window.ref)
        return window

    def exit(self, message: StepExit) -> Window | None:
        """Close the open window; it is resolved later, when pages have told all."""
        window = self.window
        if window is not None:
            window.exit = message
        return window

    def begin(self, at: float, page: int | None) -> StepRef:
        """Note that an act begins. Windows that it comes after are resolved."""
        self.leave_behind(at)
        ref = StepRef(at, page)
        window = self._window_at(at)
        (self._line if window is None else window.begun).append(ref)
        self._note(ref)
        return ref

    def done(self, act: Act) -> None:
        """Take in an act that is over; outside of windows it is a step when its turn comes."""
        window = next((one for one in self._windows if act.ref in one.begun), None)
        if window is not None:
            window.acts.append(act)
            return
        self._ready[act.ref] = act
        self._line += [] if act.ref in self._line else [act.ref]
        while self._line and self._line[0] in self._ready:
            self._observed(self._ready.pop(self._line.pop(0)))

    def finish(self) -> None:
        """Write every act that is over, whether those before it are or not, and resolve every window."""
        line, self._line = self._line, []
        for ref in line:
            if ref in self._ready:
                self._observed(self._ready.pop(ref))
        self.resolve()

    def _observed(self, act: Act) -> None:
        step = _step(act, act.action, origin="observed")
        self._write(step, [act], self._thoughts_until(act.at), None)

    def resolve(self, until: float | None = None) -> None:
        """Resolve the windows that were closed until then, or all of them."""
        while self._windows and self._windows[0].was_closed(until):
            self._resolve(self._windows.pop(0))

    def leave_behind(self, at: float) -> None:
        """Resolve the windows that an act at `at` comes after."""
        while self._windows and self._windows[0].was_closed(at) and not self._windows[0].covers(at):
            self._resolve(self._windows.pop(0))

    def _busy(self) -> list[Window]:
        return [window for window in self._windows if window.begun or window.exit is None]

    def is_declared(self, at: float) -> bool:
        """Whether an act at `at` belongs to a declared step."""
        return self._window_at(at) is not None

    def _window_at(self, at: float) -> Window | None:
        # Where two windows touch, the earlier one is over: its exit was said before.
        covering = [window for window in self._windows if window.covers(at)]
        exact = [w for w in covering if w.enter.at <= at and (w.exit is None or at <= w.exit.at)]
        return next(iter(exact or covering), None)

    def _note(self, ref: StepRef) -> None:
        # Messages of two tabs may cross: order is that of the acts.
        self._refs.append(ref)
        self._refs.sort(key=lambda one: one.at)
        del self._refs[:-REFS_MAX]

    def _thoughts_until(self, at: float) -> str | None:
        early = [thought for thought in self._thoughts if thought.at <= at + SKEW_MS]
        self._thoughts = [thought for thought in self._thoughts if thought.at > at + SKEW_MS]
        return _joined([thought.text for thought in early])

    def _resolve(self, window: Window) -> None:
        acts = sorted(window.acts, key=lambda act: act.at)
        thought = self._thoughts_until(window.exit.at if window.exit else window.enter.at)
        thought = _joined([text for text in (thought, window.enter.thought) if text])
        if not window.enter.actions:
            self._resolve_undeclared(window, acts, thought)
            return
        merged = merge(window.enter.actions, [act.action for act in acts])
        self._turn += len(merged) > 1
        turn = self._turn if len(merged) > 1 else None
        failed = _failed(merged) if window.exit and window.exit.error else None
        for number, one in enumerate(merged):
            step = replace(_merged_step(window, one, acts), turn=turn, raw=_plain(window.enter.raw))
            if number == failed and window.exit and window.exit.error:
                step = replace(step, error=Threw(name=window.exit.error[0], message=window.exit.error[1]))
            own = [acts[at] for at in one.acts]
            refs = [window.ref] if number == 0 else []
            self._write(step, own, thought if number == 0 else None, window, refs)

    def _resolve_undeclared(self, window: Window, acts: Sequence[Act], thought: str | None) -> None:
        """Write the acts of a window that said a thought or a raw text, but no act."""
        for number, act in enumerate(acts):
            step = _step(act, act.action, origin="observed")
            step = replace(step, raw=_plain(window.enter.raw))
            self._write(step, [act], thought if number == 0 else None, None)
        if not acts and thought is not None:
            self._thoughts.insert(0, Said(at=window.enter.at, kind="thought", text=thought))
        self._drop(window.ref)

    def _drop(self, ref: StepRef) -> None:
        """Let what waits for a window without steps go on: it belongs to the step before."""
        self._refs = [one for one in self._refs if one is not ref]
        if self.count:
            self._ledger.settle(ref, self.count - 1)
        else:
            self._ledger.release(ref)

    def _write(
        self,
        step: Step,
        acts: Sequence[Act],
        thought: str | None,
        window: Window | None,
        refs: Sequence[StepRef] = (),
    ) -> None:
        index, self.count = self.count, self.count + 1
        blobs = [blob for act in acts for blob in act.blobs]
        if window is not None:
            blobs += window.blobs
        self._ledger.write(replace(step, index=index, thought=thought), blobs)
        for ref in (*refs, *(act.ref for act in acts)):
            if ref.index is None:
                self._ledger.settle(ref, index)


def _step(act: Act, action: Action, *, origin: str) -> Step:
    return Step(
        t=ms(act.at),
        page=act.page,
        seq=act.seq,
        index=0,
        action=action,
        origin=origin,
        before=act.before,
        end=ms(act.end),
        url=act.url,
        tabs=act.tabs,
        error=act.error,
    )


def _merged_step(window: Window, merged: Merged, acts: Sequence[Act]) -> Step:
    """Return the step of one declared act: times and page of the act that it was, else of the window."""
    own = [acts[at] for at in merged.acts]
    if merged.matched is None:
        step = _declared_step(window, merged)
    else:
        act = acts[merged.matched]
        step = _step(act, merged.action, origin=merged.origin)
        step = replace(step, before=step.before or window.before)
    is_listed = len(own) > 1 or merged.declared is not None
    seen = tuple(_timed(act) for act in own) if is_listed else ()
    return replace(step, declared=merged.declared, observed=seen, seen=merged.seen)


def _declared_step(window: Window, merged: Merged) -> Step:
    return Step(
        t=ms(window.enter.at),
        page=window.page,
        index=0,
        action=merged.action,
        origin=merged.origin,
        before=window.before,
        end=ms(window.exit.at) if window.exit else None,
        url=window.url,
        tabs=window.tabs,
    )


def _timed(act: Act) -> Action:
    return replace(act.action, t=ms(act.at), end=ms(max(act.at, act.end)))


def _failed(merged: Sequence[Merged]) -> int:
    """Return which of several acts an exception belongs to: the first that was not seen, else the last."""
    unseen = (number for number, one in enumerate(merged) if not one.seen)
    return next(unseen, len(merged) - 1)


def _joined(texts: Sequence[str]) -> str | None:
    return "\n".join(texts) if texts else None


def _plain(value: Any) -> Any:
    """Return a harness's own record as JSON can hold it; what it cannot hold becomes its text."""
    try:
        return msgspec.to_builtins(value, str_keys=True)
    except (TypeError, ValueError, RecursionError):
        return str(value)
