"""Values that do not fit a type: what is left fits, what is lost is handed over, nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from replaykit.decoders import convert
from replaykit.interop.repaired_values import Unfit, mended


class Leaf(Struct, kw_only=True):
    name: str
    count: int | None = None


class Branch(Struct, kw_only=True):
    leaves: list[Leaf]
    title: str = ""
    first: Leaf | None = None
    words: list[str] = []


GOOD = {
    "leaves": [{"name": "a", "count": 1}, {"name": "b"}],
    "title": "t",
    "first": {"name": "c"},
    "words": ["x"],
}


def lost(value: Any) -> tuple[Any, dict[str, Any]]:
    found: dict[str, Any] = {}
    return mended(value, Branch, found.__setitem__), found


def test_what_fits_is_the_same() -> None:
    assert lost(GOOD) == (GOOD, {})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"title": {"a": 5}}, {"title": {"a": 5}}),
        ({"first": {"count": 1}}, {"first": {"count": 1}}),
        ({"first": {"name": "c", "count": "one"}}, {"first.count": "one"}),
        ({"first": {"name": "c", "count": "1.5"}}, {"first.count": "1.5"}),
        ({"leaves": [{"name": "a"}, 3, {"count": 1}]}, {"leaves[1]": 3, "leaves[2]": {"count": 1}}),
        ({"words": [{}]}, {"words": [{}]}),
        ({"words": ["a", {}]}, {"words[1]": {}}),
        ({"strange": [1]}, {}),
    ],
)
def test_each_part_that_does_not_fit_is_handed_over(
    changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    fit, found = lost({**GOOD, **changes})
    assert found == expected and convert(fit, Branch)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"title": 5}, {"title": "5"}),
        ({"title": ["one"]}, {"title": "one"}),
        ({"title": ["one", "two"]}, {"title": "one\ntwo"}),
        ({"title": [{"type": "text", "text": "one"}]}, {"title": "one"}),
        ({"first": {"name": 7, "count": " 12 "}}, {"first": {"name": "7", "count": 12}}),
        ({"first": {"name": "c", "count": "3.0"}}, {"first": {"name": "c", "count": 3}}),
        ({"words": "one"}, {"words": ["one"]}),
        ({"words": ["a", 1]}, {"words": ["a", "1"]}),
    ],
)
def test_another_spelling_of_the_same_value_is_no_flaw(
    changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    fit, found = lost({**GOOD, **changes})
    assert found == {} and {key: fit[key] for key in expected} == expected and convert(fit, Branch)


def test_a_null_in_the_place_of_what_may_be_missing_is_no_flaw() -> None:
    fit, found = lost({**GOOD, "title": None, "words": None})
    assert found == {} and convert(fit, Branch).title == ""


@pytest.mark.parametrize(
    "value", [None, 3, [], {}, {"leaves": 3}, {"leaves": [1]}, {"leaves": [{"count": 1}]}]
)
def test_without_what_is_needed_nothing_fits(value: Any) -> None:
    with pytest.raises(Unfit):
        lost(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(st.sampled_from([*GOOD, "name", "count"]), part, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON | JSON.map(lambda value: {**GOOD, "leaves": [{"name": "a"}, value], "first": value}))
def test_what_is_left_always_fits(value: Any) -> None:
    try:
        fit, found = lost(value)
    except Unfit:
        return
    convert(fit, Branch)
    assert lost(fit) == (fit, {})
    assert not found or fit != value  # a number that is a text is the same said otherwise, and no loss
