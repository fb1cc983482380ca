"""DOM snapshots of Playwright's traces as ours.

A node is a text, `[name, attributes?, ...children]`, or `[[k, n]]`: node n of the snapshot that stands k
before this one of the same frame. Nothing recurses, and what references multiply is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.decoders import decode_as_python
from replaykit.errors import SnapshotInvalid
from replaykit.secrets.secret_patterns import sent_names
from replaykit.snapshot.codec import decode
from replaykit.trajectory.action import Element, Names
from replaykit.trajectory.redaction_marks import MASKED

NODES_MAX = 300_000
"""Nodes of one snapshot: references make a page of billions out of a few lines."""

TEXT_MAX = 1024
"""Characters of a target's text."""

_OWN = "__playwright_"
_NO_TEXT = ("checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden", "color", "range")
"""Types of inputs that hold no typed text."""

_FRAMES = ("iframe", "frame")


class BrokenSnapshot(Exception):
    """A snapshot that cannot be built: too large, or no tree."""


class Built(Struct, frozen=True, kw_only=True):
    """One document as a snapshot of ours."""

    data: bytes
    """`application/x-replaykit-dom`."""
    title: str
    """Text of its title element."""
    target: Element | None
    """The element that a call acted on."""
    number: int
    """Its element number, -1 if it has no element."""
    is_named: bool
    """Whether its mark names the call: calls at the same time share the empty mark of newer releases."""
    frames: tuple[tuple[int, str], ...]
    """Frame elements: place among all of them, id of the frame inside (empty: not known)."""
    passwords: tuple[str, ...]
    """Values that were masked."""
    fields: tuple[str, ...]
    """Names that those values may have where they are sent."""
    is_whole: bool
    """False: a reference leads nowhere."""


class FrameSnapshots:
    """The raw snapshots of every frame, in order: what references point into."""

    def __init__(self) -> None:
        self._raw: dict[str, list[Any]] = {}
        self._nodes: dict[tuple[str, int], list[Any]] = {}

    def add(self, frame: str, html: Any) -> int:
        """Keep a raw snapshot; return its place among those of its frame."""
        self._raw.setdefault(frame, []).append(html)
        return len(self._raw[frame]) - 1

    def node(self, frame: str, place: int, number: int) -> Any:
        """Return a node of a raw snapshot by its number in post-order; None if absent."""
        if not 0 <= place < len(self._raw.get(frame, ())):
            return None
        key = (frame, place)
        if key not in self._nodes:
            # Numbered once: each later snapshot may refer to it often.
            self._nodes[key] = list(_post_order(self._raw[frame][place]))
        nodes = self._nodes[key]
        return nodes[number] if 0 <= number < len(nodes) else None

    def raw(self, frame: str, place: int) -> Any:
        """Return a raw snapshot."""
        return self._raw[frame][place]


def _post_order(html: Any) -> Iterator[Any]:
    stack: list[tuple[Any, bool]] = [(html, False)]
    while stack:
        node, is_done = stack.pop()
        if isinstance(node, str) or is_done:
            yield node
        elif _is_element(node):
            stack.append((node, True))
            stack += [(child, False) for child in reversed(_children(node))]


def _is_element(node: Any) -> bool:
    return isinstance(node, list) and bool(node) and isinstance(node[0], str)


def _children(node: list[Any]) -> list[Any]:
    return node[2:] if len(node) > 1 and isinstance(node[1], dict) else node[1:]


def build(
    frames: FrameSnapshots, frame: str, place: int, *, url: str, call: str, keeps_secrets: bool
) -> Built:
    """Return one raw snapshot of a frame as ours, references resolved. Raises Broken."""
    maker = _Maker(frames, frame, call, keeps_secrets=keeps_secrets)
    maker.walk(frames.raw(frame, place), place)
    head = {
        "snapshot": 1, "url": url, "base": url, "title": maker.title.strip(), "content_type": "text/html",
        "charset": "UTF-8", "compat": "CSS1Compat", "ready": "complete", "doctype": ["html", "", ""],
        "elements": maker.elements, "nodes": maker.nodes, "styles": [], "sheets": [],
        "flags": ["no_box", "no_style"],
    }  # fmt: skip
    lines: tuple[Any, ...] = (head, maker.tokens, [], [])
    data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    try:
        # Read back at once: nothing unreadable may get into a bundle.
        decode(data)
    except SnapshotInvalid as error:
        raise BrokenSnapshot(str(error)) from error
    return Built(
        data=data,
        title=maker.title.strip(),
        target=maker.target(),
        number=maker.target_number,
        is_named=maker.is_named,
        frames=tuple(maker.frames),
        passwords=tuple(maker.passwords),
        fields=tuple(maker.fields),
        is_whole=maker.is_whole,
    )


class _Maker:
    """Tokens of one snapshot."""

    def __init__(self, frames: FrameSnapshots, frame: str, call: str, *, keeps_secrets: bool) -> None:
        self.tokens: list[Any] = []
        self.elements = self.nodes = 0
        self.title = ""
        self.frames: list[tuple[int, str]] = []
        self.passwords: list[str] = []
        self.fields: list[str] = []
        self.target_number = -1
        self.is_named = False
        self.is_whole = True
        self._source, self._frame, self._call, self._keeps = frames, frame, call, keeps_secrets
        self._target: tuple[str, dict[str, str], str | None] | None = None
        self._start = 0
        self._selects: list[tuple[dict[str, Any], int]] = []

    def walk(self, html: Any, place: int) -> None:
        """Write a tree; what is open stands on the stack as the name that ends there."""
        stack: list[tuple[Any, int, str]] = [(html, place, "")]
        depth = 0
        while stack:
            node, at, context = stack.pop()
            if node is _END:
                depth -= 1
                self._leave(context)
                continue
            if isinstance(node, list) and len(node) == 1 and isinstance(node[0], list):
                # A node's own references count from the snapshot that holds it.
                node, at = self._resolved(node[0], at)
            self.nodes += 1
            if self.nodes > NODES_MAX:
                raise BrokenSnapshot(f"more than {NODES_MAX} nodes")
            if isinstance(node, str):
                self._text(node, context)
            elif _is_element(node):
                name = self._enter(node, context, is_root=depth == 0)
                depth += 1
                stack.append((_END, at, name))
                stack += [(child, at, name) for child in reversed(_children(node))]
            elif node is not None:
                self.is_whole = False
        if not self.elements or depth:
            raise BrokenSnapshot("no tree of elements")

    def _resolved(self, reference: list[Any], place: int) -> tuple[Any, int]:
        if len(reference) != 2 or not all(isinstance(n, int) and n >= 0 for n in reference):
            self.is_whole = False
            return None, place
        at = place - reference[0]
        node = self._source.node(self._frame, at, reference[1])
        if node is None:
            self.is_whole = False
        return node, at

    def _enter(self, node: list[Any], context: str, *, is_root: bool) -> str:
        stated = node[1] if len(node) > 1 and isinstance(node[1], dict) else {}
        attributes = {str(name): value for name, value in stated.items() if isinstance(value, str)}
        # The tracer writes a shadow root as an element with this attribute.
        if _OWN + "shadow_root_" in attributes and not is_root:
            closed = attributes[_OWN + "shadow_root_"] == "closed"
            self.tokens.append("#closed" if closed else "#open")
            return "#shadow"
        kind, name = _name(node[0], context)
        self.tokens.append(kind + name)
        plain = {key: value for key, value in attributes.items() if not key.startswith(_OWN)}
        state = self._state(name, plain, attributes)
        if plain:
            self.tokens.append([part for pair in plain.items() for part in pair])
        if name == "select":
            state["selected"] = []  # filled by its options
            self._selects.append((state, 0))
        if state:
            self.tokens.append(state)
        self._aim(name, plain, attributes)
        self.elements += 1
        return kind + name

    def _leave(self, name: str) -> None:
        if name == "<select":
            self._selects.pop()
        if self.tokens and isinstance(self.tokens[-1], int):
            self.tokens[-1] += 1
        else:
            self.tokens.append(1)

    def _text(self, text: str, context: str) -> None:
        self.tokens.append("=" + text)
        if context == "<title" and len(self.title) < TEXT_MAX:
            self.title += text

    def _state(self, name: str, plain: dict[str, str], stated: dict[str, str]) -> dict[str, Any]:
        state: dict[str, Any] = {}
        value = stated.get(_OWN + "value_")
        kind = plain.get("type", "text").lower()
        holds_text = name == "textarea" or (name == "input" and kind not in _NO_TEXT)
        if value is not None and holds_text and (name == "textarea" or value != plain.get("value", "")):
            state["value"] = value
        if kind == "password" and name == "input":
            self._mask(plain, state)
        checked = stated.get(_OWN + "checked_")
        # Only what differs from the markup is live state.
        if checked is not None and (checked == "true") != ("checked" in plain):
            state["checked"] = checked == "true"
        self._option(name, plain, stated)
        top, left = (_number(stated.get(f"{_OWN}scroll_{side}_")) for side in ("top", "left"))
        if top or left:
            state["scroll"] = [top or 0, left or 0]
        if stated.get(_OWN + "dialog_open_") == "modal":
            state["modal"] = True
        if stated.get(_OWN + "popover_open_") == "true":
            state["popover"] = True
        if name in _FRAMES:
            self._inner(plain, state)
        return state

    def _mask(self, plain: dict[str, str], state: dict[str, Any]) -> None:
        values = [value for value in (state.get("value"), plain.get("value")) if value]
        self.passwords += values
        self.fields += sent_names(plain.get("name"), plain.get("id"))
        if values and not self._keeps:
            state["masked"] = True
            if state.get("value"):
                state["value"] = MASKED
            for key in [key for key, value in plain.items() if value in values and key != "type"]:
                plain[key] = MASKED

    def _option(self, name: str, plain: dict[str, str], stated: dict[str, str]) -> None:
        if name != "option" or not self._selects:
            return
        state, number = self._selects[-1]
        live = stated.get(_OWN + "selected_")
        if live == "true" or (live is None and "selected" in plain):
            state["selected"].append(number)
        self._selects[-1] = (state, number + 1)

    def _inner(self, plain: dict[str, str], state: dict[str, Any]) -> None:
        source = plain.get("src", "")
        inner = source.removeprefix("/snapshot/").partition("?")[0] if source.startswith("/snapshot/") else ""
        state["frame"] = len(self.frames)
        if inner:
            plain.pop("src")  # the tracer's own address
        self.frames.append((len(self.frames), inner))

    def _aim(self, name: str, plain: dict[str, str], stated: dict[str, str]) -> None:
        mark = stated.get(_OWN + "target__")
        # Version 3 marks it by the name of the snapshot: `action@` and the call id.
        is_aim = mark is not None and (mark in ("", self._call) or mark.partition("@")[2] == self._call)
        # Only the first: a reference may show a marked node again.
        if is_aim and self._target is None:
            value = stated.get(_OWN + "value_")
            if plain.get("type", "").lower() == "password" and value and not self._keeps:
                value = MASKED
            self._target = (name, plain, value)
            self.target_number, self.is_named = self.elements, bool(mark)
            self._start = len(self.tokens)

    def target(self) -> Element | None:
        """Return the element that the call acted on."""
        if self._target is None:
            return None
        name, plain, value = self._target
        text = self._text_of()
        names = Names(
            text=text or None, aria_label=plain.get("aria-label"), title=plain.get("title"),
            placeholder=plain.get("placeholder"), alt=plain.get("alt"),
        )  # fmt: skip
        kept = dict(list(plain.items())[:64])
        return Element(
            tag=name, type=plain.get("type"), role=plain.get("role"), text=text, value=value, names=names,
            attributes={key: text[:TEXT_MAX] for key, text in kept.items()} or None,
            masked=value == MASKED,
        )  # fmt: skip

    def _text_of(self) -> str:
        depth, texts = 1, []
        for token in self.tokens[self._start :]:
            if isinstance(token, int):
                depth -= token
                if depth <= 0:
                    break
            elif isinstance(token, str):
                if token.startswith("="):
                    texts.append(token[1:])
                else:
                    depth += 1
        return "".join(texts)[:TEXT_MAX]


_END = object()


def _name(stated: str, context: str) -> tuple[str, str]:
    """Return mark and name of an element: the tracer writes names of HTML elements upper case."""
    plain = "".join(stated.split()) or "unknown"
    if plain == plain.upper():
        return "<", plain.lower()
    if plain in ("svg", "math"):
        return {"svg": "%", "math": "&"}[plain], plain
    return (context[0] if context[:1] in ("%", "&") else "<"), plain


def _number(text: str | None) -> float | None:
    try:
        value = decode_as_python(text) if text else None
    except (ValueError, RecursionError):
        return None
    return round(value) if isinstance(value, int | float) and abs(value) < 1e9 else None
