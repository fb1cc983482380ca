"""Handlers that a script of the agent may have written into elements of a page (`onclick="..."`).

The browser compiles them as a part of the page, so that no call stack and no event names the script.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.agent_script_times import AgentScriptTimes
from replaykit.grading.policies.events.last_gesture import field_at
from replaykit.replay.dom import Dom, Node
from replaykit.replay.run_state import Page
from replaykit.trajectory.action import Element
from replaykit.trajectory.observation import Observation

_EVENTS = "click mouse pointer touch key input change submit focus drag toggle"
_HANDLERS = tuple(f"on{one}".encode() for one in _EVENTS.split())
"""How the names of handlers begin that a gesture calls."""

LOOKS_MAX = 16
"""Looks at a document that are compared."""


class WrittenHandlers:
    """The looks at the documents that tabs show, and which handlers came between them."""

    def __init__(self, scripts: AgentScriptTimes) -> None:
        self._scripts = scripts
        self._looks: dict[int | None, deque[tuple[int, Page]]] = {}

    def looked_at(self, seen: Observation, page: Page | None) -> None:
        """Remember a look at a document."""
        if page is not None:
            looks = self._looks.setdefault(seen.page, deque(maxlen=LOOKS_MAX))
            looks.append((seen.t or 0, page))

    def left(self, tab: int | None) -> None:
        """Forget the document of a tab."""
        self._looks.pop(tab, None)

    def may_serve(self, target: Element, tab: int | None, page: Page | None, at: int) -> bool:
        """Whether a target, or an element around it, handles what it did not before a script ran."""
        looks = self._looks.get(tab, ())
        earlier = [one for since, one in looks if self._scripts.may_have_written(since, at)]
        dom = _dom(page) if earlier and not target.frame else None
        # Most pages have no such attribute, and need not be decoded.
        if dom is None or not dom.held(_HANDLERS):
            return False
        now = field_at(dom, target.css)
        if not any(map(_handled, _upwards(now))):
            return False
        return any(_has_gained(now, field_at(_dom(one), target.css)) for one in earlier)


def _dom(page: Page | None) -> Dom | None:
    try:
        return page.dom if page is not None else None
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return None


def _upwards(node: Node | None) -> Iterator[Node]:
    """Yield an element and those around it, outwards."""
    while node is not None:
        yield node
        node = node.parent


def _has_gained(now: Node | None, before: Node | None) -> bool:
    """Whether an element handles more than before, or one around it; a new one brought its handlers along."""
    pairs = zip(_upwards(now), _upwards(before), strict=False)
    return any(not _handled(one) <= _handled(other) for one, other in pairs)


def _handled(node: Node) -> set[str]:
    names = (name.lower() for name in node.attributes)
    return {name for name in names if name.encode().startswith(_HANDLERS)}
