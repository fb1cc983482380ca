"""One page of an rrweb stream: its tree, its address, what it looks like, what an action aimed at."""

from __future__ import annotations

from collections import Counter
from typing import Any

from replaykit.interop.imported_run import Run
from replaykit.interop.rrweb.rrweb_dom import (
    ELEMENT,
    BrokenTree,
    RrwebSnapshot,
    RrwebTree,
    all_in,
    is_masked,
    scalars,
    shown,
    text_of,
)
from replaykit.interop.rrweb.rrweb_gestures import RrwebGestures
from replaykit.interop.rrweb.rrweb_nodes import RrwebNode
from replaykit.snapshot.snapshot_format import MEDIA_TYPE
from replaykit.trajectory.action import Element, Names
from replaykit.trajectory.action import NodeRef as Place
from replaykit.trajectory.observation import Frame, Observation
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.scalars import Blob, Omitted

ADDS_MAX = 200_000
"""Nodes that one event may add."""

TEXT_MAX = 1024
"""Characters of a target's text and attributes."""

ATTRIBUTES_MAX = 64

CHANGES = ("texts", "attributes", "removes", "adds")
"""Parts of a change."""


class RrwebPage:
    """One page. `number`: tab ordinal."""

    def __init__(self, run: Run, number: int, gestures: RrwebGestures) -> None:
        self._run, self.number, self.gestures = run, number, gestures
        self.url: str | None = None
        self.viewport: tuple[int, int] | None = None
        self.tree: RrwebTree | None = None
        self.is_loaded = False
        #: Whether it was ever shown, and whether all that was shown could be built.
        self.was_shown, self.is_whole = False, True
        #: Keys of nodes that nothing reads, and how often each is there.
        self.unread: Counter[str] = Counter()
        #: How often anything changed or was done on it, among all pages.
        self.touched = 0
        # Writing a page is slow, and several looks may see the same one.
        self._taken: tuple[Blob, RrwebSnapshot | None] | None = None

    def resize(self, data: dict[str, Any]) -> None:
        """Take the size of its window."""
        size = [data.get(side) for side in ("width", "height")]
        numbers = [round(one) for one in size if isinstance(one, int | float) and 0 <= one < 1e6]
        if len(numbers) == 2:
            self.viewport = (numbers[0], numbers[1])

    def show(self, data: dict[str, Any], place: str) -> None:
        """Take a full snapshot."""
        self.change()
        try:
            self.tree = RrwebTree(data.get("node"), self.unread)
            self.was_shown = True
        except BrokenTree as error:
            self.tree = None
            self.lose(
                f"a full snapshot that cannot be built ({error}): the page is unknown until the next", place
            )
            return
        offset = data.get("initialOffset")
        if isinstance(offset, dict):
            self.scroll_to(self.tree.root.id, offset.get("left"), offset.get("top"))

    def change(self) -> None:
        """Report that the page is another one now."""
        self._taken = None
        self.touched += 1

    def lose(self, what: str, place: str) -> None:
        """Report that a change of the page is not known."""
        self._run.flaw(what, place)
        self.is_whole = False

    def mutate(self, data: dict[str, Any], place: str) -> None:
        """Take a change of the tree: first removes, then adds, texts and attributes."""
        tree = self.tree
        self.change()
        if tree is None:
            self.lose("a change of a page that was not shown", place)
            return
        if any(not isinstance(data.get(key, []), list | None) for key in CHANGES):
            self.lose("a change that cannot be read: snapshots are partial", place)
        lost = sum(not tree.remove(one.get("id")) for one in _objects(data, "removes"))
        try:
            lost += self._add(tree, _objects(data, "adds"))
        except BrokenTree as error:
            self.lose(f"a change that cannot be made ({error})", place)
        lost += sum(not self._text(tree, one) for one in _objects(data, "texts"))
        lost += sum(not self._attributes(tree, one) for one in _objects(data, "attributes"))
        if lost:
            self.lose("a change of a node that is not there: snapshots are partial", place)

    def _add(self, tree: RrwebTree, adds: list[dict[str, Any]]) -> int:
        """Add nodes; those whose parent or follower comes later wait. Return how many found no place."""
        if len(adds) > ADDS_MAX:
            raise BrokenTree(f"more than {ADDS_MAX} nodes at once")
        waiting: dict[int, list[dict[str, Any]]] = {}
        for one in reversed(adds):  # the follower of a node often stands after it
            ready = [one]
            while ready:
                data = ready.pop()
                if not tree.add(data):
                    waiting.setdefault(tree.lacked_by(data), []).append(data)
                    continue
                made = tree.nodes[data["node"]["id"]]
                ready += [later for node in all_in(made) for later in waiting.pop(node.id, ())]
        return sum(map(len, waiting.values()))

    def _text(self, tree: RrwebTree, data: dict[str, Any]) -> bool:
        node, value = tree.nodes.get(_int(data.get("id"))), data.get("value")
        if node is None:
            return False
        node.text = shown(value) if isinstance(value, str) else ""
        return True

    def _attributes(self, tree: RrwebTree, data: dict[str, Any]) -> bool:
        node, changed = tree.nodes.get(_int(data.get("id"))), data.get("attributes")
        if node is None or not isinstance(changed, dict):
            return node is not None
        for name, value in changed.items():
            if value is None:
                node.attributes.pop(name, None)
            elif name == "style" and isinstance(value, dict):
                self._run.leave_out("changes of single styles")
            else:
                node.attributes |= scalars({name: value})
        return True

    def node(self, id: Any) -> RrwebNode | None:
        """Return an element, None where it is not on the page."""
        found = None if self.tree is None else self.tree.nodes.get(_int(id))
        return found if found is not None and found.type == ELEMENT else None

    def scroll_to(self, id: Any, x: Any, y: Any) -> tuple[int, int]:
        """Scroll an element, or the page itself; return how far: right, down, px."""
        tree = self.tree
        node = None if tree is None else tree.nodes.get(_int(id))
        # rrweb names the document; our snapshots keep this scroll at the root element.
        if tree is not None and node is tree.root:
            node = next((one for one in tree.root.children if one.type == ELEMENT), None)
        to = tuple(round(one) if isinstance(one, int | float) and abs(one) < 1e9 else 0 for one in (y, x))
        if node is None:
            return (0, 0)
        top, left = node.scroll or (0, 0)
        node.scroll = (to[0], to[1])
        self.change()
        return (to[1] - left, to[0] - top)

    def look(self, role: str, t: int | None, of: int | None = None) -> Observation:
        """Return the page as it is now."""
        blob, shot = self._snapshot()
        return Observation(
            role=role, of=of, t=t, page=self.number, url=self.url, viewport=self.viewport, snapshot=blob,
            title=None if shot is None else shot.title,
            frames=() if shot is None else (Frame(why="unseen"),) * min(shot.frames, 256),
        )  # fmt: skip

    def _snapshot(self) -> tuple[Blob | None, RrwebSnapshot | None]:
        if self.tree is None:
            return None, None
        if self._taken is None:
            self._taken = self._made(self.tree)
        return self._taken

    def _made(self, tree: RrwebTree) -> tuple[Blob, RrwebSnapshot | None]:
        try:
            shot = tree.shot(self.url or "about:blank", keeps_secrets=self._run.options.keeps_secrets)
        except BrokenTree as error:
            self.lose(f"a page that cannot be written ({error}): left out", "a snapshot")
            return Omitted(why="failed"), None
        for one in shot.passwords:
            self._run.secret(one)
        self.is_whole = self.is_whole and shot.is_whole
        return self._run.put(MEDIA_TYPE, shot.data), shot

    def element(self, id: Any, point: tuple[int, int] | None = None) -> Element | None:
        """Return what an action aimed at; None where it is not on the page."""
        node = self.node(id)
        if node is None:
            return None
        blob, shot = self._snapshot()
        number = None if shot is None else shot.numbers.get(node.id)
        place = Place(snapshot=blob, number=number) if isinstance(blob, str) and number is not None else None
        data = {key: str(value) for key, value in node.attributes.items() if _is_plain(key, value)}
        text = " ".join(text_of(node, TEXT_MAX).split())
        value = node.attributes.get("value") if node.name == "input" else None
        live = node.value if node.value is not None else value
        # rrweb hides values itself where it was asked to: stars are no value.
        is_hidden = isinstance(live, str) and (node.is_secret or is_masked(live))
        return Element(
            tag=node.name, type=data.get("type") if node.name in ("input", "button") else None,
            role=data.get("role"), text=text, names=self._names(node, data, text),
            value=MASKED if is_hidden else live if isinstance(live, str) else None, masked=is_hidden,
            attributes=dict(list(data.items())[:ATTRIBUTES_MAX]) or None, point=point,
            node=place,
        )  # fmt: skip

    def _names(self, node: RrwebNode, data: dict[str, str], text: str) -> Names:
        label = self._label(node, data.get("id"))
        button = node.name == "input" and node.kind in ("submit", "button", "reset")
        return Names(
            text=text or None, aria_label=data.get("aria-label"), title=data.get("title"),
            alt=data.get("alt"), placeholder=data.get("placeholder"), label=label or None,
            value=str(node.attributes["value"]) if button and "value" in node.attributes else None,
        )  # fmt: skip

    def _label(self, node: RrwebNode, id: str | None) -> str:
        """Return the text of the labels of a field."""
        if node.name not in ("input", "select", "textarea", "button") or self.tree is None:
            return ""
        # A label may hold its field, or name it by `for`, or both.
        around: RrwebNode | None = node.parent
        while around is not None and around.name != "label":
            around = around.parent
        found = [around] if around is not None else []
        if id:
            found += [
                one
                for one in self.tree.nodes.values()
                if one.name == "label" and one.attributes.get("for") == id
            ]
        return " ".join(" ".join(text_of(one, TEXT_MAX).split()) for one in found)


def _is_plain(name: str, value: Any) -> bool:
    return (
        isinstance(value, str)
        and name != "value"
        and not name.startswith(("rr_", "_css"))
        and len(value) <= TEXT_MAX
    )


def _int(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _objects(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = data.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
