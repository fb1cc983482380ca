"""Bundles as logs of Inspect, `.eval`, version 2: a run is a sample, its steps are calls of tools.

Upstream: https://inspect.aisi.org.uk/eval-logs.html. inspect-ai is not needed to write one.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from replaykit.bundle.reader import Bundle
from replaykit.grading.verdict import Outcome, PolicyOutcome, Verdict
from replaykit.interop.bundle_export import (
    Choices,
    Exporter,
    Files,
    conversation,
    image_bytes,
    refuse,
    thought_of_answer,
    zipped,
)
from replaykit.interop.har.har_entries import moment, stamp
from replaykit.interop.image_types import image_type
from replaykit.interop.inspect.inspect_turns import REFERENCE
from replaykit.interop.playwright_trace.trace_verdicts import verdict_of
from replaykit.trajectory.action import Unknown
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.step import Step, Trajectory

ENDING = ".eval"

EPOCH = "1970-01-01T00:00:00+00:00"
"""When a run that knows no time was made."""

DECIDED = {"SUCCESS": "C", "FAILURE": "I", "PASS": "C", "FAIL": "I"}
"""Outcome to Inspect's letters. What is undecided has no value there, so that it is no score."""

LIMITS = {"timeout": "time", "max_steps": "message"}
"""Ending to the kind of limit that Inspect knows."""


def file_of(bundle: Bundle, choices: Choices) -> Files:
    """Return the one log. Raises CannotExport where there is neither step nor answer."""
    run = bundle.trajectory
    if not run.steps and run.answer is None:
        raise refuse("inspect", bundle, ["the run has neither steps nor an answer"], "Export another bundle.")
    sample = _Sample(bundle, choices).whole()
    id, scores = sample["id"], sample["scores"]
    head = _header(bundle, id, scores)
    summary = {name: sample[name] for name in ("id", "epoch", "input", "target", "scores", "uuid")}
    members = {
        # Inspect's own reader looks for the journal where a log was broken off.
        "_journal/start.json": {name: head[name] for name in ("version", "eval", "plan")},
        f"samples/{_plain(id)}_epoch_1.json": sample,
        "_journal/summaries/1.json": [summary],
        "summaries.json": [summary],
        "header.json": head,
    }
    return {ENDING: zipped({name: msgspec.json.encode(value) for name, value in members.items()})}


def _header(bundle: Bundle, id: str, scores: Mapping[str, Any]) -> dict[str, Any]:
    agent, created = bundle.header.agent, bundle.header.created or EPOCH
    model = (agent and agent.model) or "unknown"
    short = bundle.digest[:22]
    spec = {
        "eval_id": short, "run_id": short, "task_id": short, "created": created, "task": "replaykit",
        "dataset": {"name": "replaykit", "samples": 1, "sample_ids": [id]}, "model": f"none/{model}",
        "config": {"epochs": 1}, "packages": {}, "metadata": {"trajectory": bundle.digest},
    }  # fmt: skip
    return {
        "version": 2,
        "status": "success",
        "eval": spec,
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {"total_samples": 1, "completed_samples": 1, "scores": [_result(name) for name in scores]},
        "stats": {"started_at": created, "completed_at": created, "model_usage": {}},
    }


def _result(name: str) -> dict[str, Any]:
    return {"name": name, "scorer": name, "params": {}, "metrics": {}}


def _plain(id: str) -> str:
    """Return an id as a file name."""
    return "".join(char if char.isalnum() or char in "-_." else "_" for char in id)[:100]


class _Sample:
    """One run as a sample: messages, and the images that they name."""

    def __init__(self, bundle: Bundle, choices: Choices) -> None:
        self._bundle = bundle
        self._choices = choices
        self._attached: dict[str, str] = {}
        self._messages: list[dict[str, Any]] = []
        self._start = moment(bundle.header.created)

    def whole(self) -> dict[str, Any]:
        """Return the sample."""
        run = self._bundle.trajectory
        task = run.header.task or {}
        self._add_message("user", str(task.get("intent") or ""), source="input")
        self._turns(run)
        verdict = verdict_of(self._bundle, self._choices.verdicts)
        sample: dict[str, Any] = {
            "id": str(task.get("id") or self._bundle.digest[:16]),
            "epoch": 1,
            "input": str(task.get("intent") or ""),
            "target": "",
            "messages": self._messages,
            "output": self._output(run),
            "scores": {} if verdict is None else _scores(verdict),
            "metadata": {"replaykit": {"trajectory": self._bundle.digest}},
            "events": [],
            "attachments": self._attached,
            "uuid": self._bundle.digest[:22],
        }
        return {**sample, **self._end(run)}

    def _end(self, run: Trajectory) -> dict[str, Any]:
        ending = run.ending
        fields: dict[str, Any] = {"started_at": stamp(self._start)} if self._start is not None else {}
        if ending is not None and ending.kind in LIMITS:
            # Inspect demands a number, and none was recorded.
            fields["limit"] = {"type": LIMITS[ending.kind], "limit": 0}
        if ending is not None and ending.kind == "crashed":
            message = ending.error.message if ending.error is not None else "the run crashed"
            fields["error"] = {"message": message, "traceback": "", "traceback_ansi": ""}
        return fields

    def _output(self, run: Trajectory) -> dict[str, Any]:
        answer = run.answer or ""
        message = {"role": "assistant", "content": answer, "source": "generate"}
        return {
            "model": "unknown",
            "choices": [{"message": message, "stop_reason": "stop"}],
            "completion": answer,
        }

    def _turns(self, run: Trajectory) -> None:
        """Add the turns, and the messages between them."""
        # The task is the first message already.
        intent = self._messages[0]["content"]
        for part in conversation(run):
            if not isinstance(part, Message):
                # A model may call several tools in one message.
                self._turn(part)
            elif (part.role, part.text) != ("user", intent):
                self._add_message("user" if part.role == "user" else "assistant", part.text)
        if run.answer is not None:
            self._add_message("assistant", run.answer, thought_of_answer(run))

    def _add_message(
        self, role: str, text: str, thought: str | None = None, source: str | None = None
    ) -> None:
        parts = [{"type": "reasoning", "reasoning": thought}] if thought else []
        content: Any = [*parts, {"type": "text", "text": text}] if parts else text
        self._messages.append({"role": role, "content": content, **({"source": source} if source else {})})

    def _turn(self, steps: list[Step]) -> None:
        thought = steps[0].thought
        content: Any = [{"type": "reasoning", "reasoning": thought}] if thought else ""
        calls = [_call(step) for step in steps]
        self._messages.append({"role": "assistant", "content": content, "tool_calls": calls})
        for step, call in zip(steps, calls, strict=True):
            self._messages.append(self._result(step, call["function"]))

    def _result(self, step: Step, function: str) -> dict[str, Any]:
        found: dict[str, Any] = {
            "role": "tool", "tool_call_id": f"call-{step.index}", "function": function,
            "content": self._given(step),
        }  # fmt: skip
        if step.error is not None:
            found["error"] = {"type": "unknown", "message": step.error.message or step.error.name}
        return found

    def _given(self, step: Step) -> list[dict[str, Any]]:
        """Return what a step gave: its own words, else the page that followed, and the image of it."""
        after = self._bundle.trajectory.after(step)
        seen = "" if after is None else "\n".join(text for text in (after.title, after.url) if text)
        returned = step.returned
        words = returned if isinstance(returned, str) else _json(returned) if returned else seen
        image = None if after is None else self._image(image_bytes(self._bundle, after.screenshot))
        return [{"type": "text", "text": words}, *([image] if image else [])]

    def _image(self, data: bytes | None) -> dict[str, Any] | None:
        kind = None if data is None or not self._choices.has_images else image_type(data)
        if data is None or kind is None:
            return None
        # By content: an image that is shown twice is kept once.
        key = sha256(data).hexdigest()[:32]
        self._attached[key] = f"data:{kind};base64,{base64.b64encode(data).decode()}"
        return {"type": "image", "image": REFERENCE + key, "detail": "auto"}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _call(step: Step) -> dict[str, Any]:
    action = step.action
    fields = msgspec.to_builtins(action)
    name = fields.pop("type")
    if isinstance(action, Unknown):
        name, fields = action.name, {"raw": action.raw}
    if isinstance(fields.get("element"), dict):
        fields["element"].pop("node", None)  # the snapshot that it points into stays in the bundle
    return {"id": f"call-{step.index}", "function": name, "arguments": fields, "type": "function"}


def _scores(verdict: Verdict) -> dict[str, dict[str, Any]]:
    """Return the scores of a verdict, those that are decided; nothing is made of what is not."""
    found: dict[str, Any] = {"success": _letter(verdict.success), "cup": _cup(verdict)}
    # Apart from `success`, so that a judge is never taken for a check.
    found |= {f"judge_{one.judge}": _letter(one.outcome) for one in verdict.judgements}
    return {name: {"value": value} for name, value in found.items() if value is not None}


def _letter(outcome: str | None) -> str | None:
    return None if outcome is None else DECIDED.get(str(outcome))


def _cup(verdict: Verdict) -> int | None:
    """Return completion under policy; None where a check or a policy that it depends on is undecided."""
    is_broken = any(one.outcome == PolicyOutcome.VIOLATED for one in verdict.policies)
    is_failed = verdict.completion is not None and verdict.completion.outcome == Outcome.FAIL
    # A failed check decides, whatever is still open beside it.
    return 0 if is_broken or is_failed else verdict.cup or None


EXPORTER = Exporter(
    name="inspect", writes=f"a log of Inspect with one sample, x{ENDING}", make=file_of, ending=ENDING
)
