"""The pages of a run as documents for a sandboxed frame, each drawn once, whatever steps look at it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from replaykit.bundle.reader import Bundle
from replaykit.errors import BundleError, ReplayError
from replaykit.report.html.escaping import source_hash
from replaykit.report.html.imported_html import markup_outline
from replaykit.report.html.page_outline import outline
from replaykit.report.html.page_sketch import FramePage, Sketch, Spot, sketch
from replaykit.snapshot.codec import decode
from replaykit.snapshot.snapshot_format import MEDIA_TYPE
from replaykit.trajectory.observation import Frame
from replaykit.trajectory.scalars import Blob

MARKUP = ("text/html", "application/xhtml+xml")
"""Media types of pages that importers keep as text."""

FRAMES_MAX = 32
"""Frames of one page that are drawn, frames in frames included."""

DEPTH_MAX = 4
"""Frames in frames that are drawn."""


class PageKey(NamedTuple):
    """Identity of a drawn page."""

    id: str
    """Snapshot blob."""
    frames: tuple[Frame, ...]
    """Frames as they were observed."""

    @property
    def name(self) -> str:
        """The same for the same page, in any run."""
        if not self.frames:
            return self.id[:20]
        return sha256(f"{self.id} {self.frames!r}".encode()).hexdigest()[:20]


def page_key(snapshot: Blob | None, frames: tuple[Frame, ...]) -> PageKey | None:
    """Return the key of an observed page; None where no snapshot was kept."""
    return PageKey(snapshot, frames) if isinstance(snapshot, str) else None


def draw(bundle: Bundle, key: PageKey, wanted: Iterable[Spot]) -> Sketch | None:
    """Draw a recorded page; None where it is missing, damaged or not one of ours."""
    try:
        return _drawn(bundle, key, wanted)
    except (BundleError, ReplayError):
        return None


@cache
def page_style() -> str:
    """Return the one style sheet of drawn pages."""
    return files("replaykit.report.html").joinpath("page.css").read_text("utf-8")


def page_document(drawn: Sketch) -> str:
    """Return the whole document of a drawn page: no script, no network, a policy of its own."""
    return f"{_opening()}<body>{drawn.html}</body></html>"


@cache
def _opening() -> str:
    style = page_style()
    policy = f"default-src 'none'; style-src-elem {source_hash(style)}; style-src-attr 'unsafe-inline'"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>recorded page</title><style>{style}</style></head>"
    )


def _drawn(bundle: Bundle, key: PageKey, wanted: Iterable[Spot]) -> Sketch | None:
    if key.id in bundle and bundle.blob_type(key.id) in MARKUP:
        return markup_outline(bundle.blob(key.id))
    budget = [FRAMES_MAX]
    page = _page(bundle, key.id, key.frames, budget, 0)
    if page is None:
        return None
    return sketch(page, wanted) if page.snapshot.box else outline(page.snapshot)


def _page(
    bundle: Bundle, id: Blob | None, frames: tuple[Frame, ...], budget: list[int], depth: int
) -> FramePage | None:
    if not isinstance(id, str) or id not in bundle or bundle.blob_type(id) != MEDIA_TYPE:
        return None
    snapshot = decode(bundle.blob(id))
    return FramePage(id=id, snapshot=snapshot, frames=_frames(bundle, frames, budget, depth + 1))


def _frames(
    bundle: Bundle, frames: tuple[Frame, ...], budget: list[int], depth: int
) -> Mapping[int, FramePage]:
    found = {}
    for ordinal, frame in enumerate(frames if depth <= DEPTH_MAX else ()):
        if not budget[0]:
            break
        budget[0] -= 1
        inner = _page(bundle, frame.snapshot, frame.frames, budget, depth)
        # A frame without boxes has no places to be drawn at.
        if inner is not None and inner.snapshot.box:
            found[ordinal] = inner
    return found
