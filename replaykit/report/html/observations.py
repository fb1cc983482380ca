"""Every look at a page that a run took, and which one shows what a step acted on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from replaykit.report.html.bounded_text import line, without_empty
from replaykit.report.html.page_documents import PageKey, page_key
from replaykit.trajectory.exchange import Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Step, Trajectory

Plain = dict[str, Any]
"""A part of a run's data: JSON all through."""


class Looks(Struct, kw_only=True):
    """The looks of a run in story order; others name one by its position."""

    rows: list[Plain] = field(default_factory=list)
    """One look each."""
    pages: dict[str, PageKey] = field(default_factory=dict)
    """Drawn pages to be made, by name."""
    screenshots: dict[str, None] = field(default_factory=dict)
    """Blobs of screenshots, in order, each once."""
    before: dict[int, int] = field(default_factory=dict)
    """Step to the look inside of its action."""
    after: dict[int, int] = field(default_factory=dict)
    """Step to the last look that followed."""
    shown: dict[int, int] = field(default_factory=dict)
    """Step to the screenshot that shows best what was acted on."""
    marked: set[int] = field(default_factory=set)
    """Steps whose screenshot shows the very document that was acted on: their targets can be drawn on it."""


def looks(run: Trajectory) -> Looks:
    """Return every look of a run."""
    found = Looks()
    with_screenshot: dict[int | None, list[int]] = {}
    places: list[tuple[Step, int]] = []
    for event in run.events:
        if isinstance(event, Step):
            if event.before is not None:
                found.before[event.index] = _add(found, event.before, run)
            places.append((event, len(with_screenshot.get(event.page, ()))))
        elif isinstance(event, Observation):
            at = _add(found, event, run)
            if event.role == "after" and event.of is not None:
                found.after[event.of] = at
            if "screenshot" in found.rows[at]:
                with_screenshot.setdefault(event.page, []).append(at)
    documents = Documents(run)
    for step, place in places:
        _show(found, step, with_screenshot.get(step.page, []), place, documents)
    return found


class Documents:
    """Which document a tab showed when: the first is 0, each later one adds 1."""

    def __init__(self, run: Trajectory) -> None:
        self._times: dict[int | None, list[int]] = {}
        self._is_timed = True
        for one in run.of_type(Navigation):
            if one.committed and not one.frame and not one.same_document:
                self._is_timed &= one.t is not None
                self._times.setdefault(one.page, []).append(one.t or 0)
        for times in self._times.values():
            times.sort()

    def at(self, tab: int | None, t: int | None) -> int | None:
        """Return the ordinal of the document; None where the recording does not say when it came."""
        return bisect_right(self._times.get(tab, ()), t) if self._is_timed and t is not None else None


def _show(found: Looks, step: Step, with_screenshot: list[int], place: int, documents: Documents) -> None:
    """Choose the screenshot of the page acted on.

    In this order: the screenshot taken inside the action; the last one of the same document before it, or one
    requested by an earlier step and taken late (agents are faster than screenshots); the last one of the same
    URL, or of any. In the last case no target is drawn.
    """
    own = found.before.get(step.index)
    if own is not None and "screenshot" in found.rows[own]:
        found.shown[step.index] = own
        found.marked.add(step.index)
        return
    earlier = with_screenshot[max(0, place - 2) : place][::-1]
    late = [at for at in with_screenshot[place : place + 2] if found.rows[at].get("of", -1) < step.index]
    acted = documents.at(step.page, step.t)
    near = (*earlier, *late)
    same = [at for at in near if acted is not None and _document(found.rows[at], documents) == acted]
    url = found.rows[own].get("url") if own is not None else None
    alike = [at for at in near if url is None or found.rows[at].get("url") == url]
    chosen = next(iter((*same, *alike, *earlier)), None)
    if chosen is not None:
        found.shown[step.index] = chosen
    if same:
        found.marked.add(step.index)


def _document(row: Plain, documents: Documents) -> int | None:
    return documents.at(row.get("tab"), row.get("shot", row.get("t")))


def _add(found: Looks, seen: Observation, run: Trajectory) -> int:
    key = page_key(seen.snapshot, seen.frames)
    if key is not None:
        found.pages.setdefault(key.name, key)
    if isinstance(seen.screenshot, str):
        found.screenshots[seen.screenshot] = None
    found.rows.append(_row(seen, key, run))
    return len(found.rows) - 1


def _row(seen: Observation, key: PageKey | None, run: Trajectory) -> Plain:
    return without_empty(
        {
            "role": seen.role,
            "of": seen.of,
            "t": seen.t,
            "shot": seen.shot_t,
            "tab": seen.page,
            "url": line(seen.url),
            "title": line(seen.title),
            "status": seen.status,
            "settled": seen.settled,
            "viewport": seen.viewport or run.header.environment.viewport,
            "screenshot": seen.screenshot if isinstance(seen.screenshot, str) else None,
            "page": key.name if key is not None else None,
            "snapshot": key.id if key is not None else None,
            "missing": dict(_missing(seen)),
            "reads": [f"{read.locator} → {read.kind}" for read in seen.reads[:50]],
        }
    )


def _missing(seen: Observation) -> Iterator[tuple[str, str]]:
    for name, blob in (("screenshot", seen.screenshot), ("page", seen.snapshot)):
        if isinstance(blob, Omitted):
            yield name, blob.why
