"""BrowserGym's facts about the elements that its actions name by a bid: role, name, tag, type, attributes.

Three views of one page number its elements alike: the accessibility tree as text, the pruned HTML, and the
DOM snapshot of the Chrome DevTools Protocol.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import islice
from typing import Any

from msgspec.structs import replace

from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Action, DragAndDrop, Element

BID = "bid"
"""The attribute that numbers elements."""

TEXT_MAX = 1024
"""Characters of a name or an attribute that are kept."""

KEPT = ("id", "name", "type", "autocomplete", "aria-label", "placeholder", "title", "href", "class", "role")
"""Attributes that are kept."""

_QUOTED = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
_NODE = lazy_pattern(rf"^\s*\[([A-Za-z0-9]+)\] (\S+) ({_QUOTED})", re.MULTILINE)
_START = lazy_pattern(r"<[a-zA-Z][^<>]*>")


def targeted(action: Action, tree: str | None, html: str | None, dom: Any = None) -> Action:
    """Return an action whose elements hold what the page showed at their bids."""
    if action.element is not None:
        action = replace(action, element=_described(action.element, tree, html, dom))
    if isinstance(action, DragAndDrop) and action.to is not None:
        action = replace(action, to=_described(action.to, tree, html, dom))
    return action


def _described(element: Element, tree: str | None, html: str | None, dom: Any) -> Element:
    ref = element.ref
    if ref is None or not ref.isalnum():
        return element
    role, name = _in_tree(tree or "", ref)
    tag, attributes = _in_dom(dom, ref) or _in_html(html or "", ref) or (None, {})
    kept = {key: attributes[key][:TEXT_MAX] for key in KEPT if attributes.get(key)}
    type = attributes.get("type")
    return replace(
        element, role=role, name=name, tag=tag, type=type and type[:64], attributes=kept or None
    )  # fmt: skip


def _in_tree(tree: str, bid: str) -> tuple[str | None, str | None]:
    """Return role and name of a node of the tree; its name is written as Python writes a text."""
    node = next((one for one in _NODE.finditer(tree) if one[1] == bid), None)
    if node is None:
        return None, None
    try:
        name = ast.literal_eval(node[3])
    except (ValueError, SyntaxError):
        name = node[3][1:-1]
    return node[2][:64], name[:TEXT_MAX] or None


def _in_html(html: str, bid: str) -> tuple[str, dict[str, str]] | None:
    """Return tag and attributes of the element with a bid."""
    signs = (f'bid="{bid}"', f"bid='{bid}'")
    for found in _START.finditer(html):
        if any(sign in found[0] for sign in signs):
            tags = _Tags()
            tags.feed(found[0])
            if tags.found is not None and tags.found[1].get(BID) == bid:
                return tags.found
    return None


class _Tags(HTMLParser):
    """Keeps the first start tag."""

    found: tuple[str, dict[str, str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found = self.found or (tag, {name: value or "" for name, value in attrs})


def _in_dom(dom: Any, bid: str) -> tuple[str | None, dict[str, str]] | None:
    """Return tag and attributes of the node of a DOM snapshot with a bid."""
    strings = dom.get("strings") if isinstance(dom, dict) else None
    if not isinstance(strings, list | tuple) or bid not in strings:
        return None
    for nodes in _nodes(dom):
        for at, indexes in enumerate(nodes["attributes"]):
            attributes = _attributes(strings, indexes)
            if attributes.get(BID) == bid:
                return _tag(strings, nodes.get("nodeName"), at), attributes
    return None


def _nodes(dom: dict[str, Any]) -> Iterator[dict[str, Any]]:
    documents = dom.get("documents")
    for one in documents if isinstance(documents, list | tuple) else ():
        nodes = one.get("nodes") if isinstance(one, dict) else None
        if isinstance(nodes, dict) and isinstance(nodes.get("attributes"), list | tuple):
            yield nodes


def _attributes(strings: Any, indexes: Any) -> dict[str, str]:
    known = [_text(strings, one) for one in indexes] if isinstance(indexes, list | tuple) else []
    pairs = zip(islice(known, 0, None, 2), islice(known, 1, None, 2), strict=False)
    return {name: value for name, value in pairs if name is not None and value is not None}


def _tag(strings: Any, names: Any, at: int) -> str | None:
    is_there = isinstance(names, list | tuple) and at < len(names)
    name = _text(strings, names[at]) if is_there else None
    return name and name.lower()[:64]


def _text(strings: Any, index: Any) -> str | None:
    is_one = isinstance(index, int) and 0 <= index < len(strings)
    text = strings[index] if is_one else None
    return text if isinstance(text, str) else None
