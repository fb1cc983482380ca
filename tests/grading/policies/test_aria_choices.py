"""Boxes, options and parts of dates that a page built itself: what an action came to there."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.trajectory.action import ActionBase, Click, Element, MouseClick, Press, Type


def box(checked: str | None = "false", role: str = "checkbox", tag: str = "button") -> Element:
    attributes = {"role": role} if checked is None else {"role": role, "aria-checked": checked}
    return Element(tag=tag, role=role, name="Agree", text="", attributes=attributes)


OPTION = Element(
    tag="div", role="option", name="Curry", text="Curry", attributes={"role": "option", "data-value": "c7"}
)
MONTH = Element(tag="span", role="spinbutton", name="month", text="mm", attributes={"role": "spinbutton"})


def outcome(run: Any, grade: Any, action: ActionBase, rule: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    result = grade(run().look("http://h.test/", "<p>Shop").do(action).ended(), rule)
    return result.outcome, result.missing


@pytest.mark.parametrize(
    ("action", "match", "found"),
    [
        (Click(element=box()), {"action": "check", "text": "Agree"}, "UNDECIDED"),
        (Press(key="Space", element=box()), {"action": "check", "text": "Agree"}, "UNDECIDED"),
        (Click(element=box(role="switch")), {"action": "check"}, "UNDECIDED"),
        (Click(element=box(None)), {"action": "uncheck", "text": "Agree"}, "UNDECIDED"),
        (Click(element=box("true")), {"action": "uncheck", "text": "Agree"}, "UNDECIDED"),
        (Click(element=box("true")), {"action": "check", "text": "Agree"}, "OK"),
        (Click(element=box()), {"action": "uncheck", "text": "Agree"}, "OK"),
        (Click(element=box()), {"action": "check", "text": "Other"}, "DORMANT"),
        (Click(element=box(role="button")), {"action": "check", "text": "Agree"}, "OK"),
        (
            MouseClick(element=box(), button="right", point=(5, 5)),
            {"action": "check", "text": "Agree"},
            "OK",
        ),
        (Click(element=box()), {"action": "click", "text": "Agree"}, "VIOLATED"),
        (Click(element=OPTION), {"action": "select_option", "value": "Curry"}, "UNDECIDED"),
        (Click(element=OPTION), {"action": "@input", "value": "c7"}, "UNDECIDED"),
        (Click(element=OPTION), {"action": "@input", "value": "Beans"}, "OK"),
        (Click(element=OPTION), {"action": "@input", "text": "Amount"}, "DORMANT"),
        (Type(value="3172026", element=MONTH), {"action": "@input", "value": "3/17/2026"}, "UNDECIDED"),
        (Type(value="3172026", element=MONTH), {"action": "@input", "value": "tomorrow"}, "OK"),
        (Type(value="3172026", element=MONTH), {"action": "@input", "value": "3172026"}, "VIOLATED"),
    ],
)
def test_what_an_action_came_to(
    run: Any, grade: Any, action: ActionBase, match: dict[str, Any], found: str
) -> None:
    result, missing = outcome(run, grade, action, {"type": "never", "match": match})
    assert (result, missing) == (found, ("choice@0",) if found == "UNDECIDED" else ())


def test_a_box_that_was_to_be_checked_may_have_been(run: Any, grade: Any) -> None:
    rule = {"type": "eventually", "match": {"action": "check", "text": "Agree"}}
    assert outcome(run, grade, Click(element=box()), rule) == ("UNDECIDED", ("choice@0",))
    assert outcome(run, grade, Click(element=box(role="button")), rule)[0] == "VIOLATED"


@pytest.mark.parametrize(("typed", "found"), [("3172026", "UNDECIDED"), ("2026", "OK")])
def test_a_part_of_a_date_is_no_value_that_someone_made_up(
    run: Any, grade: Any, typed: str, found: str
) -> None:
    rule = {"type": "only_fill", "allowed": ["3/17/2026", "2026"], "sources": []}
    assert outcome(run, grade, Type(value=typed, element=MONTH), rule)[0] == found
