"""Input by commands of the DevTools protocol: characters without keys, buttons that only go up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from tests.live.one_rule import outcome_of
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

Commands = list[tuple[str, dict[str, Any]]]

PAGE = """<!doctype html><style>body > * { position: absolute; left: 10px; width: 100px; height: 20px }</style>
<input id=q aria-label=Query style="top:10px"><button id=save style="top:50px">Save</button>
<div id=note contenteditable aria-label=Note style="top:90px"></div><p style="top:130px">Text</p>
<input type=number aria-label=Count style="top:170px"><form style="top:210px"><input aria-label=Word></form>
<script>save.onkeydown = (event) => event.preventDefault(); document.forms[0].onsubmit = () => false</script>"""
TOPS = {"Query": 20, "Save": 60, "Note": 100, "Text": 140, "Count": 180, "Word": 220}


def mouse(type: str, name: str) -> tuple[str, dict[str, Any]]:
    where = {"x": 30, "y": TOPS[name], "button": "left", "clickCount": 1}
    return "Input.dispatchMouseEvent", {"type": type, **where}


def click(name: str) -> Commands:
    return [mouse("mousePressed", name), mouse("mouseReleased", name)]


def key(type: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return "Input.dispatchKeyEvent", {"type": type, **fields}


def chars(text: str) -> Commands:
    return [key("char", text=letter) for letter in text]


def keys(text: str) -> Commands:
    """A raw key, its character, and the key that goes up: as chromedriver and a keyboard do."""
    return [
        command
        for letter in text
        for command in (
            key("rawKeyDown", key=letter), key("char", text=letter), key("keyUp", key=letter),
        )
    ]  # fmt: skip


def nameless(text: str) -> Commands:
    """Keys with a text and no name, as a client sends them that knows no layout of a keyboard."""
    return [key("keyDown", text=letter) for letter in text]


SHIFT = [key("rawKeyDown", key="Shift", windowsVirtualKeyCode=16)]


def entered(value: str) -> dict[str, Any]:
    return {"type": "never", "match": {"action": "@input", "value": value}}


def never(action: str, **more: str) -> dict[str, Any]:
    return {"type": "never", "match": {"action": action, **more}}


def outcome(rule: dict[str, Any], commands: Commands, page: Any, path: Path) -> str:
    def act(page: Any) -> None:
        session = page.context.new_cdp_session(page)
        for method, parameters in commands:
            session.send(method, parameters)

    return outcome_of(rule, act, page, path)


@pytest.mark.parametrize(
    ("commands", "rule"),
    one_in(2, [
        ([*click("Query"), *chars("EVIL")], entered("EVIL")),
        ([*click("Query"), *SHIFT, *chars("EVIL")], entered("EVIL")),
        ([*click("Query"), *keys("GO"), *chars("EVIL")], entered("GOEVIL")),
        ([*click("Note"), *chars("EVIL")], entered("EVIL")),
        ([*click("Count"), *chars("77")], entered("77")),
        ([*click("Save"), key("rawKeyDown", key="x"), *click("Query"), *chars("xEVIL")], entered("EVIL")),
        ([*click("Word"), *chars("EVIL\r")], never("press", text="Word")),
        ([*click("Query"), *chars("EVIL")], never("type", text="Query")),
        ([*click("Query"), *nameless("EVIL")], entered("EVIL")),
        ([*click("Word"), *nameless("EVIL\r")], never("press", text="Word", value="Enter")),
    ]),
)  # fmt: skip
def test_characters_without_keys_are_typed(
    commands: Commands, rule: dict[str, Any], tmp_path: Path, page: Any
) -> None:
    page.set_content(PAGE)
    assert outcome(rule, commands, page, tmp_path / "run.zst") == "VIOLATED"


@pytest.mark.parametrize(
    "typed", [chars("GOOD"), keys("GOOD"), nameless("GOOD")], ids=["characters", "keys", "nameless"]
)
def test_a_text_is_one_action_however_it_is_typed(typed: Commands, tmp_path: Path, page: Any) -> None:
    page.set_content(PAGE)
    path = tmp_path / "run.zst"
    assert outcome(entered("EVIL"), [*click("Query"), *typed], page, path) == "OK"
    with open_bundle(path) as bundle:
        actions = [step.action for step in bundle.trajectory.steps]
    assert [(type(one).__name__, getattr(one, "value", "")) for one in actions] == [
        ("Click", ""),
        ("Type", "GOOD"),
    ]


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([mouse("mouseReleased", "Save")], "UNDECIDED"),
        ([mouse("mouseReleased", "Text")], "OK"),
        ([*click("Text"), mouse("mouseReleased", "Save")], "UNDECIDED"),
        ([mouse("mouseMoved", "Save")], "DORMANT"),
    ],
    ids=["on a button", "on a text", "after a click", "moved there"],
)
def test_a_button_of_the_mouse_that_only_goes_up_may_take_what_is_there(
    commands: Commands, expected: str, tmp_path: Path, page: Any
) -> None:
    page.set_content(PAGE)
    rule = never("click", text="Save")
    assert outcome(rule, commands, page, tmp_path / "run.zst") == expected
