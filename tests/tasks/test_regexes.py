"""Which regular expressions are refused, and why."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.tasks.grammar.regexes import REGEX_MAX, regex_fault


@pytest.mark.parametrize(
    "pattern",
    [
        "quota (is )?exceeded", "(foo|bar)+", "[a-z]+@[^]]+", "(a{1,3}b)+", r"(?i:error)\s+\d{3}", "(a|b)?c*",
        "((ab)+c)?", r"\(x+\)*", "(?=a+)b", "(?s:.)*", "a{,5}", "a{b}+", "", "[]+]+", r"[\]a(]*", "a+?b*?",
        "(?P<year>[0-9]+)-x", "(?i)abc", "x(?#a comment)+",
    ],
)  # fmt: skip
def test_safe(pattern: str) -> None:
    assert regex_fault(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+", "(a*)*b", "(?:x+y)*", "((ab)+c)*", "(a{2,}){3,}", "(x{100}){100}", "(a|a)*b", "(a|ab)+",
        r"(\d|\s)+", r"(\d+)\1", "(?P<x>a)(?P=x)", "(a)?(?(1)b|c)", "(?:(?:a+))+", "(a+|b)*", "(?:a?|b)*", "(a?b|b)*", "(a{0,1}b|b)+",
        "a" * (REGEX_MAX + 1),
    ],
)  # fmt: skip
def test_unsafe(pattern: str) -> None:
    found = regex_fault(pattern)
    assert found is not None
    assert found[0] == "unsafe_regex"


@pytest.mark.parametrize("pattern", ["(", "[", "*", "(?P<x", "a{2,1}", "[[a]", "[a--b]"])
def test_not_a_regular_expression(pattern: str) -> None:
    found = regex_fault(pattern)
    assert found is not None
    assert found[0] == "bad_regex"


@given(st.text("ab()[]|*+?{}\\.^$,:=!<>P13 ", max_size=24))
def test_the_scan_answers_for_whatever_compiles(pattern: str) -> None:
    found = regex_fault(pattern)
    try:
        re.compile(pattern)
    except (re.error, FutureWarning, DeprecationWarning):
        assert found is not None
        assert found[0] == "bad_regex"
    else:
        assert found is None or found[0] == "unsafe_regex"
