"""Tokens of a snapshot into its columns: one row per node in document order.

So a subtree is a range, and nothing here recurses: pages nested thousands of levels deep cost no more than
flat ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from operator import length_hint
from typing import Any, NoReturn, TypeVar

import msgspec

from replaykit.decoders import convert
from replaykit.errors import SnapshotInvalid
from replaykit.snapshot.snapshot_format import (
    DOCUMENT,
    HTML,
    LEAVES,
    NODES_MAX,
    OMITTED,
    OTHER,
    SHADOW,
    STARTS,
    TEXT,
    ElementState,
    Inner,
    Snapshot,
    Tokens,
    refuse,
)

_PLAIN = {mark: kind for mark, kind in STARTS.items() if kind != OTHER}
# Of a plain mark, and yet not plain: a name is missing, or a tree of its own begins.
_ODD = frozenset({"<", "%", "&", "<template"})
# Tags that most pages consist of.
_TAGS = (
    "html head meta title link style script body header nav main section article aside footer h1 h2 h3 "
    "p a span strong em small code pre br hr div ul ol li dl dt dd table caption thead tbody tr th td img "
    "form label input button select option textarea fieldset legend details summary dialog time iframe"
)
_COMMON = {f"<{tag}": (HTML, sys.intern(tag)) for tag in _TAGS.split()}
# Tokens whose next token is their operand.
_WAITING = ("inner", "omit")

_Object = TypeVar("_Object", Inner, ElementState)

# Columns that `Rows` reads; `scope` and `number` follow from them.
_READ = sorted(set(Snapshot.__struct_fields__) - {"head", "style", "box", "scope", "number"})


class Rows:
    """Columns under construction: one token after the other, the open nodes on a stack.

    Pages are mostly plain elements, texts, attributes and closings. `_read` handles those inline with local
    names, at a quarter of the cost of a call each. `_unusual` handles all others, and all errors.
    """

    def __init__(self, tokens: Tokens) -> None:
        self.kind = [DOCUMENT]
        self.name = [""]
        self.parent = [-1]
        self.nodes: list[int] = []
        self.attributes: dict[int, list[str]] = {}
        self.state: dict[int, ElementState] = {}
        self.inner: dict[int, Inner] = {}
        self.namespace: dict[int, str] = {}
        self.omitted: dict[int, int] = {}
        # A node ends where the next one begins, unless it holds others; more rows than these cannot come.
        self.end = list(range(1, len(tokens) + 2))
        # Rows that start a tree of their own.
        self.roots: list[int] = []
        self.stack = [0]
        # Kind of the token before, which says what may follow: "tag" allows attributes and state, "named"
        # state; "inner" and "omit" want their operand.
        self.after = ""
        self.place = 0
        self._read(tokens)
        del self.end[len(self.kind) :]

    def columns(self) -> dict[str, Any]:
        """Return the columns by their names in `Snapshot`."""
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

    def _read(self, tokens: Tokens) -> None:
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
            # The remaining length of the iterator gives the place, so that the loop needs no counter.
            self.place, self.after = len(tokens) - length_hint(ahead) - 1, after
            self._unusual(token)
            top, row, after = stack[-1], len(kind), self.after
            is_free = is_few and after not in _WAITING
        self.place, self.after = max(0, len(tokens) - 1), after

    def finish(self, *, is_cut: bool = False) -> None:
        """Close what is still open: the document only, unless there are more tokens."""
        if self.after in _WAITING:
            self._refuse("the last token lacks its operand")
        if len(self.stack) != 1 and not is_cut:
            self._refuse(f"{len(self.stack) - 1} levels are never closed")
        for row in self.stack:
            self.end[row] = len(self.kind)

    def _refuse(self, what: str) -> NoReturn:
        refuse(f"token {self.place}", what)

    def _unusual(self, token: str | int | list[str] | dict[str, Any]) -> None:
        _HANDLERS[type(token)](self, token)

    def _string(self, token: str) -> None:
        if self.after in _WAITING:
            self._refuse(f"an operand expected, found the text {token[:40]!r}")
        if token[:1] in LEAVES:
            self._row(LEAVES[token[:1]], token[1:])
            self.after = ""
        elif token[:1] in STARTS:
            self._element(STARTS[token[:1]], token[1:])
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
            self.state[self.stack[-1]] = self._convert(token, ElementState)
        else:
            self._refuse("state that follows no element")
        self.after = ""

    def _convert(self, token: dict[str, Any], kind: type[_Object]) -> _Object:
        try:
            return convert(token, kind)
        except (msgspec.ValidationError, RecursionError) as error:
            raise SnapshotInvalid(place=f"token {self.place}", what=str(error)) from error


_HANDLERS: dict[type, Callable[[Rows, Any], None]] = {
    str: Rows._string, int: Rows._integer, list: Rows._attributes, dict: Rows._object
}  # fmt: skip


def _is_plain(token: str, starts: dict[str, tuple[int, str]]) -> bool:
    """Whether a token holds all of an element's start; then kind and name are kept."""
    kind = _PLAIN.get(token[:1])
    if kind is None or token in _ODD:
        return False
    starts[token] = (kind, sys.intern(token[1:]))
    return True
