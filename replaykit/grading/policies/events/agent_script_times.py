"""When scripts of the agent ran, as far as its commands were logged, and what they led to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from replaykit.trajectory import action as actions
from replaykit.trajectory.action import ActionBase
from replaykit.trajectory.command import Command
from replaykit.trajectory.exchange import ScriptEvent
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Step, Trajectory

SLACK_MS = 100
"""Clocks of pages and of the recorder may differ so much."""

SKEW_MS = 25
"""Clocks of pages mostly differ less from that of the recorder."""

EFFECT_MS = 1000
"""A page does within these ms what a gesture or a script caused."""

WAYS = (actions.Goto, actions.GoBack, actions.GoForward, actions.Reload, actions.NewTab)
"""Actions that are no gesture on the page that they lead to."""

_OPEN = frozenset(
    {"evaluateExpression", "evaluateExpressionHandle", "evalOnSelector", "evalOnSelectorAll"}
    | {"waitForFunction", "addScriptTag", "Runtime.evaluate", "Runtime.runScript"}
    | {"Debugger.evaluateOnCallFrame", "Target.sendMessageToTarget", "WebMCP.invokeTool", "webmcpCallTool"}
)
"""Scripts that run when asked for; by `Runtime.callFunctionOn` drivers also run their own, in their world."""

_SETS_HEADERS = frozenset(
    {"addCookies", "setStorageState", "setExtraHTTPHeaders", "setHTTPCredentials", "setCookie", "setCookies"}
)
"""Commands that set cookies or headers of later requests, without the domain."""

_WRITES = ("DOM.set", "DOM.copyTo", "DOM.moveTo", "DOM.undo", "DOM.redo", "DOM.forceShow")
"""How the names of commands begin that change elements of a page, and so values, without a script."""

_EVENT_MAKING = frozenset(
    {"addInitScript", "addScriptToEvaluateOnNewDocument", "addScriptToEvaluateOnLoad", "dispatchEvent"}
    | {"setContent", "setDocumentContent", "setScriptSource", "fulfill", "fulfillRequest", "harOpen"}
    | {"sendToPage", "addCompilationCache"}
)
"""Commands that make an event, have a script run in documents to come, or answer for a site."""

_ANSWERED_ELSEWHERE = frozenset({"continue", "continueRequest"})
"""Commands that may send a request to another address, which they then name."""

_DEBUGGER = "Debugger."
"""How the names of commands begin that stop scripts and go on with them."""


class AgentScriptTimes:
    """When the agent ran scripts."""

    def __init__(self, run: Trajectory) -> None:
        self.is_logged = "commands" in run.header.witnesses
        commands = [one for one in run.of_type(Command) if not one.refused]
        self._first = min((one.t or 0 for one in commands if _is_script(one)), default=None)
        self.may_have_paused = any(one.name.startswith(_DEBUGGER) for one in commands)
        """The agent may have stopped a script of a page, and run another meanwhile."""
        self._first_making = min((one.t or 0 for one in commands if _makes_events(one)), default=None)
        self._first_set = min((one.t or 0 for one in commands if _sets_headers(one)), default=None)
        self._times = sorted(one.t or 0 for one in commands if _is_open(one))
        inputs = sorted(one.t or 0 for one in commands if one.kind == "input")
        self._steps = _Moments(run.steps, inputs)
        self._gestures = _Moments([step for step in run.steps if not isinstance(step.action, WAYS)], inputs)

    def may_have_set(self, seen: Observation) -> bool:
        """Whether a script or command of the agent may have changed a field up to an observation."""
        if not self.is_logged:
            return True
        return self._first is not None and self._first <= (seen.t or 0) + SLACK_MS

    def began_before(self, at: int) -> bool:
        """Whether a script of the agent was asked for before a moment, or may have been."""
        return not self.is_logged or (self._first is not None and self._first <= at + SLACK_MS)

    def may_have_made_event(self, at: int) -> bool:
        """Whether a script that the agent ran in a page, or planted, may have made an event."""
        if not self.is_logged:
            return True
        return self._first_making is not None and self._first_making <= at + SLACK_MS

    def may_have_set_hidden_values(self, at: int) -> bool:
        """Whether a script or command of the agent may have set cookies or headers before a moment."""
        firsts = [one for one in (self._first, self._first_set) if one is not None]
        # An agent may read a page as soon as it is there, which takes longer than clocks differ.
        return not self.is_logged or any(one <= at + SKEW_MS for one in firsts)

    def asked_between(self, since: int, until: int) -> bool:
        """Whether the agent asked for a script after one moment, and up to another."""
        return bisect_right(self._times, since) < bisect_right(self._times, until)

    def ran(self, since: int, until: int) -> bool:
        """Whether a script of the agent may have run after one moment, and was asked for up to another."""
        return self.is_logged and _has_between(self._times, since, until)

    def came_last(self, tab: int | None, at: int) -> bool:
        """Whether a script of the agent, and no gesture after it, came in the second before a moment."""
        since = max(self._gestures.latest(tab, at), at - EFFECT_MS)
        return self.is_logged and self.asked_between(since, at)

    def came_alone(self, tab: int | None, at: int) -> bool:
        """Whether a script of the agent, and no step in the tab, came in the second before a moment."""
        return self._is_free_of_steps(tab, at) and self.asked_between(at - EFFECT_MS, at)

    def rested(self, tab: int | None, at: int) -> bool:
        """Whether the agent did nothing in a tab within a second before a moment."""
        return self._is_free_of_steps(tab, at) and not self.asked_between(at - EFFECT_MS, at)

    def _is_free_of_steps(self, tab: int | None, at: int) -> bool:
        return self.is_logged and self._steps.latest(tab, at) < at - EFFECT_MS


def actions_of(event: ScriptEvent) -> Iterator[ActionBase]:
    """Yield the actions in the place of which a script may make an event."""
    element = event.element
    if event.name.startswith("key"):
        yield actions.Press(element=element, key=event.key or "Unidentified")
        return
    is_box = element.tag == "input" and element.type in ("checkbox", "radio")
    kinds = [actions.Click, *([actions.Check, actions.Uncheck] if is_box else [])]
    yield from (kind(element=element) for kind in kinds)
    if event.name == "dblclick":
        yield actions.DblClick(element=element)


class _Moments:
    """When steps of each tab had their effect, at the earliest."""

    def __init__(self, steps: Iterable[Step], inputs: list[int]) -> None:
        self._steps: dict[int | None, list[Step]] = {}
        for step in sorted(steps, key=lambda step: step.t or 0):
            self._steps.setdefault(step.page, []).append(step)
        self._moments = {
            tab: [*accumulate((_moment(step, inputs) for step in of_tab), max)]
            for tab, of_tab in self._steps.items()
        }

    def latest(self, tab: int | None, at: int) -> int:
        """Return when the last step of a tab before a moment had its effect, at the earliest."""
        begun = bisect_right(self._steps.get(tab, []), at + SKEW_MS, key=lambda step: step.t or 0)
        return self._moments[tab][begun - 1] if begun else -2 * EFFECT_MS


def _moment(step: Step, inputs: list[int]) -> int:
    """Return when a step had its effect, at the earliest: after the command that asked for it."""
    end = step.end or step.t or 0
    if not step.action.trusted:
        return end  # a script made it, which was asked for before
    place = bisect_right(inputs, end + SKEW_MS)
    return max([end - SKEW_MS, *inputs[place - 1 : place]])


def _has_between(times: list[int], since: int, until: int) -> bool:
    return bisect_left(times, since - SLACK_MS) < bisect_right(times, until)


def _is_script(command: Command) -> bool:
    return command.kind == "script" or _is_address(command) or _writes(command) or _looks_up(command)


def _makes_events(command: Command) -> bool:
    """Whether a command may make events, at once or later: what ran in a page's world leaves timers there."""
    name = command.name.rpartition(".")[2]
    is_named = name in _EVENT_MAKING and command.world != "driver"
    return is_named or (name in _ANSWERED_ELSEWHERE and command.url is not None) or _is_open(command)


def _writes(command: Command) -> bool:
    """Whether a command changes elements, as a script could: their handlers run scripts."""
    return command.kind != "input" and command.name.startswith(_WRITES)


def _looks_up(command: Command) -> bool:
    """Whether a command of Playwright looks something up by a script of the agent."""
    return command.origin == "driver" and command.world == "page"


def _sets_headers(command: Command) -> bool:
    return command.name.rpartition(".")[2] in _SETS_HEADERS


def _is_address(command: Command) -> bool:
    """Whether a command goes to an address that is a script."""
    return command.kind == "navigate" and (command.url or "").lstrip().lower().startswith("javascript:")


def _is_open(command: Command) -> bool:
    """Whether it is the agent's own script that runs in the page, and when asked for."""
    if command.name == "Runtime.callFunctionOn":
        return command.origin == "driver" or command.world == "page"
    is_named = command.name in _OPEN or command.name.rpartition(".")[2] in _OPEN
    is_own = (is_named and command.world != "driver") or _looks_up(command)
    return is_own or _is_address(command) or _writes(command)
