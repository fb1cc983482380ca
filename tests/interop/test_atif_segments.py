"""Trajectories of ATIF that hold a part of their run: no absence is proven by them, and no end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.interop.run_import import import_run
from tests.interop.conftest import Importing
from tests.interop.samples import write

CLICK = {"tool_call_id": "a", "function_name": "click", "arguments": {"selector": "#buy"}}
ACTED = {"step_id": 1, "source": "agent", "message": "", "tool_calls": [CLICK]}
ANSWER = {"step_id": 2, "source": "agent", "message": "It costs 5."}
ASKED = {"source_call_id": "a", "content": "ok", "subagent_trajectory_ref": [{"trajectory_id": "t2"}]}
INNER = {
    "schema_version": "ATIF-v1.7",
    "trajectory_id": "t2",
    "agent": {"name": "x", "version": "1"},
    "steps": [ACTED],
}


def trajectory(folder: Path, *steps: Any, **fields: Any) -> Path:
    root = {"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "x", "version": "1"}}
    return write(folder, "trajectory.json", {**root, "steps": [*steps], **fields})


@pytest.mark.parametrize(
    ("steps", "fields", "says", "answer"),
    [
        ((ACTED, ANSWER), {}, (), "It costs 5."),
        ((ACTED, ANSWER), {"continued_trajectory_ref": None, "subagent_trajectories": []}, (), "It costs 5."),
        (
            (ACTED, ANSWER),
            {"continued_trajectory_ref": "trajectory.cont-1.json"},
            ("trajectory.json continued_trajectory_ref is of a run that goes on in another file",),
            None,
        ),
        (
            ({**ACTED, "is_copied_context": True}, ANSWER),
            {},
            ("trajectory.json steps[0] is a copy of a step of an earlier file",),
            "It costs 5.",
        ),
        (
            ({**ACTED, "observation": {"results": [ASKED]}}, ANSWER),
            {"subagent_trajectories": [INNER]},
            (
                "trajectory.json subagent_trajectories is of other agents",
                "trajectory.json steps[0] is a call of another agent",
            ),
            "It costs 5.",
        ),
    ],
)
def test_what_stands_elsewhere_is_no_proof(
    steps: Any, fields: Any, says: tuple[str, ...], answer: str | None, tmp_path: Path, imported: Importing
) -> None:
    path = trajectory(tmp_path, *steps, **fields)
    warnings = import_run("atif", path, tmp_path / "run.zst").warnings
    assert len(warnings) == len(says)
    assert all(line.startswith(start) for line, start in zip(warnings, says, strict=True))
    run = imported("atif", path).trajectory
    assert run.channel("actions") == ("partial" if says else "recorded") and run.answer == answer


@pytest.mark.parametrize("odd", [5, "x", [5, None], {"results": 5}, {"results": [5]}])
def test_odd_values_in_the_places_of_parts_give_no_traceback(
    odd: Any, tmp_path: Path, imported: Importing
) -> None:
    path = trajectory(tmp_path, {**ACTED, "observation": odd}, ANSWER, subagent_trajectories=odd)
    assert imported("atif", path).trajectory.channel("actions") == "partial"
