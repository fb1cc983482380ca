"""Expressions in bounded steps: the match is Python's, whatever the text."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from replaykit.tasks.grammar import regex_matcher
from replaykit.tasks.grammar.regex_matcher import Matcher, RegexRefused
from replaykit.tasks.grammar.regexes import regex_fault

ATOMS = st.sampled_from(
    ["a", "b", "é", ".", "[ab]", "[^a]", r"\d", r"\w", r"\s", r"\b", r"\B", "^", "$", r"\Z", r"\.", "[a-cé]", "A",
     "(?=a)", "(?!b)", "(?<=a)", "(?<!ab)", "[\\d_]", "(?i:b)", "(?>a+)"]
)  # fmt: skip
MANY = st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?", "??", "++"])


def joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.builds("({}){}".format, inner, MANY)
    either = st.builds("(?:{}|{}){}".format, inner, inner, MANY)
    return st.lists(group | either | st.builds("{}{}".format, ATOMS, MANY), max_size=4).map("".join)


PATTERNS = st.recursive(st.builds("{}{}".format, ATOMS, MANY), joined, max_leaves=6)
TEXTS = st.text("aAbéÉ1_ .\n", max_size=12)


@given(PATTERNS, TEXTS, st.sampled_from([0, re.IGNORECASE, re.DOTALL, re.MULTILINE]))
@example("(a|ab)(c|bcd)?", "abcd", 0)
@example("(?:a?){3}b", "aaab", 0)
@example("(.??)++", "1", 0)
@example("(?>(a??|b)+)b", "ab", 0)
def test_the_match_is_pythons(pattern: str, text: str, flags: int) -> None:
    assume(regex_fault(pattern) is None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, ours = re.compile(pattern, flags), Matcher(pattern, flags)
    found = plain.search(text)
    for limit in (regex_matcher._QUICK, 0):
        quick, regex_matcher._QUICK = regex_matcher._QUICK, limit
        try:
            assert (ours.search(text) is None) is (found is None)
            assert ours.match(text) is (plain.match(text) is not None)
            assert ours.fullmatch(text) is (plain.fullmatch(text) is not None)
        finally:
            regex_matcher._QUICK = quick


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\d+ orders?", "x" * 300 + "12 orders"),
        (r"(quota|limit) (is )?exceeded", "the quota exceeded" * 20),
        (r"a.*?b", "ccab" * 200),
        (r"^.*(?=.*white)(?=.*desk).* has been ", "the desk, white, has been saved " * 9),
    ],
)
def test_the_place_of_a_match_is_pythons(pattern: str, text: str) -> None:
    quick, regex_matcher._QUICK = regex_matcher._QUICK, 0
    try:
        found = re.search(pattern, text)
        assert found is not None
        assert Matcher(pattern).search(text) == found.span()
    finally:
        regex_matcher._QUICK = quick


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(a?){40}a{40}b", "a" * 100),
        ("a*a*a*a*a*a*b", "a" * 5000),
        (".*.*.*.*=", "a" * 16_000),
        (".*=", "a" * 65_536),
        ("(x+x+)+y", "x" * 2000),
        ("(a|a)*b", "a" * 5000),
        (r"(\w+\s?)*!", "word " * 2000),
        (r"(?=.*b)a", "a" * 400),
    ],
)
def test_a_hostile_text_takes_few_steps(pattern: str, text: str) -> None:
    assert Matcher(pattern).search(text) is None


def test_what_takes_too_many_steps_is_refused_on_any_machine_alike() -> None:
    with pytest.raises(RegexRefused, match="steps"):
        Matcher("(?=.*b)a").search("a" * 65_536)
    with pytest.raises(RegexRefused, match="places"):
        Matcher("((a{30}){30}){30}")
