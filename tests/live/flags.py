"""Options of the browsers that tests start by Playwright."""

from __future__ import annotations

from replaykit.browser import FEATURES_OFF, UNSEEN
from replaykit.recorder.agent_runs import PLAYWRIGHT_OFF

SPARE = "SpareRendererForSitePerProcess"
"""Off: a process in wait for the next site would end unused with its context, a quarter of what a context costs."""

LEAN = FEATURES_OFF + ",".join((*PLAYWRIGHT_OFF, *UNSEEN, SPARE))
"""No process per context that nobody needs; otherwise the features that Playwright turns off."""

FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    LEAN,
]
"""Of the browser that most tests share."""
