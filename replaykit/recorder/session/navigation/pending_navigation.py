"""A navigation under way: what is known of it while it lasts."""

from __future__ import annotations

from replaykit.recorder.session.driver_messages import Navigated
from replaykit.recorder.session.navigation.initiator import HISTORY, Origin, Sign
from replaykit.recorder.session.navigation.requested_addresses import elsewhere
from replaykit.recorder.session.observations.snapshot_history import PushedSnapshot
from replaykit.recorder.session.outbox import Blob, StepRef
from replaykit.recorder.session.tabs import Tab
from replaykit.trajectory.action import Action, Goto
from replaykit.trajectory.observation import Observation


class PendingNavigation:
    """A navigation under way."""

    loader: str | None = None
    """Its id, once it has started."""
    type: str | None = None
    is_asked = False
    """It is certain that somebody outside of the page asked for it."""
    is_own = False
    """It is certain that the page moved by itself."""
    is_open = True
    """The document that it leaves or the one that it leads to may show whose it is."""
    ref: StepRef | None = None
    """The agent's own action."""
    is_done = False
    """That action is over."""
    before: Observation | None = None
    is_late = False
    """It began while no one knew whose it was."""
    left: PushedSnapshot | None = None
    """Snapshot of the page at that moment."""
    after: StepRef | None = None
    """The action that it is an effect of, if it is the page's."""

    def __init__(self, message: Navigated, tab: Tab, toucher: Tab | None) -> None:
        self.message = message
        """First report of the browser."""
        self.at = message.at
        self.url = message.url
        self.reason = message.reason
        self.is_touched = toucher is not None and toucher.was_touched(message.at)
        self.is_touched_here = toucher is not None and toucher.was_touched(message.at, here=True)
        self.activated = tab.activated
        """Origin of the document that it leaves, where a gesture has activated it."""
        self.action: Action = Goto(url=message.url)
        """Its action, as far as is known when it begins."""
        self.blobs: list[Blob] = []

    @property
    def is_loading(self) -> bool:
        """Whether it has started to load another document."""
        return bool(self.type) and "samedocument" not in (self.type or "").lower()

    @property
    def is_in_history(self) -> bool:
        """Whether it goes back or forward."""
        return self.type in HISTORY

    def requested(self, found: Origin, url: str) -> str | None:
        """Return what the page first asked for, if it led elsewhere; of the agent, its action states it."""
        return elsewhere(self.url, url) if self.is_loading and found.cause != "agent" else None

    def sign(self, message: Navigated, *, is_popup: bool, direction: str | None) -> Sign:
        """Return what is known once it is over."""
        return Sign(
            type=self.type or (None if message.stage == "within" else message.navigation_type),
            reason=self.reason,
            within=message.navigation_type if message.stage == "within" else None,
            direction=direction,
            is_popup=is_popup,
            is_touched=self.is_touched,
            is_touched_here=self.is_touched_here,
            is_asked=self.is_asked,
            is_own=self.is_own,
            is_open=self.is_open,
        )

    def take_call(self, tab: Tab, message: Navigated) -> None:
        """Record that the agent has asked its driver to go there; one call goes to one place."""
        if tab.is_travelling and (self.type or message.navigation_type) in HISTORY:
            self.is_asked, tab.is_travelling = True, False
