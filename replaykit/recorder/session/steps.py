"""Steps: actions that pages and browser show, windows that the harness declares, thoughts that go before.

An action outside of any window is a step when it and all before it are over. A window's actions wait until
the window is resolved: what was declared and what was seen become one step per declared action.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from replaykit.recorder.session.declared_steps import DeclaredAction, DeclaredWindow, plain, step_of, steps_of
from replaykit.recorder.session.driver_messages import StepEnter, StepExit, Utterance
from replaykit.recorder.session.outbox import Outbox, StepRef
from replaykit.recorder.session.page_message import ms
from replaykit.recorder.session.tabs import SKEW_MS
from replaykit.trajectory.step import Step

REFS_MAX = 64
"""Actions that later events may still belong to."""


class StepRecorder:
    """Numbers the steps in the order in which they began, and writes each one when it is over."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._line: list[StepRef | DeclaredWindow] = []
        self._ready: dict[StepRef, DeclaredAction] = {}
        self._refs: list[StepRef] = []
        self._thoughts: list[Utterance] = []
        self._turn = -1
        self._latest = 0
        self.count = 0
        """Steps written so far."""

    @property
    def current(self) -> StepRef | None:
        """The latest step, over or not."""
        return self._refs[-1] if self._refs else None

    @property
    def previous(self) -> StepRef | None:
        """The latest step whose result can be looked at: not a window whose actions have their own."""
        busy = [window.ref for window in self._windows if window.begun or window.exit is None]
        return next((ref for ref in reversed(self._refs) if ref not in busy), None)

    @property
    def window(self) -> DeclaredWindow | None:
        """The window that is open now."""
        return next((window for window in self._windows if window.exit is None), None)

    @property
    def has_windows(self) -> bool:
        """Whether declared steps wait for what pages may still report."""
        return bool(self._windows)

    @property
    def promised(self) -> int:
        """Steps that there are and will be, as far as is known."""
        waiting = (len(one.enter.actions) if isinstance(one, DeclaredWindow) else 1 for one in self._line)
        return self.count + sum(waiting)

    def ref_at(self, at: float, slack: float = 1.0) -> StepRef | None:
        """Return the step that an event at `at` may come from; another clock's times need slack, ms."""
        return next((ref for ref in reversed(self._refs) if ref.at <= at + slack), None)

    def index_of(self, ref: StepRef) -> int | None:
        """Return the index of a step, also of one that is not over yet; None where it may never be a step."""
        index = self.count
        for one in self._line if ref.index is None else ():
            refs = [one.ref, *one.begun] if isinstance(one, DeclaredWindow) else [one]
            if ref in refs:
                return index if not isinstance(one, DeclaredWindow) or one.size else None
            index += one.size if isinstance(one, DeclaredWindow) else 1
        return ref.index

    def is_declared(self, at: float, *, is_gesture: bool = True) -> bool:
        """Whether an action at `at` belongs to a declared step."""
        return self._window_at(at, is_gesture=is_gesture) is not None

    def think(self, thought: Utterance) -> None:
        """Keep a thought for the next step."""
        self._thoughts.append(thought)

    def leftover(self) -> str | None:
        """Return the thoughts that no step followed."""
        return _joined([thought.text for thought in self._thoughts])

    def enter(self, message: StepEnter, page: int | None) -> DeclaredWindow:
        """Open a window; one that is still open ends here."""
        self.exit(StepExit(at=message.at))
        window = DeclaredWindow(message, page)
        self._queue(window)
        self._note(window.ref)
        return window

    def exit(self, message: StepExit) -> DeclaredWindow | None:
        """Close the open window; it is resolved later, when pages have reported all."""
        window = self.window
        if window is not None:
            window.exit = message
            window.thoughts = tuple(self._thoughts)
        return window

    def begin(self, at: float, page: int | None, *, is_gesture: bool = True) -> StepRef:
        """Note that an action begins. Windows that it comes after are resolved."""
        self.leave_behind(at, is_gesture=is_gesture)
        ref = StepRef(at, page)
        window = self._window_at(at, is_gesture=is_gesture)
        if window is None:
            self._queue(ref)
        else:
            window.begun.append(ref)
        self._note(ref)
        return ref

    def done(self, action: DeclaredAction) -> None:
        """Record that an action is over; outside of windows it is a step when its turn comes."""
        windows = (one for one in self._line if isinstance(one, DeclaredWindow) and action.ref in one.begun)
        window = next(windows, None)
        if window is not None:
            window.actions.append(action)
            return
        if action.ref not in self._line:
            self._queue(action.ref)
        self._ready[action.ref] = action
        self._advance()

    def resolve(self, until: float | None = None) -> None:
        """Resolve the windows that were closed until then, or all of them."""
        for window in self._windows:
            window.is_resolved = window.was_closed(until)
        self._advance()

    def leave_behind(self, at: float, *, is_gesture: bool) -> None:
        """Resolve the windows that an action at `at` comes after."""
        for window in self._windows:
            window.is_resolved = window.was_closed(at) and not (is_gesture and window.covers(at))
        self._advance()

    def finish(self) -> None:
        """Write every step that is over, whether those before it are or not."""
        for window in self._line:
            if isinstance(window, DeclaredWindow):
                # An action that never ended has nothing to write, and must not hold back the steps after it.
                window.begun = [action.ref for action in window.actions]
        self._line = [one for one in self._line if isinstance(one, DeclaredWindow) or one in self._ready]
        self.resolve()

    @property
    def _windows(self) -> list[DeclaredWindow]:
        return [one for one in self._line if isinstance(one, DeclaredWindow) and not one.is_resolved]

    def _window_at(self, at: float, *, is_gesture: bool) -> DeclaredWindow | None:
        if not is_gesture:
            # The browser's word comes in order with the harness's; only pages are late.
            return self.window
        # Where two windows touch, the earlier one is over: its exit was reported before.
        covering = [window for window in self._windows if window.covers(at)]
        exact = [w for w in covering if w.enter.at <= at and (w.exit is None or at <= w.exit.at)]
        return exact[0] if exact else min(covering, key=lambda window: window.distance(at), default=None)

    def _queue(self, one: StepRef | DeclaredWindow) -> None:
        # Messages of two tabs may cross: order is that of the actions.
        self._line.append(one)
        self._line.sort(key=lambda slot: slot.at)

    def _advance(self) -> None:
        while self._line and self._is_over(self._line[0]):
            first = self._line.pop(0)
            if isinstance(first, DeclaredWindow):
                self._resolve(first)
            else:
                self._observed(self._ready.pop(first))

    def _is_over(self, one: StepRef | DeclaredWindow) -> bool:
        return one.is_complete if isinstance(one, DeclaredWindow) else one in self._ready

    def _observed(self, action: DeclaredAction) -> None:
        step = step_of(action, action.action)
        self._write(step, [action], self._thoughts_until(action.at), None)

    def _note(self, ref: StepRef) -> None:
        # Messages of two tabs may cross: order is that of the actions.
        self._refs.append(ref)
        self._refs.sort(key=lambda one: one.at)
        del self._refs[:-REFS_MAX]

    def _thoughts_until(self, at: float) -> str | None:
        early = [thought for thought in self._thoughts if thought.at <= at + SKEW_MS]
        self._thoughts = [thought for thought in self._thoughts if thought.at > at + SKEW_MS]
        return _joined([thought.text for thought in early])

    def _thoughts_in(self, window: DeclaredWindow) -> str | None:
        """Take the thoughts before the end of a window; by order, since lines read at once have one time."""
        if window.exit is None:
            return self._thoughts_until(window.at)
        early = [thought for thought in self._thoughts if thought in window.thoughts]
        self._thoughts = [thought for thought in self._thoughts if thought not in window.thoughts]
        return _joined([thought.text for thought in early])

    def _resolve(self, window: DeclaredWindow) -> None:
        thought = self._thoughts_in(window)
        thought = _joined([text for text in (thought, window.enter.thought) if text])
        if not window.enter.actions:
            self._resolve_undeclared(window, thought)
            return
        is_turn = len(window.enter.actions) > 1
        self._turn += is_turn
        for number, (step, actions) in enumerate(steps_of(window, self._turn if is_turn else None)):
            is_first = number == 0
            refs = [window.ref] if is_first else []
            self._write(step, actions, thought if is_first else None, window, refs)

    def _resolve_undeclared(self, window: DeclaredWindow, thought: str | None) -> None:
        """Write the actions of a window that reported a thought or a raw text, but no action."""
        actions = sorted(window.actions, key=lambda action: action.at)
        for number, action in enumerate(actions):
            step = step_of(action, action.action)
            step = replace(step, raw=plain(window.enter.raw))
            self._write(step, [action], thought if number == 0 else None, None)
        if not actions and thought is not None:
            # The window made no step: its thought belongs to the next one.
            self._thoughts.insert(0, Utterance(at=window.enter.at, kind="thought", text=thought))
        self._drop(window.ref)

    def _drop(self, ref: StepRef) -> None:
        """Let what waits for a window without steps go on: it belongs to the step before."""
        self._refs = [one for one in self._refs if one is not ref]
        if self.count:
            self._outbox.settle(ref, self.count - 1)
        else:
            self._outbox.release(ref)

    def _write(
        self,
        step: Step,
        actions: Sequence[DeclaredAction],
        thought: str | None,
        window: DeclaredWindow | None,
        refs: Sequence[StepRef] = (),
    ) -> None:
        index, self.count = self.count, self.count + 1
        blobs = [blob for action in actions for blob in action.blobs]
        if window is not None:
            blobs += window.blobs
        # Readers sort by time: a clock that goes back must not turn steps around.
        self._latest = max(self._latest, step.t or 0)
        end = step.end if step.end is None else max(step.end, self._latest)
        step = replace(step, index=index, thought=thought, t=self._latest, end=end)
        if window is not None and window.enter.stated_at is not None:
            step = replace(step, stated_at=ms(window.enter.stated_at))
        self._outbox.write(step, blobs)
        for ref in (*refs, *(action.ref for action in actions)):
            if ref.index is None:
                self._outbox.settle(ref, index)


def _joined(texts: Sequence[str]) -> str | None:
    return "\n".join(texts) if texts else None
