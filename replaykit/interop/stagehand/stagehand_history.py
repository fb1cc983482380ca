"""Data that Stagehand keeps in memory and people save: `stagehand.history`, the result of `agent.execute`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replaykit.interop.extra_fields import holds_data
from replaykit.interop.har.har_entries import Base, moment, stamp
from replaykit.interop.imported_run import Run
from replaykit.interop.stagehand.stagehand_actions import (
    IN_WORDS,
    actions_of,
    mark_first_only,
    resolved_action,
    worded,
)
from replaykit.trajectory.action import Action, Goto, ToolCall
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.scalars import Threw

METHODS = ("act", "extract", "observe", "navigate", "agent")
"""Methods that an entry of a history may name."""


FAILED = "Failed to execute task: "
"""How the message of a result begins that stands for an error of the harness."""

UNSAID = ("Task completed successfully", "Task execution completed")
"""Messages that the harness puts in the place of an answer."""

TURN_MAX = 100
"""Milliseconds between actions of one turn, which are listed when all of them are over."""


def saved(plain: Any) -> Any:
    """Return a history out of a report, and a result out of a reply of the API; others as they are."""
    if not isinstance(plain, dict):
        return plain
    if is_history(plain.get("history")):
        return plain["history"]
    inner = plain.get("data", plain)
    result = inner.get("result") if isinstance(inner, dict) else None
    return result if is_result(result) else plain


def around(whole: Any, inner: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of what stands around a history or a result."""
    for key, part in whole.items() if isinstance(whole, dict) and whole is not inner else ():
        if part is inner:
            continue
        holds = isinstance(part, dict) and part.get("result") is inner
        yield from around(part, inner, f"{path}{key}.") if holds else [(path + key, part)]


def is_history(plain: Any) -> bool:
    """Whether a JSON value is a history."""
    return (
        isinstance(plain, list)
        and bool(plain)
        and all(
            isinstance(one, dict) and one.get("method") in METHODS and "parameters" in one for one in plain
        )
    )


def is_result(plain: Any) -> bool:
    """Whether a JSON value is what an agent returned."""
    actions = plain.get("actions") if isinstance(plain, dict) else None
    return (
        isinstance(actions, list)
        and {"success", "message", "completed"} <= plain.keys()
        and all(isinstance(one, dict) and isinstance(one.get("type"), str) for one in actions)
    )


def read_history(run: Run, plain: list[dict[str, Any]], name: str) -> None:
    """Read a history: a call is a step, of `act` one for each action that it was resolved to."""
    run.task(None)
    # Only calls of Stagehand are in it: a script's own clicks on the same page are not.
    run.fills(actions="partial", targets="partial", urls="partial")
    base = Base(start=moment(plain[0].get("timestamp")))
    if base.start is not None:
        run.header.update(created=stamp(base.start), clock="source")
    answer = None
    for place, entry in enumerate(plain):
        one = entry if run.options.keeps_secrets else {**entry, "parameters": hidden(entry.get("parameters"))}
        result = one.get("result")
        # The time of an entry is that of its end.
        end = base.ms(moment(one.get("timestamp")))
        if one["method"] == "agent" and isinstance(result, dict) and is_result(result):
            _actions(run, result, f"{name} [{place}].result")
            run.keep(f"{name} [{place}]", {"parameters": one.get("parameters")})
            answer = _answer(result)
            continue
        _call(run, one, place, end)
        run.keep(f"{name} [{place}]", {k: v for k, v in one.items() if k not in _CALL and holds_data(v)})
    run.origin.update(tool="stagehand", alignment="exact")
    run.end("unknown" if answer is None else "answered", answer=answer)


_CALL = ("method", "parameters", "result", "timestamp")


def hidden(parameters: Any) -> Any:
    """Return parameters without the values of variables: they are there to keep secrets from models."""
    given = parameters.get("variables") if isinstance(parameters, dict) else None
    return (
        {**parameters, "variables": dict.fromkeys(given, MASKED)} if isinstance(given, dict) else parameters
    )


def _call(run: Run, one: dict[str, Any], place: int, end: int | None) -> None:
    actions = _performed(run, one)
    for at, action in enumerate(actions):
        is_last = at == len(actions) - 1
        run.step(
            action=action, turn=place, end=end if is_last else None,
            raw={"method": one["method"], "parameters": one.get("parameters")},
            returned=one.get("result") if is_last else None,
            error=_error(one.get("result")) if is_last else None,
        )  # fmt: skip


def _performed(run: Run, one: dict[str, Any]) -> list[Action]:
    method, parameters, result = one["method"], one.get("parameters"), one.get("result")
    fields = (
        parameters
        if isinstance(parameters, dict)
        else {"action": parameters}
        if isinstance(parameters, str)
        else {}
    )
    if method == "navigate" and isinstance(fields.get("url"), str):
        return [Goto(url=fields["url"])]
    if method != "act":
        return (
            [ToolCall(name=method, arguments=dict(fields))]
            if method != "navigate"
            else [worded(run, method, "", parameters)]
        )
    done = result.get("actions") if isinstance(result, dict) else None
    if isinstance(done, list) and done:
        return [resolved_action(part) for part in done]
    aimed = next(
        (fields[key] for key in ("observeResult", "action") if isinstance(fields.get(key), dict)), fields
    )
    if "selector" in aimed and "method" in aimed:
        return [resolved_action(aimed)]
    return actions_of(run, "act", fields, result)


def _error(result: Any) -> Threw | None:
    if not isinstance(result, dict) or result.get("success") is not False:
        return None
    return Threw(name="Error", message=str(result.get("error") or result.get("message") or "no success"))


def read_result(run: Run, plain: dict[str, Any], name: str) -> None:
    """Read what an agent returned: its actions and its last message."""
    run.task(None)
    run.fills(actions="recorded", targets="partial")
    _actions(run, plain, name)
    run.origin.update(tool="stagehand", alignment="exact")
    answer, failure = _answer(plain), _failure(plain)
    threw = None if failure is None else Threw(name="Error", message=failure)
    if threw is not None:
        run.fills(actions="partial")  # a turn is listed when it is over
    is_done = plain.get("completed") is True and answer is not None
    run.end("crashed" if threw else "answered" if is_done else "stopped", answer=answer, error=threw)


def _message(plain: dict[str, Any]) -> str | None:
    message = plain.get("message")
    return message if isinstance(message, str) else None


def _failure(plain: dict[str, Any]) -> str | None:
    """Return the error of the harness that a result holds in the place of a message."""
    message = _message(plain) or ""
    is_failure = plain.get("completed") is False and message.startswith(FAILED)
    return message.removeprefix(FAILED) if is_failure else None


def _answer(plain: dict[str, Any]) -> str | None:
    """Return the agent's last message; None if the harness wrote it, or the agent did not end with it."""
    message = _message(plain)
    ended = plain.get("completed") is True or any(one["type"] == "done" for one in plain["actions"])
    return message if ended and message not in UNSAID and _failure(plain) is None else None


def _actions(run: Run, plain: dict[str, Any], place: str) -> None:
    listed = plain["actions"]
    for turn, one in enumerate(listed):
        args = {key: value for key, value in one.items() if key not in _ABOUT}
        url = _text(one.get("pageUrl")) if turn == 0 or not _is_same_turn(listed[turn - 1], one) else None
        before = None if url is None else Observation(role="before", url=url)
        # Otherwise each field of the form would be filled twice.
        done = [ToolCall(name=one["type"], arguments=args)] if _is_outline(listed, turn) else None
        for at, action in enumerate(done or actions_of(run, one["type"], args, one)):
            run.step(
                action=action, turn=turn, raw=one, thought=_text(one.get("reasoning")),
                before=before if at == 0 else None, error=None if done else _unresolved(one),
            )  # fmt: skip
    mark_first_only(run, [one["type"] for one in listed])
    run.fills(urls="partial" if any(_text(one.get("pageUrl")) for one in listed) else "absent")
    run.fills(thoughts="partial" if any(_text(one.get("reasoning")) for one in listed) else "absent")
    others = {key: value for key, value in plain.items() if key != "actions"}
    if _answer(plain) is not None:
        del others["message"]
    run.keep(place, {key: value for key, value in others.items() if holds_data(value)})


def _is_same_turn(before: dict[str, Any], one: dict[str, Any]) -> bool:
    """Whether two actions are of one turn, of which the URL is that before the first."""
    times = (before.get("timestamp"), one.get("timestamp"))
    first, second = (at if isinstance(at, int | float) else None for at in times)
    return first is not None and second is not None and second - first < TURN_MAX


def _unresolved(one: dict[str, Any]) -> Threw | None:
    """Return the error of an action: one in words that was resolved to no call failed, or took too long."""
    threw = _error(one)
    if threw is not None or one["type"] not in IN_WORDS or "playwrightArguments" in one:
        return threw
    return Threw(name="Error", message="no call is recorded that it was resolved to")


def _is_outline(actions: list[dict[str, Any]], at: int) -> bool:
    """Whether the fields of a form follow as actions of their own."""
    later = actions[at + 1] if at + 1 < len(actions) else {}
    return actions[at]["type"] == "fillForm" and later.get("reasoning") == "acting from fillform tool"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


_ABOUT = ("type", "reasoning", "taskCompleted", "pageUrl", "timestamp", "pageText")
