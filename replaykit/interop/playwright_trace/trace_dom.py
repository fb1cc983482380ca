"""Snapshots of ours as Playwright's traces hold them: nested arrays, live state as attributes, no scripts."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from replaykit.snapshot.attributes import serialized
from replaykit.snapshot.snapshot_format import DOCUMENT, HTML, OTHER, SHADOW, TEXT, ElementState, Snapshot

OWN = "__playwright_"
"""How attributes of the tracer begin."""


class TraceDocument(Struct, kw_only=True):
    """One document as the tracer writes it."""

    frame: str
    """Frame id."""
    url: str
    """Its address."""
    html: list[Any]
    """Its tree."""


def pages_of(
    snapshot: Snapshot, frame: str, frames: dict[int, str], target: int = -1, call: str = ""
) -> list[TraceDocument]:
    """Return the document of a snapshot and those inside of it that the page could read.

    `frames`: ordinal of a frame that it could not read to its frame id. `target`: number of the element that
    the call acted on.
    """
    return _Writer(snapshot, frame, frames, target, call).pages()


class _Writer:
    """Walks the rows of a snapshot once; what is open stands on a stack with the row where it ends."""

    def __init__(
        self, snapshot: Snapshot, frame: str, frames: dict[int, str], target: int, call: str
    ) -> None:
        self._snapshot, self._frame, self._frames = snapshot, frame, frames
        self._target, self._call = target, call
        self._pages: list[TraceDocument] = []
        self._selected: dict[int, bool] = _selected(snapshot)

    def pages(self) -> list[TraceDocument]:
        """Return all documents, the outermost first."""
        rows = self._snapshot
        # No recursion: a page may be nested deeper than Python allows.
        open_nodes: list[tuple[list[Any], int]] = [(self._document(0), rows.end[0])]
        row = 1
        while row < len(rows.kind):
            while row >= open_nodes[-1][1]:
                open_nodes.pop()
            kind = rows.kind[row]
            if kind == TEXT:
                open_nodes[-1][0].append(rows.name[row])
            elif kind == DOCUMENT:
                open_nodes.append((self._document(row), rows.end[row]))
            elif kind == SHADOW:
                node = ["template", {OWN + "shadow_root_": rows.name[row] or "open"}]
                open_nodes[-1][0].append(node)
                open_nodes.append((node, rows.end[row]))
            # A viewer must show the page as it was, and a script would change it.
            elif kind <= OTHER and rows.name[row] == "script":
                row = rows.end[row]
                continue
            elif kind <= OTHER:
                node = self._element(row)
                open_nodes[-1][0].append(node)
                open_nodes.append((node, rows.end[row]))
            row += 1
        for page in self._pages:
            # A trace holds one element; a doctype or a comment may stand before it.
            page.html = next((node for node in page.html if isinstance(node, list)), ["HTML", {}])
        return self._pages

    def _document(self, row: int) -> list[Any]:
        inner = self._snapshot.inner.get(row)
        url = self._snapshot.head.url if inner is None else inner.url
        frame = self._frame if row == 0 else self._inner_id(row)
        page = TraceDocument(frame=frame, url=url, html=[])
        self._pages.append(page)
        return page.html

    def _inner_id(self, row: int) -> str:
        return f"{self._frame}.{self._snapshot.number[self._snapshot.parent[row]]}"

    def _element(self, row: int) -> list[Any]:
        rows = self._snapshot
        name = rows.name[row]
        flat = rows.attributes.get(row, [])
        stated = {
            serialized(key, rows.kind[row]): value
            for key, value in zip(flat[::2], flat[1::2], strict=True)
            # Handlers are scripts too.
            if key[:2].lower() != "on"
        }
        state = rows.state.get(row, ElementState())
        attributes = {**self._live(row, name, stated, state), **stated}
        if self._target >= 0 and rows.number[row] == self._target:
            attributes[OWN + "target__"] = self._call
        return [name.upper() if rows.kind[row] == HTML else name, attributes]

    def _live(self, row: int, name: str, stated: dict[str, str], state: ElementState) -> dict[str, str]:
        live: dict[str, str] = {}
        kind = stated.get("type", "text").lower()
        if name == "input" or name == "textarea":
            value = state.value if state.value is not None else stated.get("value", "")
            live[OWN + "value_"] = self._text(row) if name == "textarea" and state.value is None else value
        if kind in ("checkbox", "radio") and name == "input":
            is_checked = "checked" in stated if state.checked is None else state.checked
            live[OWN + "checked_"] = "true" if is_checked else "false"
        if row in self._selected:
            live[OWN + "selected_"] = "true" if self._selected[row] else "false"
        if state.scroll is not None:
            live |= {
                f"{OWN}scroll_{side}_": str(px)
                for side, px in zip(("top", "left"), state.scroll, strict=True)
            }
        if state.modal:
            live[OWN + "dialog_open_"] = "modal"
        if state.popover:
            live[OWN + "popover_open_"] = "true"
        self._aim(row, stated, state)
        return live

    def _aim(self, row: int, stated: dict[str, str], state: ElementState) -> None:
        """Point a frame element at the snapshot of what is inside."""
        inner = self._frames.get(state.frame) if state.frame is not None else None
        if inner is None and row + 1 < len(self._snapshot.kind) and self._snapshot.kind[row + 1] == DOCUMENT:
            inner = self._inner_id(row + 1)
        if inner is not None:
            stated["src"] = f"/snapshot/{inner}"

    def _text(self, row: int) -> str:
        rows = self._snapshot
        inside = range(row + 1, rows.end[row])
        return "".join(rows.name[at] for at in inside if rows.kind[at] == TEXT)


def _selected(snapshot: Snapshot) -> dict[int, bool]:
    """Return row of every option of a select to whether it is selected."""
    found: dict[int, bool] = {}
    for row, state in snapshot.state.items():
        if state.selected is None:
            continue
        inside = range(row + 1, snapshot.end[row])
        options = [at for at in inside if snapshot.kind[at] <= OTHER and snapshot.name[at] == "option"]
        found |= {at: number in state.selected for number, at in enumerate(options)}
    return found
