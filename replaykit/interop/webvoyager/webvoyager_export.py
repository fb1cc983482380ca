"""Bundles as WebVoyager result folders: the chat with placeholders of images, and numbered screenshots."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from replaykit.bundle.reader import Bundle
from replaykit.interop.bundle_export import Choices, Exporter, Files, image_bytes, refuse
from replaykit.interop.webvoyager.webvoyager_actions import action_line, strict_action
from replaykit.interop.webvoyager.webvoyager_import import MESSAGES, split_message
from replaykit.trajectory.action import Answer, Element, Unknown
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Step

SYSTEM = "You browse the web. Each turn shows a page; reply with a thought and an action."
"""First message: upstream's own prompt is not ours to copy, and readers pass it over."""

SEEN = "Observation: a screenshot and some texts."
"""How an observation begins."""

_PLACEHOLDER = {"type": "image_url", "image_url": {"url": "data:image/png;base64,{b64_img}"}}


class WrittenIteration(NamedTuple):
    """One iteration: what the agent saw and wrote, and its images."""

    seen: str
    reply: str | None
    shot: bytes | None
    clean: bytes | None = None


def folder_of(bundle: Bundle, choices: Choices) -> Files:
    """Return the files of `task<id>/`. Raises CannotExport where an action has no form there."""
    run = bundle.trajectory
    task = run.header.task or {}
    refused = [f"step {s.index} ({_name(s)})" for s in run.steps if _action_line(s) is None]
    if not task.get("intent"):
        refused.insert(0, "a task with its intent")
    if refused:
        words = [
            f"{one} has no form there" if one.startswith("step") else f"{one} is missing" for one in refused
        ]
        raise refuse(
            "webvoyager", bundle, words, "Export to atif or playwright-trace, which hold any action."
        )
    turns = [*_turns(bundle), *_last(bundle)]
    _check(bundle, turns)
    files: dict[str, bytes] = {}
    for number, turn in enumerate(turns, 1):
        if turn.shot is not None:
            files[f"screenshot{number}.png"] = turn.shot
        if turn.clean is not None:
            files[f"screenshot{number}_no_box.png"] = turn.clean
    for number, shot in enumerate(_unaligned(bundle), len(turns) + 2):
        files[f"screenshot{number}.png"] = shot
    starts = task.get("start_urls") or ()
    files[MESSAGES] = _chat(str(task["intent"]), str(starts[0]) if starts else "the web", turns)
    return files


def _turns(bundle: Bundle) -> list[WrittenIteration]:
    run, turns, error = bundle.trajectory, [], ""
    shown: Observation | None = next((o for o in run.of_type(Observation) if o.role == "start"), None)
    for step in run.steps:
        before = step.before if step.before is not None and step.before.screenshot else shown
        has_only_error = error != "" and (before is None or not before.screenshot)
        shot = None if before is None else image_bytes(bundle, before.screenshot)
        clean = None if before is None else image_bytes(bundle, before.clean)
        seen = error if has_only_error or error else f"{SEEN}\n{_listed(step)}"
        turns.append(WrittenIteration(seen, _message(step), shot, clean))
        error = step.error.message if step.error is not None and step.error.message else ""
        shown = run.after(step)
    return turns


def _last(bundle: Bundle) -> list[WrittenIteration]:
    """Return the turn after the last step: an answer that was no action, or a last look."""
    run = bundle.trajectory
    final = next((o for o in reversed(run.of_type(Observation)) if o.role == "final"), None)
    shot = None if final is None else image_bytes(bundle, final.screenshot)
    has_answer = bool(run.steps) and isinstance(run.steps[-1].action, Answer)
    if run.answer is not None and not has_answer:
        return [WrittenIteration(SEEN, f"Thought: \n\nAction: {_answer(run.answer)}", shot)]
    return [WrittenIteration(SEEN, None, shot)] if shot is not None else []


def _unaligned(bundle: Bundle) -> list[bytes]:
    found = [o for o in bundle.trajectory.of_type(Observation) if o.role == "unaligned"]
    return [shot for one in found if (shot := image_bytes(bundle, one.screenshot)) is not None]


def _action_line(step: Step) -> str | None:
    if isinstance(step.action, Unknown):
        return step.raw if isinstance(step.raw, str) else None
    if isinstance(step.action, Answer):
        raw = step.raw if isinstance(step.raw, str) else ""
        return raw if strict_action(raw) == step.action else _answer(step.action.text)
    return action_line(_numbered(step), step.raw)


def _answer(text: str) -> str:
    bracketed = f"ANSWER; [{text}]"
    return bracketed if strict_action(bracketed) == Answer(text=text) else f"ANSWER; {text}"


def _numbered(step: Step) -> Any:
    """Return the action with a number for its target: other references mean nothing there."""
    element = step.action.element
    if element is None or (element.ref or "").isdecimal():
        return step.action
    return msgspec.structs.replace(step.action, element=Element(ref="0"))


def _message(step: Step) -> str:
    reply = _action_line(step) or ""
    if isinstance(step.action, Unknown) and step.action.name == "format":
        return reply
    return f"Thought: {step.thought or ''}\n\nAction: {reply}"


def _listed(step: Step) -> str:
    """Return the target as a line of the list of elements."""
    element = step.action.element
    if element is None or (element.text is None and element.name is None and element.tag is None):
        return ""
    ref = element.ref if (element.ref or "").isdecimal() else "0"
    tag = f"<{element.tag}> " if element.tag in ("button", "input", "textarea") else ""
    label = element.names.aria_label if element.names is not None else None
    text = " ".join((element.text or element.name or "").replace('"', "'").split())
    return f'[{ref}]: {tag}"{text}"' + (f', "{label}";' if label else ";")


def _chat(intent: str, start: str, turns: list[WrittenIteration]) -> bytes:
    messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
    first = f"Now given a task: {intent}  Please interact with {start} and get the answer. "
    for number, turn in enumerate(turns):
        text = (first if number == 0 else "") + turn.seen
        parts = [{"type": "text", "text": text}, _PLACEHOLDER]
        messages.append({"role": "user", "content": parts if turn.shot is not None else text})
        if turn.reply is not None:
            messages.append({"role": "assistant", "content": turn.reply})
    if not turns:
        messages.append({"role": "user", "content": first + SEEN})
    return msgspec.json.format(msgspec.json.encode(messages), indent=2) + b"\n"


def _check(bundle: Bundle, turns: list[WrittenIteration]) -> None:
    """Refuse thoughts that hold the labels which divide a message."""
    pairs = zip(bundle.trajectory.steps, turns, strict=False)
    bad = [
        f"the thought of step {step.index} holds a label of the layout"
        for step, turn in pairs
        if not isinstance(step.action, Unknown)
        and split_message(turn.reply or "")
        != ((step.thought or "").strip() or None, (_action_line(step) or "").strip())
    ]
    if bad:
        raise refuse("webvoyager", bundle, bad, "Export to atif or playwright-trace, which hold any text.")


def _name(step: Step) -> str:
    return step.action.name if isinstance(step.action, Unknown) else str(step.action.__struct_config__.tag)


EXPORTER = Exporter(name="webvoyager", writes="a WebVoyager result folder", make=folder_of)
