"""When the agent's commands ran, and which documents they reached."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.witnesses.command_kinds import strokes_of
from replaykit.recorder.browser.witnesses.command_times import LATE_MS, SLACK_MS, CommandTimes, Whereabouts
from replaykit.recorder.page.page_script import PageEvent
from replaykit.recorder.session.driver_messages import MAIN, PageMessage
from replaykit.recorder.session.witnesses import Commanded, ScriptAsked, ScriptEnded, Strokes

MOMENTS = st.integers(0, 20).map(float)
FRAME = Whereabouts(frame="F", begun_at=0, sure_at=0, is_apart=True)
TOP = Whereabouts(begun_at=0, sure_at=0)


def ask(times: CommandTimes, at: float, number: int = 1, end: float | None = None, **more: Any) -> None:
    times.note(ScriptAsked(at=at, number=number, **{"page": 0, **more}))
    if end is not None:
        times.note(ScriptEnded(at=end, number=number))


def click(times: CommandTimes, at: float, end: float | None = None, number: int = 1, count: int = 1) -> None:
    ask(times, at, number, end, is_apart=True, strokes=Strokes(event="pointerdown", count=count))


def press(times: CommandTimes, at: float, frame: str = "", name: str = "pointerdown", **more: Any) -> None:
    event = PageEvent(seq=0, at=at, name=name, **more)
    source = (frame, 0) if frame else MAIN
    times.note(PageMessage(event=event, at=at, page=0, document=0, frame=(), source=source))


@given(
    st.lists(st.tuples(MOMENTS, st.sampled_from([0, 1, None])), max_size=8), MOMENTS, MOMENTS | st.just(inf)
)
def test_tab_is_reached_by_commands_to_it_and_to_none(
    asked: list[tuple[float, int | None]], since: float, until: float
) -> None:
    times = CommandTimes()
    for number, (at, page) in enumerate(sorted(asked, key=lambda one: one[0])):
        ask(times, at, number, at, page=page)
    expected = any(since <= at < until and page in (0, None) for at, page in asked)
    assert times.has_reached(0, Whereabouts(sure_at=since), until) is expected


def test_commands_without_effect_on_a_page_do_not_count() -> None:
    times = CommandTimes()
    times.note(Commanded(at=1.0, kind="navigate", name="Page.navigate"))
    assert not times.has_reached(0, TOP)
    times.note(Commanded(at=1.0, kind="input", name="Input.insertText"))
    assert times.has_reached(0, TOP)


@pytest.mark.parametrize(("is_apart", "reaches"), [(True, False), (False, True)])
def test_only_a_script_in_the_page_s_own_world_reaches_other_tabs(is_apart: bool, reaches: bool) -> None:
    times = CommandTimes()
    times.note(Commanded(at=1.0, kind="input", name="Input.insertText", within=1))
    ask(times, 1.0, page=None, is_apart=is_apart, within=1)
    assert times.has_reached(1, TOP)
    assert times.has_reached(0, TOP) is reaches


@pytest.mark.parametrize("end", [None, 9.0])
def test_command_reaches_what_is_opened_while_it_runs(end: float | None) -> None:
    times = CommandTimes()
    ask(times, 1.0, end=end)
    assert times.has_reached(0, Whereabouts(begun_at=5, sure_at=5))
    assert times.has_reached(0, Whereabouts(begun_at=10, sure_at=10)) is (end is None)


def test_script_in_the_outermost_process_reaches_no_other_of_its_tab() -> None:
    times = CommandTimes()
    ask(times, 1.0, page=None, within=0, is_outermost=True)
    assert (times.has_reached(0, FRAME), times.has_reached(0, TOP)) == (False, True)
    assert times.has_reached(1, FRAME)


def test_press_that_one_document_received_reaches_no_other() -> None:
    times = CommandTimes()
    click(times, 10)
    assert times.has_reached(0, FRAME)
    press(times, 20)
    times.note(ScriptEnded(at=30, number=1))
    assert (times.has_reached(0, FRAME), times.has_reached(0, TOP)) == (False, True)
    assert not times.has_reached(0, Whereabouts(begun_at=25, sure_at=25))


@pytest.mark.parametrize("at", [20.0, 30.0 + SLACK_MS])
def test_press_in_a_frame_reaches_that_frame(at: float) -> None:
    times = CommandTimes()
    click(times, 10, 30)
    press(times, at, "F")
    assert (times.has_reached(0, FRAME), times.has_reached(0, TOP)) == (True, False)


@pytest.mark.parametrize("event", [{"trusted": False}, {"name": "keydown"}, {"at": 31.0 + SLACK_MS}], ids=str)
def test_other_events_prove_nothing(event: dict[str, Any]) -> None:
    times = CommandTimes()
    click(times, 10, 30)
    press(times, **{"at": 20.0, **event})
    assert times.has_reached(0, FRAME)


def test_second_press_of_a_double_click_may_be_elsewhere() -> None:
    times = CommandTimes()
    click(times, 10, 30, count=2)
    press(times, 20)
    assert times.has_reached(0, FRAME)
    press(times, 21)
    assert not times.has_reached(0, FRAME)


def test_press_that_may_be_one_of_two_proves_nothing() -> None:
    times = CommandTimes()
    click(times, 10, 30, number=1)
    click(times, 31, 50, number=2)
    press(times, 40)
    assert times.has_reached(0, FRAME)


def test_press_more_than_was_asked_for_proves_nothing() -> None:
    times = CommandTimes()
    click(times, 10, 30)
    press(times, 20)
    press(times, 21)
    assert times.has_reached(0, FRAME)


@pytest.mark.parametrize(("after", "is_sure"), [(LATE_MS, True), (LATE_MS + 1, False)])
def test_input_through_a_proxy_may_be_received_late(after: float, is_sure: bool) -> None:
    times, params = CommandTimes(), {"type": "mousePressed", "button": "left"}
    made = strokes_of("Input.dispatchMouseEvent", params)
    times.note(Commanded(at=10, kind="input", name="Input.dispatchMouseEvent", strokes=made, within=0))
    press(times, 10 + after)
    assert times.has_reached(0, FRAME) is not is_sure


def test_tab_is_settled_once_all_its_commands_are_over() -> None:
    times = CommandTimes()
    assert times.settled_at(0) == -inf
    ask(times, 1, 1)
    ask(times, 2, 2, 3, page=None)
    assert (times.settled_at(0), times.settled_at(1)) == (inf, 3)
    times.note(ScriptEnded(at=4, number=1))
    times.note(ScriptEnded(at=5, number=7))
    assert (times.settled_at(0), times.settled_at(1)) == (4, 3)


MOUSE, KEY = "Input.dispatchMouseEvent", "Input.dispatchKeyEvent"


@pytest.mark.parametrize(
    ("method", "params", "made"),
    [
        ("click", {}, ("pointerdown", 1)),
        ("click", {"clickCount": 3}, ("pointerdown", 3)),
        ("click", {"modifiers": ["Shift"]}, None),
        ("dblclick", {}, ("pointerdown", 2)),
        ("press", {"key": "Enter"}, ("keydown", 1)),
        ("press", {"key": "Control+a"}, None),
        ("press", {"key": "+"}, None),
        ("fill", {"value": "x"}, None),
        ("hover", {}, None),
        (MOUSE, {"type": "mousePressed"}, ("pointerdown", 1)),
        (MOUSE, {"type": "mouseReleased"}, ("pointerup", 1)),
        (MOUSE, {"type": "mouseMoved"}, ("", 0)),
        (MOUSE, {"type": "mouseMoved", "button": "none", "buttons": 0}, ("", 0)),
        (MOUSE, {"type": "mouseMoved", "button": "left"}, None),
        (MOUSE, {"type": "mouseMoved", "buttons": 1}, None),
        (MOUSE, {"type": "mouseWheel"}, None),
        (KEY, {"type": "rawKeyDown", "key": "a"}, ("keydown", 1)),
        (KEY, {"type": "char", "text": "a"}, None),
        (KEY, {"type": "keyUp", "key": "a"}, ("", 0)),
        (KEY, {"type": "keyUp", "key": " "}, None),
        (KEY, {"type": "keyUp"}, None),
        ("Input.insertText", {"text": "a"}, None),
    ],
)
def test_strokes_of_commands(method: str, params: dict[str, Any], made: tuple[str, int] | None) -> None:
    found = strokes_of(method, params)
    assert (None if found is None else (found.event, found.count)) == made


def test_first_report_of_an_arrival_counts() -> None:
    times = CommandTimes()
    assert times.arrival("L") is None
    times.arrived("L", 5.0)
    times.arrived("L", 9.0)
    assert times.arrival("L") == 5.0
