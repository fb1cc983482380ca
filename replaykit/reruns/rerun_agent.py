"""The agent that re-executes a recorded run: one step after the other, as long as each finds its element.

It stops at the first step that it cannot perform. On a different page, later steps would be other actions
than the recorded ones, such as a click on whatever is at the button's old place.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from playwright.sync_api import Error

from replaykit.recorder.live_run import LiveRun
from replaykit.replay.run_state import same_url
from replaykit.reruns.allowed_addresses import Addresses
from replaykit.reruns.element_lookup import FoundElement, look
from replaykit.reruns.playwright_calls import on_element, on_page
from replaykit.reruns.rerun_plan import Move, RerunPlan
from replaykit.reruns.step_outcomes import Became, StepOutcome
from replaykit.trajectory.action import Action, ActionBase, DragAndDrop, Element, UploadFile
from replaykit.trajectory.exchange import Dialog

if TYPE_CHECKING:
    from playwright.sync_api import Dialog as LiveDialog
    from playwright.sync_api import Page

TURN_MS = 50
"""Between two looks for something that is not there yet."""

_QUIET = """
limit => new Promise(done => {
  const end = () => { watch.disconnect(); clearTimeout(last); done(); };
  let rest = setTimeout(end, 300);
  const last = setTimeout(end, limit);
  const watch = new MutationObserver(() => { clearTimeout(rest); rest = setTimeout(end, 300); });
  watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
})
"""
"""Resolves when nothing in the page has changed for 300 ms, or the limit in ms is over."""


class _Halt(Exception):
    """The step cannot be done; its text stands in the recording."""

    def __init__(self, state: Became, why: str, found: FoundElement | None = None) -> None:
        super().__init__(why)
        self.state, self.why = state, why
        self.before = found.before if found else None
        self.after = found.after if found else None


class Walk:
    """Carries out a plan; a function `fn(page, task, run)` as recordings take it. `patience` in seconds."""

    __name__ = "rerun"

    def __init__(self, plan: RerunPlan, places: Addresses, patience: float) -> None:
        self.outcomes: list[StepOutcome] = []
        """Outcome of each step, up to the one where the walk ended."""
        self._plan, self._places, self._patience = plan, places, patience
        self._tabs: list[Page] = []
        self._dialogs: list[Dialog] = []
        self._in_vain: set[str] = set()

    def __call__(self, page: Page, task: object, run: Any) -> None:
        """Do every step on the pages of the context, and stop where one cannot be done."""
        # Kept here: Playwright's list loses closed tabs, and ordinals would move up.
        self._tabs = list(page.context.pages)
        page.context.on("page", self._opened)
        page.context.on("dialog", self._answer)
        for one in self._tabs:
            self._rest(one)
        for move in self._plan.moves:
            outcome = self._outcome(move, run)
            self.outcomes.append(outcome)
            if outcome.state not in ("done", "skipped"):
                return

    def _outcome(self, move: Move, run: LiveRun) -> StepOutcome:
        done = StepOutcome(step=move.step, state="done")
        if move.skipped is not None:
            return replace(done, state="skipped", why=move.skipped)
        try:
            moved = self._move(move, run)
        except _Halt as halt:
            return replace(done, state=halt.state, why=halt.why, before=halt.before, after=halt.after)
        except Error as error:
            # The lines below are Playwright's call log, which holds addresses and waits.
            return replace(done, state="failed", why=error.message.splitlines()[0][:300])
        return done if moved is None else replace(done, why="moved", before=moved.before, after=moved.after)

    def _move(self, move: Move, run: Any) -> FoundElement | None:
        """Do one step; returns the last target that was not in its place."""
        moved = None
        declared = _bare(move.actions[0]) if move.actions else None
        with run.step(declared, raw={"rerun": move.step}):
            if move.refused is not None:
                raise _Halt("refused", move.refused)
            page = self._page(move)
            self._dialogs = list(move.dialogs)
            for action in move.actions:
                found = self._perform(action, page, move.files)
                moved = found if found is not None and found.state == "moved" else moved
            self._arrive(page, move.leads_to)
            # A step may have opened a tab, whose first state is to be recorded too.
            for one in {page, self._tabs[-1]}:
                self._rest(one)
        return moved

    def _perform(self, action: Action, page: Page, files: Sequence[Path]) -> FoundElement | None:
        limit = self._patience * 1000
        if action.element is None:
            if not on_page(action, page, limit):
                raise _Halt("refused", "the recording does not show where it was done")
            return None
        found = self._target(page, action.element)
        to = action.to if isinstance(action, DragAndDrop) else None
        if isinstance(action, DragAndDrop) and to is None:
            raise _Halt("refused", "the recording does not show where it was dropped")
        if isinstance(action, UploadFile):
            found.locator.set_input_files(list(files), timeout=limit)
            return found
        on_element(action, found.locator, self._target(page, to).locator if to else None, limit)
        return found

    def _target(self, page: Page, element: Element) -> FoundElement:
        """Wait for the element, at most as long as patience lasts."""
        deadline = monotonic() + self._patience
        found = _looked(page, element)
        while found.state not in ("found", "moved") and monotonic() < deadline:
            page.wait_for_timeout(TURN_MS)
            found = _looked(page, element)
        if found.state == "missing":
            raise _Halt("missing", "its target is not there", found)
        if found.state == "changed":
            raise _Halt("changed", "another element stands in the place of its target", found)
        return found

    def _page(self, move: Move) -> Page:
        """Return the tab of a step, once it is where the step was done."""
        page = self._tab(move.page)
        self._arrive(page, move.url)
        # A live page may lead anywhere by itself; nothing is done there.
        if page.url != "about:blank" and not self._places.allows(page.url):
            raise _Halt("refused", f"the page is at {page.url[:200]!r}, which no root covers")
        return page

    def _arrive(self, page: Page, url: str | None) -> None:
        """Wait until the page is where it is due; a URL that did not come once is waited for no more."""
        if url is None or url in self._in_vain or page.is_closed() or same_url(page.url, url):
            return
        try:
            page.wait_for_url(lambda now: same_url(now, url), timeout=self._patience * 1000)
        except Error:
            # Each step on that page would wait as long.
            self._in_vain.add(url)  # reported as a difference

    def _tab(self, ordinal: int | None) -> Page:
        tabs = self._plan.tabs
        place = tabs.index(ordinal) if ordinal in tabs else 0
        deadline = monotonic() + self._patience
        while place >= len(self._tabs) and monotonic() < deadline:
            open_ones = [page for page in self._tabs if not page.is_closed()]
            if not open_ones:
                break
            # `time.sleep` would stop Playwright's events, such as that of the new tab.
            open_ones[-1].wait_for_timeout(TURN_MS)
        if place >= len(self._tabs) or self._tabs[place].is_closed():
            raise _Halt("missing", f"its tab, number {place}, is not open")
        return self._tabs[place]

    def _rest(self, page: Page) -> None:
        """Wait until the page rests, so that the recorder sees it as it stays."""
        with suppress(Error):
            page.wait_for_load_state("load", timeout=self._patience * 1000)
            page.evaluate(_QUIET, self._patience * 1000)

    def _opened(self, page: Page) -> None:
        self._tabs.append(page)

    def _answer(self, dialog: LiveDialog) -> None:
        """Answer a dialog as it was answered; one that did not come up then is dismissed."""
        recorded = self._dialogs.pop(0) if self._dialogs else None
        if recorded is not None and recorded.kind == dialog.type and recorded.accepted:
            # An unanswered dialog blocks the page for good.
            dialog.accept(recorded.input or "")
        else:
            dialog.dismiss()


def _looked(page: Page, element: Element) -> FoundElement:
    try:
        return look(page, element)
    except Error:  # the page went away under the look, or no such frame is there
        return FoundElement(state="missing", before=element.css or "no place")


def _bare(action: ActionBase) -> ActionBase:
    """Return the action that the step declares: its element is what the recorder sees."""
    return replace(action, element=None, t=None, end=None)
