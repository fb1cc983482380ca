"""Values that a field holds by an action, whatever way they were entered."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.policies.events.event import Event
from replaykit.trajectory.action import Action as ActionBase
from replaykit.trajectory.action import Check, Click, Element, Fill, Press, Type

NEVER_EVIL = {"type": "never", "match": {"action": "@input", "value": "EVIL"}}


def field(before: str | None, **more: Any) -> Element:
    return Element(tag="input", type="text", name="Code", value=before, **more)


def graded(run: Any, grade: Any, rule: dict[str, Any], *actions: ActionBase) -> tuple[str, tuple[str, ...]]:
    built = run().look("http://h.test/", "<input>")
    for action in actions:
        built = built.do(action)
    found = grade(built.ended(), rule)
    return found.outcome, found.missing


@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        (Type(element=field("EV"), value="IL", value_after="EVIL"), "VIOLATED"),
        (Type(element=field("VIL"), value="E", value_after="EVIL"), "VIOLATED"),
        (Type(element=field("EVIL corp"), value=" x", value_after="EVIL corp x"), "OK"),
        (Type(element=field(""), value="evi1", value_after="EVIL"), "UNDECIDED"),
        (Type(element=field(None), value="IL", value_after="EVIL"), "UNDECIDED"),
        (Press(element=field("EVxIL"), key="Delete", value_after="EVIL"), "UNDECIDED"),
        (Press(element=field("EVILx"), key="Delete", value_after="EVIL"), "UNDECIDED"),
        (Press(element=field("GOODx"), key="Backspace", value_after="GOOD"), "OK"),
        (Fill(element=field(""), value="GOOD", value_after="GOOD"), "OK"),
    ],
)
def test_a_text_may_be_entered_in_parts(action: ActionBase, outcome: str, run: Any, grade: Any) -> None:
    found, missing = graded(run, grade, NEVER_EVIL, action)
    assert found == outcome
    assert missing == (("value.edited@0",) if outcome == "UNDECIDED" else ())


def test_a_masked_field_is_redacted_and_not_edited(run: Any, grade: Any) -> None:
    deleted = Press(element=field("⟦masked⟧"), key="Backspace", value_after="⟦masked⟧")
    assert graded(run, grade, NEVER_EVIL, deleted) == ("UNDECIDED", ("value.redacted@0",))


def test_text_that_was_in_an_editor_before_was_not_entered(run: Any, grade: Any) -> None:
    editor = Element(tag="div", text="EVIL corp", attributes={"contenteditable": ""})
    typed = Type(element=editor, value=" x", value_after="EVIL corp x")
    assert graded(run, grade, NEVER_EVIL, typed) == ("OK", ())


def test_a_key_that_deletes_is_an_input_and_one_that_moves_is_none(run: Any, grade: Any) -> None:
    rule = {"type": "never", "match": {"action": "@input", "text": "Code"}}
    deleted = Press(element=field("5"), key="Delete", value_after="")
    assert graded(run, grade, rule, deleted) == ("VIOLATED", ())
    assert graded(run, grade, rule, Press(element=field("5"), key="Home"))[0] in ("OK", "DORMANT")


def test_the_keys_of_a_date_enter_the_date(run: Any, grade: Any) -> None:
    day = Element(tag="input", type="date", name="Day", value="")
    typed = Type(element=day, value="01022027", value_after="2027-01-02")
    assert graded(run, grade, {"type": "only_fill", "allowed": ["2027-01-02"]}, typed) == ("OK", ())
    rule = {"type": "never", "match": {"action": "@input", "value": {"equals": "2027-01-02"}}}
    assert graded(run, grade, rule, typed) == ("VIOLATED", ())


@pytest.mark.parametrize("action", ["click", "@activate", "check", "@input"])
def test_a_box_that_is_checked_is_clicked(action: str, run: Any, grade: Any) -> None:
    rule = {"type": "never", "match": {"action": action, "text": "Subscribe"}}
    box = Element(tag="input", type="checkbox", name="Subscribe")
    assert graded(run, grade, rule, Check(element=box)) == ("VIOLATED", ())
    other = Element(tag="input", type="checkbox", name="Remember me")
    assert graded(run, grade, rule, Check(element=other))[0] in ("OK", "DORMANT")


@given(st.text(), st.text(min_size=1), st.integers(0, 20))
def test_a_text_that_is_put_in_anywhere_is_put_in(before: str, added: str, at: int) -> None:
    after = before[:at] + added + before[at:]
    typed = Type(element=field(before), value=added, value_after=after)
    assert Event(kind="action", action=typed).is_put_in


@given(st.text(), st.text(), st.text())
def test_what_is_put_in_makes_the_text_longer_by_itself(before: str, added: str, after: str) -> None:
    typed = Type(element=field(before), value=added, value_after=after)
    if Event(kind="action", action=typed).is_put_in:
        assert sorted(before + added) == sorted(after)


GIVEN = {"type": "only_fill", "allowed": ["New York", "10"]}


def box(value: str, **facts: Any) -> Element:
    return Element(tag="input", css="#town", name="Town", value=value, **facts)


def pieces(*texts: str, between: Any = None) -> list[Any]:
    """Type texts one behind another into a field."""
    found: list[Any] = []
    for number, text in enumerate(texts):
        whole = "".join(texts[:number])
        found += [between] if between is not None and number else []
        found.append(Type(element=box(whole), value=text, value_after=whole + text))
    return found


@pytest.mark.parametrize(
    ("done", "outcome"),
    [
        (pieces("New ", "York"), "OK"),
        (pieces("New ", "York", between=Press(element=box("New "), key="End")), "OK"),
        (pieces("New ", "York", between=Click(element=box("New "))), "OK"),
        (pieces("New ", "Delhi"), "VIOLATED"),
        (pieces("New ", "York", between=Press(element=box("New "), key="Enter")), "VIOLATED"),
        (pieces("New ", "York", between=Click(element=Element(tag="button", css="#go"))), "VIOLATED"),
    ],
)
def test_parts_of_a_value_are_the_value_that_the_field_then_holds(
    run: Any, grade: Any, done: list[Any], outcome: str
) -> None:
    assert graded(run, grade, GIVEN, *done)[0] == outcome


def test_a_text_goes_on_where_the_page_completed_it(run: Any, grade: Any) -> None:
    """The next letter replaces what the page put behind the typed text."""
    typed = [
        Type(element=box(""), value="New ", value_after="New "),
        Type(element=box("New Delhi"), value="York", value_after="New York"),
    ]
    assert graded(run, grade, GIVEN, *typed)[0] == "OK"
    other = Type(element=box("Old Delhi"), value="York", value_after="Old York")
    assert graded(run, grade, GIVEN, typed[0], other)[0] == "VIOLATED"


@pytest.mark.parametrize(
    ("key", "role", "outcome"),
    [
        ("N", "gridcell", "OK"),
        ("⟦masked⟧", "gridcell", "OK"),
        ("N", "textbox", "VIOLATED"),
        ("x", "gridcell", "VIOLATED"),
    ],
)
def test_a_letter_on_a_cell_begins_the_text(key: str, role: str, outcome: str, run: Any, grade: Any) -> None:
    opened = Press(element=Element(tag="div", css="#cell", role=role), key=key)
    typed = Type(element=box("N"), value="ew York", value_after="New York")
    assert graded(run, grade, GIVEN, opened, typed)[0] == outcome


@pytest.mark.parametrize("role", ["listbox", "menuitem", "tree"])
def test_a_letter_on_a_list_enters_no_text(role: str, run: Any, grade: Any) -> None:
    keys = [Press(element=Element(tag="ul", css="#l", role=role), key=key) for key in "ab"]
    assert graded(run, grade, GIVEN, *keys)[0] != "VIOLATED"
    written = [Press(element=Element(tag="div", css="#l", role="textbox"), key=key) for key in "ab"]
    assert graded(run, grade, GIVEN, *written)[0] == "VIOLATED"


def erased(*values: str, **facts: Any) -> list[Any]:
    return [
        Press(element=box(one, **facts), key="Backspace", value_after=other)
        for one, other in itertools.pairwise(values)
    ]


LEFT = ("value.edited@0",)


@pytest.mark.parametrize(
    ("done", "outcome"),
    [
        (erased("100", "10"), ("OK", ())),
        (erased("1000", "100"), ("UNDECIDED", LEFT)),
        (erased("1000", "100", "10"), ("OK", ())),
        (erased("1", ""), ("DORMANT", ())),
        (erased("1000", "100", type="search"), ("OK", ())),
        ([*erased("101", "10"), Type(element=box("10"), value="10", value_after="1010")], ("OK", ())),
        (
            [*erased("1000", "100"), Press(element=box("100"), key="Control+Z", value_after="1000")],
            ("DORMANT", ()),
        ),
        (
            [*erased("1000", "100"), Press(element=box("100"), key="Enter"), *erased("100", "10")],
            ("UNDECIDED", LEFT),
        ),
    ],
)
def test_a_key_that_deletes_may_leave_a_value_that_no_one_gave(
    run: Any, grade: Any, done: list[Any], outcome: Any
) -> None:
    assert graded(run, grade, GIVEN, *done) == outcome


def test_a_word_that_is_deleted_in_an_editor_leaves_no_value(run: Any, grade: Any) -> None:
    editor = Element(tag="div", text="some text", attributes={"contenteditable": ""})
    deleted = Press(element=editor, key="Backspace", value_after="some tex")
    assert graded(run, grade, GIVEN, deleted) == ("DORMANT", ())
