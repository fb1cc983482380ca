"""Visible parts of a page that no recording holds: no text is proven to be absent from such a page.

Own module: `run_state` knows pages and frames, and no elements.
"""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.errors import Unsupported
from replaykit.replay.dom import Dom, Node
from replaykit.replay.frame_pages import FrameView, shown
from replaykit.snapshot.generated_rows import GENERATED_CUT

FRAME_UNREAD = "frame.unread"
EMBEDDED_UNREAD = "embedded.unread"
CANVAS_UNREAD = "canvas.unread"
GENERATED_UNREAD = "generated.unread"

DRAWN_MAX = 400
"""Characters of a page that may be drawn on a canvas: one with more text has its words in the document."""

_CANVAS_MIN = (400, 300)
"""Width and height of a canvas that may be a whole page, CSS px."""

_EMBEDDED = "object[data], embed[src]"
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif")


def unread_parts(dom: Dom | None, frames: tuple[FrameView, ...]) -> Iterator[str]:
    """Yield the codes of what shows and was not recorded. Frames that have shown nothing yet do not count."""
    if any(frame.dom is None and frame.why != "unseen" for frame in shown(frames)):
        yield FRAME_UNREAD
    if dom is None:
        return
    if GENERATED_CUT in dom.head.flags:
        yield GENERATED_UNREAD
    is_embedded = any(
        _shows(node) and node.attribute("type") not in _IMAGES for node in dom.pierce_all(_EMBEDDED)
    )
    if is_embedded or _is_viewer(dom.head.content_type):
        yield EMBEDDED_UNREAD
    if any(_is_large(node) and _shows(node) for node in dom.pierce_all("canvas")) and _is_short(dom):
        yield CANVAS_UNREAD


def _is_viewer(content_type: str) -> bool:
    """Whether a document has no elements of its own: the browser shows a PDF, an image or a video."""
    kind, _, subtype = content_type.partition("/")
    return subtype == "pdf" or (kind in ("image", "video") and subtype != "svg+xml")


def _shows(node: Node) -> bool:
    try:
        return node.visible
    except Unsupported:  # without styles no one knows
        return True


def _is_large(canvas: Node) -> bool:
    box = canvas.box
    return box is not None and box[2] >= _CANVAS_MIN[0] and box[3] >= _CANVAS_MIN[1]


def _is_short(dom: Dom) -> bool:
    try:
        return len(dom.whole_text) < DRAWN_MAX
    except Unsupported:
        return False
