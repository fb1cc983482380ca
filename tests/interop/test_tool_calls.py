"""Calls of tools whose names are ours and whose arguments are not: nothing that they say is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.interop.imported_run import Options, Run
from replaykit.interop.source_files import Folder, SourceLimits
from replaykit.interop.tool_calls import add_call, called_action
from replaykit.trajectory.action import (
    Action,
    Check,
    Click,
    CloseTab,
    DblClick,
    DragAndDrop,
    Element,
    FileInfo,
    Fill,
    Focus,
    FocusTab,
    GoBack,
    Goto,
    HandleDialog,
    Hover,
    KeyboardDown,
    MouseClick,
    MouseDblClick,
    MouseMove,
    NewTab,
    Press,
    Scroll,
    ToolCall,
    Type,
    Unknown,
    UploadFile,
    Wait,
)
from replaykit.trajectory.step import Step

UNKNOWN = Unknown(name="any")
"""Stands for any unknown action."""

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
    ("browser_click", {"target": "f1e12"}, Click(element=Element(ref="f1e12"))),
    ("browser_click", {"target": "the Buy button"}, Click(element=Element(text="the Buy button"))),
    (
        "browser_drag",
        {"startElement": "Card", "startTarget": "e1", "endTarget": "e2"},
        DragAndDrop(element=Element(ref="e1", text="Card"), to=Element(ref="e2")),
    ),
    ("browser_mouse_click_xy", {"x": 1, "y": 2, "clickCount": 2}, MouseDblClick(point=(1, 2))),
    (
        "browser_press_sequentially",
        {"text": "tea", "submit": True},
        Type(element=None, value="tea", submit=True),
    ),
    (
        "browser_drop",
        {"target": "e1", "paths": ["/a/b.pdf"]},
        UploadFile(element=Element(ref="e1"), files=(FileInfo(name="b.pdf"),)),
    ),
    ("browser_drop", {"target": "e1", "data": {"text/plain": "x"}}, UNKNOWN),
    ("browser_keydown", {"key": "Shift"}, KeyboardDown(key="Shift")),
    ("mcp__chrome-devtools__click", {"uid": "1_3", "dblClick": True}, DblClick(element=Element(ref="1_3"))),
    ("mcp__chrome-devtools__click_at", {"x": 1, "y": 2}, MouseClick(point=(1, 2))),
    (
        "mcp__chrome-devtools__type_text",
        {"text": "tea", "submitKey": "Enter"},
        Type(element=None, value="tea", submit=True),
    ),
    ("mcp__chrome-devtools__type_text", {"text": "tea", "submitKey": "Tab"}, UNKNOWN),
    (
        "mcp__chrome-devtools__drag",
        {"from_uid": "1_3", "to_uid": "1_4"},
        DragAndDrop(element=Element(ref="1_3"), to=Element(ref="1_4")),
    ),
    (
        "mcp__chrome-devtools__upload_file",
        {"uid": "1_3", "filePaths": ["/a/b.pdf"]},
        UploadFile(element=Element(ref="1_3"), files=(FileInfo(name="b.pdf"),)),
    ),
    ("mcp__chrome-devtools__handle_dialog", {"action": "dismiss"}, HandleDialog(accept=False)),
    ("mcp__chrome-devtools__handle_dialog", {"action": "accept"}, HandleDialog(accept=True)),
    ("mcp__chrome-devtools__navigate_page", {"url": "http://x.test/"}, Goto(url="http://x.test/")),
    ("mcp__chrome-devtools__navigate_page", {"type": "back"}, GoBack()),
    ("mcp__chrome-devtools__navigate_page", {"url": "http://x.test/", "initScript": "f()"}, UNKNOWN),
    ("mcp__chrome-devtools__navigate_page", {}, UNKNOWN),
    ("mcp__chrome-devtools__new_page", {"url": "http://x.test/"}, NewTab(url="http://x.test/")),
    ("mcp__chrome-devtools__select_page", {"pageId": 2}, FocusTab()),
    ("mcp__chrome-devtools__close_page", {"pageId": 2}, CloseTab()),
    (
        "Write",
        {"file_path": "/a/b.txt", "content": "tea"},
        ToolCall(name="write", arguments={"file_path": "/a/b.txt", "content": "tea"}),
    ),
]


@pytest.mark.parametrize(("name", "arguments", "action"), CALLS)
def test_what_a_call_says_is_in_its_action(
    name: str, arguments: dict[str, Any], action: Action, tmp_path: Path
) -> None:
    with Run(Folder("atif", tmp_path, SourceLimits()), "run", Options()) as run:
        found = called_action(run, name, arguments)
    assert isinstance(found, Unknown) if action is UNKNOWN else found == action


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


def test_each_field_of_a_form_of_chrome_devtools_is_an_action(tmp_path: Path) -> None:
    fields = [{"uid": "1_3", "value": "tea"}, {"uid": "1_4", "value": "two"}]
    with Run(Folder("atif", tmp_path, SourceLimits()), "run", Options()) as run:
        add_call(run, "mcp__chrome-devtools__fill_form", {"elements": fields}, raw=lambda record: record)
        steps = [one for one in run.events if isinstance(one, Step)]
    assert [step.action for step in steps] == [
        Fill(element=Element(ref="1_3"), value="tea"), Fill(element=Element(ref="1_4"), value="two"),
    ]  # fmt: skip
    assert [step.raw for step in steps] == [{"elements": [one]} for one in fields]
