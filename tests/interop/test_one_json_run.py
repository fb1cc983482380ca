"""JSON files of other people's loops: one object a run, raw rows of Mind2Web. A script is no run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.errors import UnknownLayout
from replaykit.interop.run_import import import_run
from replaykit.trajectory.action import Click, Fill, KeyboardType, MouseClick, tag_of
from tests.interop.conftest import Importing
from tests.interop.samples import write

STEPS = [
    {"action": "goto('http://x.test/')", "thought": "Start."},
    {"action": "click 'Buy'", "thought": "Buy."},
]
RUN: dict[str, Any] = {"task": "Buy tea.", "steps": STEPS}
SEEN = "steps and their thoughts", "a byte order mark and CRLF", "a list of calls and an answer"


def files(case: str) -> bytes | dict[str, Any]:
    if case == SEEN[1]:
        return b"\xef\xbb\xbf" + json.dumps(RUN, indent=1).replace("\n", "\r\n").encode()
    listed = [one["action"] for one in STEPS]
    return RUN if case == SEEN[0] else {"goal": "Buy tea.", "actions": listed, "final_answer": "Done."}


@pytest.mark.parametrize("case", SEEN)
def test_one_object_is_one_run(case: str, tmp_path: Path, imported: Importing) -> None:
    found = imported("auto", write(tmp_path, "run.json", files(case))).trajectory
    assert [tag_of(step.action) for step in found.steps] == ["goto", "click"]
    assert found.channel("actions") == "recorded"


@pytest.mark.parametrize(
    "plain",
    [
        {"name": "dismiss", "steps": [{"action": "click", "selector": "#a"}]},
        {"goal": "x", "steps": [{"action": "goto", "url": "http://x.test/"}, {"action": "click"}]},
        {"name": "x", "scripts": {}, "actions": ["build"]},
        {"task": "t", "action": "click 'Buy'", "thought": "x", "url": "http://x.test/"},
    ],
)
def test_a_script_is_no_run_unless_a_person_says_so(plain: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UnknownLayout, match="JSON of another layout, with the keys"):
        import_run("auto", write(tmp_path, "a.json", plain), tmp_path / "a.zst")


def demonstration(reprs: list[str] | None, *operations: dict[str, str]) -> list[dict[str, Any]]:
    actions = [
        {"action_uid": str(at), "raw_html": "<html>", "operation": one, "pos_candidates": [{"tag": "a"}]}
        for at, one in enumerate(operations)
    ]
    more = {} if reprs is None else {"action_reprs": reprs}
    return [{"annotation_id": "a", "website": "x", "confirmed_task": "Buy tea.", "actions": actions, **more}]


REPRS = ["[textbox]  Search -> TYPE: tea", "[button]  Go -> CLICK"]
TYPE = {"op": "TYPE", "original_op": "TYPE", "value": "tea"}
CLICK = {"op": "CLICK", "original_op": "CLICK", "value": ""}


def test_raw_mind2web_has_its_operations_and_their_elements(tmp_path: Path, imported: Importing) -> None:
    path = write(tmp_path, "train_0.json", demonstration(REPRS, TYPE, CLICK))
    found = imported("auto", path).trajectory
    first, second = (step.action for step in found.steps)
    assert isinstance(first, Fill) and (first.value, first.element and first.element.text) == (
        "tea",
        "Search",
    )
    assert isinstance(second, Click) and second.element is not None and second.element.text == "Go"
    assert found.channel("actions") == "recorded"


def test_raw_mind2web_without_reprs_has_its_operations(tmp_path: Path, imported: Importing) -> None:
    path = write(tmp_path, "train_0.json", demonstration(None, TYPE, CLICK))
    assert [type(step.action) for step in imported("auto", path).trajectory.steps] == [KeyboardType, Click]


@pytest.mark.parametrize("reprs", [REPRS[:1], [*REPRS, REPRS[1]], [REPRS[0], "[button]  Go -> HOVER"]])
def test_reprs_unlike_the_operations_lack_something(
    reprs: list[str], tmp_path: Path, imported: Importing
) -> None:
    path = write(tmp_path, "train_0.json", demonstration(reprs, TYPE, CLICK))
    assert imported("auto", path).trajectory.channel("actions") == "partial"


@pytest.mark.parametrize(
    "action",
    [
        {"operation": {"type": "click"}, "target": "Delete"},
        {"action": {"name": "click", "args": {"text": "Delete"}}},
        {"tool": {"name": "click", "arguments": {"text": "Delete"}}},
    ],
)
def test_an_operation_apart_is_read(action: dict[str, Any], tmp_path: Path, imported: Importing) -> None:
    row = {"run_id": "a", "goal": "g", "step": 1, "action": action, "thought": "x"}
    (step,) = imported("table", write(tmp_path, "t.jsonl", json.dumps(row))).trajectory.steps
    assert isinstance(step.action, Click) and step.action.element is not None
    assert step.action.element.text == "Delete"


def test_operations_in_one_another_are_bounded(tmp_path: Path, imported: Importing) -> None:
    deep: Any = {"name": "click"}
    for _ in range(300):
        deep = {"operation": deep}
    row = {"run_id": "a", "goal": "g", "step": 1, "action": deep, "thought": "x"}
    (step,) = imported("table", write(tmp_path, "t.jsonl", json.dumps(row))).trajectory.steps
    assert tag_of(step.action) == "action"


def test_a_run_of_osworld_is_read_where_it_is_named(tmp_path: Path, imported: Importing) -> None:
    row = {"step_num": 1, "action_timestamp": "20250101@1", "action": "pyautogui.click(1, 2)", "done": False}
    (step,) = imported("auto", write(tmp_path, "traj.jsonl", json.dumps(row))).trajectory.steps
    assert isinstance(step.action, MouseClick)
