"""Decide for screenshots of pages with a secret: paint the secret over, or leave the screenshot out.

A screenshot is kept if the snapshots around it show that everything to be hidden stayed in place: then the
boxes of the snapshot are valid for the screenshot. Otherwise the places are unknown, and the screenshot is
left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from replaykit.bundle.blobs import pixmap_size
from replaykit.bundle.bundle_format import PIXMAP
from replaykit.bundle.reader import Bundle
from replaykit.errors import BundleDamaged
from replaykit.secrets.black_boxes import blacken
from replaykit.trajectory.action import Unknown
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Blob, Box, Id
from replaykit.trajectory.step import Probe, Step, Trajectory

Hidden: TypeAlias = tuple[Box, ...] | None
"""Boxes of what a snapshot hides, CSS px of the viewport; None: it is unknown where it stands."""


class Painting(NamedTuple):
    """One layer of black boxes."""

    boxes: tuple[Box, ...]
    """CSS px of the viewport."""
    scale: float
    """Pixels of the screenshot for one CSS px."""


Paintings: TypeAlias = tuple[Painting, ...] | None
"""Areas of a screenshot that are painted over; empty = it stays as it is; None: it is left out."""


class ShownPage(NamedTuple):
    """A page as one event shows it."""

    seen: Observation | Probe
    """The event, or the page that a step acted on."""
    page: int | None
    """Tab ordinal."""


def looks(trajectory: Trajectory) -> Iterator[ShownPage]:
    """Yield every look at a page of the agent, by time where events have one."""
    found: list[tuple[int, int, ShownPage]] = []
    # Imported runs may have no clock: there, the order of lines is all there is.
    is_timed = trajectory.header.clock != "none"
    for place, event in enumerate(trajectory.events):
        at = (event.t or 0) if is_timed and not isinstance(event, Unknown) else 0
        if isinstance(event, Step) and event.before is not None:
            page = event.page if event.before.page is None else event.before.page
            found.append(((event.before.t or at) if is_timed else 0, place, ShownPage(event.before, page)))
        elif isinstance(event, Observation) or (isinstance(event, Probe) and event.in_place):
            found.append((at, place, ShownPage(event, event.page)))
    yield from (look for *_, look in sorted(found, key=lambda one: one[:2]))


def paint(screenshot: bytes, paintings: tuple[Painting, ...]) -> bytes:
    """Return a pixmap with all layers painted."""
    for boxes, scale in paintings:
        screenshot = blacken(screenshot, boxes, scale)
    return screenshot


class PaintingPlan:
    """Decides about every screenshot of a run.

    `hidden` returns what is to be hidden in a snapshot. `is_strict`: a screenshot without a snapshot of its
    page may show a secret, so it is left out.
    """

    def __init__(self, bundle: Bundle, hidden: Callable[[Id], Hidden], *, is_strict: bool) -> None:
        self._bundle = bundle
        self._hidden = hidden
        self._is_strict = is_strict
        self._looks = tuple(looks(bundle.trajectory))

    def decide(self) -> dict[Id, Paintings]:
        """Return what is to be done with each screenshot.

        One that is shown several times is the same pixels: what is known of it once is known of all.
        """
        rulings: dict[Id, list[Paintings]] = {}
        for place, look in enumerate(self._looks):
            for id in screenshots_of(look):
                rulings.setdefault(id, []).append(self._rule(place, look, id))
        return {id: _joined(found) for id, found in rulings.items()}

    def _rule(self, place: int, look: ShownPage, id: Id) -> Paintings:
        # One set of boxes on all sides: nothing moved while the screenshot was taken.
        around = {self._hidden_in(one) for one in self._around(place, look)}
        boxes = around.pop()
        if around or boxes is None:
            return None
        scale = self._scale(look, id) if boxes else 1.0
        return None if scale is None else ((Painting(boxes, scale),) if boxes else ())

    def _around(self, place: int, look: ShownPage) -> Iterator[ShownPage]:
        """Yield the looks at the same tab from the screenshot's own snapshot to the first one after it."""
        yield look
        shot = look.seen.shot_t if isinstance(look.seen, Observation) else None
        for later in self._looks[place + 1 :]:
            if later.page == look.page and later.seen.snapshot is not None:
                yield later
                # A snapshot from before the screenshot does not show how the page went on.
                if shot is None or later.seen.t is None or later.seen.t >= shot:
                    return

    def _hidden_in(self, look: ShownPage) -> Hidden:
        seen = look.seen
        parts = [seen.snapshot, *(frame.snapshot for frame in seen.frames)]
        main, *frames = map(self._hidden_part, parts)
        # Where a frame stands in its page is not known: it may hold nothing that is to be hidden.
        return None if any(hidden != () for hidden in frames) else main

    def _hidden_part(self, snapshot: Blob | None) -> Hidden:
        if isinstance(snapshot, str):
            return self._hidden(snapshot)
        # Without a snapshot, a declared secret may be anywhere in the screenshot.
        return None if self._is_strict else ()

    def _scale(self, look: ShownPage, id: Id) -> float | None:
        """Return the pixels of one CSS px; None for a screenshot that cannot be painted."""
        viewport = look.seen.viewport if isinstance(look.seen, Observation) else None
        viewport = viewport or self._bundle.header.environment.viewport
        if viewport is None or not viewport[0] or self._bundle.blob_type(id) != PIXMAP:
            return None
        try:
            return pixmap_size(self._bundle.blob(id))[0] / viewport[0]
        except BundleDamaged:
            return None


def screenshots_of(look: ShownPage) -> Iterator[Id]:
    """Yield the screenshots of a look."""
    if isinstance(look.seen, Observation):
        yield from (id for id in (look.seen.screenshot, look.seen.clean) if isinstance(id, str))


def _joined(rulings: Iterable[Paintings]) -> Paintings:
    known = [ruling for ruling in rulings if ruling is not None]
    # The same bytes may be shown twice: what one look hides, the other must hide too.
    return tuple(dict.fromkeys(layer for ruling in known for layer in ruling)) if known else None
