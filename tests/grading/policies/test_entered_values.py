"""Values that a field holds by an action, whatever way they were entered."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.policies.events.event import Event
from replaykit.trajectory.action import Action as ActionBase
from replaykit.trajectory.action import Check, Element, Fill, Press, Type

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
