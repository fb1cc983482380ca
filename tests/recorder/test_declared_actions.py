"""Actions that a harness declares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import UsageError
from replaykit.recorder.session.declared_actions import declared
from replaykit.trajectory.action import (
    Action,
    Click,
    CloseTab,
    DragAndDrop,
    Element,
    FileInfo,
    Fill,
    FocusTab,
    Goto,
    MouseClick,
    Noop,
    Press,
    Scroll,
    SelectOption,
    SendMsgToUser,
    Unknown,
    UploadFile,
)

A51 = Element(ref="a51")


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("click('a51')", (Click(element=A51),)),
        ("click('a51', 'right')", (Click(element=A51, button="right"),)),
        ("click(bid='a51', modifiers=['Shift'])", (Click(element=A51, modifiers=("Shift",)),)),
        ("fill('a51', 'it\\'s')", (Fill(element=A51, value="it's"),)),
        ("press('a51', 'Control+a')", (Press(element=A51, key="Control+a"),)),
        ("keyboard_press('Enter')", (Press(key="Enter"),)),
        ("select_option('a51', 'red')", (SelectOption(element=A51, values=("red",)),)),
        ("select_option('a51', ['red', 'blue'])", (SelectOption(element=A51, values=("red", "blue")),)),
        (
            "upload_file('a51', '/tmp/x/report.pdf')",
            (UploadFile(element=A51, files=(FileInfo(name="report.pdf"),)),),
        ),
        ("drag_and_drop('a51', 'a52')", (DragAndDrop(element=A51, to=Element(ref="a52")),)),
        ("scroll(0, -200.4)", (Scroll(dy=-200),)),
        ("mouse_click(3.6, 4)", (MouseClick(point=(4, 4)),)),
        ("goto('http://x.test/')", (Goto(url="http://x.test/"),)),
        ("tab_focus(2)", (FocusTab(tab=2),)),
        ("tab_close()", (CloseTab(),)),
        ("noop(1000)", (Noop(ms=1000),)),
        ("send_msg_to_user('Done.')", (SendMsgToUser(text="Done."),)),
        ("fill('a51', 'x')\nclick('a51')", (Fill(element=A51, value="x"), Click(element=A51))),
    ],
)
def test_calls(text: str, actions: tuple[Action, ...]) -> None:
    assert declared(text) == actions


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("frobnicate('a51')", "frobnicate"),
        ("click('a51', 'right', [], 4)", "click"),
        ("click(element='a51')", "click"),
        ("click(open('/etc/passwd'))", "click"),
        ("goto(", "goto"),
        ("Click the button.", "text"),
        ("", "text"),
    ],
)
def test_anything_else_is_unknown_with_its_text(text: str, name: str) -> None:
    assert declared(text) == (Unknown(name=name, raw=text),)


def test_structs_and_values() -> None:
    assert declared(None) == ()
    assert declared(Click(element=A51)) == (Click(element=A51),)
    assert declared({"type": "click", "element": {"ref": "a51"}}) == (Click(element=A51),)


@pytest.mark.parametrize("plain", [{"type": "clack"}, {}, {"type": "goto"}, {"type": "goto", "url": 1}])
def test_values_that_are_no_action_are_the_harness_s_error(plain: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="not an action"):
        declared(plain)


@given(st.text())
def test_no_text_raises(text: str) -> None:
    assert len(declared(text)) >= 1


@given(st.text(alphabet="click('a51,)[]{}=*- \n\\\"0x"))
def test_no_near_call_raises(text: str) -> None:
    assert len(declared(text)) >= 1
