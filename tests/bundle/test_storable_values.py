from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.storable_values import numbers_fit, repair, repair_text
from replaykit.trajectory.action import Click, Element, ToolCall
from replaykit.trajectory.exchange import Console
from replaykit.trajectory.observation import Observation, Read, TabView
from replaykit.trajectory.step import Step

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        ("plain", "plain", 0),
        ("Zürich", "Zürich", 0),
        ("a\ud83d" + "\ude00", "a😀", 0),
        ("a\ud83db", "a\ufffdb", 1),
        ("\ude00\ud83d", "\ufffd\ufffd", 2),
        ("\ufeffstart", "\ufeffstart", 0),
        ("already \ufffd", "already \ufffd", 0),
    ],
)
def test_surrogate_rule(text: str, expected: str, count: int) -> None:
    assert repair_text(text) == (expected, count)


@given(ANY_TEXT)
def test_repaired_text_can_be_stored(text: str) -> None:
    repaired, count = repair_text(text)
    repaired.encode("utf-8")
    assert repair_text(repaired) == (repaired, 0)
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert (repaired, count) == (text, 0)


def test_a_sound_struct_is_returned_as_it_is() -> None:
    step = Step(
        index=0, t=5, action=Click(element=Element(tag="a", attributes={"href": "/"})), raw={"a": [1, None]}
    )
    repaired, count = repair(step)
    assert (repaired, count) == (step, 0)


def test_an_optional_field_of_the_wrong_type_is_left_out() -> None:
    step = Step(index=0, action=Click(point=(1.5, 2), element=Element(tag="a")), end=-3)
    repaired, count = repair(step)
    assert repaired == Step(index=0, action=Click(element=Element(tag="a")))
    assert count == 2


def test_a_required_field_takes_its_surroundings_along() -> None:
    look = Observation(role="after", title="kept", tabs=(TabView(page=0, url=7),))
    repaired, count = repair(look)
    assert repaired == Observation(role="after", title="kept", repaired=1)
    assert count == 1


def test_numbers_without_json_form() -> None:
    nan = float("nan")
    step = Step(
        index=0,
        action=ToolCall(name="sum", arguments={"a": nan, "b": [1, float("inf")], "c": 2**60}),
        raw=nan,
    )
    repaired, count = repair(step)
    assert repaired == Step(index=0, action=ToolCall(name="sum", arguments={"b": [1, None]}))
    assert count == 4


def test_what_json_cannot_hold_at_all() -> None:
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    for raw in (object(), [object()], deep):
        repaired, count = repair(Step(index=0, action=Click(), raw=raw))
        assert (repaired, count) == (Step(index=0, action=Click()), 1)


def test_observations_count_their_own_repairs() -> None:
    look = Observation(
        role="before", title="\ud83d", reads=(Read(locator="#a", kind="string", value="\udc00"),)
    )
    repaired, count = repair(Step(index=0, action=Click(), before=look, thought="\ud83d"))
    assert repaired.before is not None
    assert (repaired.before.repaired, count) == (2, 3)
    assert repaired.thought == "\ufffd"


def test_keys_are_repaired() -> None:
    step = Step(index=0, action=Click(element=Element(attributes={"data-\ud83d": "x"})))
    assert repair(step)[0].action == Click(element=Element(attributes={"data-\ufffd": "x"}))


@given(ANY_TEXT, st.integers() | st.floats() | st.text() | st.none())
def test_repair_settles(text: str, page: object) -> None:
    repaired, _ = repair(Console(level="log", text=text, page=page))
    assert repair(repaired) == (repaired, 0)


def test_numbers_fit() -> None:
    assert numbers_fit({"a": [1, 2**53, -(2**53), True, 1.5e300, None, "9" * 40]})
    assert not numbers_fit({"a": [{"b": 2**53 + 1}]})
