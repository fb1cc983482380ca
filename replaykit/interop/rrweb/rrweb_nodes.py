"""The nodes of a page of rrweb, each with its neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.interop.password_masking import names_password

NAMING = ("name", "id", "autocomplete", "aria-label", "placeholder")
"""Attributes that may call a field a password."""


class NodeList:
    """The nodes in one place, in order: each knows its neighbours, since long lists change one by one."""

    __slots__ = ("first", "last")

    def __init__(self) -> None:
        self.first: RrwebNode | None = None
        self.last: RrwebNode | None = None

    def __iter__(self) -> Iterator[RrwebNode]:
        node = self.first
        while node is not None:
            yield node
            node = node.after

    def __reversed__(self) -> Iterator[RrwebNode]:
        node = self.last
        while node is not None:
            yield node
            node = node.before

    def __bool__(self) -> bool:
        return self.first is not None

    def insert(self, node: RrwebNode, follower: RrwebNode | None = None) -> None:
        """Put a node before another one of the list, or at its end."""
        leader = self.last if follower is None else follower.before
        node.group, node.before, node.after = self, leader, follower
        if leader is None:
            self.first = node
        else:
            leader.after = node
        if follower is None:
            self.last = node
        else:
            follower.before = node

    def remove(self, node: RrwebNode) -> None:
        """Take a node out."""
        if node.before is None:
            self.first = node.after
        else:
            node.before.after = node.after
        if node.after is None:
            self.last = node.before
        else:
            node.after.before = node.before
        node.group = node.before = node.after = None

    def clear(self) -> None:
        """Take all nodes out."""
        for node in list(self):
            self.remove(node)


class RrwebNode(Struct, kw_only=True, eq=False):
    """One node. `shadow`: what its shadow root holds, None where it has none."""

    id: int
    type: int
    name: str = ""
    text: str = ""
    attributes: dict[str, Any] = {}
    children: NodeList = msgspec.field(default_factory=NodeList)
    shadow: NodeList | None = None
    parent: RrwebNode | None = None
    group: NodeList | None = None
    """The list that it stands in: that of its parent, or of the shadow root of its parent."""
    before: RrwebNode | None = None
    after: RrwebNode | None = None
    is_svg: bool = False
    data: dict[str, Any] = {}
    """Properties of a document and of a doctype."""
    value: str | None = None
    """Live value, where an input event held it."""
    checked: bool | None = None
    scroll: tuple[int, int] | None = None

    @property
    def kind(self) -> str:
        """Type of an input, lower-case."""
        return str(self.attributes.get("type", "text")).lower()

    @property
    def is_secret(self) -> bool:
        """Whether it takes passwords, by its type or by its names."""
        if self.name not in ("input", "textarea"):
            return False
        # A page may show a password as text; rrweb remembers what it was.
        if self.kind == "password" or "data-rr-is-password" in self.attributes:
            return True
        return any(names_password(str(self.attributes.get(name) or "")) for name in NAMING)
