"""Handlers that the site wrote into elements: it had them before, or sent them.

Pages write lists as HTML (`<li onclick="show(7)">`), so that elements bring their handlers along. The code of
such a handler differs by its literals from those of other entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from replaykit.grading.policies.events.plain_widgets.page_change import ROWS_MAX, size_of, texts_in
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Dom, Node
from replaykit.replay.dom_tree import Tree
from replaykit.replay.player import Replay
from replaykit.snapshot.snapshot_format import TEXT
from replaykit.trajectory.exchange import Exchange

TextOf = Callable[[str], str]
"""Returns the text of a body that was recorded."""

EVENTS = "click mouse pointer touch key input change submit focus drag toggle"
PREFIXES = tuple(f"on{one}".encode() for one in EVENTS.split())
"""How the names of handlers begin that a gesture calls."""

_LITERAL = lazy_pattern(r"""'[^']*'|"[^"]*"|`[^`]*`|\d+""")
_SPACES = lazy_pattern(r"\s+")
_END = lazy_pattern(r"<\\?/")
_ATTRIBUTE = lazy_pattern(r"""\bon[a-z]+["']?\s*[=,]\s*[\\"'`]*\s*$""")
"""The text before the code of a handler where a page or script writes one."""

_HEAD_MIN = 4
"""Characters of the code before its first literal that are enough to know it by."""

_NEAR = 2000
"""Characters after the code in which the text of its element begins."""

_AHEAD = 40
"""Characters before the code that name the event."""

_SEARCHES_MAX = 200
"""Handlers of a run that are looked for; a further one may be the agent's."""

_PLACES_MAX = 1000
"""Places of a source at which the code of a handler is looked for."""

_SENT = ("fetch", "script", "xhr")
"""Resources by which pages get what they write."""


_BODY_MAX = 1_000_000
"""Bytes of a body in which handlers are looked for."""


def text_of_body(replay: Replay, blob: str) -> str:
    """Return the beginning of a body as text; empty where it is not in the file."""
    data = replay.bundle.blob(blob) if blob in replay.bundle else b""
    return data[:_BODY_MAX].decode("utf-8", "replace")


class SiteHandlers:
    """Handlers that the site of one run sent."""

    def __init__(self, exchanges: Iterable[Exchange], text_of: TextOf) -> None:
        self._sent = [one for one in exchanges if one.resource in _SENT and one.source != "agent"]
        self._text_of = text_of
        self._found: dict[tuple[str, str], int | None] = {}
        self._heads = set[str]()

    def wrote(self, node: Node, name: str, code: str, before: Dom, at: int) -> bool:
        """Whether a handler is the site's: an element had it before, or the site sent it."""
        if (name, _shape(code), _called(node)) in _handlers(before):
            return True
        head = _LITERAL.split(code, maxsplit=1)[0].strip().partition("\n")[0]
        if len(head) < _HEAD_MIN or not self._may_search(head):
            return False
        if _is_scripted(head, before):
            return True
        sent = self._sent_at(head, next(texts_in(node), ""))
        return sent is not None and sent <= at

    def _may_search(self, head: str) -> bool:
        if len(self._heads) < _SEARCHES_MAX:
            self._heads.add(head)
        return head in self._heads

    def _sent_at(self, head: str, text: str) -> int | None:
        """Return when the site first sent such a handler of an element with this text, if it did."""
        key = (head, _SPACES.sub(" ", text))
        if key not in self._found and len(self._found) < _SEARCHES_MAX:
            self._found[key] = min((one.t or 0 for one in self._sent if self._holds(one, *key)), default=None)
        return self._found.get(key)

    def _holds(self, sent: Exchange, head: str, text: str) -> bool:
        body = self._text_of(sent.body) if isinstance(sent.body, str) else ""
        return _is_written(head, body, None if sent.resource == "script" else text)


def handlers_of(node: Node | None) -> dict[str, str]:
    """Return the handlers of an element that a gesture calls: name to code."""
    attributes = node.attributes if node is not None else {}
    named = ((name.lower(), code) for name, code in attributes.items())
    return {name: code for name, code in named if name.encode().startswith(PREFIXES)}


def _is_written(head: str, source: str, text: str | None) -> bool:
    """Whether a source writes a handler that begins so, and in markup also the text of its element."""
    for place in islice(_places(head, source), _PLACES_MAX):
        if _ATTRIBUTE.search(source, max(0, place - _AHEAD), place) is None:
            continue
        inside = _END.split(source[place : place + _NEAR], maxsplit=1)[0]
        if text is None or (text and text in _SPACES.sub(" ", inside)):
            return True
    return False


def _places(part: str, whole: str) -> Iterator[int]:
    place = whole.find(part)
    while place >= 0:
        yield place
        place = whole.find(part, place + len(part))


def _shape(code: str) -> str:
    return _LITERAL.sub("0", code)


def _called(node: Node) -> str:
    """Return the text of an element without its numbers; of a large one, none."""
    text = "\n".join(texts_in(node)) if size_of(node) <= ROWS_MAX else ""
    return _SPACES.sub(" ", _LITERAL.sub("0", text))


_Handler = tuple[str, str, str]
"""Name, code without literals, text of the element."""


def _handlers(dom: Dom) -> frozenset[_Handler]:
    """Return the handlers of a page, looked for once."""
    known = dom.tree.memo(_known_handlers)
    if not known:
        nodes = (one for row in range(len(dom.tree.kind)) if (one := Node(dom, row)).is_element)
        known.append(
            frozenset(
                (name, _shape(code), _called(node))
                for node in nodes
                for name, code in handlers_of(node).items()
            )
        )
    return known[0]


def _known_handlers(tree: Tree) -> list[frozenset[_Handler]]:
    """The handlers of a page, filled when they are asked for."""
    return []


def _is_scripted(head: str, dom: Dom) -> bool:
    """Whether a script that stands in a page writes a handler that begins so; each is looked for once."""
    known = dom.tree.memo(_known_scripts)
    if head not in known:
        known[head] = any(_is_written(head, text, None) for text in _scripts(dom.tree))
    return known[head]


def _known_scripts(tree: Tree) -> dict[str, bool]:
    """The code that scripts of a page write into elements, filled as it is asked for."""
    return {}


def _scripts(tree: Tree) -> Iterator[str]:
    for row, kind in enumerate(tree.kind):
        if kind == TEXT and tree.name[tree.parent[row]] == "script":
            yield tree.name[row]
