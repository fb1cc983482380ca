"""Fields that changed without an event: perhaps an input of the agent, by a script.

A page may have set its own field, so such a change is never certain. Where the agent's commands were logged,
and it had run no script, it was the page.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from replaykit.errors import ReplaykitError
from replaykit.replay.dom import Dom, Node
from replaykit.replay.run_state import Page
from replaykit.trajectory import action as actions
from replaykit.trajectory.action import ActionBase, Element
from replaykit.trajectory.command import Command
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Trajectory

SLACK_MS = 100
"""Clocks of pages and of the recorder may differ so much."""

_OPEN = frozenset(
    {"evaluateExpression", "evaluateExpressionHandle", "evalOnSelector", "evalOnSelectorAll"}
    | {"waitForFunction", "addScriptTag", "Runtime.evaluate", "Runtime.runScript"}
    | {"Debugger.evaluateOnCallFrame"}
)
"""Scripts that run when asked for; with `Runtime.callFunctionOn` drivers also call functions of their own."""

_FILE = "C:\\fakepath\\"
"""How the value of a file field begins."""


class AgentScriptTimes:
    """When the agent ran scripts, as far as its commands were logged."""

    def __init__(self, run: Trajectory) -> None:
        self.is_logged = "commands" in run.header.witnesses
        scripts = [one for one in run.of_type(Command) if one.kind == "script" and not one.refused]
        self._first = min((one.t or 0 for one in scripts), default=None)
        self._times = sorted(one.t or 0 for one in scripts if _is_open(one))

    def may_have_set(self, seen: Observation) -> bool:
        """Whether a script of the agent may have changed a field up to an observation."""
        if not self.is_logged:
            return True
        return self._first is not None and self._first <= (seen.t or 0) + SLACK_MS

    def ran(self, since: int | None, seen: Observation) -> bool:
        """Whether a script of the agent ran between two observations."""
        first = bisect_left(self._times, (since or 0) - SLACK_MS)
        return first < bisect_right(self._times, (seen.t or 0) + SLACK_MS)


def _is_open(command: Command) -> bool:
    return command.name in _OPEN or command.name.rpartition(".")[2] in _OPEN


def entries(rows: Iterable[tuple[str, str, str]], page: Page | None) -> Iterator[ActionBase]:
    """Yield what an agent that made these changes would have done."""
    dom = page.dom if page is not None else None
    for path, before, after in rows:
        if after and _bare(before) != _bare(after):
            yield from _entry(path, after, _field(dom, path))


def is_unseen(action: ActionBase) -> bool:
    """Whether a field is one that pages keep for themselves."""
    return action.element is not None and action.element.type == "hidden"


def _bare(text: str) -> str:
    """Return the letters and digits: a page that writes a number with hyphens enters nothing."""
    return "".join(one for one in text if one.isalnum())


def _entry(path: str, after: str, field: Node | None) -> Iterator[ActionBase]:
    """Yield the action that sets a field; of one that is not there any more, all that may have."""
    tag = field.tag if field is not None else None
    element = Element(css=path, tag=tag, type=field.attribute("type") if field is not None else None)
    if tag == "select" or field is None:
        yield actions.SelectOption(element=element, values=(after,), labels=_labels(field, after))
    if after.startswith(_FILE):
        yield actions.UploadFile(element=element, files=(actions.FileInfo(name=after.removeprefix(_FILE)),))
    elif after in ("true", "false") and tag != "textarea":
        yield actions.Check(element=element) if after == "true" else actions.Uncheck(element=element)
    elif tag != "select":
        yield actions.Fill(element=element, value=after, value_after=after)


def _labels(field: Node | None, value: str) -> tuple[str, ...]:
    if field is None:
        return ()
    options = (one for one in field.dom.select_all("option") if one.attribute("value") == value)
    return tuple(dict.fromkeys(one.text_content.strip() for one in options))[:1]


def _field(dom: Dom | None, path: str) -> Node | None:
    if dom is None or " >>> " in path:
        return None
    try:
        found = dom.select_all(path)
    except ReplaykitError:
        return None
    return found[0] if len(found) == 1 else None
