"""Bundles as Online-Mind2Web result folders of either version: `result.json` and `trajectory/`."""

from __future__ import annotations

from typing import Any

import msgspec

from replaykit.bundle.reader import Bundle
from replaykit.interop.bundle_export import Choices, Exporter, Files, image_bytes, refuse
from replaykit.interop.online_mind2web.mind2web_import import RESULT, SHOTS
from replaykit.interop.online_mind2web.mind2web_v2_export import screenshots_after, second_of
from replaykit.trajectory.action import Answer, ReportInfeasible, SendMsgToUser
from replaykit.trajectory.action_history import is_own, stored_line
from replaykit.trajectory.action_rendering import render_step
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Step, Trajectory

SCHEMAS = ("v1", "v2")
"""Versions that are written."""


def folder_of(bundle: Bundle, choices: Choices) -> Files:
    """Return the files of `<task_id>/`. Raises CannotExport where the version needs what is not there."""
    task = bundle.header.task or {}
    if not task.get("id") or not task.get("intent"):
        raise refuse(
            "online-mind2web", bundle, ["the task is not recorded"], "Import the run with --task FILE."
        )
    if choices.schema == "v2":
        return second_of(bundle, task, fills_gaps=choices.fills_gaps)
    return _first_of(bundle, task)


def _first_of(bundle: Bundle, task: dict[str, Any]) -> Files:
    run = bundle.trajectory
    steps = [step for step in run.steps if is_own(run) or not isinstance(step.action, _UNLISTED)]
    shots = _shots(bundle, steps)
    files = {f"{SHOTS}{number}_full_screenshot.png": shot for number, shot in enumerate(shots)}
    result: dict[str, Any] = {
        "task_id": task["id"],
        "task": task["intent"],
        "final_result_response": run.answer,
        "action_history": [_line(step, run) for step in steps],
        "thoughts": [step.thought or "" for step in steps],
        "input_image_paths": None,
    }
    return {**files, RESULT: msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n"}


_UNLISTED = (Answer, SendMsgToUser, ReportInfeasible)
"""Actions that never enter an action history."""


def _line(step: Step, run: Trajectory) -> str:
    return stored_line(step) if is_own(run) else render_step(step)


def _shots(bundle: Bundle, steps: list[Step]) -> list[bytes]:
    run = bundle.trajectory
    loose = [o for o in run.of_type(Observation) if o.role == "unaligned"]
    if loose:
        return [shot for one in loose if (shot := image_bytes(bundle, one.screenshot)) is not None]
    afters = screenshots_after(bundle, steps)
    found = [shot for shot in afters if shot is not None]
    if not found:
        return []
    if len(found) < len(afters):
        lacking = [
            f"step {step.index} has no screenshot" for step, s in zip(steps, afters, strict=True) if s is None
        ]
        raise refuse(
            "online-mind2web", bundle, lacking, "The layout counts images: all steps have one, or none."
        )
    start = _start(bundle, steps)
    return found if start is None else [start, *found]


def _start(bundle: Bundle, steps: list[Step]) -> bytes | None:
    starts = [o for o in bundle.trajectory.of_type(Observation) if o.role == "start"]
    looks = [*starts, *([steps[0].before] if steps and steps[0].before is not None else [])]
    return next((shot for one in looks if (shot := image_bytes(bundle, one.screenshot)) is not None), None)


EXPORTER = Exporter(
    name="online-mind2web",
    writes="an Online-Mind2Web result folder, version 1; --schema v2",
    make=folder_of,
    schemas=SCHEMAS,
)
