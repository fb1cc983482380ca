"""Explicit steps: what the harness says before and after an action, and what is looked at in between."""

from __future__ import annotations

from collections.abc import Callable

from replaykit.recorder.session.action_tracker import GRACE_MS, ActionTracker
from replaykit.recorder.session.declared_steps import DeclaredWindow
from replaykit.recorder.session.driver_messages import Pause, StepEnter, StepExit
from replaykit.recorder.session.navigation.navigations import NavigationTracker
from replaykit.recorder.session.observations.observation_scheduler import ObservationScheduler
from replaykit.recorder.session.outbox import Flow, StepRef
from replaykit.recorder.session.session_state import SessionState
from replaykit.recorder.session.tabs import Tab
from replaykit.trajectory.action import FocusTab


class HarnessSteps:
    """Opens and closes the windows of declared steps."""

    def __init__(
        self,
        state: SessionState,
        observations: ObservationScheduler,
        action_tracker: ActionTracker,
        navigating: NavigationTracker,
        *,
        on_enter: Callable[[float], None],
    ) -> None:
        self._flows = state.flows
        self._tabs = state.tabs
        self._steps = state.steps
        self._capture = state.capture
        self._observations = observations
        self._action_tracker = action_tracker
        self._navigations = navigating
        self._on_enter = on_enter

    def enter(self, message: StepEnter) -> None:
        """Open a window, and look at the page."""
        self._on_enter(message.at)
        # Windows before it stay unresolved: messages of their actions may still be on their way.
        if self._action_tracker.is_full:
            self._action_tracker.on_limit(message.at)
            return
        previous = self._steps.previous
        window = self._steps.enter(message, self._tabs.active)
        tab = self._tabs.get(self._tabs.active)
        if tab is None or not tab.is_open:
            return
        if _is_changed(tab):
            self._flows.start(self._looking(window, tab, previous))
        else:
            seen, blobs = self._capture.before(tab, tab.latest, message.at)
            window.before, window.blobs = seen, tuple(blobs)
            # The next action follows: a screenshot that waits longer would show what this action does.
            self._observations.hurry(message.at)

    def exit(self, message: StepExit) -> None:
        """Close the window; it is resolved when pages had the time to report its actions."""
        window = self._steps.exit(message)
        if window is None:
            return
        self._focus(window)
        tab = self._tabs.get(self._tabs.active)
        window.url, window.tabs = tab.url if tab else None, self._tabs.views()
        # Actions that were seen are watched one by one.
        if tab is not None and not window.begun:
            self._observations.watch(tab, window.ref)
        self._flows.start(self._run_ending(message.at), counts=False)

    def resolve(self, until: float) -> None:
        """Resolve the windows that are closed: what they hold is over."""
        if self._steps.has_windows:
            # Gestures and navigations first: what they end still belongs to these windows.
            self._action_tracker.settle_all(until)
            self._navigations.settle(until)
            self._steps.resolve(until)

    def _looking(self, window: DeclaredWindow, tab: Tab, previous: StepRef | None) -> Flow:
        shown = yield from self._capture.ask(tab, "before", is_owed=False)
        if shown is not None:
            seen, blobs = self._capture.before(tab, shown, shown.at)
            window.before, window.blobs = seen, tuple(blobs)
        if previous is not None:
            self._observations.overtaken(tab, previous, self._action_tracker.now)

    def _run_ending(self, at: float) -> Flow:
        yield Pause(id=0, ms=GRACE_MS)
        self.resolve(at)

    def _focus(self, window: DeclaredWindow) -> None:
        """Follow a declared change of tabs, which leaves no event."""
        for action in window.enter.actions:
            if isinstance(action, FocusTab):
                pages = [tab.page for tab in self._tabs.open]
                index = action.tab if action.tab is not None and action.tab < len(pages) else None
                page = action.to_page if index is None else pages[index]
                self._tabs.active = page if page in pages else self._tabs.active


def _is_changed(tab: Tab) -> bool:
    """Whether a page may have changed since its latest snapshot."""
    latest = tab.latest
    if latest is None or latest.push.purpose != "rest" or not latest.push.settled:
        return True
    return tab.reported_at > latest.at
