"""The codec of snapshots: bytes into columns and back, as a whole or their beginning only."""

from __future__ import annotations

from functools import cached_property
from io import BytesIO
from typing import TypeVar

import msgspec

from replaykit.decoders import check_nesting, decoder
from replaykit.errors import SnapshotInvalid
from replaykit.snapshot.generated_rows import check_generated
from replaykit.snapshot.snapshot_format import (
    BYTES_MAX,
    DOCUMENT,
    LEAVES,
    OMITTED,
    OTHER,
    SHADOW,
    STARTS,
    VERSION,
    Head,
    Snapshot,
    Tokens,
    refuse,
)
from replaykit.snapshot.text_rows import check_rows
from replaykit.snapshot.token_rows import Rows

LF = b"\n"
_LINES = 4
"""Head, tokens, style, box."""

_MARKS = {kind: mark for mark, kind in (STARTS | LEAVES).items()}

_Line = TypeVar("_Line")


def decode_head(data: bytes) -> Head:
    """Read the facts of a snapshot about its page, without the page. Raises SnapshotInvalid."""
    _check_lines(data)
    return _head(data[: data.index(LF)])


def decode(data: bytes) -> Snapshot:
    """Read a snapshot.

    Raises SnapshotInvalid, with the place, for anything that the format does not allow.
    """
    return SnapshotLines(data).whole()


class SnapshotLines:
    """The four lines of a snapshot, each decoded when it is needed. All raise SnapshotInvalid."""

    def __init__(self, data: bytes, head: Head | None = None) -> None:
        """Part them; `head`: what `decode_head` returned for the same bytes, which it has checked."""
        self.head = decode_head(data) if head is None else head
        #: The tokens as they stand in the bytes.
        self.packed, self._style, self._box = BytesIO(data).readlines()[1:]

    @cached_property
    def tokens(self) -> Tokens:
        """All tokens."""
        return _line(self.packed, _tokens_line, "tokens")

    def opening(self, upto: int) -> Tokens | None:
        """Return the tokens in these first bytes, and read no others; None where one of them goes on."""
        opening = self.packed[:upto] + b"]"
        try:
            check_nesting(opening)
            return _tokens_line.decode(opening)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def whole(self) -> Snapshot:
        """Read all rows."""
        tokens = self.tokens
        style, box = (_line(line, _integers_line, name, is_flat=True) for line, name in self._columns())
        _check_columns(self.head, style, box)
        rows = Rows(tokens)
        rows.finish()
        if len(rows.nodes) != self.head.elements:
            refuse("head", f"has {self.head.elements} elements, the tokens start {len(rows.nodes)}")
        return Snapshot(head=self.head, style=style, box=box, **rows.columns())

    def beginning(self, tokens: Tokens) -> Snapshot:
        """Read the rows of the first tokens only, as if all that is open then ended there; without boxes.

        What comes later is not looked at, faults included.
        """
        style = _line(self._style, _integers_line, "style", is_flat=True)
        rows = Rows(tokens)
        rows.finish(is_cut=True)
        _check_columns(self.head, style, [], len(rows.nodes))
        if len(rows.nodes) > self.head.elements:
            refuse("head", f"has {self.head.elements} elements, the tokens start {len(rows.nodes)} or more")
        return Snapshot(head=self.head, style=style, box=[], **rows.columns())

    def _columns(self) -> tuple[tuple[bytes, str], ...]:
        return (self._style, "style"), (self._box, "box")


def _check_lines(data: bytes) -> None:
    if len(data) > BYTES_MAX:
        raise SnapshotInvalid(place="byte 0", what=f"{len(data)} bytes, the limit is {BYTES_MAX}")
    # A pass of `memchr`: counting bytes takes ten times as long.
    if len(BytesIO(data).readlines()) != _LINES or not data.endswith(LF):
        raise SnapshotInvalid(place="line 1", what=f"four lines expected, found {data.count(LF)} line ends")


def _line(line: bytes, decoder: msgspec.json.Decoder[_Line], place: str, *, is_flat: bool = False) -> _Line:
    try:
        # A decoder of numbers refuses the first list in its list.
        if not is_flat:
            check_nesting(line)
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SnapshotInvalid(place=place, what=str(error)) from error


def _head(line: bytes) -> Head:
    try:
        head = _line(line, _head_line, "head")
    except SnapshotInvalid:
        _check_version(_line(line, _version_line, "head"))  # another one may say other things
        raise
    _check_version(head)
    return head


def _check_version(head: Head | _Version) -> None:
    if head.snapshot != VERSION:
        raise SnapshotInvalid(place="head", what=f"version {head.snapshot}, this release reads {VERSION}")


class _Version(msgspec.Struct):
    snapshot: int


_version_line, _head_line = decoder(_Version), decoder(Head)
_tokens_line, _integers_line = decoder(Tokens), decoder(list[int])


def _check_columns(head: Head, style: list[int], box: list[int], upto: int | None = None) -> None:
    if style and len(style) != head.elements:
        refuse("style", f"{len(style)} entries for {head.elements} elements")
    read = style[:upto]
    if read and not -1 <= min(read) <= max(read) < len(head.styles):
        refuse("style", f"an index outside the palette of {len(head.styles)}")
    if box and len(box) != 4 * head.elements:
        refuse("box", f"{len(box)} numbers for {head.elements} elements")
    check_rows(head)
    check_generated(head)


def encode(snapshot: Snapshot) -> bytes:
    """Write a snapshot in its one canonical form: closings merged, no empty attribute lists."""
    lines = (snapshot.head, _tokens(snapshot), snapshot.style, snapshot.box)
    return b"".join(msgspec.json.encode(line) + LF for line in lines)


def _tokens(snapshot: Snapshot) -> Tokens:
    tokens: Tokens = []
    open_ends: list[int] = []
    for row in range(1, len(snapshot.kind)):
        _close(tokens, open_ends, row)
        tokens.extend(_start(snapshot, row))
        if snapshot.kind[row] <= OTHER or snapshot.kind[row] in (SHADOW, DOCUMENT):
            open_ends.append(snapshot.end[row])
    _close(tokens, open_ends, len(snapshot.kind))
    return tokens


def _close(tokens: Tokens, open_ends: list[int], row: int) -> None:
    levels = 0
    while open_ends and open_ends[-1] <= row:
        open_ends.pop()
        levels += 1
    if levels:
        tokens.append(levels)


def _start(snapshot: Snapshot, row: int) -> Tokens:
    kind, name = snapshot.kind[row], snapshot.name[row]
    if kind == SHADOW:
        return [f"#{name}"]
    if kind == DOCUMENT:
        return ["@", msgspec.to_builtins(snapshot.inner[row])]
    if kind == OMITTED:
        return ["~", snapshot.omitted[row]]
    start: Tokens = [
        f"{_MARKS[kind]}{snapshot.namespace[row]} {name}" if kind == OTHER else _MARKS[kind] + name
    ]
    if row in snapshot.attributes:
        start.append(snapshot.attributes[row])
    if row in snapshot.state:
        start.append(msgspec.to_builtins(snapshot.state[row]))
    return start
