"""Which reader answers questions about a recorded page: static reading, an offline Chromium, or both."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Literal, TypeAlias

from replaykit.errors import MissingExtra, NoBrowser, ReplayError

if TYPE_CHECKING:
    from replaykit.replay.offline_page.chromium_reader import ChromiumReader
    from replaykit.replay.player import Replay

PageReader: TypeAlias = Literal["static", "auto", "chromium"]
"""`static`: no browser is started; `auto`: an offline Chromium answers what static reading cannot;
`chromium`: it answers every locator that no live value answers."""


def chromium_reader_for(replay: Replay, reader: PageReader) -> AbstractContextManager[ChromiumReader | None]:
    """Return the reader that answers in addition to static reading; None for `static`."""
    if reader == "static":
        return nullcontext()
    from replaykit.replay.offline_page.chromium_reader import ChromiumReader

    return ChromiumReader(replay, is_first=reader == "chromium")


def version_of(reader: PageReader) -> str | None:
    """Return the version that answers depend on: none for `static`, empty where there is no browser."""
    if reader == "static":
        return None
    from replaykit.replay.offline_page.chromium_reader import shared

    try:
        return shared().version
    except (NoBrowser, MissingExtra, ReplayError):
        return ""
