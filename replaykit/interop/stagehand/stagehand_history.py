"""Data that Stagehand keeps in memory and people save: `stagehand.history`, the result of `agent.execute`."""

from __future__ import annotations

from typing import Any

from replaykit.interop.extra_fields import holds_data
from replaykit.interop.har.har_entries import Base, moment, stamp
from replaykit.interop.imported_run import Run
from replaykit.interop.stagehand.stagehand_actions import actions_of, resolved_action, worded
from replaykit.trajectory.action import Action, Goto, ToolCall
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.scalars import Threw

METHODS = ("act", "extract", "observe", "navigate", "agent")
"""Methods that an entry of a history may name."""


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
    run.fills(actions="recorded", targets="partial", urls="partial")
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
            answer = _message(result)
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
    message = _message(plain)
    run.end(
        "answered" if plain.get("completed") is True and message is not None else "stopped", answer=message
    )


def _message(plain: dict[str, Any]) -> str | None:
    message = plain.get("message")
    return message if isinstance(message, str) else None


def _actions(run: Run, plain: dict[str, Any], place: str) -> None:
    thoughts = 0
    for turn, one in enumerate(plain["actions"]):
        args = {key: value for key, value in one.items() if key not in _ABOUT}
        thought, url = _text(one.get("reasoning")), _text(one.get("pageUrl"))
        thoughts += thought is not None
        before = None if url is None else Observation(role="before", url=url)
        # Otherwise each field of the form would be filled twice.
        done = [ToolCall(name=one["type"], arguments=args)] if _is_outline(plain["actions"], turn) else None
        for at, action in enumerate(done or actions_of(run, one["type"], args, one)):
            run.step(action=action, turn=turn, raw=one, thought=thought, before=before if at == 0 else None)
        if url is not None:
            run.fills(urls="partial")
    run.fills(thoughts="partial" if thoughts else "absent")
    others = {key: value for key, value in plain.items() if key not in ("actions", "message")}
    run.keep(place, {key: value for key, value in others.items() if holds_data(value)})


def _is_outline(actions: list[dict[str, Any]], at: int) -> bool:
    """Whether the fields of a form follow as actions of their own."""
    later = actions[at + 1] if at + 1 < len(actions) else {}
    return actions[at]["type"] == "fillForm" and later.get("reasoning") == "acting from fillform tool"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


_ABOUT = ("type", "reasoning", "taskCompleted", "pageUrl", "timestamp", "pageText", "timeMs")
