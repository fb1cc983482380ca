"""Calls of tools whose names are ours and whose arguments are not: nothing that they say is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.interop.imported_run import Options, Run
from replaykit.interop.source_files import Folder, SourceLimits
from replaykit.interop.tool_calls import called_action
from replaykit.trajectory.action import (
    Action,
    Check,
    Click,
    DragAndDrop,
    Element,
    Fill,
    Focus,
    FocusTab,
    Hover,
    MouseClick,
    MouseDblClick,
    MouseMove,
    Press,
    Scroll,
    Unknown,
    Wait,
)

CALLS: list[tuple[str, dict[str, Any], Action]] = [
    ("click", {"x": 600, "y": 475}, MouseClick(point=(600, 475))),
    ("dblclick", {"x": 1, "y": 2}, MouseDblClick(point=(1, 2))),
    ("hover", {"x": 1, "y": 2}, MouseMove(point=(1, 2))),
    ("hover", {"ref": "e2"}, Hover(element=Element(ref="e2"))),
    ("check", {"ref": "e2"}, Check(element=Element(ref="e2"))),
    ("focus", {"selector": "#q"}, Focus(element=Element(ref="#q"))),
    ("scroll", {"x": 1, "y": 2, "scroll_x": 0, "scroll_y": 300}, Scroll(dy=300)),
    ("scroll", {"direction": "down"}, Scroll(dy=1, amount="down")),
    ("drag_and_drop", {"x": 1, "y": 2, "to_x": 3, "to_y": 4}, DragAndDrop(point=(1, 2), to_point=(3, 4))),
    ("wait", {"seconds": 3}, Wait(ms=3000)),
    ("focus_tab", {"index": 1}, FocusTab(tab=1)),
    ("click", {"point": [3, 4]}, Click(point=(3, 4))),
    ("click", {"element": {"ref": "a"}, "reason": "because"}, Click(element=Element(ref="a"))),
    (
        "computer_call",
        {"action": {"type": "click", "x": 5, "y": 6, "button": "left"}},
        MouseClick(point=(5, 6)),
    ),
    ("computer_call", {"action": {"type": "keypress", "keys": ["CTRL", "A"]}}, Press(key="Control+A")),
    (
        "computer",
        {"action": {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}},
        DragAndDrop(point=(1, 2), to_point=(3, 4)),
    ),
    ("computer_20250124", {"action": "left_click", "coordinate": "[10, 20]"}, MouseClick(point=(10, 20))),
    ("functions.click", {"selector": "#a"}, Click(element=Element(ref="#a"))),
    (
        "drag_and_drop",
        {"x": 1, "y": 2, "destination_x": 3, "destination_y": 4},
        DragAndDrop(point=(1, 2), to_point=(3, 4)),
    ),
    (
        "type_text_at",
        {"x": 3, "y": 4, "text": "tea", "press_enter": True},
        Fill(element=Element(point=(3, 4)), value="tea", submit=True),
    ),
    ("wait_5_seconds", {}, Wait(ms=5000)),
    ("browser_click", {"element": "Buy", "target": "e12"}, Click(element=Element(ref="e12", text="Buy"))),
]


@pytest.mark.parametrize(("name", "arguments", "action"), CALLS)
def test_what_a_call_says_is_in_its_action(
    name: str, arguments: dict[str, Any], action: Action, tmp_path: Path
) -> None:
    with Run(Folder("atif", tmp_path, SourceLimits()), "run", Options()) as run:
        assert called_action(run, name, arguments) == action


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("click", {"point": [0.5, 0.25]}),
        ("left_click", {"coordinate": [0.5, 1]}),
        ("mouse_move", {"x": 0.999, "y": 0}),
        ("drag", {"path": [[0.1, 0.2], [0.3, 0.4]]}),
        ("left_mouse_down", {}),
    ],
)
def test_a_missing_place_is_not_made_up(name: str, arguments: dict[str, Any], tmp_path: Path) -> None:
    with Run(Folder("atif", tmp_path, SourceLimits()), "run", Options()) as run:
        assert isinstance(called_action(run, name, arguments), Unknown)
