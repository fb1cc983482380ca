"""Bundles as Online-Mind2Web result folders of the second version: a screenshot for every step."""

from __future__ import annotations

from typing import Any

import msgspec

from replaykit.bundle.reader import Bundle
from replaykit.interop.bundle_export import Files, image_bytes, refuse
from replaykit.interop.image_types import JPEG, image_type
from replaykit.interop.online_mind2web.mind2web_actions import ANSWER, FAILED, SUCCESS
from replaykit.interop.online_mind2web.mind2web_import import GAP, GAP_NAME, RESULT, SHOTS, VERSION
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Answer, ReportInfeasible, SendMsgToUser
from replaykit.trajectory.action_history import is_own, stored_line
from replaykit.trajectory.action_rendering import render_step
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Step

_ID = lazy_pattern(r"[A-Za-z0-9_-]+")
_UNLISTED = (Answer, SendMsgToUser, ReportInfeasible)


def second_of(bundle: Bundle, task: dict[str, Any], *, fills_gaps: bool = False) -> Files:
    """Return the files of `<task_id>/`. Raises CannotExport where the version needs what is not there.

    `fills_gaps`: a grey image, marked by its name, stands where a step has no screenshot.
    """
    run = bundle.trajectory
    steps = [step for step in run.steps if not isinstance(step.action, _UNLISTED)]
    shots = screenshots_after(bundle, steps)
    last = _last_screenshot(bundle)
    shots.append(shots[-1] if last is None and shots else last)
    if fills_gaps:
        shots = [GAP if shot is None else shot for shot in shots]
    _check(bundle, task, steps, shots)
    names = [_name(at, shot or b"") for at, shot in enumerate(shots)]
    entries = [*(_entry(bundle, step) for step in steps), _answer_entry(bundle, run.answer or "")]
    result = {
        "schema_version": VERSION,
        "task_id": task["id"],
        "task": task["intent"],
        "agent_final_answer": run.answer,
        "reference_length": _length(task),
        "action_history": [
            {"step": at, "screenshot": names[at], **entry} for at, entry in enumerate(entries)
        ],
    }
    files = {SHOTS + name: shot or b"" for name, shot in zip(names, shots, strict=True)}
    return {**files, RESULT: msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n"}


def _check(bundle: Bundle, task: dict[str, Any], steps: list[Step], shots: list[bytes | None]) -> None:
    """Raise CannotExport for what the version needs and the bundle lacks."""
    answer, id, lacking = bundle.trajectory.answer, task["id"], []
    if not _ID.fullmatch(id):
        lacking.append(f"the task id {id!r:.60} has other characters than letters, digits, _ and -")
    if answer is None:
        lacking.append("the run has no answer")
    elif answer.rstrip().endswith((SUCCESS, FAILED)):
        lacking.append("the answer ends as the status of an action does")
    places = [*(f"step {step.index}" for step in steps), "the final page"]
    bare = [place for place, shot in zip(places, shots, strict=True) if shot is None]
    faults = [*lacking, *(f"{place} has no screenshot" for place in bare)]
    if faults:
        can = "" if lacking else "; --gaps writes a grey image for each that is missing"
        raise refuse("online-mind2web", bundle, faults, f"Version 2 needs them; --schema v1 does not{can}.")


def _entry(bundle: Bundle, step: Step) -> dict[str, Any]:
    line = stored_line(step) if is_own(bundle.trajectory) else render_step(step)
    after = bundle.trajectory.after(step)
    is_failed = step.error is not None or line.endswith(FAILED)
    is_done = line.endswith(SUCCESS) or step.origin != "imported"
    return {
        "url": after.url if after is not None and after.url else step.url,
        "action": line.removesuffix(SUCCESS) if is_failed else line,
        "action_status": "FAILED" if is_failed else "SUCCESS" if is_done else None,
        "thought": step.thought,
    }


def _answer_entry(bundle: Bundle, answer: str) -> dict[str, Any]:
    steps = bundle.trajectory.steps
    step = steps[-1] if steps and isinstance(steps[-1].action, Answer) else None
    return {
        "url": None if step is None else step.url,
        "action": f"{ANSWER}{answer}",
        "action_status": None,
        "thought": None if step is None else step.thought,
    }


def _length(task: dict[str, Any]) -> int | None:
    found = (task.get("metadata") or {}).get("reference_length")
    return found if isinstance(found, int) else None


def _name(at: int, shot: bytes) -> str:
    end = "jpg" if image_type(shot) == JPEG else "png"
    return f"{at}_{GAP_NAME}.{end}" if shot == GAP else f"{at}.{end}"


def _last_screenshot(bundle: Bundle) -> bytes | None:
    """Return the image of the final page, where the run shows one."""
    steps = bundle.trajectory.steps
    after = bundle.trajectory.after(steps[-1]) if steps and isinstance(steps[-1].action, Answer) else None
    shot = None if after is None else image_bytes(bundle, after.screenshot)
    return shot if shot is not None else _final(bundle)


def _final(bundle: Bundle) -> bytes | None:
    final = next((o for o in reversed(bundle.trajectory.of_type(Observation)) if o.role == "final"), None)
    return None if final is None else image_bytes(bundle, final.screenshot)


def screenshots_after(bundle: Bundle, steps: list[Step]) -> list[bytes | None]:
    """Return the image of what followed each step: its own, else of the page that the next one acted on."""
    pairs = zip(steps, [*steps[1:], None], strict=True) if steps else ()
    return [_screenshot_after(bundle, step, following) for step, following in pairs]


def _screenshot_after(bundle: Bundle, step: Step, following: Step | None) -> bytes | None:
    after = bundle.trajectory.after(step)
    shot = None if after is None else image_bytes(bundle, after.screenshot)
    if shot is None and following is not None and following.before is not None:
        return image_bytes(bundle, following.before.screenshot)
    return _final(bundle) if shot is None and following is None else shot
