"""Format of a snapshot (`application/x-replaykit-dom`, version 1): tokens in a file, columns in memory.

A snapshot is four lines of JSON (head, tokens, style, box); docs/snapshot-format.md names every token.
"""

from typing import Any, NoReturn

import msgspec

from replaykit.errors import SnapshotInvalid

MEDIA_TYPE = "application/x-replaykit-dom"
VERSION = 1

# A writer stops at 250,000 elements and 24 MiB of text: several times that is no page of ours.
BYTES_MAX = 128 * 2**20
NODES_MAX = 2_000_000

# Node kinds. Elements come first, so `kind <= OTHER` means element.
HTML, SVG, MATHML, OTHER, TEXT, COMMENT, INSTRUCTION, SHADOW, DOCUMENT, OMITTED = range(10)

# First characters of tokens.
STARTS = {"<": HTML, "%": SVG, "&": MATHML, "^": OTHER}
LEAVES = {"=": TEXT, "!": COMMENT, "?": INSTRUCTION}

Tokens = list[str | int | list[str] | dict[str, Any]]


def refuse(place: str, what: str) -> NoReturn:
    """Raise SnapshotInvalid."""
    raise SnapshotInvalid(place=place, what=what)


class SheetRow(msgspec.Struct, frozen=True, array_like=True):
    """A style sheet of a document or shadow root."""

    media: str
    """Media query."""
    disabled: bool
    """Whether it was switched off."""
    owner: int
    """Number of the element that it belongs to; -1 where it is adopted, or comes from no element."""
    readable: bool
    """Whether a script of the page may read it."""
    tree: int | None = None
    """Element number of the host or frame whose tree it styles, -1: the document; None: unknown."""


class Head(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The first line: properties of the page."""

    snapshot: int
    """Version of the format."""
    url: str
    """Address of the document."""
    base: str = ""
    """Base URL that relative links resolve against."""
    title: str = ""
    """`document.title`."""
    content_type: str = "text/html"
    """`document.contentType`."""
    charset: str = "UTF-8"
    """`document.characterSet`."""
    compat: str = "CSS1Compat"
    """`document.compatMode`; `BackCompat` is quirks mode."""
    ready: str = "complete"
    """`document.readyState`."""
    doctype: tuple[str, str, str] | None = None
    """Name, public id, system id; empty where the document has no doctype."""
    elements: int
    """Number of element starts in the token line."""
    nodes: int = 0
    """Number of nodes that the writer visited, as it counts them."""
    styles: list[str] = []
    """Palette of computed styles that the style line points into."""
    sheets: list[SheetRow] = []
    """Style sheets of documents and shadow roots."""
    texts: list[list[int | str | None]] | msgspec.UnsetType = msgspec.UNSET
    """Elements whose text differs from the composed one, and how; unset = no such elements."""
    unseen: list[int] | msgspec.UnsetType = msgspec.UNSET
    """Elements that the browser hides though their styles say visible; unset = no such elements."""
    generated: list[tuple[int, int, str]] | msgspec.UnsetType = msgspec.UNSET
    """Texts that style sheets show before and after the content of elements; unset = no such texts."""
    flags: list[str] = []
    """Missing or unusual parts: `no_box no_style cut generated_cut main_world`; `composed`: texts were
    compared.
    """


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    """A document inside a frame that the page could read."""

    url: str = ""
    """Address of the inner document."""
    base: str = ""
    """Its base URL."""
    title: str = ""
    """Its title."""
    charset: str | msgspec.UnsetType = msgspec.UNSET
    """Its `characterSet`; unset = that of the page."""
    compat: str = "CSS1Compat"
    """Its `compatMode`."""
    ready: str = "complete"
    """Its `readyState`."""
    doctype: tuple[str, str, str] | None = None
    """Name, public id, system id."""


class ElementState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Live state of one element; what is absent equals what the attributes say."""

    value: str | None = None
    """Live value of a text field where it differs from its default."""
    checked: bool | None = None
    """Live checkedness where it differs from the attribute."""
    indeterminate: bool = False
    """The checkbox shows neither state."""
    selected: list[int] | None = None
    """Indices of the selected options; every select has it. Of an option of no select: one or none."""
    files: list[tuple[str, int, str]] | None = None
    """Chosen files: name, bytes, media type."""
    scroll: tuple[int | float, int | float] | None = None
    """Top and left in CSS px."""
    focus: bool = False
    """The element has the focus."""
    modal: bool = False
    """An open modal dialog."""
    popover: bool = False
    """An open popover."""
    control: bool = False
    """A custom element that takes part in forms, so that it may be disabled."""
    image: tuple[int, int] | msgspec.UnsetType | None = msgspec.UNSET
    """Natural size of an image in px; null where it is broken."""
    canvas: tuple[int, int] | None = None
    """Bitmap size of a canvas in px."""
    video: tuple[int, int] | None = None
    """Frame size of a video in px."""
    assigned: list[int] | None = None
    """Of a slot that a script fills: places of what it holds among the child nodes of the host."""
    frame: int | None = None
    """Ordinal of a frame that could not be read here."""
    masked: bool = False
    """Its value or text was masked inside the page."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded page as columns; rows are nodes in document order, row 0 is the document."""

    head: Head
    """The first line."""
    kind: list[int]
    """Per node: one of the node kinds of this module."""
    name: list[str]
    """Per node: tag of an element, data of a text, comment or instruction, mode of a shadow root."""
    parent: list[int]
    """Per node: row of its parent, -1 for the document."""
    end: list[int]
    """Per node: row after its subtree."""
    scope: list[int]
    """Per node: row of the document, shadow root or template whose tree it belongs to."""
    number: list[int]
    """Per node: element number, -1 where it is no element."""
    nodes: list[int]
    """Per element number: its row."""
    attributes: dict[int, list[str]]
    """Per element row that has any: name, value, name, value, ..."""
    state: dict[int, ElementState]
    """Per element row that has any: live state."""
    inner: dict[int, Inner]
    """Per document row but 0: the document inside a frame."""
    namespace: dict[int, str]
    """Per element row of kind OTHER: its namespace URI."""
    omitted: dict[int, int]
    """Per row of kind OMITTED: number of elements left out there."""
    style: list[int]
    """Per element number: palette index, or -1 inside a hidden subtree; empty when not taken."""
    box: list[int]
    """Four per element number: x, y, width, height in document CSS px; empty when not taken."""

    def box_of(self, row: int) -> tuple[int, int, int, int] | None:
        """Return the box of the element of a row; None where boxes were not taken."""
        at, box = 4 * self.number[row], self.box
        return (box[at], box[at + 1], box[at + 2], box[at + 3]) if box and at >= 0 else None
