"""The page that an rrweb stream builds: a tree of nodes by their ids, changed in place, and its snapshots.

Nothing recurses: untrusted pages nest as deep as they like.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.errors import SnapshotInvalid
from replaykit.interop.rrweb.rrweb_nodes import NodeList, RrwebNode
from replaykit.snapshot.codec import decode
from replaykit.trajectory.redaction_marks import MASKED

NODES_MAX = 1_000_000
"""Nodes of one page."""

DOCUMENT, DOCTYPE, ELEMENT, TEXT, CDATA, COMMENT = range(6)
"""Types of nodes, as rrweb numbers them."""

NO_TEXT = ("checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden", "color", "range")
"""Types of inputs that hold no typed text."""

STARS_MIN = 3
"""Stars that stand for a text; fewer are the sign of a required field."""

FRAMES = ("iframe", "frame")


class BrokenTree(Exception):
    """A tree that cannot be built: no tree, too large, ids that are there twice."""


class RrwebSnapshot(Struct, frozen=True, kw_only=True):
    """A page as a snapshot of ours."""

    data: bytes
    """`application/x-replaykit-dom`."""
    title: str
    """Text of its title element."""
    numbers: dict[int, int]
    """Id of a node to its element number."""
    frames: int
    """Frames whose documents are not in the stream."""
    is_whole: bool
    """False: a part is blocked, or may hold a closed shadow root."""
    passwords: tuple[str, ...]
    """Values that were masked and are known."""


NODE_KEYS = frozenset({
    "id", "type", "childNodes", "tagName", "attributes", "textContent", "name", "publicId", "systemId",
    "compatMode", "isSVG", "isShadow", "isShadowHost", "isStyle", "rootId", "needBlock", "isCustom",
})  # fmt: skip
"""Keys of a node: those that are read, and those that repeat where it stands."""


class RrwebTree:
    """One page."""

    def __init__(self, plain: Any, unread: Counter[str] | None = None) -> None:
        """Build a page from a full snapshot. Raises Broken.

        `unread` takes the keys of nodes that nothing reads, and how often each is there.
        """
        self.nodes: dict[int, RrwebNode] = {}
        self._unread = Counter() if unread is None else unread
        self.is_whole = True
        self.root = self._made(plain, strict=True)
        if self.root.type != DOCUMENT:
            raise BrokenTree(f"a root of type {self.root.type}")

    def _made(self, plain: Any, *, strict: bool = False) -> RrwebNode:
        """Return a subtree, its nodes known by their ids."""
        root = _node(plain)
        stack = [(root, plain)]
        while stack:
            node, data = stack.pop()
            if len(self.nodes) >= NODES_MAX:
                raise BrokenTree(f"more than {NODES_MAX} nodes")
            if node.id in self.nodes:
                # A first page with one id twice is broken; in later events, a node may have moved.
                if strict:
                    raise BrokenTree(f"node {node.id} twice")
                self.remove(node.id)
            self.nodes[node.id] = node
            self._unread.update(key[:64] for key in data if key not in NODE_KEYS)
            inner = data.get("childNodes")
            for part in inner if isinstance(inner, list) else ():
                child = _node(part)
                child.parent = node
                _siblings(node, part).insert(child)
                stack.append((child, part))
        return root

    def remove(self, id: Any) -> bool:
        """Take a node and all in it out of the page; False where it is not there."""
        node = self.nodes.get(id) if isinstance(id, int) else None
        if node is None:
            return False
        if node.group is not None:
            node.group.remove(node)
        for one in all_in(node):
            self.nodes.pop(one.id, None)
        return True

    def add(self, data: dict[str, Any]) -> bool:
        """Add a node where an event places it; False where its parent, or the node after it, is not there."""
        parent, after = self.nodes.get(_id(data.get("parentId"))), data.get("nextId")
        plain = data.get("node")
        if parent is None or not isinstance(plain, dict):
            return False
        follower = self.nodes.get(_id(after)) if after is not None else None
        if after is not None and (follower is None or follower.parent is not parent):
            return False
        known = self.nodes.get(_id(plain.get("id")))
        # A node inside of itself would have no end.
        if known is not None and _holds(known, parent):
            return False
        node = self._made(plain)
        node.parent = parent
        group = _siblings(parent, plain)
        # A frame that loads again replaces its document.
        if node.type == DOCUMENT:
            group.clear()
        group.insert(node, follower if follower is not None and follower.group is group else None)
        return True

    def lacked_by(self, data: dict[str, Any]) -> int:
        """Return the id of the node that an addition which failed waits for."""
        parent = _id(data.get("parentId"))
        return parent if parent not in self.nodes else _id(data.get("nextId"))

    def shot(self, url: str, *, keeps_secrets: bool) -> RrwebSnapshot:
        """Return the page as a snapshot. Raises Broken."""
        return _Writer(self, url, keeps_secrets=keeps_secrets).shot()


def _id(value: Any) -> int:
    # `True` equals 1 in Python, and would name the document.
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _node(plain: Any) -> RrwebNode:
    if not isinstance(plain, dict) or not isinstance(plain.get("id"), int) or isinstance(plain["id"], bool):
        raise BrokenTree("a node without an id")
    kind = plain.get("type")
    if not isinstance(kind, int) or kind not in range(6) or isinstance(kind, bool):
        raise BrokenTree(f"a node of type {kind!r:.40}")
    attributes = plain.get("attributes")
    text = plain.get("textContent")
    return RrwebNode(
        id=plain["id"], type=kind, name=_name(plain.get("tagName")), is_svg=plain.get("isSVG") is True,
        attributes=scalars(attributes),
        text=shown(text) if isinstance(text, str) else "",
        shadow=NodeList() if plain.get("isShadowHost") is True else None,
        data={key: plain[key] for key in ("name", "publicId", "systemId", "compatMode") if key in plain},
        scroll=_scroll(attributes),
    )  # fmt: skip


def scalars(attributes: Any) -> dict[str, Any]:
    """Return the attributes that are texts, numbers, true, false or null; masked ones as masked."""
    data = attributes if isinstance(attributes, dict) else {}
    return {
        name: shown(value) if isinstance(value, str) and name != "value" else value
        for name, value in data.items()
        if value is None or isinstance(value, str | int | float)
    }


def shown(text: str) -> str:
    """Return a text of the page, a mark where rrweb put stars: a star or two are a sign of the page."""
    return MASKED if is_masked(text) and text.count("*") + text.count("•") >= STARS_MIN else text


def _name(data: Any) -> str:
    plain = "".join(data.split()) if isinstance(data, str) else ""
    return plain.lower() or "unknown"


def _scroll(attributes: Any) -> tuple[int, int] | None:
    data = attributes if isinstance(attributes, dict) else {}
    top, left = (data.get(f"rr_scroll{side}") for side in ("Top", "Left"))
    found = [round(one) if isinstance(one, int | float) and abs(one) < 1e9 else 0 for one in (top, left)]
    return (found[0], found[1]) if any(found) else None


def _siblings(parent: RrwebNode, plain: Any) -> NodeList:
    """Return the list that a child belongs to: that of the shadow root, or of the parent itself."""
    if not (isinstance(plain, dict) and plain.get("isShadow") is True):
        return parent.children
    if parent.shadow is None:
        parent.shadow = NodeList()
    return parent.shadow


def all_in(node: RrwebNode) -> Iterator[RrwebNode]:
    """Yield a node and all nodes in it."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        stack += [*one.children, *(one.shadow or ())]


def _holds(node: RrwebNode, inner: RrwebNode) -> bool:
    one: RrwebNode | None = inner
    while one is not None and one is not node:
        one = one.parent
    return one is node


def text_of(node: RrwebNode, limit: int = 1024) -> str:
    """Return the text in a node, without scripts and styles, at most so many characters."""
    found: list[str] = []
    size, stack = 0, [node]
    while stack and size < limit:
        one = stack.pop()
        if one.type in (TEXT, CDATA):
            found.append(one.text)
            size += len(one.text)
        elif one.name not in ("script", "style"):
            stack += reversed(one.children)
    return "".join(found)[:limit]


def is_masked(text: str) -> bool:
    """Whether a value is what rrweb puts in the place of one that it hides."""
    return bool(text.strip()) and not "".join(text.split()).strip("*•")


_END = object()


class _Writer:
    """Tokens of one page."""

    def __init__(self, tree: RrwebTree, url: str, *, keeps_secrets: bool) -> None:
        self._tree, self._url, self._keeps = tree, url, keeps_secrets
        self._passwords: list[str] = []
        self._tokens: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._nodes = self._frames = 0
        self._is_whole = tree.is_whole
        self._title: RrwebNode | None = None
        self._base = url

    def shot(self) -> RrwebSnapshot:
        """Write the page. Raises Broken."""
        self._walk()
        title = text_of(self._title) if self._title is not None else ""
        head = {
            "snapshot": 1, "url": self._url, "base": self._base, "title": " ".join(title.split()),
            "content_type": "text/html", "charset": "UTF-8", "compat": _compat(self._tree.root),
            "ready": "complete", "doctype": _doctype(self._tree.root), "elements": len(self._numbers),
            "nodes": self._nodes, "styles": [], "sheets": [], "flags": ["no_box", "no_style"],
        }  # fmt: skip
        lines: tuple[Any, ...] = (head, self._tokens, [], [])
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        try:
            decode(data)
        except SnapshotInvalid as error:
            raise BrokenTree(str(error)) from error
        return RrwebSnapshot(
            data=data,
            title=" ".join(title.split()),
            numbers=self._numbers,
            frames=self._frames,
            is_whole=self._is_whole,
            passwords=tuple(self._passwords),
        )

    def _walk(self) -> None:
        stack: list[Any] = list(reversed(self._tree.root.children))
        while stack:
            node = stack.pop()
            if node is _END:
                self._close()
            elif isinstance(node, str):
                self._tokens.append(node)
            elif node.type in (TEXT, CDATA, COMMENT):
                self._nodes += 1
                self._tokens.append(("!" if node.type == COMMENT else "=") + node.text)
            elif node.type == ELEMENT:
                stack += self._element(node)
        if not self._numbers:
            raise BrokenTree("a page without elements")

    def _close(self) -> None:
        if self._tokens and isinstance(self._tokens[-1], int):
            self._tokens[-1] += 1
        else:
            self._tokens.append(1)

    def _element(self, node: RrwebNode) -> list[Any]:
        """Start an element; return what follows it, the last first."""
        self._nodes += 1
        self._numbers[node.id] = len(self._numbers)
        self._tokens.append(("%" if node.is_svg else "<") + node.name)
        plain, state = _plain(node), _state(node)
        self._hide(node, plain, state)
        self._is_whole = self._is_whole and "rr_width" not in node.attributes
        self._is_whole = self._is_whole and ("-" not in node.name or node.shadow is not None or node.is_svg)
        inner = next((one for one in node.children if one.type == DOCUMENT), None)
        if node.name in FRAMES and inner is None:
            state["frame"] = self._frames
            self._frames += 1
        if plain:
            self._tokens.append([part for pair in plain.items() for part in pair])
        if state:
            self._tokens.append(state)
        if node.name == "title" and self._title is None and not node.is_svg:
            self._title = node
        rest: list[Any] = [_END, *reversed([one for one in node.children if one.type != DOCUMENT])]
        css = node.attributes.get("_cssText")
        if node.name == "style" and isinstance(css, str) and not node.children:
            rest.append("=" + css)
        if inner is not None:
            self._document(inner, node)
            rest = [_END, _END, *reversed(inner.children)]
        if node.shadow is not None:
            rest += [_END, *reversed(node.shadow), "#open"]
        return rest

    def _hide(self, node: RrwebNode, plain: dict[str, str], state: dict[str, Any]) -> None:
        """Mask what rrweb masked, and passwords that it left in clear."""
        if node.name not in ("input", "textarea") or node.kind in NO_TEXT:
            return
        for holder in (plain, state):
            value = holder.get("value")
            is_secret = bool(value) and node.is_secret and not self._keeps
            if value and (is_secret or is_masked(value)):
                holder["value"] = MASKED
                state["masked"] = True
                self._passwords += [] if is_masked(value) else [value]

    def _document(self, inner: RrwebNode, frame: RrwebNode) -> None:
        """Start the document of a frame; where it came from is not in the stream."""
        url = "about:srcdoc" if "srcdoc" in frame.attributes else "about:blank"
        data = {"url": url, "base": self._url, "title": "", "compat": _compat(inner), "ready": "complete"}
        self._tokens += ["@", {**data, "doctype": _doctype(inner)}]


def _compat(document: RrwebNode) -> str:
    return "BackCompat" if document.data.get("compatMode") == "BackCompat" else "CSS1Compat"


def _doctype(document: RrwebNode) -> list[str] | None:
    found = next((one.data for one in document.children if one.type == DOCTYPE), None)
    if found is None:
        return None
    return [str(found.get(key) or "") for key in ("name", "publicId", "systemId")]


def _plain(node: RrwebNode) -> dict[str, str]:
    """Return the attributes of an element as the page has them, live values and marks of rrweb left out."""
    data: dict[str, str] = {}
    for name, value in node.attributes.items():
        is_own = name.startswith(("rr_", "_cssText")) or name == "data-rr-is-password"
        is_live = name == "value" and node.name in ("select", "textarea")
        if value is None or value is False or is_own or is_live or not name or name.split() != [name]:
            continue
        data[name.lstrip("^") or "unknown"] = "" if value is True else str(value)
    return data


def _state(node: RrwebNode) -> dict[str, Any]:
    state: dict[str, Any] = {}
    if node.scroll is not None and any(node.scroll):
        state["scroll"] = list(node.scroll)
    if node.name == "select":
        state["selected"] = selected(node)
    elif node.name in ("input", "textarea"):
        _field(node, state)
    return state


def _field(node: RrwebNode, state: dict[str, Any]) -> None:
    first = node.attributes.get("value")
    live = node.value if node.value is not None else first if node.name == "textarea" else None
    if isinstance(live, str) and node.kind not in NO_TEXT and (live != first or node.name == "textarea"):
        state["value"] = live
    if node.checked is not None and node.checked != bool(node.attributes.get("checked")):
        state["checked"] = node.checked


def options(select: RrwebNode) -> list[RrwebNode]:
    """Return the options of a select, in order."""
    found, stack = [], list(reversed(select.children))
    while stack:
        one = stack.pop()
        if one.name == "option":
            found.append(one)
        else:
            stack += reversed(one.children)
    return found


def value_of(option: RrwebNode) -> str:
    """Return the value of an option: its attribute, else its text."""
    data = option.attributes.get("value")
    return " ".join(text_of(option).split()) if data is None else str(data)


def selected(select: RrwebNode) -> list[int]:
    """Return the places of the chosen options: by the last input, else by what the page began with."""
    found = options(select)
    if select.value is not None:
        return [at for at, one in enumerate(found) if value_of(one) == select.value][:1]
    chosen = [at for at, one in enumerate(found) if one.attributes.get("selected") not in (None, False)]
    is_list = "multiple" in select.attributes or "size" in select.attributes
    return chosen or ([0] if found and not is_list else [])
