"""A small language for recorded pages: `page(el("p", "Hi ", el("b", "you")))`."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from replaykit.replay.dom import Dom

INLINE = "inline|visible|collapse|none"
BLOCKS = ("html", "body", "div", "p", "h1", "ul", "ol", "form", "section", "table", "tr", "td", "main")
DISPLAY = {
    "td": "table-cell",
    "tr": "table-row",
    "table": "table",
    "li": "list-item",
    "head": "none",
    "script": "none",
}
ATOMS = ("input", "select", "textarea", "button")


class Element:
    """An element to be: `show` is a palette entry or its display alone."""

    def __init__(
        self, tag: str, *children: Any, show: str = "", state: dict[str, Any] | None = None, **named: str
    ) -> None:
        self.tag = tag
        self.children = children
        self.show = show or self._default()
        self.state = state
        self.attributes = {name.rstrip("_").replace("_", "-"): value for name, value in named.items()}

    def _default(self) -> str:
        default = "block" if self.tag in BLOCKS else "inline-block" if self.tag in ATOMS else "inline"
        return DISPLAY.get(self.tag, default)

    @property
    def palette(self) -> str:
        return self.show if "|" in self.show or self.show == "none" else f"{self.show}|visible|collapse|none"


class Maker:
    """Writes tokens, styles and boxes."""

    def __init__(self) -> None:
        self.tokens: list[Any] = []
        self.palette: list[str] = []
        self.style: list[int] = []

    def add(self, node: Any, hidden: bool) -> None:
        if isinstance(node, Element):
            self.element(node, hidden)
        else:
            self.tokens.append(
                node if isinstance(node, int) else "=" + node if node[:1] not in "!?~" else node
            )

    def element(self, node: Element, hidden: bool) -> None:
        mark = node.tag if node.tag[:1] in "<%&^" else "<" + node.tag
        self.tokens.append(mark)
        if node.attributes:
            self.tokens.append([part for pair in node.attributes.items() for part in pair])
        if node.state is not None:
            self.tokens.append(node.state)
        if node.palette not in self.palette:
            self.palette.append(node.palette)
        self.style.append(-1 if hidden else self.palette.index(node.palette))
        for child in node.children:
            if isinstance(child, tuple):
                self.inside(child, hidden)
            else:
                self.add(child, hidden or node.palette == "none")
        self.close()

    def inside(self, part: tuple[Any, ...], hidden: bool) -> None:
        """A shadow root `("#open", ...)` or a document `({...}, ...)`."""
        head, *nodes = part
        self.tokens += ["@", head] if isinstance(head, dict) else [head]
        for node in nodes:
            self.add(node, hidden)
        self.close()

    def close(self) -> None:
        if isinstance(self.tokens[-1], int) and self.tokens[-2] != "~":
            self.tokens[-1] += 1
        else:
            self.tokens.append(1)


def write(
    *nodes: Any, box: list[int] | None = None, flags: tuple[str, ...] = (), styled: bool = True, **head: Any
) -> bytes:
    maker = Maker()
    for node in nodes:
        maker.add(node, hidden=False)
    first = {
        "snapshot": 1,
        "url": "http://x.test/a",
        "elements": len(maker.style),
        "styles": maker.palette,
        "flags": [*flags, *(("composed",) if styled else ())],
    }
    lines = (first | head, maker.tokens, maker.style if styled else [], box or [])
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


@pytest.fixture
def el() -> type[Element]:
    return Element


@pytest.fixture
def page() -> Any:
    """Read top-level nodes as a page; keywords go to the head."""
    return lambda *nodes, **options: Dom(write(*nodes, **options))


@pytest.fixture
def body(page: Any) -> Any:
    """Read nodes as the body of an ordinary page."""
    return lambda *nodes, **options: page(
        Element("html", Element("head"), Element("body", *nodes)), doctype=["html", "", ""], **options
    )
