"""Take a screenshot of a tab: of one document, drawn, scaled to what is kept, with secrets blackened."""

from __future__ import annotations

import base64
import time
from typing import Any

from msgspec.structs import replace

from replaykit.bundle.blobs import RowsBefore, pixmap
from replaykit.bundle.bundle_format import MIB, PIXMAP
from replaykit.bundle.writer import journal_frame
from replaykit.recorder.browser.command_effects import (
    COMMAND_MAX_MS,
    Carried,
    CommandRefused,
    Work,
    ask,
    evaluate,
)
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import Screenshot
from replaykit.recorder.session.outbox import Blob
from replaykit.secrets.black_boxes import blacken
from replaykit.trajectory.scalars import Box

PIXELS_MAX = 8_000_000
"""Larger screenshots are taken at a lower scale."""

CAPTURE_MAX_MS = 1500
"""A capture takes 30 ms; one that takes longer than this is requested again."""


GIVING_WAY_S = 5e-5
"""As long as another thread needs to take over."""

KEPT_MAX = 16 * MIB
"""Bytes of the screenshots that are kept to be found again."""


class DecodedCaptures:
    """The screenshots taken last: the same capture is not decoded twice.

    A browser encodes equal pixels to equal bytes, and a page often looks as it did a moment ago. Of another
    capture, rows are computed where they differ from those of the one before.
    """

    def __init__(self) -> None:
        self._rows = RowsBefore()
        self._kept: dict[tuple[str, tuple[Box, ...], float], Blob] = {}

    def decoded(self, capture: str, paint: tuple[Box, ...], scale: float) -> Blob:
        """Return a capture (PNG in base64) as it is kept, boxes (CSS px) blackened; for the worker thread."""
        key = (capture, paint, scale)
        found = self._kept.pop(key, None) or _image(capture, paint, scale, self._rows)
        self._kept[key] = found
        while len(self._kept) > 1 and sum(len(blob.data) for blob in self._kept.values()) > KEPT_MAX:
            del self._kept[next(iter(self._kept))]
        return found


def screenshot(tab: CdpTab, command: Screenshot, clock: Clock, captures: DecodedCaptures) -> Carried:
    """Return the screenshot, its scale, and when it was taken, ms since recording start.

    Refused as `gone` if the tab shows another document at that time.
    """
    scale = _scale(tab)
    params: dict[str, Any] = {"format": "png", "optimizeForSpeed": True}
    if scale < 1:
        params["clip"] = yield from _clip(tab, scale)
    document = tab.document
    if not command.is_painted:
        yield from _painted(tab)
    shot = yield from _capture(tab, params)
    at = clock.now()
    yield from _still(tab, document)
    image = yield Work(run=lambda: captures.decoded(shot["data"], command.paint, scale * tab.dpr))
    return image, scale, at


# The second frame begins after the first was drawn. A hidden page gets none, hence the timer.
_PAINTED = """performance.getEntriesByType('paint').length > 0 || new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
  setTimeout(done, 500, false);
})"""


def _painted(tab: CdpTab) -> Carried:
    # Until a document has drawn something, the browser goes on showing the one before it.
    try:
        is_painted = yield from evaluate(tab, _PAINTED, timeout_ms=CAPTURE_MAX_MS)
    except CommandRefused as refused:
        if str(refused) in ("gone", "failed"):
            return  # a document without our script; whether it stays is asked afterwards
        raise
    if is_painted is False:
        raise CommandRefused("gone")


def _still(tab: CdpTab, document: int) -> Carried:
    # The browser answers after it has reported all documents before.
    yield from ask(tab, "Page.getFrameTree", {}, COMMAND_MAX_MS)
    if tab.document != document:
        raise CommandRefused("gone")


def _capture(tab: CdpTab, params: dict[str, Any]) -> Carried:
    # If its document is replaced, a capture fails or is never answered. The replacement may be reported only
    # after that failure.
    document, why = tab.document, ""
    for patience in (CAPTURE_MAX_MS, COMMAND_MAX_MS - CAPTURE_MAX_MS):
        try:
            return (yield from ask(tab, "Page.captureScreenshot", params, patience))
        except CommandRefused as refused:
            why = str(refused)
            if why not in ("timeout", "failed"):
                raise
            if tab.moves.is_leaving or tab.document != document:
                raise CommandRefused("gone") from refused
    raise CommandRefused(why)


def _scale(tab: CdpTab) -> float:
    if tab.viewport is None:
        return 1.0
    pixels = tab.viewport[0] * tab.viewport[1] * tab.dpr**2
    return 1.0 if pixels <= PIXELS_MAX else (PIXELS_MAX / pixels) ** 0.5


def _clip(tab: CdpTab, scale: float) -> Carried:
    metrics = yield from ask(tab, "Page.getLayoutMetrics", {})
    view = metrics["cssVisualViewport"]
    size = {"width": view["clientWidth"], "height": view["clientHeight"]}
    return {"x": view["pageX"], "y": view["pageY"], **size, "scale": scale}


def _image(capture: str, paint: tuple[Box, ...], scale: float, rows: RowsBefore) -> Blob:
    png = base64.b64decode(capture)
    pixels = pixmap(png, _give_way, rows)
    if pixels is not None:
        return _packed(Blob.of(PIXMAP, blacken(pixels, paint, scale)))
    if paint:
        raise CommandRefused("failed")  # it cannot be painted, so it may not be kept
    return _packed(Blob.of("image/png", png))


def _give_way() -> None:
    # A thread that only computes keeps the interpreter for 5 ms at a time, and the agent waits for it.
    time.sleep(GIVING_WAY_S)


def _packed(blob: Blob) -> Blob:
    # Here, in the worker: the loop that writes it is the one that the agent waits for.
    return replace(blob, frame=journal_frame(blob.id, blob.media_type, blob.data))
