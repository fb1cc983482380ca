"""Computer tools of model makers: several actions in a call, keys held meanwhile, places on a grid.

Formats: `ResponseComputerToolCall` of openai 3.57, `BrowserToolset20260801` and `ComputerToolset20260801` of
anthropic 2.14, https://ai.google.dev/gemini-api/docs/computer-use.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.interop.imported_run import Options, Run
from replaykit.interop.source_files import Folder, SourceLimits
from replaykit.interop.tool_calls import called_action, parts_of
from replaykit.trajectory.action import (
    Action,
    Check,
    Click,
    DragAndDrop,
    Element,
    Fill,
    GoBack,
    Hover,
    KeyboardDown,
    KeyboardType,
    MouseClick,
    MouseDblClick,
    MouseDown,
    MouseMove,
    Press,
    Reload,
    Scroll,
    ToolCall,
    Unknown,
    UploadFile,
    Wait,
)
from replaykit.trajectory.action import Type as Typed
from tests.interop.conftest import Importing
from tests.interop.samples import png, write

CALLS: list[tuple[str, dict[str, Any], Action]] = [
    # OpenAI
    ("click", {"x": 1, "y": 2, "button": "wheel"}, MouseClick(point=(1, 2), button="middle")),
    ("click", {"x": 1, "y": 2, "button": "back"}, GoBack()),
    ("click", {"x": 1, "y": 2, "button": "left", "keys": ["CTRL"]},
     MouseClick(point=(1, 2), modifiers=("Control",))),
    ("double_click", {"x": 1, "y": 2, "keys": None}, MouseDblClick(point=(1, 2))),
    ("scroll", {"x": 1, "y": 2, "scroll_x": None, "scroll_y": 30, "keys": ["SHIFT"]},
     Scroll(dy=30, modifiers=("Shift",))),
    ("drag", {"path": [{"x": 1, "y": 2}, {"x": 5, "y": 6}, {"x": 3, "y": 4}], "keys": ["ALT"]},
     DragAndDrop(point=(1, 2), to_point=(3, 4), modifiers=("Alt",))),
    # Anthropic's computer
    ("left_click", {"coordinate": [1, 2], "text": "ctrl+shift"},
     MouseClick(point=(1, 2), modifiers=("Control", "Shift"))),
    ("left_click", {}, Click()),
    ("triple_click", {"coordinate": [1, 2]}, MouseClick(point=(1, 2), count=3)),
    ("hold_key", {"text": "shift", "duration": 2}, Press(key="Shift")),
    ("zoom", {"region": [0, 0, 10, 10]}, ToolCall(name="zoom", arguments={"region": [0, 0, 10, 10]})),
    ("computer_20251124", {"action": "zoom", "region": [0, 0, 9, 9]},
     ToolCall(name="zoom", arguments={"action": "zoom", "region": [0, 0, 9, 9]})),
    ("left_click_drag", {"start_coordinate": [1, 2], "coordinate": [3, 4]},
     DragAndDrop(point=(1, 2), to_point=(3, 4))),
    # Anthropic's browser
    ("left_click", {"target": {"type": "coordinate", "x": 1, "y": 2}, "modifiers": "shift"},
     MouseClick(point=(1, 2), modifiers=("Shift",))),
    ("left_click", {"target": {"type": "ref", "ref": "ref_7"}}, Click(element=Element(ref="ref_7"))),
    ("hover", {"target": {"type": "ref", "ref": "ref_7"}}, Hover(element=Element(ref="ref_7"))),
    ("left_click_drag", {"from": {"type": "coordinate", "x": 1, "y": 2},
                         "target": {"type": "coordinate", "x": 3, "y": 4}},
     DragAndDrop(point=(1, 2), to_point=(3, 4))),
    ("navigate", {"url": "back"}, GoBack()),
    ("navigate", {"url": "reload", "tab_id": "t1"}, Reload()),
    ("form_input", {"target": {"type": "ref", "ref": "r1"}, "value": True}, Check(element=Element(ref="r1"))),
    ("form_input", {"target": {"type": "ref", "ref": "r1"}, "value": "tea"},
     Fill(element=Element(ref="r1"), value="tea")),
    ("file_upload", {"target": {"type": "ref", "ref": "r1"}, "paths": []},
     UploadFile(element=Element(ref="r1"), files=())),
    ("scroll_to", {"target": {"type": "ref", "ref": "r1"}}, Scroll(element=Element(ref="r1"), amount="into view")),
    ("scroll", {"target": {"type": "coordinate", "x": 1, "y": 2}, "scroll_direction": "down", "scroll_amount": 3},
     Scroll(dy=1, amount="down 3")),
    ("list_tabs", {}, ToolCall(name="list_tabs")),
    # Gemini 3.5
    ("drag_and_drop", {"start_x": 1, "start_y": 2, "end_x": 3, "end_y": 4, "intent": "move it"},
     DragAndDrop(point=(1, 2), to_point=(3, 4))),
    ("scroll", {"x": 1, "y": 2, "direction": "up", "magnitude_in_pixels": 300}, Scroll(dy=-300)),
    ("scroll_at", {"x": 1, "y": 2, "direction": "down", "magnitude": 800}, Scroll(dy=1, amount="down 800")),
    ("key_down", {"key": "shift"}, KeyboardDown(key="Shift")),
    ("hotkey", {"keys": ["CTRL", "A"]}, Press(key="Control+A")),
    ("wait", {"seconds": 2, "intent": "load"}, Wait(ms=2000)),
    ("mouse_down", {"x": 1, "y": 2}, MouseDown(point=(1, 2))),
    ("type_text_at", {"x": 1, "y": 2, "text": "tea", "clear_before_typing": False},
     Typed(element=Element(point=(1, 2)), value="tea")),
    ("open_web_browser", {}, ToolCall(name="open_web_browser")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "action"), CALLS)
def test_calls_of_a_computer_tool_are_actions(
    name: str, arguments: dict[str, Any], action: Action, tmp_path: Path
) -> None:
    with Run(Folder("atif", tmp_path, SourceLimits()), "run", Options()) as run:
        assert called_action(run, name, arguments) == action


BATCH = {
    "action": None,
    "actions": [
        {"type": "click", "x": 5, "y": 6, "button": "left"},
        {"type": "type", "text": "tea"},
        {"type": "keypress", "keys": ["ENTER"]},
        "nonsense",
    ],
    "pending_safety_checks": [{"id": "check-1"}],
}
BATCH_ACTIONS = [
    MouseClick(point=(5, 6)),
    KeyboardType(value="tea"),
    Press(key="Enter"),
    Unknown(name="computer_call", raw='"nonsense"'),
]


def atif_of(
    tmp_path: Path, calls: list[dict[str, Any]], *, results: Any = (), model: str | None = None
) -> Path:
    step: dict[str, Any] = {"step_id": 1, "source": "agent", "message": "", "tool_calls": calls}
    if results:
        step["observation"] = {"results": results}
    agent = {"name": "a", "version": "1", **({"model_name": model} if model else {})}
    return write(
        tmp_path, "trajectory.json", {"schema_version": "ATIF-v1.8", "agent": agent, "steps": [step]}
    )


def call(name: str, arguments: Any, id: str = "c1") -> dict[str, Any]:
    return {"tool_call_id": id, "function_name": name, "arguments": arguments}


def test_actions_of_one_call_are_steps_in_their_order(tmp_path: Path, imported: Importing) -> None:
    results = [{"source_call_id": "c1", "content": "done"}]
    run = imported("atif", atif_of(tmp_path, [call("computer_call", BATCH)], results=results)).trajectory
    assert [step.action for step in run.steps] == BATCH_ACTIONS
    assert [step.returned for step in run.steps] == [None, None, None, "done"]
    kept: list[Any] = [step.raw["arguments"] for step in run.steps]
    assert [one["actions"] for one in kept] == [[one] for one in BATCH["actions"]]
    assert kept[0]["pending_safety_checks"] == [{"id": "check-1"}]
    assert "pending_safety_checks" not in kept[1]


def test_logs_of_agents_hold_such_calls_as_text_too(tmp_path: Path, imported: Importing) -> None:
    lines = [
        {"t": "assistant", "ts": 1, "model": "m", "tool_calls": [
            {"id": "1", "name": "batch_computer_actions", "arguments": json.dumps(BATCH)}]},
        {"t": "tool_result", "ts": 2, "call_id": "1", "is_error": True, "text": "no"},
        {"t": "final", "ts": 3, "answer": "x"},
    ]  # fmt: skip
    path = write(tmp_path, "run.jsonl", "\n".join(map(json.dumps, lines)))
    bundle = imported("run-jsonl", path)
    steps = bundle.trajectory.steps
    assert [step.action for step in steps[:3]] == BATCH_ACTIONS[:3]
    assert [step.error is not None for step in steps] == [False, False, False, True]


@pytest.mark.parametrize("listed", [[], ["x", 3], None, "click", {"type": "click"}])
def test_a_list_that_names_no_action_is_one_call(listed: Any) -> None:
    assert [part.arguments for part in parts_of("t", {"actions": listed})] == [{"actions": listed}]


def test_names_and_arguments_of_a_list_may_stand_apart() -> None:
    listed = [{"name": "left_click", "arguments": {"coordinate": [1, 2]}}, {"action": "type", "text": "x"}]
    parts = parts_of("computer_batch", {"actions": listed})
    assert [(one.name, one.arguments) for one in parts] == [
        ("left_click", {"coordinate": [1, 2]}),
        ("type", {"action": "type", "text": "x"}),
    ]


def shot(name: str, id: str) -> dict[str, Any]:
    image = {"type": "image", "source": {"media_type": "image/png", "path": name}}
    return {"source_call_id": id, "content": [image]}


def test_places_of_gemini_are_parts_of_the_screenshot(tmp_path: Path, imported: Importing) -> None:
    write(tmp_path, "a.png", png(1, 400))
    write(tmp_path, "b.png", png(2, 800))
    calls = [
        call("click_at", {"x": 500, "y": 250}, "1"),
        call("drag_and_drop", {"x": 0, "y": 1000, "destination_x": 500, "destination_y": 999}, "2"),
        call("type_text_at", {"x": 500, "y": 250, "text": "tea"}, "3"),
        call("click", {"x": 500, "y": 250}, "4"),
    ]
    path = atif_of(tmp_path, calls, results=[shot("a.png", "1"), shot("b.png", "2")])
    run = imported("atif", path).trajectory
    assert [step.action for step in run.steps] == [
        MouseClick(point=(200, 100)),  # what follows the first action shows how large the page is
        DragAndDrop(point=(0, 400), to_point=(200, 400)),
        Fill(element=Element(point=(400, 200)), value="tea"),
        MouseClick(point=(500, 250)),  # no function of Gemini's: px
    ]
    assert run.steps[0].raw["arguments"] == {"x": 500, "y": 250}


@pytest.mark.parametrize(("model", "point"), [("gemini-3.5-flash", (200, 100)), ("gpt-5.4", (500, 250))])
def test_newer_functions_of_gemini_are_known_by_the_model(
    model: str, point: tuple[int, int], tmp_path: Path, imported: Importing
) -> None:
    write(tmp_path, "a.png", png(1, 400))
    calls = [call("click", {"x": 500, "y": 250, "intent": "open it"})]
    run = imported("atif", atif_of(tmp_path, calls, results=[shot("a.png", "c1")], model=model)).trajectory
    assert run.steps[0].action == MouseClick(point=point)


def test_without_a_screenshot_the_place_is_not_known(tmp_path: Path, imported: Importing) -> None:
    calls = [
        call("click_at", {"x": 500, "y": 250}, "1"),
        call("hover_at", {"x": 5, "y": 2}, "2"),
        call("type_text_at", {"x": 5, "y": 2, "text": "tea"}, "3"),
    ]
    bundle = imported("atif", atif_of(tmp_path, calls))
    assert [step.action for step in bundle.trajectory.steps] == [
        Click(), Hover(), Fill(element=None, value="tea"),
    ]  # fmt: skip
    assert bundle.trajectory.steps[0].raw["arguments"] == {"x": 500, "y": 250}


def test_a_place_out_of_the_grid_says_that_all_are_pixels(tmp_path: Path, imported: Importing) -> None:
    write(tmp_path, "a.png", png(1, 400))
    calls = [call("click_at", {"x": 500, "y": 250}, "1"), call("hover_at", {"x": 1200, "y": 2}, "2")]
    run = imported("atif", atif_of(tmp_path, calls, results=[shot("a.png", "1")])).trajectory
    assert [step.action for step in run.steps] == [MouseClick(point=(500, 250)), MouseMove(point=(1200, 2))]
