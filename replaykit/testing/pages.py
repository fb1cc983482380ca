"""Snapshots made from HTML text without a browser: good enough for tests, honest about styles.

Elements get the display their tag has by default; `hidden` and `style="display:none"` are obeyed, nothing
else of CSS. End tags have to be written. Boxes are not taken. `<template shadowrootmode="open">`, first in an
element, is its shadow tree.
"""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)

_BLOCKS = """
    html body div p h1 h2 h3 h4 h5 h6 ul ol dl dt dd form section main nav header footer article aside
    fieldset legend pre blockquote address figure figcaption hr details summary option optgroup
"""
_UNSEEN = "head title script style meta link base template noscript datalist"
_ATOMS = "button input select textarea meter progress"

_DISPLAY = {
    **dict.fromkeys(_BLOCKS.split(), "block"),
    **dict.fromkeys(_UNSEEN.split(), "none"),
    **dict.fromkeys(_ATOMS.split(), "inline-block"),
    "li": "list-item",
    "table": "table",
    "tbody": "table-row-group",
    "thead": "table-header-group",
    "tfoot": "table-footer-group",
    "tr": "table-row",
    "td": "table-cell",
    "th": "table-cell",
    "caption": "table-caption",
}


def snapshot(html: str, url: str = "http://shop.test/", title: str | None = None) -> bytes:
    """Return a snapshot (`application/x-replaykit-dom`) of HTML text, as if loaded from `url`.

    Live state is written as attributes: `data-live='{"value": "typed"}'` on a control. The charset is that of
    `<meta charset>`.
    """
    maker = _Maker()
    maker.feed(html if "<body" in html else f"<html><head></head><body>{html}</body></html>")
    maker.close()
    maker.leave_all()
    head = {
        "snapshot": 1, "url": url, "base": url, "title": maker.title if title is None else title,
        "content_type": "text/html", "charset": maker.charset, "compat": "CSS1Compat", "ready": "complete",
        "doctype": ["html", "", ""], "elements": len(maker.styles), "nodes": maker.nodes,
        "styles": maker.palette, "sheets": [], "flags": ["no_box", "composed"],
    }  # fmt: skip
    lines: tuple[Any, ...] = (head, maker.tokens, maker.styles, [])
    return b"".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines
    )


class _Maker(HTMLParser):
    """HTML text to the tokens of a snapshot."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tokens: list[Any] = []
        self.styles: list[int] = []
        self.palette: list[str] = []
        self.title = ""
        self.charset = "UTF-8"
        self.nodes = 1
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "template" and "shadowrootmode" in attributes:
            self._begin_shadow(attributes["shadowrootmode"])
            return
        if tag == "meta":
            self.charset = attributes.get("charset", self.charset)
        live = attributes.pop("data-live", None)
        self.tokens.append("<" + tag)
        if attributes:
            self.tokens.append([text for pair in attributes.items() for text in pair])
        state = json.loads(live) if live else _default_state(tag)
        if state:
            self.tokens.append(state)
        hidden = self._style(tag, attributes)
        self.nodes += 1
        self._open.append((tag, hidden))
        if tag in VOID:
            self._close(1)

    def _begin_shadow(self, mode: str) -> None:
        self.tokens.append(f"#{mode}")
        self.nodes += 1
        self._open.append(("template", self._open[-1][1]))

    def handle_endtag(self, tag: str) -> None:
        tags = [name for name, _ in self._open]
        if tag in tags:
            self._close(len(tags) - len(tags[: _last(tags, tag)]))

    def handle_data(self, data: str) -> None:
        if self._open:
            self.tokens.append("=" + data)
            self.nodes += 1
        if self._open and self._open[-1][0] == "title":
            self.title += data

    def handle_comment(self, data: str) -> None:
        if self._open:
            self.tokens.append("!" + data)
            self.nodes += 1

    def leave_all(self) -> None:
        """Close what is still open."""
        self._close(len(self._open))

    def _close(self, levels: int) -> None:
        if not levels:
            return
        del self._open[len(self._open) - levels :]
        if self.tokens and isinstance(self.tokens[-1], int):
            self.tokens[-1] += levels
        else:
            self.tokens.append(levels)

    def _style(self, tag: str, attributes: dict[str, str]) -> bool:
        if self._open and self._open[-1][1]:
            self.styles.append(-1)
            return True
        style = attributes.get("style", "").replace(" ", "")
        display = _DISPLAY.get(tag, "inline")
        if "hidden" in attributes or "display:none" in style or attributes.get("type") == "hidden":
            display = "none"
        white = "preserve" if tag in ("pre", "textarea") else "collapse"
        entry = "none" if display == "none" else f"{display}|visible|{white}|none|"
        if entry not in self.palette:
            self.palette.append(entry)
        self.styles.append(self.palette.index(entry))
        return display == "none"


def _default_state(tag: str) -> dict[str, Any] | None:
    return {"selected": [0]} if tag == "select" else None


def _last(tags: list[str], tag: str) -> int:
    return len(tags) - 1 - tags[::-1].index(tag)
