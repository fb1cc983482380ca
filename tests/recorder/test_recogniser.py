"""One test per row of the table that turns events into actions."""

from __future__ import annotations

from itertools import pairwise

import pytest

from replaykit.recorder.session.driver_messages import StepEnter, StepExit
from replaykit.trajectory.action import (
    Check,
    Click,
    CloseTab,
    DblClick,
    DragAndDrop,
    Element,
    FileInfo,
    Fill,
    FocusTab,
    KeyboardType,
    MouseClick,
    NewTab,
    Press,
    Scroll,
    SelectOption,
    Type,
    Uncheck,
    UploadFile,
)

BUTTON = Element(tag="button", css="#pay", attributes={"id": "pay"})
OTHER = Element(tag="button", css="#other", attributes={"id": "other"})
FIELD = Element(tag="input", type="text", css="#email")
SECOND = Element(tag="input", type="text", css="#name")
BOX = Element(tag="input", type="checkbox", css="#agree")
LABEL = Element(tag="label", css="#label")
SELECT = Element(tag="select", css="#size")
FILES = Element(tag="input", type="file", css="#file")
ROOT = Element(tag="html", css="html")


def type_key(driver, key: str, on: Element = FIELD, value: str = "", at: float | None = None) -> None:
    driver.event("keydown", on, at, key=key, chord=key, printable=True)
    driver.event("beforeinput", on, input_type="insertText", text=key)
    driver.event("input", on, input_type="insertText", text=key, value=value)


# click


def test_a_pointer_and_a_click_are_a_click(driver) -> None:
    driver.click(BUTTON, 1000).wait(2000)
    (step,) = driver.steps
    assert isinstance(step.action, Click)
    assert (step.action.element.css, step.action.point, step.action.completed) == ("#pay", (5, 6), True)
    assert (step.t, step.end, step.origin) == (1000, 1000, "observed")


def test_a_pointer_without_a_click_is_not_completed(driver) -> None:
    driver.event("pointerdown", BUTTON, 1000, point=[5, 6], button=0)
    driver.event("pointerup", BUTTON, 1010, point=[5, 6], button=0).wait(400)
    assert driver.steps == []
    driver.wait(2000)
    assert [(type(a), a.completed) for a in driver.actions] == [(Click, False)]


@pytest.mark.parametrize("is_release_late", [False, True])
def test_a_click_reported_after_an_action_in_another_tab_is_no_second_one(
    driver, is_release_late: bool
) -> None:
    driver.open(1, opener=0).wait(600)
    driver.event("pointerdown", BUTTON, 2000, point=[5, 6], button=0)
    if not is_release_late:
        driver.event("pointerup", BUTTON, 2001, point=[5, 6], button=0)
    driver.click(OTHER, 2010, page=1)
    if is_release_late:
        driver.event("pointerup", BUTTON, 2001, point=[5, 6], button=0)
    driver.event("click", BUTTON, 2002, point=[5, 6], button=0, detail=1).wait(2000)
    driver.click(BUTTON, 6000).wait(2000)
    clicks = [action.element.css for action in driver.actions if isinstance(action, Click)]
    assert clicks == ["#pay", "#other", "#pay"]


@pytest.mark.parametrize(("key", "named"), [("Enter", "Enter"), (" ", "Space")])
def test_a_click_without_pointer_belongs_to_its_key(driver, key: str, named: str) -> None:
    driver.event("keydown", BUTTON, 1000, key=key, chord=key, printable=key == " ")
    driver.event("click", BUTTON, 1080, button=0, detail=0).wait(2000)
    assert [(type(a), a.key) for a in driver.actions] == [(Press, named)]


@pytest.mark.parametrize("at", [1200, 1700, 2500])
def test_space_that_goes_up_late_sets_its_box(driver, at: int) -> None:
    driver.event("keydown", BOX, 1000, key=" ", chord=" ", printable=True)
    driver.event("click", BOX, at, button=0, detail=0)
    driver.event("input", BOX, at, cause="pointer", control="check")
    driver.event("change", BOX, at, cause="pointer", control="check", checked=True, clicked=True).wait(2000)
    assert [type(action) for action in driver.actions] == [Press, Check]


def test_modifiers_are_kept(driver) -> None:
    driver.click(BUTTON, 1000, modifiers=["Shift", "Control"]).wait(2000)
    assert driver.actions[0].modifiers == ("Control", "Shift")


# acts by script


def test_a_click_by_script_out_of_the_blue_is_an_action(driver) -> None:
    driver.event("click", BUTTON, 5000, trusted=False).wait(1000)
    assert [(type(a), a.trusted) for a in driver.actions] == [(Click, False)]


def test_a_click_by_script_after_a_gesture_is_the_pages_own(driver) -> None:
    driver.click(BUTTON, 5000).wait(700)
    driver.event("click", OTHER, 5999, trusted=False).wait(3000)
    assert [a.element.css for a in driver.actions] == ["#pay"]


def test_a_click_by_script_in_the_task_of_a_click_is_the_pages_own_however_long_that_takes(driver) -> None:
    driver.click(BUTTON, 5000).wait(1500)
    driver.event("click", OTHER, 7500, trusted=False, reaction=True).wait(3000)
    assert [a.element.css for a in driver.actions] == ["#pay"]


def test_a_click_by_script_on_no_control_is_nothing(driver) -> None:
    driver.event("click", Element(tag="div", css="div"), 5000, trusted=False).wait(1000)
    assert driver.steps == []


def test_input_by_script_is_a_fill(driver) -> None:
    driver.event("input", FIELD, 5000, trusted=False, value="a@x.test")
    driver.event("change", FIELD, 5001, trusted=False, value="a@x.test", control="text").wait(1000)
    assert [(type(a), a.value, a.trusted) for a in driver.actions] == [(Fill, "a@x.test", False)]


def test_a_checkbox_clicked_by_script_is_a_check(driver) -> None:
    driver.event("click", BOX, 5000, trusted=False)
    driver.event("input", BOX, 5000, control="check")
    driver.event("change", BOX, 5700, control="check", checked=True, clicked=True).wait(1000)
    assert [(type(a), a.trusted) for a in driver.actions] == [(Check, False)]


# dblclick, other buttons


def test_a_double_click_replaces_its_clicks(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.event("pointerdown", BUTTON, 1300, point=[5, 6], button=0)
    driver.event("pointerup", BUTTON, 1310, point=[5, 6], button=0)
    driver.event("click", BUTTON, 1310, button=0, detail=2)
    driver.event("dblclick", BUTTON, 1310, button=0).wait(2000)
    assert [type(a) for a in driver.actions] == [DblClick]
    assert (driver.steps[0].t, driver.steps[0].end) == (1000, 1310)


PRESSES = {"1": [Click], "11": [Click, Click], "12": [DblClick], "123": [DblClick], "112": [Click, DblClick]}
PRESSES |= {"121": [DblClick, Click], "1212": [DblClick, DblClick], "1112": [Click, Click, DblClick]}


@pytest.mark.parametrize("details", PRESSES)
def test_presses_pair_as_the_browser_counts_them(driver, details: str) -> None:
    for number, detail in enumerate(details):
        at = 1000 + 40 * number
        driver.event("pointerdown", BUTTON, at, point=[5, 6], button=0)
        driver.event("pointerup", BUTTON, at + 10, point=[5, 6], button=0)
        driver.event("click", BUTTON, at + 10, button=0, detail=int(detail))
        if detail == "2":
            driver.event("dblclick", BUTTON, at + 10, button=0, detail=2)
    driver.wait(3000)
    assert [type(action) for action in driver.actions] == PRESSES[details]
    assert [step.t for step in driver.steps] == sorted(step.t for step in driver.steps)
    assert all(one.end <= other.t for one, other in pairwise(driver.steps))


def test_two_slow_clicks_are_two_clicks(driver) -> None:
    driver.click(BUTTON, 1000).click(BUTTON, 1300).wait(3000)
    assert [(type(a), s.t) for a, s in zip(driver.actions, driver.steps, strict=True)] == [
        (Click, 1000),
        (Click, 1300),
    ]


def test_each_of_two_clicks_is_on_the_page_that_it_found(driver) -> None:
    first = driver.push(at=1000, purpose="before", text="SHOWN1")
    driver.click(BUTTON, 1000)
    second = driver.push(at=1300, purpose="before", text="SHOWN2")
    driver.click(BUTTON, 1300).wait(3000)
    assert [step.before.seq for step in driver.steps] == [first, second]


def test_other_buttons_are_mouse_clicks(driver) -> None:
    driver.event("pointerdown", BUTTON, 1000, point=[7, 8], button=2)
    driver.event("contextmenu", BUTTON, 1001, point=[7, 8], button=2)
    driver.event("pointerup", BUTTON, 1002, button=2)
    driver.event("auxclick", BUTTON, 1002, button=2).wait(2000)
    assert [(type(a), a.button, a.point) for a in driver.actions] == [(MouseClick, "right", (7, 8))]


# check, uncheck


@pytest.mark.parametrize(("checked", "kind"), [(True, Check), (False, Uncheck)])
def test_a_click_that_changes_a_checkbox(driver, checked: bool, kind: type) -> None:
    driver.click(BOX, 1000)
    driver.event("input", BOX, 1001, control="check")
    driver.event("change", BOX, 1002, control="check", checked=checked, clicked=True)
    assert [(type(a), a.element.css) for a in driver.actions] == [(kind, "#agree")]


def test_a_label_checks_its_control(driver) -> None:
    driver.click(LABEL, 1000)
    driver.event("click", BOX, 1000, button=0, detail=0)
    driver.event("change", BOX, 1001, control="check", checked=True, clicked=True)
    (action,) = driver.actions
    assert (type(action), action.element.css, action.element.via.css) == (Check, "#agree", "#label")


@pytest.mark.parametrize(
    ("control", "css"),
    [
        (BUTTON, "#pay"),
        (Element(tag="input", type="submit", css="#send"), "#send"),
        (Element(tag="x-button", css="#own"), "#own"),
        (FIELD, "#label"),
        (SELECT, "#label"),
    ],
)
def test_a_label_presses_its_button(driver, control: Element, css: str) -> None:
    driver.click(LABEL, 1000)
    driver.event("click", control, 1000, button=0, detail=0).wait(6000)
    (action,) = driver.actions
    assert (type(action), action.element.css, action.completed) == (Click, css, True)
    via = action.element.via
    assert (via.css if via else None) == ("#label" if css != "#label" else None)


def test_a_script_that_presses_a_button_from_a_label_is_the_page(driver) -> None:
    driver.click(LABEL, 1000)
    driver.event("click", BUTTON, 1000, trusted=False, button=0, detail=0).wait(6000)
    assert driver.actions[0].element.css == "#label"


def test_a_box_that_the_page_sets_later_is_no_check(driver) -> None:
    driver.click(BOX, 1000)
    driver.event("change", BOX, 1001, control="check", checked=True, clicked=False).wait(6000)
    assert [type(a) for a in driver.actions] == [Click]


@pytest.mark.parametrize("on", [BOX, LABEL])
def test_a_page_may_take_its_time_between_a_click_and_its_change(driver, on: Element) -> None:
    driver.click(on, 1000)
    if on is LABEL:
        driver.event("click", BOX, 1000, button=0, detail=0)
    driver.wait(4000).event("change", BOX, control="check", checked=True, clicked=True)
    assert [(type(a), a.element.css) for a in driver.actions] == [(Check, "#agree")]


def test_boxes_that_a_button_sets_however_slowly_are_no_actions_of_their_own(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.event("click", BOX, 1000, trusted=False)
    driver.event("change", BOX, 3000, control="check", checked=True, clicked=True)
    driver.event("click", BOX, 3500, trusted=False)
    driver.event("change", BOX, 3900, control="check", checked=True, clicked=True).wait(2000)
    assert [type(a) for a in driver.actions][:1] == [Click]
    assert all(not a.trusted for a in driver.actions[1:])


@pytest.mark.parametrize(("tag", "kind"), [("div", Check), ("button", Click), ("a", Click)])
def test_what_sets_a_box_by_script_stands_for_it_unless_it_is_a_button(driver, tag: str, kind: type) -> None:
    driver.click(Element(tag=tag, css="#mark"), 1000)
    driver.event("click", BOX, 1000, trusted=False)
    driver.event("change", BOX, 1001, control="check", checked=True, clicked=True).wait(1000)
    assert [type(a) for a in driver.actions] == [kind]


def test_a_box_that_sets_others_is_the_one_that_is_checked(driver) -> None:
    other = Element(tag="input", type="checkbox", css="#other")
    driver.click(BOX, 1000)
    driver.event("click", other, 1000, trusted=False)
    driver.event("change", other, 1000, control="check", checked=True, clicked=True)
    driver.event("change", BOX, 1000, control="check", checked=True, clicked=True).wait(1000)
    assert [(type(a), a.element.css) for a in driver.actions] == [(Check, "#agree")]


# fill


def test_input_without_a_key_is_a_fill(driver) -> None:
    driver.event("focusin", FIELD, 1000)
    driver.event("beforeinput", FIELD, 1001, input_type="insertText", text="ann")
    driver.event("input", FIELD, 1002, input_type="insertText", text="ann", value="ann")
    driver.event("change", FIELD, 1003, control="text", value="ann").wait(2000)
    assert [(type(a), a.value, a.value_after) for a in driver.actions] == [(Fill, "ann", "ann")]


def test_pasted_text_is_a_fill_with_the_fields_value(driver) -> None:
    driver.event("keydown", FIELD, 1000, key="v", chord="Control+v", printable=False, modifiers=["Control"])
    driver.event("beforeinput", FIELD, 1001, input_type="insertFromPaste", text="ann")
    driver.event("input", FIELD, 1002, input_type="insertFromPaste", text="ann", value="joann").wait(2000)
    assert [type(a) for a in driver.actions] == [Press, Fill]
    assert (driver.actions[0].key, driver.actions[1].value) == ("Control+v", "joann")


def test_pasted_text_that_an_editor_takes_itself_is_a_fill(driver) -> None:
    driver.event("keydown", FIELD, 1000, key="v", chord="Control+v", printable=False, modifiers=["Control"])
    pasted = {"input_type": "insertFromPaste", "text": "ann"}
    driver.event("beforeinput", FIELD, 1001, cause="key", **pasted).wait(2000)
    assert [type(a) for a in driver.actions] == [Press, Fill]
    assert (driver.actions[1].value, driver.actions[1].value_after) == ("ann", None)


def test_two_fills_are_two_steps(driver) -> None:
    for at, value in ((1000, "a"), (1010, "b")):
        driver.event("beforeinput", FIELD, at, input_type="insertText", text=value)
        driver.event("input", FIELD, at, input_type="insertText", value=value)
    assert [a.value for a in driver.actions] == ["a", "b"]


def insert(driver, text: str, value: str, at: float, on: Element = FIELD, kind: str = "insertText") -> None:
    driver.event("beforeinput", on, at, input_type=kind, text=text)
    driver.event("input", on, at, input_type=kind, text=text, value=value)


@pytest.mark.parametrize("kind", ["insertText", "insertCompositionText"])
@pytest.mark.parametrize("chord", ["Control+a", "Backspace", "Alt+a", "Meta+a"])
def test_text_right_after_a_press_is_a_fill(driver, chord: str, kind: str) -> None:
    *modifiers, key = chord.split("+")
    driver.event("keydown", FIELD, 1000, key=key, chord=chord, printable=False, modifiers=modifiers)
    insert(driver, "x y", "x y", 1010, kind=kind)
    driver.wait(3000)
    assert [type(a) for a in driver.actions] == [Press, Fill]
    assert (driver.actions[0].key, driver.actions[1].value) == (chord, "x y")
    assert [step.t for step in driver.steps] == [1000, 1010]


def test_one_letter_right_after_its_own_chord_is_a_fill(driver) -> None:
    driver.event("keydown", FIELD, 1000, key="a", chord="Control+a", printable=False, modifiers=["Control"])
    insert(driver, "a", "a", 1010)
    assert [type(a) for a in driver.actions] == [Press, Fill]


def test_a_chord_that_enters_its_character_is_one_press(driver) -> None:
    driver.event("keydown", FIELD, 1000, key="å", chord="Alt+å", printable=False, modifiers=["Alt"])
    insert(driver, "å", "å", 1000)
    driver.wait(2000)
    assert [(type(a), a.key) for a in driver.actions] == [(Press, "Alt+å")]


def test_what_a_page_inserts_at_a_key_belongs_to_the_key(driver) -> None:
    driver.event("keydown", FIELD, 1000, key="Tab", chord="Tab", printable=False)
    driver.event("input", FIELD, 1000, input_type="insertText", text="  ", value="  ").wait(2000)
    assert [(type(a), a.key) for a in driver.actions] == [(Press, "Tab")]


@pytest.mark.parametrize(("text", "value"), [("new", "new"), ("def", "abcdef"), ("n", "n"), ("", "")])
def test_a_fill_right_after_a_text_is_an_action_of_its_own(driver, text: str, value: str) -> None:
    for at, typed in ((1000, "a"), (1010, "ab"), (1020, "abc")):
        type_key(driver, typed[-1], value=typed, at=at)
    insert(driver, text, value, 1030)
    type_key(driver, "!", value=f"{value}!", at=1040)
    driver.wait(3000)
    assert [(type(a), a.value, a.value_after) for a in driver.actions] == [
        (Type, "abc", "abc"),
        (Fill, value, value),
        (Type, "!", f"{value}!"),
    ]


def test_a_fill_right_after_a_masked_text_is_an_action_of_its_own(driver) -> None:
    hidden = Element(tag="input", type="password", css="#pw", masked=True)
    type_key(driver, "⟦masked⟧", hidden, "⟦masked⟧", 1000)
    insert(driver, "⟦masked⟧", "⟦masked⟧", 1010, hidden)
    assert [(type(a), a.value) for a in driver.actions] == [(Type, "⟦masked⟧"), (Fill, "⟦masked⟧")]


# type


def test_a_character_that_no_key_has_belongs_to_the_text(driver) -> None:
    type_key(driver, "M", value="M", at=1000)
    insert(driver, "ü", "Mü", 1010)
    type_key(driver, "l", value="Mül", at=1020)
    driver.wait(3000)
    assert [(type(a), a.value, a.value_after) for a in driver.actions] == [(Type, "Mül", "Mül")]


def test_keys_in_one_field_are_one_text(driver) -> None:
    for at, text in ((1000, "a"), (1900, "an"), (2800, "ann")):
        type_key(driver, text[-1], value=text, at=at)
    assert driver.steps == []
    driver.wait(3000)
    assert [(type(a), a.value, a.value_after) for a in driver.actions] == [(Type, "ann", "ann")]
    assert (driver.steps[0].t, driver.steps[0].end) == (1000, 2800)


@pytest.mark.parametrize("breaker", ["element", "act", "key", "time"])
def test_what_ends_a_text(driver, breaker: str) -> None:
    type_key(driver, "a", value="a", at=1000)
    if breaker == "element":
        type_key(driver, "b", SECOND, "b", 1100)
    elif breaker == "act":
        driver.click(BUTTON, 1100)
    elif breaker == "key":
        driver.event("keydown", FIELD, 1100, key="Backspace", chord="Backspace", printable=False)
    else:
        type_key(driver, "b", value="ab", at=2001)
    driver.wait(3000)
    assert type(driver.actions[0]) is Type
    assert driver.actions[0].value == "a"
    assert len(driver.steps) == 2


def test_a_clear_by_script_belongs_to_the_text(driver) -> None:
    driver.event("input", FIELD, 5000, trusted=False, value="")
    type_key(driver, "x", value="x", at=5020)
    driver.wait(3000)
    assert [(type(a), a.value) for a in driver.actions] == [(Type, "x")]
    assert driver.steps[0].t == 5000


def test_an_editor_that_cancels_input_still_reports_the_text(driver) -> None:
    for at, key in ((1000, "h"), (1050, "i")):
        driver.event("keydown", FIELD, at, key=key, chord=key, printable=True)
        driver.event("beforeinput", FIELD, at, input_type="insertText", text=key)
    driver.wait(3000)
    assert [(type(a), a.value) for a in driver.actions] == [(Type, "hi")]


def test_a_masked_text_does_not_reveal_its_length(driver) -> None:
    hidden = Element(tag="input", type="password", css="#pw", masked=True)
    for at in (1000, 1100, 1200):
        driver.event("keydown", hidden, at, key="⟦masked⟧", printable=True)
        driver.event("beforeinput", hidden, at, input_type="insertText", text="⟦masked⟧")
        driver.event("input", hidden, at, input_type="insertText", text="⟦masked⟧", value="⟦masked⟧")
    driver.wait(3000)
    assert [a.value for a in driver.actions] == ["⟦masked⟧"]


@pytest.mark.parametrize("moves", [False, True])
def test_a_masked_text_that_went_into_several_fields_is_not_the_last_of_them(driver, moves: bool) -> None:
    first, second = (Element(tag="input", type="password", css=f"#p{n}", masked=True) for n in "12")
    type_key(driver, "⟦masked⟧", first, "⟦masked⟧", 1000)
    if moves:
        driver.event("focusin", second, 1010, cause="key")
    field, typed = (
        second if moves else first,
        {"input_type": "insertText", "text": "⟦masked⟧", "cause": "key"},
    )
    driver.event("keydown", field, 1100, key="⟦masked⟧", chord="⟦masked⟧", printable=True)
    driver.event("beforeinput", field, **typed).event("input", field, value="⟦secret:PIN⟧", **typed)
    driver.wait(3000)
    assert [a.value for a in driver.actions] == ["⟦masked⟧" if moves else "⟦secret:PIN⟧"]


# press


def test_enter_that_presses_the_button_of_a_form_has_its_name_too(driver) -> None:
    driver.event("keydown", FIELD, 1000, key="Enter", chord="Enter", printable=False)
    driver.event("click", BUTTON, 1001, cause="key", point=[0, 0], button=0, detail=0).wait(2000)
    (press,) = driver.actions
    assert (type(press), press.key, press.element.names.active) == (Press, "Enter", BUTTON.name)


def test_a_click_that_a_page_makes_while_a_key_is_down_is_no_name_of_the_key(driver) -> None:
    driver.event("keydown", FIELD, 1000, key="Enter", chord="Enter", printable=False)
    driver.event("click", BUTTON, 1001, cause="page", trusted=False).wait(2000)
    (press,) = driver.actions
    assert press.element.names is None or press.element.names.active is None


@pytest.mark.parametrize("chord", ["Enter", "Escape", "Control+a", "Alt+ArrowLeft"])
def test_named_keys_and_chords_are_presses(driver, chord: str) -> None:
    *modifiers, key = chord.split("+")
    driver.event("keydown", FIELD, 1000, key=key, chord=chord, printable=False, modifiers=modifiers)
    driver.event("beforeinput", FIELD, 1000, input_type="insertLineBreak").wait(2000)
    assert [(type(a), a.key) for a in driver.actions] == [(Press, chord)]


def test_a_lone_printable_key_outside_a_field_is_a_press(driver) -> None:
    for at, key in ((1000, "g"), (1100, "i")):
        driver.event("keydown", ROOT, at, key=key, chord=key, printable=True)
    driver.wait(2000)
    assert [(type(a), a.key) for a in driver.actions] == [(Press, "g"), (Press, "i")]


def test_a_modifier_alone_is_nothing(driver) -> None:
    driver.event("keydown", ROOT, 1000, key="Shift", chord="Shift", printable=False).wait(2000)
    assert driver.steps == []


def test_a_held_key_is_one_press(driver) -> None:
    for at in (1000, 1050, 1100):
        driver.event("keydown", SELECT, at, key="ArrowDown", chord="ArrowDown", repeat=at > 1000)
    driver.wait(2000)
    assert [a.key for a in driver.actions] == ["ArrowDown"]


NUMBER = Element(tag="input", type="number", css="#amount", value="4")
RADIO = Element(tag="input", type="radio", css="#express")
FIRST_RADIO = Element(tag="input", type="radio", css="#standard")
DATE = Element(tag="input", type="date", css="#day", value="")


def press_key(driver, key: str, on: Element, at: float = 1000, *, printable: bool = False) -> None:
    driver.event("keydown", on, at, key=key, chord=key, printable=printable)


def test_an_arrow_that_counts_up_also_fills_the_field(driver) -> None:
    press_key(driver, "ArrowUp", NUMBER)
    driver.event("input", NUMBER, 1000, input_type=None, value="5").wait(2000)
    pressed, filled = driver.actions
    assert (pressed.key, pressed.value_after) == ("ArrowUp", None)
    assert (type(filled), filled.value, filled.element.css) == (Fill, "5", "#amount")


def test_an_arrow_on_a_select_also_chooses(driver) -> None:
    press_key(driver, "ArrowDown", SELECT)
    driver.event("input", SELECT, 1000, value="l")
    driver.event("change", SELECT, 1000, cause="key", control="select", values=["l"], labels=["Large"])
    driver.wait(2000)
    pressed, chosen = driver.actions
    assert (pressed.key, type(chosen), chosen.labels) == ("ArrowDown", SelectOption, ("Large",))


def test_a_letter_on_a_select_chooses_and_writes_nothing(driver) -> None:
    press_key(driver, "l", SELECT, printable=True)
    driver.event("change", SELECT, 1000, cause="key", control="select", values=["l"], labels=["Large"])
    driver.wait(2000)
    assert [type(action) for action in driver.actions] == [SelectOption]


def test_an_arrow_from_one_radio_button_checks_the_next(driver) -> None:
    press_key(driver, "ArrowDown", FIRST_RADIO)
    driver.event("click", RADIO, 1000, cause="key")
    driver.event("change", RADIO, 1000, cause="key", control="check", checked=True).wait(2000)
    pressed, checked = driver.actions
    assert (pressed.element.css, type(checked), checked.element.css) == ("#standard", Check, "#express")


@pytest.mark.parametrize(
    ("said", "key", "printable"), [(Press(key="l"), "l", True), (Press(key="ArrowDown"), "ArrowDown", False)]
)
def test_what_a_declared_key_chose_is_kept_beside_it(driver, said: Press, key: str, printable: bool) -> None:
    driver.feed(StepEnter(at=4900, actions=(said,)))
    press_key(driver, key, SELECT, 5000, printable=printable)
    driver.event("change", SELECT, 5000, cause="key", control="select", values=["l"], labels=["Large"])
    driver.wait(1300).feed(StepExit(at=driver.now)).wait(1000)
    (step,) = driver.steps
    assert (step.origin, step.action.key, step.declared) == ("both", key, None)
    assert step.observed[-1].labels == ("Large",)


def test_what_a_declared_click_checked_is_kept_beside_it(driver) -> None:
    driver.feed(StepEnter(at=4900, actions=(Click(),)))
    driver.click(BOX, 5000)
    driver.event("change", BOX, 5000, control="check", checked=True, clicked=True)
    driver.wait(1300).feed(StepExit(at=driver.now)).wait(1000)
    (step,) = driver.steps
    assert (type(step.action), [type(action) for action in step.observed]) == (Click, [Check])


def test_a_declared_text_says_what_its_field_holds(driver) -> None:
    driver.feed(StepEnter(at=4900, actions=(KeyboardType(value="l"),)))
    type_key(driver, "l", value="evil", at=5000)
    driver.wait(1300).feed(StepExit(at=driver.now)).wait(1000)
    assert driver.steps[0].action.value_after == "evil"


def test_what_a_page_chooses_at_a_key_elsewhere_is_no_choice_of_the_key(driver) -> None:
    press_key(driver, "Enter", FIELD)
    driver.event("change", SELECT, 1000, cause="key", control="select", values=["l"], labels=["Large"])
    driver.event("change", BOX, 1000, cause="key", control="check", checked=True).wait(2000)
    assert [type(action) for action in driver.actions] == [Press]


def test_the_keys_of_a_date_are_one_text_with_the_date_that_they_make(driver) -> None:
    for place, key in enumerate("01022027"):
        press_key(driver, key, DATE, 1000 + 50 * place, printable=True)
        if place > 3:
            driver.event("input", DATE, 1000 + 50 * place, input_type=None, value=f"000{place}-01-02")
    driver.wait(3000)
    (typed,) = driver.actions
    assert (type(typed), typed.value, typed.value_after) == (Type, "01022027", "0007-01-02")


def test_a_key_that_deletes_says_what_is_left(driver) -> None:
    press_key(driver, "Delete", FIELD)
    driver.event("beforeinput", FIELD, 1000, input_type="deleteContentForward")
    driver.event("input", FIELD, 1000, input_type="deleteContentForward", value="EVIL").wait(2000)
    (pressed,) = driver.actions
    assert (pressed.key, pressed.value_after) == ("Delete", "EVIL")


# select_option, upload_file


@pytest.mark.parametrize("trusted", [True, False])
def test_a_change_on_a_select(driver, trusted: bool) -> None:
    cause = "" if trusted else "driver"
    driver.event("input", SELECT, 1000, trusted=trusted, cause=cause)
    chosen = {"control": "select", "values": ["l", "xl"], "labels": ["Large", "XL"]}
    driver.event("change", SELECT, 1000, trusted=trusted, cause=cause, **chosen)
    (action,) = driver.actions
    assert (type(action), action.values, action.labels) == (SelectOption, ("l", "xl"), ("Large", "XL"))
    assert action.trusted is trusted


def test_a_change_on_a_file_input(driver) -> None:
    files = [{"name": "C:\\tmp\\a.csv", "size": 12, "mime": "text/csv"}]
    driver.event("input", FILES, 1000)
    driver.event("change", FILES, 1000, control="file", files=files)
    (action,) = driver.actions
    assert isinstance(action, UploadFile)
    assert action.files == (FileInfo(name="a.csv", size=12, mime="text/csv"),)


# drag_and_drop


def test_a_native_drag_and_its_drop(driver) -> None:
    driver.event("pointerdown", BUTTON, 1000, point=[5, 6], button=0)
    driver.event("dragstart", BUTTON, 1050, point=[9, 9])
    driver.event("drop", OTHER, 1500, point=[90, 91])
    (action,) = driver.actions
    assert isinstance(action, DragAndDrop)
    assert (action.element.css, action.to.css) == ("#pay", "#other")
    assert (action.point, action.to_point) == ((5, 6), (90, 91))


@pytest.mark.parametrize(("x", "kind"), [(15, DragAndDrop), (14, Click)])
def test_a_pointer_that_moves_to_another_element(driver, x: int, kind: type) -> None:
    driver.event("pointerdown", BUTTON, 1000, point=[5, 6], button=0)
    driver.event("pointerup", OTHER, 1300, point=[x, 6], button=0).wait(2000)
    assert [type(a) for a in driver.actions] == [kind]


def test_a_pointer_that_comes_back_clicks(driver) -> None:
    driver.event("pointerdown", BUTTON, 1000, point=[5, 6], button=0)
    driver.event("pointerup", BUTTON, 1300, point=[50, 6], button=0)
    driver.event("click", BUTTON, 1300, point=[50, 6], button=0, detail=1).wait(2000)
    assert [type(a) for a in driver.actions] == [Click]


def test_a_pointer_that_the_page_keeps_to_itself_drags(driver) -> None:
    driver.event("pointerdown", BUTTON, 1000, point=[5, 6], button=0)
    driver.event("pointerup", OTHER, 1300, point=[90, 91], button=0, dragged=True)
    driver.event("click", BUTTON, 1300, point=[90, 91], button=0, detail=1).wait(2000)
    (action,) = driver.actions
    assert isinstance(action, DragAndDrop)
    assert (action.element.css, action.to.css, action.to_point) == ("#pay", "#other", (90, 91))


def test_two_quick_drags_of_one_element_are_two(driver) -> None:
    for at in (1000, 1250):
        driver.event("pointerdown", BUTTON, at, point=[5, 6], button=0)
        driver.event("pointerup", OTHER, at + 90, point=[90, 91], button=0, dragged=True)
        driver.event("click", BUTTON, at + 90, point=[90, 91], button=0, detail=1)
    driver.wait(2000)
    assert [type(action) for action in driver.actions] == [DragAndDrop, DragAndDrop]


def test_a_slider_that_keeps_the_pointer_is_filled(driver) -> None:
    driver.event("pointerdown", FIELD, 1000, point=[5, 6], button=0)
    driver.event("input", FIELD, 1100, value="7")
    driver.event("pointerup", FIELD, 1300, point=[90, 6], button=0, dragged=True)
    driver.event("click", FIELD, 1300, point=[90, 6], button=0, detail=1).wait(2000)
    assert [(type(a), a.value) for a in driver.actions] == [(Fill, "7")]


def test_a_drag_by_script(driver) -> None:
    driver.event("dragstart", BUTTON, 5000, trusted=False, point=[0, 0])
    driver.wait(3000).event("drop", OTHER, trusted=False, point=[0, 0])
    (action,) = driver.actions
    assert isinstance(action, DragAndDrop)
    assert (action.element.css, action.to.css, action.trusted) == ("#pay", "#other", False)
    assert action.completed


def test_a_drag_by_script_right_after_a_click(driver) -> None:
    driver.click(BUTTON, 1000)
    driver.event("dragstart", BUTTON, 1100, trusted=False)
    driver.event("drop", OTHER, 1110, trusted=False)
    assert [type(a) for a in driver.actions] == [Click, DragAndDrop]


def test_a_drag_by_script_without_its_drop_is_not_completed(driver) -> None:
    driver.event("dragstart", BUTTON, 5000, trusted=False).click(OTHER, 7000).wait(2000)
    assert [(type(a), a.completed) for a in driver.actions] == [(DragAndDrop, False), (Click, True)]


def test_a_page_that_drags_by_pointer_and_reports_it_by_its_own_events(driver) -> None:
    driver.event("pointerdown", BUTTON, 1000, point=[5, 6], button=0)
    driver.event("dragstart", BUTTON, 1100, trusted=False)
    driver.event("drop", OTHER, 1200, trusted=False, point=[90, 91])
    driver.event("pointerup", OTHER, 1200, point=[90, 91], button=0).wait(2000)
    assert [(type(a), a.to.css, a.trusted) for a in driver.actions] == [(DragAndDrop, "#other", True)]


def test_files_that_are_dropped_are_uploaded(driver) -> None:
    files = [{"name": "a.csv", "size": 12, "mime": "text/csv"}]
    driver.event("drop", OTHER, 5000, trusted=False, files=files)
    (action,) = driver.actions
    assert isinstance(action, UploadFile)
    assert (action.element.css, action.files[0].name, action.trusted) == ("#other", "a.csv", False)


def test_a_drop_without_a_drag_has_its_place(driver) -> None:
    driver.event("drop", OTHER, 5000, trusted=False, point=[3, 4])
    (action,) = driver.actions
    assert (type(action), action.element, action.to.css) == (DragAndDrop, None, "#other")


# how old the page before an action is


def test_a_page_that_went_on_since_its_snapshot_is_stale(driver) -> None:
    driver.push("before", "empty", 999.5)
    type_key(driver, "a", value="a", at=1000)
    said = {"trusted": False, "cause": "driver", "lag": {"ms": 400, "mutations": 3}}
    driver.event("input", SELECT, 1400, **said)
    driver.event("change", SELECT, 1400, control="select", values=["l"], **said)
    driver.wait(2000)
    typed, chosen = (step.before.stale for step in driver.steps)
    assert typed is None
    assert (chosen.ms, chosen.mutations) == (400, 3)


@pytest.mark.parametrize("lag", ["x", {"ms": float("nan")}, {"ms": -5, "mutations": "y"}, [1, 2]])
def test_ages_that_no_script_of_ours_sends_do_no_harm(driver, lag: object) -> None:
    driver.push("before", "empty", 999.5)
    driver.event("change", SELECT, 1400, control="select", values=["l"], lag=lag)
    (step,) = driver.steps
    assert step.before.stale is None or (step.before.stale.ms, step.before.stale.mutations) == (0, 0)


# scroll


def test_a_wheel_scrolls_until_it_rests(driver) -> None:
    for at in (1000, 1150, 1300):
        driver.event("wheel", ROOT, at, dx=1, dy=100)
        driver.event("scroll", ROOT, at + 10, left=0, top=at)
    driver.wait(2000)
    (action,) = driver.actions
    assert (type(action), action.dx, action.dy, action.by) == (Scroll, 3, 300, "wheel")


def test_a_scroll_key_scrolls(driver) -> None:
    driver.event("keydown", ROOT, 1000, key="PageDown", chord="PageDown", printable=False)
    driver.event("scroll", ROOT, 1050, left=0, top=300)
    driver.event("scroll", ROOT, 1090, left=0, top=560).wait(2000)
    (action,) = driver.actions
    assert (type(action), action.dy, action.by) == (Scroll, 560, "key")


@pytest.mark.parametrize(
    ("key", "target", "kind"),
    [
        (" ", Element(tag="button", role="button"), Press),
        ("PageDown", Element(tag="button", role="button"), Scroll),
        (" ", Element(tag="a", role="link"), Scroll),
        ("End", Element(tag="ul", role="listbox"), Press),
        ("ArrowDown", Element(tag="div", attributes={"aria-activedescendant": "o"}), Press),
        ("ArrowDown", Element(tag="div"), Scroll),
    ],
)
def test_a_key_that_a_widget_takes_is_pressed_whatever_scrolls(
    driver, key: str, target: Element, kind: type
) -> None:
    driver.event("keydown", target, 1000, key=key, chord=key, printable=key == " ")
    driver.event("scroll", ROOT, 1050, left=0, top=300).wait(2000)
    (action,) = driver.actions
    assert type(action) is kind


def test_scrolling_without_a_gesture_is_no_action(driver) -> None:
    driver.event("scroll", ROOT, 5000, left=0, top=400).wait(2000)
    assert driver.actions == []


def test_scrolling_without_a_gesture_confirms_a_declared_scroll(driver) -> None:
    driver.feed(StepEnter(at=4900, actions=(Scroll(dx=0, dy=400),)))
    driver.event("scroll", ROOT, 5000, left=0, top=400).wait(800)
    driver.feed(StepExit(at=driver.now)).wait(1000)
    (step,) = driver.steps
    assert (step.origin, step.action.dy) == ("both", 400)


def test_scrolling_before_a_click_is_the_drivers(driver) -> None:
    driver.event("scroll", ROOT, 5000, left=0, top=400)
    driver.click(BUTTON, 5290).wait(2000)
    assert [type(a) for a in driver.actions] == [Click]


def test_scrolling_after_a_click_is_the_pages(driver) -> None:
    driver.click(BUTTON, 5000).wait(600)
    driver.event("scroll", ROOT, 5700, left=0, top=400).wait(2000)
    assert [type(a) for a in driver.actions] == [Click]


# tabs


def test_a_tab_without_opener_is_new_tab(driver) -> None:
    driver.wait(100).open(1, "http://shop.test/help")
    assert [(type(a), a.url) for a in driver.actions] == [(NewTab, "http://shop.test/help")]


def test_a_popup_is_no_action(driver) -> None:
    driver.wait(100).open(1, "http://shop.test/help", opener=0).wait(3000)
    assert driver.steps == []


def test_a_tab_that_goes_while_others_stay_is_close_tab(driver) -> None:
    from replaykit.recorder.session.driver_messages import TabClosed

    driver.wait(100).open(1, opener=0).feed(TabClosed(at=2000, page=1)).wait(600)
    (step,) = driver.steps
    assert (type(step.action), step.page, step.t) == (CloseTab, 1, 2000)
    assert [view.page for view in step.tabs] == [0]


def test_an_action_on_another_tab_focuses_it(driver) -> None:
    driver.click(BUTTON, 1000).wait(1000).open(1, opener=0)
    driver.click(OTHER, 3000, page=1).wait(2000)
    assert [type(a) for a in driver.actions] == [Click, FocusTab, Click]
    assert driver.actions[1].to_page == 1
    assert [view.active for view in driver.steps[2].tabs] == [False, True]


# what the page may send


def test_shapes_that_no_script_of_ours_sends_do_no_harm(driver) -> None:
    driver.event("pointerdown", None, 1000, point="x", button="?", modifiers=3)
    driver.event("change", SELECT, 1100, control="select", values=[1, None], labels={"a": 1})
    driver.event("change", FILES, 1200, control="file", files=[1, {"size": -1}])
    driver.event("wheel", ROOT, 1300, dx=float("nan"), dy=1e300).wait(2000)
    assert [type(a) for a in driver.actions] == [Click, SelectOption, UploadFile, Scroll]
