"""Who reads recorded pages."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Literal, TypeAlias

from replaykit.errors import MissingExtra, NoBrowser, ReplayError

if TYPE_CHECKING:
    from replaykit.replay.offline_page.chromium_tier import Oracle
    from replaykit.replay.player import Replay

Tier: TypeAlias = Literal["static", "auto", "chromium"]
"""`static`: no browser is started; `auto`: an offline Chromium answers what static reading cannot;
`chromium`: it answers every locator that no live value answers."""


def oracle_of(replay: Replay, tier: Tier) -> AbstractContextManager[Oracle | None]:
    """Return who answers beside static reading: nobody for `static`, else a browser."""
    if tier == "static":
        return nullcontext()
    from replaykit.replay.offline_page.chromium_tier import Oracle

    return Oracle(replay, is_first=tier == "chromium")


def version_of(tier: Tier) -> str | None:
    """Return the version that answers depend on: none for `static`, empty where there is no browser."""
    if tier == "static":
        return None
    from replaykit.replay.offline_page.chromium_tier import shared

    try:
        return shared().version
    except (NoBrowser, MissingExtra, ReplayError):
        return ""
