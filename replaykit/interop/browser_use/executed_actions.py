"""Which actions of a turn were carried out: browser-use skips the rest once the page changed or one failed.

Releases to 0.7 then add a result in the place of the first action that they skipped. Where an action raised,
the results of the turn are one error, whichever action it was.

Own module: the rules of all releases in one place, apart from the layout of the file.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, NamedTuple

from replaykit.patterns import lazy_pattern


class Execution(Enum):
    """Whether an action was carried out."""

    DONE = "done"
    SKIPPED = "skipped"
    UNCERTAIN = "uncertain"
    UNREPORTED = "unreported"
    """The turn has no results at all."""


class ExecutedAction(NamedTuple):
    """Whether one action was carried out, and its result."""

    execution: Execution
    result: dict[str, Any] | None = None


_AFTER = lazy_pattern(
    r"(?:Something new appeared|Element index changed) after action (\d{1,9}) / (\d{1,9})\b.*", re.DOTALL
)
_NAMES = lazy_pattern(r"Page changed after action: actions (.{1,65536}) are not yet executed", re.DOTALL)


def action_results(actions: list[dict[str, Any]], results: list[dict[str, Any]]) -> list[ExecutedAction]:
    """Return what became of each action of a turn, in order."""
    done = results[: _carried_out(actions, results)]
    left = len(actions) - len(done)
    # After an error that came before every other action, the error may be that of a later one.
    is_lost = len(done) == 1 and bool(done[0].get("error"))
    rest = Execution.UNREPORTED if not results else Execution.UNCERTAIN if is_lost else Execution.SKIPPED
    return [
        *(ExecutedAction(Execution.DONE, one) for one in done[: len(actions)]),
        *[ExecutedAction(rest)] * left,
    ]


def _carried_out(actions: list[dict[str, Any]], results: list[dict[str, Any]]) -> int:
    """Return how many results are those of an action: the last may say that its action was skipped."""
    last = len(results) - 1
    return last if 0 < last < len(actions) and _is_notice(actions, results[last], last) else len(results)


def _is_notice(actions: list[dict[str, Any]], result: dict[str, Any], at: int) -> bool:
    text = result.get("extracted_content")
    counted = _AFTER.fullmatch(text) if isinstance(text, str) else None
    if counted is not None:
        return (int(counted[1]), int(counted[2])) == (at, len(actions))
    named = _NAMES.fullmatch(text) if isinstance(text, str) else None
    return named is not None and named[1] == ", ".join(next(iter(one), "unknown") for one in actions[at:])
