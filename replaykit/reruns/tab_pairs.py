"""Tabs of two runs beside each other: distinguished by the order in which they were opened."""

from __future__ import annotations

from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page, State
from replaykit.trajectory.exchange import TabChange
from replaykit.trajectory.observation import Observation


def tab_order(replay: Replay) -> tuple[int, ...]:
    """Return the ordinals of a run's tabs: those of the start, then each as it was opened."""
    opened = (tab.page for tab in replay.trajectory.of_type(TabChange) if tab.state == "opened")
    found = [*start_urls(replay), *(page for page in opened if page is not None)]
    # A tab of the start is also reported as opened.
    return tuple(dict.fromkeys(found))


def start_urls(replay: Replay) -> dict[int, str]:
    """Return ordinal and URL of the tabs at the start, in order; of a run without tabs, its first page."""
    looks = [look for look in replay.trajectory.of_type(Observation) if look.role == "start"]
    tabs = {tab.page: tab.url for look in looks for tab in look.tabs}
    tabs |= {look.page: look.url for look in looks if look.page is not None and look.url}
    if tabs:
        return dict(sorted(tabs.items()))
    first = next((state for state in replay if state.before is not None and state.before.url), None)
    return {} if first is None or first.before is None else {first.step.page or 0: first.before.url or ""}


def last_looks(state: State) -> dict[int, Page]:
    """Return tab ordinal to the last look at it that followed the step."""
    looks = [*state.interim, *([state.after] if state.after is not None else [])]
    return {page.tab: page for page in looks if page.tab is not None}
