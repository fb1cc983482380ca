"""Bundles as trajectories of ATIF v1.6 or v1.8: `trajectory.json` with its images beside it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec

from replaykit.bundle.reader import Bundle
from replaykit.interop.atif.atif_import import EXTRA
from replaykit.interop.bundle_export import (
    Choices,
    Exporter,
    Files,
    conversation,
    image_bytes,
    refuse,
    thought_of_answer,
)
from replaykit.interop.har.har_entries import moment, stamp
from replaykit.interop.image_types import JPEG, image_type
from replaykit.trajectory.action import Unknown
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Step, Trajectory

SCHEMAS = ("1.6", "1.8")
"""Versions that are written: the first one whose messages hold images, and the newest."""

FILE = "trajectory.json"


def folder_of(bundle: Bundle, choices: Choices) -> Files:
    """Return the trajectory and its images. Raises CannotExport where there is neither step nor answer."""
    run = bundle.trajectory
    if not run.steps and run.answer is None:
        raise refuse("atif", bundle, ["the run has neither steps nor an answer"], "Export another bundle.")
    writer = _Writer(bundle)
    agent = run.header.agent
    root: dict[str, Any] = {
        "schema_version": f"ATIF-v{choices.schema or SCHEMAS[0]}",
        "session_id": bundle.digest,
        **({"trajectory_id": bundle.digest} if choices.schema == "1.8" else {}),
        "agent": {
            "name": (agent and agent.name) or "unknown",
            "version": (agent and agent.version) or "unknown",
            **({"model_name": agent.model} if agent and agent.model else {}),
        },
        "steps": writer.steps(run),
        "extra": {EXTRA: _about(run)},
    }
    return {**writer.files, FILE: msgspec.json.format(msgspec.json.encode(root), indent=2) + b"\n"}


def _about(run: Trajectory) -> dict[str, Any]:
    task = run.header.task or {}
    # Nothing that grades the task: who reads a trajectory may be the agent.
    shown = {name: task[name] for name in ("id", "intent", "start_urls") if task.get(name)}
    return {"task": shown} if shown else {}


class _Writer:
    """Steps of ATIF, numbered from 1, and the images that they name."""

    def __init__(self, bundle: Bundle) -> None:
        self.files: dict[str, bytes] = {}
        self._bundle = bundle
        self._start = moment(bundle.header.created)
        self._steps: list[dict[str, Any]] = []

    def steps(self, run: Trajectory) -> list[dict[str, Any]]:
        """Return all steps of a run."""
        intent = (run.header.task or {}).get("intent")
        parts = list(conversation(run))
        first = next((part for part in parts if isinstance(part, Message)), None)
        # A recorded conversation may begin with the task already.
        if intent and (first is None or (first.role, first.text) != ("user", intent)):
            self._add("user", str(intent), None, extra={EXTRA: {"kind": "task"}})
        for part in parts:
            if isinstance(part, Message):
                self._message(part)
            else:
                self._turn(part)
        # The answer has a turn of its own in ATIF.
        if run.answer is not None:
            self._add("agent", run.answer, None, reasoning_content=thought_of_answer(run))
        return self._steps

    def _message(self, message: Message) -> None:
        about = {"kind": message.kind, "approved": message.approved}
        extra = {name: value for name, value in about.items() if value is not None}
        role = "user" if message.role == "user" else "agent"
        self._add(role, message.text, message.t, extra={EXTRA: extra})

    def _turn(self, steps: list[Step]) -> None:
        calls = [_call(step) for step in steps]
        results = [result for step in steps if (result := self._result(step)) is not None]
        self._add(
            "agent",
            "",
            steps[0].t,
            reasoning_content=steps[0].thought,
            tool_calls=calls,
            observation={"results": results} if results else None,
        )

    def _result(self, step: Step) -> dict[str, Any] | None:
        after = self._bundle.trajectory.after(step)
        if after is None:
            return None
        content: list[dict[str, Any]] = [{"type": "text", "text": after.title or after.url or "observed"}]
        image = self._image(step.index, after)
        seen = {name: value for name, value in (("url", after.url), ("title", after.title)) if value}
        return {
            "source_call_id": f"call-{step.index}",
            "content": [*content, image] if image is not None else content,
            **({"extra": {EXTRA: seen}} if seen else {}),
        }

    def _image(self, index: int, after: Observation) -> dict[str, Any] | None:
        data = image_bytes(self._bundle, after.screenshot)
        kind = None if data is None else image_type(data)
        if data is None or kind is None:
            return None
        ending = "jpg" if kind == JPEG else kind.partition("/")[2]
        name = f"screenshots/{index:03}.{ending}"
        self.files[name] = data
        return {"type": "image", "source": {"media_type": kind, "path": name}}

    def _add(self, source: str, message: str, t: int | None, **fields: Any) -> None:
        step: dict[str, Any] = {"step_id": len(self._steps) + 1, "source": source, "message": message}
        if t is not None and self._start is not None:
            step["timestamp"] = stamp(self._start + timedelta(milliseconds=t))
        self._steps.append({**step, **{name: value for name, value in fields.items() if value is not None}})


def _call(step: Step) -> dict[str, Any]:
    action = step.action
    fields = msgspec.to_builtins(action)
    name = fields.pop("type")
    if isinstance(action, Unknown):
        name, fields = action.name, {"raw": action.raw}
    element = fields.get("element")
    if isinstance(element, dict):
        element.pop("node", None)  # the snapshot that it points into stays in the bundle
    extra = {
        "url": step.url,
        "error": None if step.error is None else msgspec.to_builtins(step.error),
        "unknown": isinstance(action, Unknown) or None,
    }
    own = {name: value for name, value in extra.items() if value is not None}
    return {
        "tool_call_id": f"call-{step.index}",
        "function_name": name,
        "arguments": fields,
        **({"extra": {EXTRA: own}} if own else {}),
    }


EXPORTER = Exporter(
    name="atif",
    writes=f"a folder with {FILE}, ATIF v{SCHEMAS[0]}; --schema {SCHEMAS[1]}",
    make=folder_of,
    schemas=SCHEMAS,
)
