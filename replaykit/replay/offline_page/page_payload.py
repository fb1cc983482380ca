"""Data from which a browser rebuilds a recorded page: tokens, style sheets, pointer, size of the window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import Unsupported
from replaykit.patterns import lazy_pattern
from replaykit.replay import page_source
from replaykit.replay.dom import Dom
from replaykit.replay.frame_pages import FrameView
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page
from replaykit.snapshot.snapshot_format import DOCUMENT, HTML, OTHER, SHADOW, ElementState
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.observation import Observation

VIEWPORT = (1280, 720)
"""Width and height of a window that no one recorded, CSS px."""

BYTES_MAX = 32 << 20
"""Larger snapshots are not built: the browser holds some fifty times as much."""

REFUSED_MAX = 100
"""Elements of a page that may refuse to give their text before no more are asked."""

STAND_IN = "http://replaykit.invalid/"
"""Address of a page whose own one no server could have: `about:blank`, `data:` ..."""

_WEB = ("http://", "https://")
_NAMED = lazy_pattern(r"[\w.+:-]{1,40}")
_TYPES = ("text/html", "text/plain", "application/xhtml+xml", "application/xml", "text/xml", "image/svg+xml")
_XML = "<html xmlns='http://www.w3.org/1999/xhtml'/>"


class Sheet(Struct, frozen=True, kw_only=True):
    """One style sheet of a page."""

    owner: int
    """Element number of its owner, -1 where it is adopted."""
    media: str
    """Media query."""
    disabled: bool
    """Whether it was switched off."""
    text: str | None
    """Its rules; None where they were not recorded."""
    tree: int | None = None
    """Element number of the host or frame whose tree it styles, -1: the document; None: not recorded."""


class FramedDocument(Struct, frozen=True, kw_only=True):
    """A frame that its page cannot read: a document of its own."""

    owner: int
    """Element number of what holds it."""
    snapshot: str | None = None
    """Blob of its document; None where it was not recorded, or no one looks into it."""
    plan: Blueprint | None = None
    """How to build that; None where it cannot be."""


class Blueprint(Struct, frozen=True, kw_only=True):
    """One page to build."""

    url: str
    """Address that the browser is given."""
    is_own_address: bool
    """Whether that is the recorded one."""
    mime: str
    """Media type of the document."""
    charset: str
    """Its encoding: links are resolved in it."""
    body: str
    """Doctype, in the form of a document without content."""
    tokens: str
    """The tokens of the snapshot, as JSON."""
    elements: int
    """Number of elements."""
    compat: str
    """`document.compatMode`."""
    styles: tuple[str, ...]
    """Palette of styles."""
    style: tuple[int, ...]
    """Per element its palette index; empty where styles were not taken."""
    sized: str
    """Per element `1` where its box had a size, else `0`; empty where boxes were not taken."""
    shown: tuple[tuple[int, str], ...]
    """Element numbers and rendered texts of whole trees, or of their parts; empty where none is known."""
    sheets: tuple[Sheet, ...]
    """Style sheets in order."""
    images: tuple[tuple[int, int, int], ...]
    """Element number, width and height of every image that was loaded, px."""
    pointer: tuple[int, int] | None
    """Where the pointer was, CSS px of the window."""
    viewport: tuple[int, int]
    """Width and height of the window, CSS px."""
    is_whole: bool
    """Whether nothing was masked, cut or left out."""
    frames: tuple[FramedDocument, ...] = ()
    """Frames that the page cannot read."""

    @property
    def plan(self) -> dict[str, Any]:
        """Input of the script in the page."""
        return {
            "tokens": self.tokens,
            "sheets": [msgspec.to_builtins(sheet) for sheet in self.sheets],
            "images": [list(image) for image in self.images],
            "styles": list(self.styles),
            "style": list(self.style),
            "sized": self.sized,
        }


def blueprint_of(page: Page, replay: Replay, *, with_frames: bool = False) -> Blueprint:
    """Return the payload that builds a page of a run.

    `with_frames`: also the content of frames that it cannot read.

    Raises Unsupported, SnapshotInvalid, BundleError.
    """
    dom = page.dom
    if dom is None:
        raise Unsupported(locator=page.url or "", reason=f"{page.missing} is not in the bundle")
    seen = page.seen
    pointer = seen.pointer if isinstance(seen, Observation) else None
    viewport = seen.viewport if isinstance(seen, Observation) else None
    plan = blueprint(
        dom,
        texts=_texts(page, dom, replay),
        pointer=None if pointer is None else (round(pointer[0]), round(pointer[1])),
        viewport=viewport or _usual_viewport(replay),
    )
    return replace(plan, frames=_framed(page.frames, dom, replay, with_frames=with_frames))


def _framed(
    views: tuple[FrameView, ...], dom: Dom, replay: Replay, *, with_frames: bool
) -> tuple[FramedDocument, ...]:
    snapshot = dom.snapshot
    held = {state.frame: snapshot.number[row] for row, state in snapshot.state.items()}
    held.pop(None, None)
    seen = {view.ordinal: view for view in views} if with_frames else {}
    return tuple(
        _of_frame(owner, seen.get(ordinal), replay) for ordinal, owner in held.items() if ordinal is not None
    )


def _of_frame(owner: int, view: FrameView | None, replay: Replay) -> FramedDocument:
    dom = view.dom if view is not None else None
    if view is None or dom is None:
        return FramedDocument(owner=owner)
    return FramedDocument(owner=owner, snapshot=view.snapshot_id, plan=_inside(view, dom, replay))


def _inside(view: FrameView, dom: Dom, replay: Replay) -> Blueprint | None:
    """Return how to build what stands in a frame; None where it is too large."""
    linked = _linked(replay)
    texts = tuple(_text(replay, linked.get(_address(dom, row.owner))) for row in dom.head.sheets)
    try:
        plan = blueprint(dom, texts=texts)
    except Unsupported:
        return None
    return replace(plan, frames=_framed(view.frames, dom, replay, with_frames=True))


def blueprint(
    dom: Dom,
    *,
    texts: tuple[str | None, ...] = (),
    pointer: tuple[int, int] | None = None,
    viewport: tuple[int, int] = VIEWPORT,
) -> Blueprint:
    """Return how to build a snapshot; `texts`: its style sheets in the order of its head.

    Raises Unsupported where it is too large, SnapshotInvalid.
    """
    if len(dom.data) > BYTES_MAX:
        raise Unsupported(locator=dom.url, reason=f"the snapshot is larger than {BYTES_MAX} bytes")
    head, snapshot = dom.head, dom.snapshot
    is_web = dom.url.startswith(_WEB)
    mime = head.content_type if head.content_type in _TYPES else "text/html"
    return Blueprint(
        url=dom.url if is_web else STAND_IN,
        is_own_address=is_web,
        mime=mime,
        charset=head.charset if _NAMED.fullmatch(head.charset) else "UTF-8",
        body=_XML if "xml" in mime else _doctype(dom),
        tokens=dom.data.split(b"\n")[1].decode(),
        elements=head.elements,
        compat=head.compat,
        styles=tuple(head.styles),
        style=tuple(snapshot.style),
        sized=_sized(snapshot.box),
        shown=tuple(_shown(dom)),
        sheets=_sheets(dom, texts),
        images=tuple(_images(dom)),
        pointer=pointer,
        viewport=viewport,
        is_whole="cut" not in head.flags and not any(state.masked for state in snapshot.state.values()),
    )


def _sized(box: list[int]) -> str:
    return "".join(
        "1" if width and height else "0" for width, height in zip(box[2::4], box[3::4], strict=True)
    )


def _doctype(dom: Dom) -> str:
    found = dom.head.doctype
    # The recorded names come from strangers: what could be more than a doctype is not written.
    if found is not None and not any(set(part) & set('<>"') for part in found):
        return page_source.doctype(dom.tree)
    return "<!DOCTYPE html>" if dom.head.compat != "BackCompat" else "<!---->"


def _sheets(dom: Dom, texts: tuple[str | None, ...]) -> tuple[Sheet, ...]:
    known = (*texts, *[None] * len(dom.head.sheets))
    # Older recordings do not tell whose an adopted sheet is: in a page of several trees it is unknown.
    has_trees = any(kind in (SHADOW, DOCUMENT) for kind in dom.snapshot.kind[1:])
    return tuple(
        Sheet(
            owner=row.owner,
            media=row.media,
            disabled=row.disabled,
            text=None if row.owner < 0 and row.tree is None and has_trees else text,
            tree=row.tree,
        )
        for row, text in zip(dom.head.sheets, known, strict=False)
        if -1 <= row.owner < dom.head.elements and -1 <= (row.tree or 0) < dom.head.elements
    )


def _shown(dom: Dom) -> Iterator[tuple[int, str]]:
    """Yield the rendered text of what is outermost in each tree; if that is unknown, of what is in it."""
    tree, number = dom.tree, dom.snapshot.number
    roots = (row for row in dom.snapshot.nodes if tree.up[row] < 0 and tree.kind[tree.scope[row]] > OTHER)
    waiting = list(roots) if "composed" in dom.head.flags else []
    refused = 0
    while waiting and refused < REFUSED_MAX:
        row = waiting.pop()
        with suppress(Unsupported):
            if tree.is_html(row):
                yield number[row], dom.inner_texts.text(row)
                continue
            refused -= 1
        refused += 1
        waiting.extend(tree.elements(row))


def _images(dom: Dom) -> list[tuple[int, int, int]]:
    snapshot = dom.snapshot
    sizes = ((row, _size(state)) for row, state in snapshot.state.items() if snapshot.kind[row] == HTML)
    return [(snapshot.number[row], *size) for row, size in sizes if size is not None]


def _size(state: ElementState) -> tuple[int, int] | None:
    return state.image if isinstance(state.image, tuple) else None


def _texts(page: Page, dom: Dom, replay: Replay) -> tuple[str | None, ...]:
    """Return the sheets as the observation has them, else by their addresses: what still differs is noted."""
    listed = page.seen.sheets
    named = [listed[at] if at < len(listed) else None for at in range(len(dom.head.sheets))]
    linked = _linked(replay) if None in named else {}
    blobs = (
        blob or linked.get(_address(dom, row.owner)) for blob, row in zip(named, dom.head.sheets, strict=True)
    )
    return tuple(_text(replay, blob) for blob in blobs)


def _text(replay: Replay, blob: str | None) -> str | None:
    if blob is None or blob not in replay.bundle:
        return None
    return replay.bundle.blob(blob).decode("utf-8", "replace")


def _linked(replay: Replay) -> dict[str | None, str]:
    """Return the sheets of a run by address: those that a page reported, and those that a server sent."""
    sent = (one for one in replay.trajectory.of_type(Exchange) if one.resource == "stylesheet")
    found: dict[str | None, str] = {
        one.url: one.body for one in sent if isinstance(one.body, str) and one.status == 200
    }
    for page in replay.pages:
        dom = page.dom if page.seen.sheets else None
        for blob, row in zip(page.seen.sheets, dom.head.sheets if dom else (), strict=False):
            if blob is not None and dom is not None:
                found[_address(dom, row.owner)] = blob
    found.pop(None, None)
    return found


def _address(dom: Dom, owner: int) -> str | None:
    node = dom.node(owner)
    return node.resolved("href") if node is not None and node.tag == "link" else None


def _usual_viewport(replay: Replay) -> tuple[int, int]:
    sizes = (page.seen.viewport for page in replay.pages if isinstance(page.seen, Observation))
    return next((size for size in sizes if size is not None), VIEWPORT)
