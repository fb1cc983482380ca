"""Tasks of browser-use's cloud, as its API and its SDK give them: steps with their actions, without results.

Upstream: https://docs.cloud.browser-use.com, `TaskView` of the API's version 2.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from msgspec import Struct

from replaykit.interop.browser_use.named_actions import action_of, record_of, uncertain_action
from replaykit.interop.har.har_entries import Base, moment, stamp
from replaykit.interop.imported_run import Run
from replaykit.interop.untrusted_json import JsonFault, decode_json
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.exchange import Imported
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import AgentInfo

_ENDINGS = {"finished": "answered", "stopped": "stopped", "failed": "crashed"}
_CAPITAL = lazy_pattern(r"(?<=[a-z])([A-Z])")


class CloudStep(Struct, kw_only=True):
    """One step: the page before its actions, and the actions as texts of JSON."""

    number: int | None = None
    url: str | None = None
    memory: str | None = None
    evaluation_previous_goal: str | None = None
    next_goal: str | None = None
    screenshot_url: str | None = None
    actions: list[str] = []


class CloudTask(Struct, kw_only=True):
    """The file."""

    id: str
    task: str
    status: str
    steps: list[CloudStep]
    llm: str | None = None
    output: str | None = None
    created_at: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    browser_use_version: str | None = None
    is_success: bool | None = None
    judgement: str | None = None
    judge_verdict: bool | None = None


def is_cloud_task(plain: Any) -> bool:
    """Whether a JSON value is a task, with names of the API or of the SDK for Python."""
    fields = _named_alike(plain) if isinstance(plain, dict) else {}
    steps = fields.get("steps")
    return (
        {"id", "session_id", "status", "output"} <= fields.keys()
        and isinstance(fields.get("task"), str)
        and isinstance(steps, list)
        and all(isinstance(one, dict) and isinstance(one.get("actions"), list) for one in steps)
    )


def read_cloud_task(run: Run, plain: dict[str, Any], name: str) -> None:
    """Read a task. Its actions are those that the model asked for, whether they failed or not."""
    fields = _named_alike(plain)
    fields["steps"] = [_named_alike(one) for one in fields["steps"]]
    found: CloudTask = run.converted(fields, CloudTask, name)
    run.task(found.id, intent=found.task)
    run.header["agent"] = AgentInfo(name="browser-use", version=found.browser_use_version, model=found.llm)
    base = Base(start=moment(found.started_at) or moment(found.created_at))
    if base.start is not None:
        run.header["created"] = stamp(base.start)
    for turn, step in enumerate(found.steps):
        _add(run, turn, step)
    run.fills(actions="partial", targets="partial", thoughts="recorded", urls="partial")
    _check_numbers(run, found.steps)
    run.origin.update(tool="browser-use cloud", alignment="exact")
    _end(run, found, name)


def _named_alike(fields: dict[str, Any]) -> dict[str, Any]:
    """Return an object with the names that the SDK for Python uses."""
    return {_CAPITAL.sub(_lowered, key): part for key, part in fields.items()}


def _lowered(letter: re.Match[str]) -> str:
    return f"_{letter[1].lower()}"


def _add(run: Run, turn: int, step: CloudStep) -> None:
    look = Observation(role="before", url=step.url or None)
    parts = (step.evaluation_previous_goal, step.memory, step.next_goal)
    thought = "\n".join(part for part in parts if part) or None
    if step.screenshot_url:
        run.leave_out("steps[].screenshot_url")
    for at, text in enumerate(step.actions):
        named = _action(run, text, f"steps[{turn}].actions[{at}]")
        # The rest is skipped once the page changed, and nothing shows whether it did.
        make = uncertain_action if at else action_of
        run.step(
            action=make(run, named, None), raw=record_of(run, named, None), turn=turn, thought=thought,
            before=None if at else look,
        )  # fmt: skip


def _action(run: Run, text: str, place: str) -> dict[str, Any]:
    try:
        plain = decode_json(text.encode("utf-8", "replace"))
    except JsonFault:
        plain = None
    if isinstance(plain, dict) and plain:
        return plain
    run.flaw("an action that is no object: unknown", place)
    return {"none": {"text": text}}


def _check_numbers(run: Run, steps: list[CloudStep]) -> None:
    numbers = [step.number for step in steps if step.number is not None]
    missing = sum(after > before + 1 for before, after in pairwise(numbers))
    if missing:
        run.cut(f"a list of steps with {missing} gaps in its numbers", "steps")


def _end(run: Run, found: CloudTask, name: str) -> None:
    if found.is_success is not None:
        label = {"success": found.is_success}
        run.add(Imported(kind="label", name="self_report", value=label, file=name))
    if found.judge_verdict is not None or found.judgement:
        judged = {"verdict": found.judge_verdict, "report": found.judgement}
        run.add(Imported(kind="judgement", name="browser-use", value=judged, file=name))
    kind = _ENDINGS.get(found.status, "unknown")
    kind = "stopped" if kind == "answered" and found.output is None else kind
    threw = Threw(name="Error", message="the task failed") if kind == "crashed" else None
    times = {"created_at": found.created_at, "started_at": found.started_at, "finished_at": found.finished_at}
    run.keep(name, {"status": found.status, **{key: at for key, at in times.items() if at}})
    run.end(kind, answer=found.output, error=threw)
