"""Screenshots and pages of runs as data blocks of the file: each once, as far as the file may grow."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import IO, Any

from replaykit.bundle.reader import Bundle
from replaykit.report.html.bounded_text import without_empty
from replaykit.report.html.embedded_screenshots import EmbeddedScreenshot, screenshot
from replaykit.report.html.escaping import data_block, packed
from replaykit.report.html.page_documents import PageKey, draw, page_document
from replaykit.report.html.page_sketch import Sketch, Spot

NAME_DIGITS = 32
"""Hex digits of a blob id that name its screenshot in the file."""

SCREENSHOT, PAGE = "image/base64", "page/deflate"
"""Types of data blocks: no browser runs them."""


class EmbeddedEvidence:
    """Writes data blocks and remembers which are there. Memory: one screenshot or page, and names."""

    def __init__(self, file: IO[str], most: int | None) -> None:
        self.left_out = 0
        """Screenshots and pages for which there was no room."""
        self._file = file
        self._room = most
        self._screenshots: dict[str, list[Any]] = {}
        self._pages: set[str] = set()

    def screenshots(self, bundle: Bundle, ids: Iterable[str]) -> dict[str, list[Any]]:
        """Write screenshots; return those that are in the file: id to name, media type, width, height.

        A screenshot that is missing or damaged has no name.
        """
        found: dict[str, list[Any]] = {}
        for id in ids:
            known = self._screenshots.get(id) or self._screenshot(bundle, id)
            if known is not None:
                found[id] = known
        return found

    def pages(
        self, bundle: Bundle, keys: Mapping[str, PageKey], wanted: Iterable[Spot]
    ) -> dict[str, dict[str, Any]]:
        """Write drawn pages; return those that are in the file with their size and the places asked for."""
        spots = frozenset(wanted)
        found: dict[str, dict[str, Any]] = {}
        for name, key in keys.items():
            drawn = draw(bundle, key, spots) if name in self._pages or self._has_room else None
            if drawn is not None:
                self._page(name, drawn)
                found[name] = _facts(drawn)
            elif name not in self._pages and not self._has_room:
                self.left_out += 1
        return found

    @property
    def _has_room(self) -> bool:
        return self._room is None or self._room > 0

    def _screenshot(self, bundle: Bundle, id: str) -> list[Any] | None:
        if not self._has_room:
            self.left_out += 1
            return None
        shown = screenshot(bundle, id)
        if shown is None:
            return [None]
        name = f"p{id[:NAME_DIGITS]}"
        self._write(name, SCREENSHOT, base64.b64encode(shown.data).decode())
        self._screenshots[id] = _described(name, shown)
        return self._screenshots[id]

    def _page(self, name: str, drawn: Sketch) -> None:
        if name not in self._pages:
            self._write(f"d{name}", PAGE, packed(page_document(drawn).encode("utf-8", "replace")))
            self._pages.add(name)

    def _write(self, id: str, kind: str, content: str) -> None:
        block = data_block(id, kind, content)
        self._file.write(block)
        if self._room is not None:
            self._room -= len(block)


def _described(name: str, shown: EmbeddedScreenshot) -> list[Any]:
    return [name, shown.media_type, shown.width, shown.height]


def _facts(drawn: Sketch) -> dict[str, Any]:
    boxes = {f"{snapshot}:{number}": box for (snapshot, number), box in sorted(drawn.boxes.items())}
    return without_empty(
        {
            "width": drawn.width,
            "height": drawn.height,
            "flows": not drawn.is_placed,
            "cut": drawn.is_cut,
            "boxes": boxes,
        }
    )
