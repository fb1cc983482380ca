"""A page that an importer kept as HTML text: its words in order, in HTML that can do nothing."""

from __future__ import annotations

from html.parser import HTMLParser

from replaykit.replay.dom_tree import words
from replaykit.report.html.escaping import text as escaped
from replaykit.report.html.page_outline import DEPTH_MAX, HEIGHT, KEPT, WIDTH
from replaykit.report.html.page_sketch import PLACED_MAX, TEXT_MAX, Sketch

BYTES_MAX = 2 * 2**20
"""Bytes of HTML text that are read; the rest is left out."""

_UNSEEN = words("script style template noscript head title svg math iframe object")
_INLINE = words("a span b strong em i u s code kbd small sub sup label abbr cite q time font img")
_VOID = words("area base br col embed hr img input link meta source track wbr")


def markup_outline(data: bytes) -> Sketch:
    """Write HTML text as a plain document. Styles are not read: what they hide shows."""
    reader = _Reader()
    reader.feed(data[:BYTES_MAX].decode("utf-8", "replace"))
    reader.close()
    return Sketch(
        html=f"<article>{''.join(reader.finish())}</article>",
        width=WIDTH,
        height=HEIGHT,
        boxes={},
        is_placed=False,
        is_cut=reader.is_full or len(data) > BYTES_MAX,
    )


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._open: list[tuple[str, str]] = []
        self._unseen = ""
        self._written = self._letters = 0

    @property
    def is_full(self) -> bool:
        return self._written >= PLACED_MAX or self._letters >= TEXT_MAX

    def finish(self) -> list[str]:
        """Return all parts, every element closed."""
        return self._parts + [f"</{own}>" for _, own in reversed(self._open)]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._unseen or self.is_full:
            return
        self._written += 1
        if tag in _UNSEEN:
            self._unseen = tag
        elif tag == "br":
            self._parts.append("<br>")
        elif tag == "input":
            self._parts.append(
                f'<span class="control field">{escaped(dict(attrs).get("value") or "")}</span>'
            )
        elif tag not in _VOID and len(self._open) < DEPTH_MAX:
            own = tag if tag in KEPT else "span" if tag in _INLINE else "div"
            self._parts.append(f"<{own}>")
            self._open.append((tag, own))

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            self._unseen = "" if tag == self._unseen else self._unseen
        elif any(name == tag for name, _ in self._open):
            while self._open:
                name, own = self._open.pop()
                self._parts.append(f"</{own}>")
                if name == tag:
                    return

    def handle_data(self, data: str) -> None:
        if not self._unseen and not self.is_full:
            self._letters += len(data)
            self._parts.append(escaped(data))
