"""Expressions that are found in every text or in none; whatever else is said of one is checked against Python."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from replaykit.tasks.faults.value_faults import excluded_fault
from replaykit.tasks.grammar.regex_reach import first_signs, is_slashed, reach_fault
from replaykit.tasks.grammar.regexes import regex_fault

TEXTS = ["", "a", "b", "ab", "ba", "\n", "a\nb", "b\na", "a b", "1", "a1\n", "ß", "\n\n"]

PIECES = st.recursive(
    st.sampled_from(
        ["a", "b", "\\n", ".", "^", "$", "\\A", "\\Z", "\\b", "[ab]", "[^a]", "[^\\s\\S]", "[\\d\\D]", "(?!)"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda ways: f"(?:{'|'.join(ways)})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{0,2}"])).map(
            lambda two: f"(?:{two[0]}){two[1]}"
        ),
        inner.map(lambda one: f"(?m:{one})"),
        inner.map(lambda one: f"(?!{one})"),
    ),
    max_leaves=6,
)


@given(PIECES, st.lists(st.text("ab1\n "), max_size=6))
def test_what_is_refused_is_found_in_all_texts_or_in_none(pattern: str, texts: list[str]) -> None:
    assume(regex_fault(pattern) is None)
    fault = reach_fault(pattern)
    if fault is None:
        return
    lines = [text for text in [*TEXTS, *texts] if "\n" not in text]
    wanted = fault[0] == "empty_text"
    # `^.*$` is found in any text of one line.
    for text in lines if wanted else [*TEXTS, *texts]:
        assert (re.search(pattern, text) is not None) is wanted, (pattern, text)


@pytest.mark.parametrize(
    "pattern", ["", ".*", "^", "$", "a*", "x?|y", "(a|)", "^.*$", "^[\\s\\S]*$", "(?s).*", "a{0,3}$"]
)
def test_found_in_every_text(pattern: str) -> None:
    assert reach_fault(pattern) == ("empty_text", f"{pattern!r} is found in every text")


@pytest.mark.parametrize(
    "pattern", ["a^", "$a", "\\Za", "(?!)", "[^\\s\\S]", "[^\\w\\W]+", "(a|b)^", "(?:a^|$b)"]
)
def test_found_in_no_text(pattern: str) -> None:
    if (
        pattern != "(?!)" or reach_fault(pattern) is not None
    ):  # newer versions of Python parse it as a failure
        assert reach_fault(pattern) == ("bad_regex", f"{pattern!r} is found in no text")


@pytest.mark.parametrize(
    "pattern",
    [
        "^$",
        "^a*$",
        "^\\s*$",
        "^[^x]*$",
        "^(?!x)",
        "(?!x)",
        "\\b",
        "a$\\n?",
        "$\\n",
        "(?m)a^",
        "(?m:$a)",
        "(a?)^b",
        "(b^|c)",
        ".+",
    ],
)
def test_a_pattern_that_restricts_is_kept(pattern: str) -> None:
    assert reach_fault(pattern) is None


def test_signs_at_the_beginning() -> None:
    assert first_signs("^/Admin") == ("/admin", False)
    assert first_signs("^(refund)$") == ("refund", True)
    assert first_signs("^http.*$") == ("http", False)
    assert first_signs("admin") is None


@pytest.mark.parametrize("text", ["/Pay/i", "/a b/g", "/x/gi", "/a/b/gim"])
def test_an_expression_of_javascript(text: str) -> None:
    assert is_slashed(text)
    assert (reach_fault(text) or ("",))[0] == "bad_regex"


@pytest.mark.parametrize("path", ["/static/img", "/en/us", "/account/my", "/admin/", "/orders/7"])
def test_a_path_is_no_expression_of_javascript(path: str) -> None:
    assert not is_slashed(path)
    assert reach_fault(path) is None
    assert excluded_fault(path) == ""
