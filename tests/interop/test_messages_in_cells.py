"""Cells of tables that hold what a server of a model sent: its calls are steps, and nothing of it is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.interop.table.table_actions import LEVELS_MAX, calls_of
from replaykit.trajectory.action import tag_of
from tests.interop.conftest import Importing
from tests.interop.samples import write

CLICK = {"x": 3, "y": 4}
CHAT = {"id": "c", "type": "function", "function": {"name": "click", "arguments": json.dumps(CLICK)}}
GOTO = {"id": "d", "type": "function", "function": {"name": "goto", "arguments": {"url": "https://x.test/"}}}
TEXT = {"type": "text", "text": "I look for the cart."}

MESSAGES: list[tuple[Any, list[str]]] = [
    (CHAT, ["mouse_click"]),
    ({"role": "assistant", "content": None, "tool_calls": [CHAT, GOTO]}, ["mouse_click", "goto"]),
    ({"message": {"role": "assistant", "content": "", "tool_calls": [CHAT]}}, ["mouse_click"]),
    ({"role": "assistant", "content": [TEXT, {"type": "tool_use", "name": "click", "input": CLICK}]}, ["mouse_click"]),
    ({"content": [{"toolUse": {"toolUseId": "t", "name": "click", "input": CLICK}}]}, ["mouse_click"]),
    ({"functionCall": {"name": "click_at", "args": CLICK}}, ["mouse_click"]),
    ({"function_call": {"name": "click", "arguments": json.dumps(CLICK)}}, ["mouse_click"]),
    ({"content": {"role": "model", "parts": [{"text": "hm"}, {"functionCall": {"name": "click_at", "args": CLICK}}]}},
     ["mouse_click"]),
    ({"output": [{"type": "reasoning", "summary": []},
                 {"type": "function_call", "name": "click", "arguments": json.dumps(CLICK)}]}, ["mouse_click"]),
    ({"type": "computer_call", "call_id": "c", "actions": [{"type": "click", **CLICK}, {"type": "type", "text": "tea"}]},
     ["mouse_click", "keyboard_type"]),
    ({"type": "computer_call", "call_id": "c", "action": {"type": "click", **CLICK}}, ["mouse_click"]),
    ({"role": "assistant", "content": [TEXT]}, ["action"]),
]  # fmt: skip


@pytest.mark.parametrize(("message", "tags"), MESSAGES, ids=lambda value: json.dumps(value)[:50])
@pytest.mark.parametrize("is_text", [False, True])
def test_calls_of_a_message_are_steps(
    message: Any, tags: list[str], is_text: bool, tmp_path: Path, imported: Importing
) -> None:
    cell = json.dumps(message) if is_text else message
    row = {"run": "a", "goal": "Buy tea.", "step": 0, "url": "https://x.test/", "action": cell}
    steps = imported("table", write(tmp_path, "t.jsonl", json.dumps(row))).trajectory.steps
    assert [tag_of(step.action) for step in steps] == tags
    assert steps[0].raw == message


@given(st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["content", "parts", "tool_calls", "message", "functionCall", "name", "type"]), inner)))  # fmt: skip
def test_anything_else_is_a_call_of_its_own(value: Any) -> None:
    assert calls_of(value)


def test_objects_in_objects_are_bounded() -> None:
    value: Any = CHAT
    for _ in range(LEVELS_MAX + 50):
        value = {"message": value}
    (found,) = calls_of(value)
    assert isinstance(found, dict) and "message" in found
