"""The codec of ``application/x-replaykit-dom``, version 1: tokens in a file, columns in memory.

A snapshot is four lines of JSON (head, tokens, style, box); docs/snapshot-format.md names every token.
Reading makes one row per node in document order, so a subtree is a range and nothing here recurses: pages
nested thousands of levels deep cost no more than flat ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import length_hint
from typing import Any, TypeVar

import msgspec

from replaykit.errors import SnapshotInvalid

MEDIA_TYPE = "application/x-replaykit-dom"
VERSION = 1

# A writer stops at 250,000 elements and 24 MiB of text: several times that is no page of ours.
BYTES_MAX = 128 * 2**20
NODES_MAX = 2_000_000

LF = b"\n"
_LINES = 4
"""Head, tokens, style, box."""

# Node kinds. Elements come first, so `kind <= OTHER` means element.
HTML, SVG, MATHML, OTHER, TEXT, COMMENT, INSTRUCTION, SHADOW, DOCUMENT, OMITTED = range(10)

_STARTS = {"<": HTML, "%": SVG, "&": MATHML, "^": OTHER}
_LEAVES = {"=": TEXT, "!": COMMENT, "?": INSTRUCTION}
_PLAIN = {mark: kind for mark, kind in _STARTS.items() if kind != OTHER}
# Of a plain mark, and yet not plain: a name is missing, or a tree of its own begins.
_ODD = frozenset({"<", "%", "&", "<template"})
# What most pages are made of.
_TAGS = (
    "html head meta title link style script body header nav main section article aside footer h1 h2 h3 "
    "p a span strong em small code pre br hr div ul ol li dl dt dd table caption thead tbody tr th td img "
    "form label input button select option textarea fieldset legend details summary dialog time iframe"
)
_COMMON = {f"<{tag}": (HTML, sys.intern(tag)) for tag in _TAGS.split()}
# What the token before asks for, whatever comes.
_WAITING = ("inner", "omit")
_MARKS = {kind: mark for mark, kind in (_STARTS | _LEAVES).items()}

_Line = TypeVar("_Line")


class Head(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The first line: what the page says about itself."""

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
    """Name, public id, system id; none where the document has no doctype."""
    elements: int
    """Number of element starts in the token line."""
    nodes: int = 0
    """Number of nodes that the writer visited, as it counts them."""
    styles: list[str] = []
    """Palette of computed styles that the style line points into."""
    sheets: list[tuple[str, bool, int, bool]] = []
    """Style sheets: media, disabled, owner element number (-1: adopted), readable."""
    flags: list[str] = []
    """What is missing or unusual: `no_box no_style cut main_world`."""


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    """A document inside a frame that the page could read."""

    url: str = ""
    """Address of the inner document."""
    base: str = ""
    """Its base URL."""
    title: str = ""
    """Its title."""
    compat: str = "CSS1Compat"
    """Its `compatMode`."""
    ready: str = "complete"
    """Its `readyState`."""
    doctype: tuple[str, str, str] | None = None
    """Name, public id, system id."""


class State(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
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
    """Natural size of a picture in px; null where it is broken."""
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
    state: dict[int, State]
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


def decode_head(data: bytes) -> Head:
    """Read what a snapshot says about its page, without the page. Raises SnapshotInvalid."""
    _check_lines(data)
    return _head(data[: data.index(LF)])


def decode(data: bytes, head: Head | None = None) -> Snapshot:
    """Read a snapshot; `head`: its first line, where that was read before.

    Raises SnapshotInvalid, with the place, for anything that the format does not allow.
    """
    _check_lines(data)
    lines = data.split(LF)
    head = head or _head(lines[0])
    tokens = _line(lines[1], _Tokens, "tokens")
    rows = _Rows(tokens)
    style = _line(lines[2], list[int], "style")
    box = _line(lines[3], list[int], "box")
    _check_counts(head, len(rows.nodes), style, box)
    return Snapshot(head=head, style=style, box=box, **rows.columns())


def _check_lines(data: bytes) -> None:
    if len(data) > BYTES_MAX:
        raise SnapshotInvalid(place="byte 0", what=f"{len(data)} bytes, the limit is {BYTES_MAX}")
    if data.count(LF) != _LINES or not data.endswith(LF):
        raise SnapshotInvalid(place="line 1", what=f"four lines expected, found {data.count(LF)} line ends")


def encode(snapshot: Snapshot) -> bytes:
    """Write a snapshot in its one canonical form: closings merged, no empty attribute lists."""
    lines = (snapshot.head, _tokens(snapshot), snapshot.style, snapshot.box)
    return b"".join(msgspec.json.encode(line) + LF for line in lines)


_Tokens = list[str | int | list[str] | dict[str, Any]]


def _line(line: bytes, kind: type[_Line], place: str) -> _Line:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SnapshotInvalid(place=place, what=str(error)) from error


def _head(line: bytes) -> Head:
    version = _line(line, _Version, "head").snapshot
    if version != VERSION:
        raise SnapshotInvalid(place="head", what=f"version {version}, this release reads {VERSION}")
    return _line(line, Head, "head")


class _Version(msgspec.Struct):
    snapshot: int


def _check_counts(head: Head, elements: int, style: list[int], box: list[int]) -> None:
    def refuse(place: str, what: str) -> None:
        raise SnapshotInvalid(place=place, what=what)

    if head.elements != elements:
        refuse("head", f"says {head.elements} elements, the tokens start {elements}")
    if style and len(style) != elements:
        refuse("style", f"{len(style)} entries for {elements} elements")
    if style and not -1 <= min(style) <= max(style) < len(head.styles):
        refuse("style", f"an index outside the palette of {len(head.styles)}")
    if box and len(box) != 4 * elements:
        refuse("box", f"{len(box)} numbers for {elements} elements")


# What `_Rows` reads; the columns `scope` and `number` follow from it.
_READ = sorted(set(Snapshot.__struct_fields__) - {"head", "style", "box", "scope", "number"})


class _Rows:
    """Columns under construction: one token after the other, the open nodes on a stack.

    Pages are mostly plain elements, texts, attributes and closings: `_read` takes those itself, with nothing
    but local names, at a quarter of the cost of a call each; all others, and all errors, are for `_unusual`.
    """

    def __init__(self, tokens: _Tokens) -> None:
        self.kind = [DOCUMENT]
        self.name = [""]
        self.parent = [-1]
        self.nodes: list[int] = []
        self.attributes: dict[int, list[str]] = {}
        self.state: dict[int, State] = {}
        self.inner: dict[int, Inner] = {}
        self.namespace: dict[int, str] = {}
        self.omitted: dict[int, int] = {}
        # A node ends where the next one begins, unless it holds others; more rows than these cannot come.
        self.end = list(range(1, len(tokens) + 2))
        # Rows that start a tree of their own.
        self.roots: list[int] = []
        self.stack = [0]
        # What the token before allows: "tag" attributes and state, "named" state; "inner" and "omit" want
        # their operand.
        self.after = ""
        self.place = 0
        self._read(tokens)
        del self.end[len(self.kind) :]
        self.end[0] = len(self.kind)

    def columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _READ} | {
            "scope": self._scope(),
            "number": self._number(),
        }

    def _scope(self) -> list[int]:
        scope = [0] * len(self.kind)
        for root in self.roots:
            scope[root + 1 : self.end[root]] = [root] * (self.end[root] - root - 1)
        return scope

    def _number(self) -> list[int]:
        number = [-1] * len(self.kind)
        for place, row in enumerate(self.nodes):
            number[row] = place
        return number

    def _read(self, tokens: _Tokens) -> None:
        kind, name, parent, nodes, stack = self.kind, self.name, self.parent, self.nodes, self.stack
        end, attributes = self.end, self.attributes
        # Kind and name of the start tokens met so far: pages repeat a few dozen of them.
        starts = _COMMON.copy()
        top, row, after = 0, 1, ""
        # No token makes more than one row: where so many come, every one is counted.
        is_few = is_free = len(tokens) < NODES_MAX
        ahead = iter(tokens)
        for token in ahead:
            if not is_free:
                pass
            elif type(token) is str:
                if token[:1] == "=":
                    kind.append(TEXT)
                    name.append(token[1:])
                    parent.append(top)
                    row += 1
                    after = ""
                    continue
                if token in starts or _is_plain(token, starts):
                    start, tag = starts[token]
                    kind.append(start)
                    name.append(tag)
                    parent.append(top)
                    nodes.append(row)
                    stack.append(row)
                    top = row
                    row += 1
                    after = "tag"
                    continue
            elif type(token) is int:
                if token == 1 and top:
                    end[stack.pop()] = row
                    top, after = stack[-1], ""
                    continue
                if 1 <= token < len(stack):
                    for _ in range(token):
                        end[stack.pop()] = row
                    top, after = stack[-1], ""
                    continue
            elif after == "tag" and type(token) is list and token and not len(token) % 2:
                attributes[top] = token
                after = "named"
                continue
            self.place, self.after = len(tokens) - length_hint(ahead) - 1, after
            self._unusual(token)
            top, row, after = stack[-1], len(kind), self.after
            is_free = is_few and after not in _WAITING
        self.after = after
        self._finish(len(tokens))

    def _finish(self, place: int) -> None:
        self.place = max(0, place - 1)
        if self.after in _WAITING:
            self._refuse("the last token lacks its operand")
        if len(self.stack) != 1:
            self._refuse(f"{len(self.stack) - 1} levels are never closed")

    def _refuse(self, what: str) -> None:
        raise SnapshotInvalid(place=f"token {self.place}", what=what)

    def _unusual(self, token: str | int | list[str] | dict[str, Any]) -> None:
        _HANDLERS[type(token)](self, token)

    def _string(self, token: str) -> None:
        if self.after in _WAITING:
            self._refuse(f"an operand expected, found the text {token[:40]!r}")
        if token[:1] in _LEAVES:
            self._row(_LEAVES[token[:1]], token[1:])
            self.after = ""
        elif token[:1] in _STARTS:
            self._element(_STARTS[token[:1]], token[1:])
        elif token[:1] == "#":
            self._shadow(token)
        elif token == "@":
            self._open(DOCUMENT, "")
            self.after = "inner"
        elif token == "~":
            self.after = "omit"
        else:
            self._refuse(f"unknown token {token[:40]!r}")

    def _row(self, kind: int, name: str) -> int:
        row = len(self.kind)
        if row >= NODES_MAX:
            self._refuse(f"more than {NODES_MAX} nodes")
        self.kind.append(kind)
        self.name.append(name)
        self.parent.append(self.stack[-1])
        return row

    def _element(self, kind: int, name: str) -> None:
        uri = ""
        if kind == OTHER:
            uri, _, name = name.rpartition(" ")
        if not name:
            self._refuse("an element without a name")
        row = self._row(kind, sys.intern(name))
        self.nodes.append(row)
        self.stack.append(row)
        if kind == OTHER:
            self.namespace[row] = uri
        # The content of a template is a tree of its own: queries on the document never enter it.
        if kind == HTML and name == "template":
            self.roots.append(row)
        self.after = "tag"

    def _open(self, kind: int, name: str) -> None:
        if self.kind[self.stack[-1]] > OTHER:
            self._refuse("a shadow root or document outside of an element")
        row = self._row(kind, name)
        self.stack.append(row)
        self.roots.append(row)

    def _shadow(self, token: str) -> None:
        if token not in ("#open", "#closed"):
            self._refuse(f"unknown token {token[:40]!r}")
        if self.stack[-1] != len(self.kind) - 1:
            self._refuse("a shadow root after the first child of its host")
        self._open(SHADOW, token[1:])
        self.after = ""

    def _integer(self, token: int) -> None:
        if self.after != "omit":
            self._refuse(f"cannot close {token} of {len(self.stack) - 1} levels")
        if token < 1:
            self._refuse(f"{token} elements left out")
        self.omitted[self._row(OMITTED, "")] = token
        self.after = ""

    def _attributes(self, token: list[str]) -> None:
        if self.after != "tag":
            self._refuse("attributes that follow no element")
        if len(token) % 2:
            self._refuse("an attribute without a value")
        self.after = "named"

    def _object(self, token: dict[str, Any]) -> None:
        if self.after == "inner":
            self.inner[self.stack[-1]] = self._convert(token, Inner)
        elif self.after in ("tag", "named"):
            self.state[self.stack[-1]] = self._convert(token, State)
        else:
            self._refuse("state that follows no element")
        self.after = ""

    def _convert(self, token: dict[str, Any], kind: type[_Line]) -> _Line:
        try:
            return msgspec.convert(token, kind)
        except (msgspec.ValidationError, RecursionError) as error:
            raise SnapshotInvalid(place=f"token {self.place}", what=str(error)) from error


_HANDLERS: dict[type, Callable[[_Rows, Any], None]] = {
    str: _Rows._string, int: _Rows._integer, list: _Rows._attributes, dict: _Rows._object
}  # fmt: skip


def _is_plain(token: str, starts: dict[str, tuple[int, str]]) -> bool:
    """Whether a token tells all of an element's start; then kind and name are kept."""
    kind = _PLAIN.get(token[:1])
    if kind is None or token in _ODD:
        return False
    starts[token] = (kind, sys.intern(token[1:]))
    return True


def _tokens(snapshot: Snapshot) -> _Tokens:
    tokens: _Tokens = []
    open_ends: list[int] = []
    for row in range(1, len(snapshot.kind)):
        _close(tokens, open_ends, row)
        tokens.extend(_start(snapshot, row))
        if snapshot.kind[row] <= OTHER or snapshot.kind[row] in (SHADOW, DOCUMENT):
            open_ends.append(snapshot.end[row])
    _close(tokens, open_ends, len(snapshot.kind))
    return tokens


def _close(tokens: _Tokens, open_ends: list[int], row: int) -> None:
    levels = 0
    while open_ends and open_ends[-1] <= row:
        open_ends.pop()
        levels += 1
    if levels:
        tokens.append(levels)


def _start(snapshot: Snapshot, row: int) -> _Tokens:
    kind, name = snapshot.kind[row], snapshot.name[row]
    if kind == SHADOW:
        return [f"#{name}"]
    if kind == DOCUMENT:
        return ["@", msgspec.to_builtins(snapshot.inner[row])]
    if kind == OMITTED:
        return ["~", snapshot.omitted[row]]
    start: _Tokens = [
        f"{_MARKS[kind]}{snapshot.namespace[row]} {name}" if kind == OTHER else _MARKS[kind] + name
    ]
    if row in snapshot.attributes:
        start.append(snapshot.attributes[row])
    if row in snapshot.state:
        start.append(msgspec.to_builtins(snapshot.state[row]))
    return start
