"""Structured values compared strictly: rows where the peer's reading is a defect included."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.checks.structured_answer import best_assignment, compare_data
from replaykit.grading.values.similarity import common_length, similarity

SITES = {"shop": ("http://s.test", "http://alias.test")}


def same(kind: str, expected: Any, found: Any) -> bool:
    return compare_data(expected, found, {"format": kind}, SITES).matches


@pytest.mark.parametrize(
    ("kind", "expected", "found", "matches"),
    [
        ("string", "red", "Red.", True),
        ("string", "Quest™ Band", "quest band", True),
        ("string", "re-entry", "re entry", True),
        ("string", "red", ["red", "blue"], False),
        ("string", "red", "^.*$", False),
        ("string", ["red", "blue"], "blue", True),
        ("string", ["red"], "red", True),
        ("string", ["red"], ["red"], True),
        ("string", "^r.d$", "RED", True),
        ("string", "5", 5, True),
        ("string", "^r.d$", "r\u00e9d\u2122", True),
        ("string", "SUCCESS", "SUCCESS\u4e2d", False),
        ("string", "Bob", "B\u043eb", True),
        ("string", "order", "or\u00adder", False),
        ("string", "see http://s.test/a", "See http://alias.test/a", True),
        ("string", "", 0, False),
        ("string", "", False, False),
        ("string", "0", "", False),
        ("number", 1234, "1,234", True),
        ("number", -5, "minus five", True),
        ("number", 3, "three apples", False),
        ("number", 1, True, False),
        ("number", 5, "\u0665", True),
        ("number", 5, "5\u2122", True),
        ("number", 5, "5,", True),
        ("number", 5, '"5"', False),
        ("currency", 1234, "$1,234", True),
        ("currency", -5, "$-5", True),
        ("currency", 5, "**$5**!", True),
        ("currency", 5, "about $5", False),
        ("currency", "5.00", "5.10", False),
        ("date", "March 5, 2023", "03/05/2023", True),
        ("date", "March 5, 2023", "March 5", False),
        ("date", "March 5, 2023", "M\u0430rch 5, 2023", True),
        ("date", "March 5, 2023", '"March 5, 2023"', False),
        ("date", "03/05/2023", "'03/05/2023'", True),
        ("date", "March 5, 2023", 20230305, False),
        ("month", "March", 3, True),
        ("month", "March", 3.0, True),
        ("month", "March", "March,", True),
        ("month", "March", "'March'", True),
        ("month", "March", "- March", True),
        ("month", "March", "March/", False),
        ("month", "January", "2000", False),
        ("month", "January", "Monday", False),
        ("location-name", "Boston Logan Airport", {"name": "Boston Logan Airport"}, True),
        ("location-name", "Boston Logan Airport", {"airport": "Chicago O'Hare"}, False),
        ("month", "March", '"March"', False),
        ("month", "March", "Mar", True),
        ("month", "March", "March 5", True),
        ("duration", "15min", "18 min", True),
        ("duration", "15min", "18-min", True),
        ("duration", "1h 5min", "1h/5m", True),
        ("duration", "15min", "18 min.", False),
        ("duration", "15min", "'18 min'", False),
        ("duration", "15min", "19 min", False),
        ("duration", "1min", "0:02", False),
        ("duration", "01:33:00", "93 minutes", True),
        ("duration", "1h 5min", "1:05", True),
        ("distance", "3.2km", "3250 m", True),
        ("distance", "3.2km", "(3.2 km)", True),
        ("distance", "3.2km", "3.2 kms", False),
        ("boolean", True, "yes", True),
        ("boolean", True, 2, True),
        ("boolean", True, "Yes.", False),
        ("boolean", True, "yes, it is", False),
        ("coordinates", "40.5 N, 80.1 W", [40.5, -80.1], True),
        ("coordinates", {"lat": 40.5, "lng": -80.1}, "40.5, -80.1", True),
        ("coordinates", [40.5, -80.1], "40° 30' N, 80° 6' W", True),
        ("coordinates", [40.5, -80.1], "40.5, 80.1", False),
        ("coordinates", [40.5, -80.1], "40.5, 279.9", True),
        ("coordinates", [40.5, -80.1], "40.5, 280.1", False),
        ("duration", "80 min", "1:20 hours", True),
        ("duration", "80 s", "1:20 hours", False),
        ("currency", 0, "Free", True),
        ("currency", 5, "free", False),
        ("location-name", "Café", "Cafe", True),
        ("location-name", "Café", "Care", False),
        ("location-name", "Apple Store Shadyside", "Shadyside Apple Store", True),
        ("url", "http://s.test/a?x=1&y=2", "https://alias.test/a/?y=2&x=1", True),
        ("url", "http://s.test/a", "http://s.test/A", False),
        ("url", "http://s.test/a?x=1", "http://s.test/a?x=1&x=2", False),
        ("url", "git@__SSH_HOST__:a/b.git", "ssh://git@host:2222/a/b.git", True),
        ("string_list", "a, b", ["B", "a"], True),
        ("string_list", '["a", "b"]', "b\na", True),
        ("json", '{"a": 1, "B": 2}', '{"B":2,"a":1}', True),
        ("json", '{"B": 2}', '{"b": 2}', False),
        ("json", '{"a": "http://s.test/x"}', '{"a":"http://alias.test/x"}', True),
        ("markdown", "[a](http://s.test/x)", "[a](__SHOP__/x)", True),
        ("markdown", "# A\n* x", "#   A\n- x", True),
        ("base64", "SGVsbG8=", "SGVsbG8gCg==", True),
        ("base64", "^Hel+o$", "SGVsbG8=", True),
        ("string", None, None, True),
        ("string", 47, 47.0, True),
        ("string", 47, "47", True),
        ("string", 1, True, False),
        ("string", None, "", False),
    ],
)
def test_scalars(kind: str, expected: Any, found: Any, matches: bool) -> None:
    assert same(kind, expected, found) is matches


def test_lists_are_assigned_as_a_whole() -> None:
    schema = {"type": "array", "items": {"type": "string"}}
    assert compare_data([["a", "b"], "a"], ["a", "b"], schema, SITES).matches
    assert not compare_data(["a", "b"], ["a", "a"], schema, SITES).matches
    assert not compare_data(["a", "b"], ["b", "a"], schema, SITES, is_ordered=True).matches
    assert compare_data(["a"], ["a", "b"], schema, SITES).reason == "length"


def test_objects_need_what_is_expected_and_note_what_is_more() -> None:
    schema = {"type": "object", "properties": {"n": {"format": "number"}, "names": {"type": "array"}}}
    wanted = {"n": 3, "names": [], "x": None}
    assert compare_data(wanted, {"n": "three", "names": []}, schema, SITES).matches
    assert compare_data(wanted, {"n": 3, "names": [], "y": 1}, schema, SITES).notes == ("extra_keys",)
    failed = compare_data(wanted, {"n": 4, "names": []}, schema, SITES)
    assert (failed.matches, failed.at) == (False, "$.n")
    assert not compare_data(wanted, "x", schema, SITES).matches


def test_lists_and_objects_may_be_written_as_json() -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {"names": {"type": "array"}}}}
    wanted = [{"names": ["a", "b"]}]
    assert compare_data(wanted, ['{"names": ["b", "a"]}'], schema, SITES).matches
    assert compare_data(wanted, [{"names": '["b", "a"]'}], schema, SITES).matches
    assert not compare_data(wanted, [{"names": '{"b": "a"}'}], schema, SITES).matches
    assert not compare_data(wanted, ["[" * 100_000], schema, SITES).matches


@given(st.lists(st.sets(st.integers(0, 5), max_size=6), max_size=6))
def test_the_assignment_is_the_best(rows: list[set[int]]) -> None:
    def brute(left: list[set[int]], used: frozenset[int]) -> int:
        if not left:
            return 0
        take = [1 + brute(left[1:], used | {column}) for column in left[0] - used]
        return max([brute(left[1:], used), *take])

    assert best_assignment([sorted(row) for row in rows]) == brute(rows, frozenset())


@given(st.text(alphabet="abc", max_size=8), st.text(alphabet="abc", max_size=8))
def test_the_common_length_is_that_of_the_textbook(left: str, right: str) -> None:
    rows = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, one in enumerate(left, 1):
        for j, other in enumerate(right, 1):
            rows[i][j] = rows[i - 1][j - 1] + 1 if one == other else max(rows[i - 1][j], rows[i][j - 1])
    assert common_length(left, right) == rows[-1][-1]
    assert similarity(left, left) == 100
