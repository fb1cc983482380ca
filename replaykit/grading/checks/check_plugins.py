"""Checks of installed packages, entry point group `replaykit.checks`: trusted code, found by name."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from replaykit.errors import RAISED_BY_LOADED_CODE, PageNotRecorded, ReplayError
from replaykit.grading.checks.requirement import Graded, Ruling, Terms, error, graded, undecided
from replaykit.grading.verdict import Evidence, Value
from replaykit.replay.player import Replay
from replaykit.tasks.checks import CheckPlugin
from replaykit.tasks.task import Task

GROUP = "replaykit.checks"
"""Entry point group of every `CheckFunction`."""


class CheckFunction(Protocol):
    """A check of your own: a function `(params, replay, task) -> Ruling`.

    Register it as an entry point of the group `replaykit.checks`; tasks use it through `type: plugin`.
    `params`: the parameters in the task file. If the function raises ReplayError, the check is UNDECIDED; any
    other exception is an ERROR of this check. It must be pure: the same run always gives the same ruling.

    Example:
        def visited(params, replay, task):
            found = any(state.url == params["url"] for state in replay)
            outcome = replaykit.Outcome.PASS if found else replaykit.Outcome.FAIL
            return replaykit.Ruling(outcome=outcome, rule=f"visits {params['url']}")
    """

    def __call__(self, params: dict[str, Any], replay: Replay, task: Task, /) -> Ruling:
        """Return the ruling for one run."""


def grade_plugin(check: CheckPlugin, replay: Replay, task: Task, terms: Terms) -> Graded:
    """Grade by what a plugin returns; what the recording could not show it leaves the check undecided."""
    found = next(iter(entry_points(group=GROUP, name=check.name)), None)
    rule = f"plugin {check.name}" if found is None else _named(found)
    ruling = _missing(check.name, rule) if found is None else _ruling(found, rule, check.params, replay, task)
    return graded(check.name, ruling, None, terms.mode, Evidence(source="plugin"))


def _named(point: EntryPoint) -> str:
    return f"plugin {point.name} {point.dist.version}" if point.dist is not None else f"plugin {point.name}"


def _missing(name: str, rule: str) -> Ruling:
    installed = ", ".join(sorted(point.name for point in entry_points(group=GROUP))) or "none"
    return _error("no_plugin", rule, f"no plugin {name!r}; installed are {installed}")


def _ruling(point: EntryPoint, rule: str, params: dict[str, Any], replay: Replay, task: Task) -> Ruling:
    try:
        check: CheckFunction = point.load()
        returned: Any = check(params, replay, task)
    except PageNotRecorded as fault:
        return undecided("page_not_recorded", f"page:{fault.fields['url']}", rule=rule)
    except ReplayError as fault:
        return undecided("unsupported", f"plugin:{point.name}", rule=f"{rule}: {fault}")
    except RAISED_BY_LOADED_CODE as fault:  # one check that breaks is one ERROR, and grading goes on
        return _error("plugin_raised", rule, f"{type(fault).__name__}: {fault}")
    if not isinstance(returned, Ruling):
        return _error("plugin_raised", rule, f"it returned {type(returned).__name__}, not a Ruling")
    return returned


def _error(reason: str, rule: str, what: str) -> Ruling:
    return error(reason, rule, found=Value(raw=what, type="text"))
