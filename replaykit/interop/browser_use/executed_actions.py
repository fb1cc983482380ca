"""Which actions of a turn were carried out: browser-use skips the rest once the page changed or one failed.

Releases to 0.7 then add a result in the place of the first action that they skipped. Where an action raised,
the results of the turn are one error, whichever action it was. Releases 0.5 to 0.12 fill the item of a turn
that broke off with the reply, or the results, of the turn before.

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


class ItemParts(NamedTuple):
    """Parts of one item: the reply of the model, its actions, their results."""

    reply: object
    actions: list[dict[str, Any]]
    results: list[dict[str, Any]]


_NO_REPLY = ("Invalid model output format", "Rate limit reached", "LLM call timed out")
"""Begin of an error of a turn in which the model gave no reply that the harness could read."""


def stale_execution(turn: ItemParts, before: ItemParts) -> Execution | None:
    """Return what became of the actions of an item that repeats the one before; None where it is its own."""
    error = turn.results[0].get("error") if len(turn.results) == 1 else None
    is_old_reply = turn.reply == before.reply
    is_old_result = any(map(_is_stated, turn.results)) and turn.results == before.results
    if is_old_reply and isinstance(error, str) and error.startswith(_NO_REPLY):
        return Execution.SKIPPED
    is_stale = is_old_result if is_old_reply else is_old_result and turn.actions != before.actions
    return Execution.UNCERTAIN if is_stale or (is_old_reply and error) else None


def _is_stated(result: dict[str, Any]) -> bool:
    return bool(result.get("extracted_content") or result.get("error"))


_REFUSALS = lazy_pattern(
    r"Element index \d{1,9} not available\b.*|Element with index \d{1,9} does not exist\b.*"
    r"|Index \d{1,9} - has an element which opens file upload dialog\b.*"
    r"|Text '.*' not found or not visible on page|Failed to scroll to text '.*"
    r"|Could not select option '.*' in any frame|Couldn't select the dropdown option\b.*"
    r"|Cannot select option: .*|Selection failed: .*"
    r"|No file upload element found\b.*|Failed to (?:upload file to|input text into) .*"
    # A click on a list of options gives the options.
    r"|Got dropdown options for index \d{1,9}",
    re.DOTALL,
)


def refusal_of(result: dict[str, Any]) -> str | None:
    """Return the text of a result without an error that says that its action did nothing; None for others."""
    stated = (result.get("extracted_content"), result.get("long_term_memory"))
    return next((one for one in stated if isinstance(one, str) and _REFUSALS.fullmatch(one)), None)


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
