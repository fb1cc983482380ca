"""Locators answered by the offline Chromium, for one run: pages are built when they are first asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from replaykit.errors import (
    LocatorLimit,
    MissingExtra,
    NoBrowser,
    ReplayError,
    SnapshotInvalid,
    Unsupported,
)
from replaykit.patterns import lazy_pattern
from replaykit.replay.offline_page.page_payload import Blueprint, blueprint_of
from replaykit.replay.offline_page.page_question import PageQuestion
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page
from replaykit.trajectory.observation import Read
from replaykit.trajectory.redaction_marks import MASKED, MASKED_OTHER

if TYPE_CHECKING:
    from replaykit.replay.offline_page.chromium import Chromium, Rebuilt


NO_BROWSER = "no browser was found: `replaykit install-browser` gets one"
"""Why Chromium cannot answer; without the words of this machine, since reports do not name machines."""

FAILED = "the browser failed on this page"
"""Why Chromium cannot answer for a page that crashes the browser."""

_CUT = lazy_pattern(r"⟦cut:\d+⟧")


def shared() -> Chromium:
    """Return the one browser of this process. Raises NoBrowser, MissingExtra, RecorderError."""
    # Loaded on demand: everything that grades loads this module, few ask for a browser.
    from replaykit.replay.offline_page import chromium

    return chromium.shared()


class ChromiumReader:
    """Asks an offline Chromium about the pages of one run; close it, or use it as a context manager."""

    def __init__(self, replay: Replay, chromium: Chromium | None = None, *, is_first: bool = False) -> None:
        """`is_first`: it answers before static reading; otherwise only what static reading cannot answer."""
        self.is_first = is_first
        self._replay = replay
        self._chromium = chromium
        self._built: dict[int, Rebuilt] = {}
        self._reworded: dict[int, Rebuilt] = {}
        """The same pages, with other words in place of what is masked or cut."""
        self._failed: set[int] = set()

    def __enter__(self) -> ChromiumReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def version(self) -> str | None:
        """`Chrome/156.0.8078.79`; None where there is no browser, or none was needed yet."""
        return None if self._chromium is None else self._chromium.version

    def read(self, page: Page, wanted: PageQuestion) -> Read:
        """Answer a locator on a recorded page.

        Raises Unsupported without a browser, if it fails, or if the recording does not show; LocatorLimit and
        SnapshotInvalid.
        """
        if page.place in self._failed:
            raise Unsupported(locator=wanted.locator, reason=FAILED)
        try:
            rebuilt = self._page(page)
            found = rebuilt.read(wanted)
            if not rebuilt.plan.is_whole:
                self._confirm(page, wanted, rebuilt.plan, found)
        except (NoBrowser, MissingExtra):
            raise Unsupported(locator=wanted.locator, reason=NO_BROWSER) from None
        except (Unsupported, LocatorLimit, SnapshotInvalid):
            raise
        except ReplayError as error:
            # A locator that breaks the browser is not tried again: each try may take a minute.
            self._failed.add(page.place)
            raise Unsupported(locator=wanted.locator, reason=FAILED) from error
        return found

    def close(self) -> None:
        """Close its pages; the browser stays for the next run."""
        for built in (self._built, self._reworded):
            for rebuilt in built.values():
                rebuilt.close()
            built.clear()

    def _page(self, page: Page) -> Rebuilt:
        if page.place not in self._built:
            self._built[page.place] = self._open(blueprint_of(page, self._replay))
        return self._built[page.place]

    def _confirm(self, page: Page, wanted: PageQuestion, plan: Blueprint, found: Read) -> None:
        """Raise Unsupported unless the answer is the same with other words for what is masked or cut."""
        if page.dom is not None and page.dom.snapshot.omitted:
            raise Unsupported(locator=wanted.locator, reason="the snapshot leaves elements out")
        if page.place not in self._reworded:
            shown = plan.tokens.replace(MASKED, "another text").replace(MASKED_OTHER, "another text")
            tokens = _CUT.sub("and so on", shown)
            self._reworded[page.place] = self._open(replace(plan, tokens=tokens))
        if self._reworded[page.place].read(wanted) != found:
            raise Unsupported(locator=wanted.locator, reason="it depends on text that is masked or cut")

    def _open(self, plan: Blueprint) -> Rebuilt:
        self._chromium = self._chromium or shared()
        return self._chromium.open(plan)
