"""Handlers that a script of the agent may have written into elements of a page (`onclick="..."`).

The browser compiles them as a part of the page, so that no call stack and no event names the script.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.agent_script_times import AgentScriptTimes
from replaykit.grading.policies.events.handlers.site_handlers import PREFIXES, SiteHandlers, handlers_of
from replaykit.grading.policies.events.last_gesture import field_at
from replaykit.replay.dom import Dom, Node
from replaykit.replay.run_state import Page
from replaykit.trajectory.action import Element
from replaykit.trajectory.observation import Observation

LOOKS_MAX = 16
"""Looks at a document that are compared."""

CARRIERS_MAX = 20
"""Elements around a target that are asked for their handlers; further ones may be the agent's."""


class WrittenHandlers:
    """The looks at the documents that tabs show, and which handlers came between them."""

    def __init__(self, scripts: AgentScriptTimes, site: SiteHandlers) -> None:
        self._scripts = scripts
        self._site = site
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
        """Whether a target, or an element around it, may have a handler of the agent."""
        looks = list(self._looks.get(tab, ()))
        is_asked = bool(looks) and self._scripts.ran(looks[0][0], at)
        dom = _dom(page) if is_asked and not target.frame else None
        # Most pages have no such attribute, and need not be decoded.
        if dom is None or not dom.held(PREFIXES):
            return False
        carriers = list(islice(_carriers(field_at(dom, target.css), target.css or ""), CARRIERS_MAX + 1))
        known, until = frozenset[_Handler](), at
        for since, one in reversed(looks) if carriers else ():
            unknown = self._unknown(carriers, _dom(one), at)
            # It came between this look and the next one.
            if not unknown <= known and self._scripts.ran(since, until):
                return True
            known, until = unknown, since
        return len(carriers) > CARRIERS_MAX

    def _unknown(self, carriers: list[_Carrier], before: Dom | None, at: int) -> frozenset[_Handler]:
        """Return the handlers that no one had at a look."""
        if before is None:
            return frozenset()
        return frozenset(
            (one.node.row, name)
            for one in carriers
            for name, code in handlers_of(one.node).items()
            if handlers_of(one.at(before)).get(name) != code
            and not self._site.wrote(one.node, name, code, before, at)
        )


_Handler = tuple[int, str]
"""Row of an element, and name of its handler."""


class _Carrier(NamedTuple):
    """An element with handlers, and its place: a path, and the levels above it."""

    node: Node
    path: str
    levels: int

    def at(self, dom: Dom) -> Node | None:
        """Return the element in that place of another look at the document."""
        found = field_at(dom, self.path)
        for _ in range(self.levels):
            found = found.parent if found is not None else None
        return found


def _carriers(node: Node | None, path: str) -> Iterator[_Carrier]:
    """Yield those of an element and the ones around it that have handlers, outwards."""
    levels = 0
    while node is not None:
        if handlers_of(node):
            yield _Carrier(node, path, levels)
        # A path may begin with an id.
        outer = path.rpartition(" > ")[0] if not levels else ""
        path, levels = (outer, 0) if outer else (path, levels + 1)
        node = node.parent


def _dom(page: Page | None) -> Dom | None:
    try:
        return page.dom if page is not None else None
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return None
