"""Typed values as WebArena-Verified reads and compares them; the rows were checked against the package."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.peers.webarena_verified.peer_quantities import Unparsed
from replaykit.grading.peers.webarena_verified.typed_values import PeerOptions, typed
from replaykit.grading.values.bounded_regex import RegexRefused

OPTIONS = PeerOptions(today=date(2026, 7, 9))


def read(value: Any, kind: str) -> Any:
    return typed(value, kind, OPTIONS).alternatives[0]


def same(kind: str, expected: Any, found: Any) -> bool:
    return typed(expected, kind, OPTIONS) == typed(found, kind, OPTIONS)


@pytest.mark.parametrize(
    ("kind", "value", "normal"),
    [
        ("string", "Zoë  “ß” — a-b 1-2 ™", 'zoe "ss" -- a b 1-2'),
        ("string", "Москва Ъ €5 ₹5 → ≤ ≠ ½ ー 中 \U0001f600\u0378", "moskva ' eur5 rs5 - <= 1/2 - zhong"),
        ("string", None, ""),
        ("string", 0, ""),
        ("string", True, "true"),
        ("string", "^A$", "^A$"),
        ("number", "1,234.5", 1234.5),
        ("number", "1 0000", 10000),
        ("number", "\u0665", 5),
        ("number", "inf", math.inf),
        ("number", "twenty-three", 23),
        ("number", "minus five", 5),
        ("number", "three apples", 3),
        ("number", "two point five six", 2.56),
        ("number", "one million two hundred thousand", 1_201_200),
        ("number", True, 1),
        ("integer", "7", 7),
        ("boolean", "T", True),
        ("boolean", 2.0, True),
        ("currency", "$1,234", 1.234),
        ("currency", "$-5", 5),
        ("currency", "-$5", -5),
        ("currency", "1.234,50 €", 1234.5),
        ("currency", "50% off $20", 20),
        ("currency", "free", 0),
        ("currency", "1 298,00", 1298),
        ("date", "13/05/2023", "2023-05-13"),
        ("date", "March 5", "2026-03-05"),
        ("date", "20230513", "2023-05-13"),
        ("date", "2023.05.13", "2023-05-13"),
        ("date", "May 13 2023 10am", "2023-05-13"),
        ("date", "Monday, June 5, 2023", "2023-06-05"),
        ("month", "01", "January"),
        ("month", "Sept", "September"),
        ("month", "March 5", "March"),
        ("duration", "1:35 hours", 5700),
        ("duration", "1h, 5m", 3900),
        ("duration", "4:13", 253),
        ("duration", "2 days 3:04:05", 183_845),
        ("duration", "-5 min", -300),
        ("distance", "110k", 110_000),
        ("distance", "1,234 m", 1234),
        ("distance", "`459km`", 459_000),
        ("distance", "[4 km]", 4000),
        ("distance", "$1.2km!", 1200),
        ("distance", "4km#x", 4000),
        ("distance", "km 4.5", 4500),
        ("distance", "2 .km", 2000),
        ("distance", "1. 4km", 4000),
        ("distance", "-\t5 km", -5000),
        ("distance", "0653m", 0),
        ("distance", "01.5km", 1500),
        ("date", "May31,2023", "2023-05-31"),
        ("date", "-01/16/2023", "2023-01-16"),
        ("date", "01/16/2023/", "2023-01-16"),
        ("date", "March 2, 2022 2023Z", "2022-03-02"),
        ("date", "May 31 2023 T00:00:00", "2023-05-31"),
        ("month", "February 2023/", "February"),
        ("distance", "3 miles", 4828.032),
        ("distance", "3 km + 200 m", 3200),
        ("distance", "5 km - 0", 5000),
        ("distance", "2*(1 + 0.5) km", 3000),
        ("distance", "-2**2 m", -4),
        ("distance", "7 m // (2 m) km", 3000),
        ("distance", "9 km^2 / (3 km)", 3000),
        ("distance", "10 km per 4", 2500),
        ("distance", "5 km %", 50),
        ("distance", "<b>1.7 km</b>", 1700),
        ("distance", "'748 m\"", 748),
        ("distance", "3 hectometers", 300),
        ("distance", "inf km", math.inf),
        ("coordinates", "lat 40.5, -80.1", (40.5, -80.1)),
        ("coordinates", ["40.5", -80.1], (40.5, -80.1)),
        ("coordinates", {"LAT": 1, "lng": 190}, (1.0, -170.0)),
        ("string_list", "b, a,,c ", ("a", "b", "c")),
        ("json", '{"B":1,"a":[2]}', '{"a": [2], "b": 1}'),
        ("markdown", "##  H\r\n  * x\n\n\n\n[a\n b](u )", "## H\n  - x\n\n[a b](u)"),
        ("base64", "SGVsbG8=", "Hello"),
        ("null", "N / A", None),
        ("url", "GIT@host:2222/a/B.git", "git@__SSH_HOST__:2222/a/b.git"),
        ("url", "HTTP://S.test:80//a/./b/../c/?x=1", "http://s.test/a/c/?x=1"),
    ],
)
def test_normal_forms(kind: str, value: Any, normal: Any) -> None:
    found = read(value, kind)
    if isinstance(normal, float):
        assert found == pytest.approx(normal)
    else:
        assert (str(found) if kind == "url" else found) == normal


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("number", ""), ("number", "x"), ("number", "one million two million"), ("boolean", "maybe"),
        ("currency", "abc"), ("date", "nope"), ("date", 5), ("month", 13), ("month", "2023"), ("duration", "5"),
        ("duration", "1 hour and 5 min"), ("duration", "10 min."), ("distance", "5"), ("distance", "5 x"), ("distance", "(2.2k)"),
        ("distance", "(5 km"), ("distance", "5 km)"), ("distance", "'5 km'"), ("distance", "* 5 km"), ("distance", "3 + 2 m"),
        ("distance", "5 m 2 m"), ("distance", "5 mins"), ("distance", "1 / 0 m"), ("distance", "9**9**9**9 m"), ("distance", "(-1)**.5 m"),
        ("distance", "5 km \"\"\""), ("distance", "(" * 200 + "5 m" + ")" * 200), ("distance", "459/km"), ("month", "July/"),
        ("date", "01/16/2023 2460"),
        ("coordinates", "40.5 N, 80.1 W"), ("coordinates", "100, 5"), ("coordinates", {"lat": 1}),
        ("string_list", ",,"), ("json", "x"), ("markdown", 5), ("base64", "xx"), ("null", 0), ("url", ""),
        ("url", "http://[::1/a"), ("location-name", None), ("full_address", "x"), ("string", ["a"]),
    ],
)  # fmt: skip
def test_what_the_package_cannot_read(kind: str, value: Any) -> None:
    with pytest.raises(Unparsed):
        typed(value, kind, OPTIONS)


@pytest.mark.parametrize(
    ("kind", "expected", "found", "matches"),
    [
        ("string", "red", ["red", "blue"], True),
        ("string", "red", "^.*$", True),
        ("string", "red", "'Red'.", True),
        ("string", "0", 0, False),
        ("string", "", False, True),
        ("number", [10, 17], 17, True),
        ("currency", "5.00", "5.10", True),
        ("currency", "5.00", "5.11", False),
        ("currency", ["5", "9"], "9", False),
        ("duration", "15 min", "18 min", True),
        ("duration", "15 min", "19 min", False),
        ("duration", "1 min", "0:02", True),
        ("distance", "3.2km", "3260 m", True),
        ("distance", "100 m", "111 m", False),
        ("coordinates", [1, 2], "1.000009, 2", True),
        ("coordinates", [1, 2], "1.0001, 2", False),
        ("location-name", "Apple Store Shadyside", "Shadyside Apple Store", True),
        ("location-name", "Carnegie Mellon University", "Carnegie Mellon Univ", True),
        ("location-name", "Pittsburgh", "Boston", False),
        ("base64", "^.*MIT.*$", "TUlUCkxpY2Vuc2U=", True),
        ("url", "http://s.test/A?x=1", "http://s.test/a/?x=1", True),
        ("url", "http://s.test/a?x=1", "http://s.test/a?x=1&x=2", True),
        ("url", "http://s.test/a#b", "http://s.test/a", False),
        ("url", r"^http://s\.test/\d+$", "http://s.test/12", True),
    ],
)
def test_equality(kind: str, expected: Any, found: Any, matches: bool) -> None:
    assert same(kind, expected, found) is matches


def test_raw_texts_equal_texts_and_urls_only() -> None:
    assert typed("Red", "string", OPTIONS) == "red."
    assert typed("5", "number", OPTIONS) != "5"
    assert typed("5", "number", OPTIONS) != typed("5", "string", OPTIONS)


def test_an_answer_is_no_place_for_hostile_expressions() -> None:
    with pytest.raises(RegexRefused):
        same("string", "red", "^(a+)+$")


KINDS = (
    "string number boolean currency date month duration distance coordinates location-name url string_list "
    "json markdown base64 null"
)
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-99, 99), st.floats(allow_nan=False), st.text(max_size=30)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(VALUES, st.sampled_from(KINDS.split()))
def test_any_value_is_read_or_refused_and_equals_itself(value: Any, kind: str) -> None:
    try:
        found = typed(value, kind, OPTIONS)
        assert found == typed(value, kind, OPTIONS)
    except (Unparsed, RegexRefused):
        return
