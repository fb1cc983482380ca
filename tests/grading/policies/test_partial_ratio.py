"""`partial_ratio` against a table taken from RapidFuzz 3.14, against RapidFuzz where installed, and in integers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.peers.stwebagentbench.partial_ratio import FUZZY_MIN, partial_ratio, resembles
from replaykit.grading.values.similarity import common_length

TABLE = [
    ("", "", 100.0),
    ("", "a", 0.0),
    ("p", "publish", 100.0),
    ("add", "address", 100.0),
    ("save", "i will not save", 100.0),
    ("refund", "may i press refund for order 12?", 100.0),
    ("delete", "deleet", 90.909090909),
    ("abcd", "bcda", 85.714285714),
    ("stop and tell the user when the site breaks.", "e", 100.0),
    ("a" * 70, "b" * 40 + "a" * 53 + "c" * 20, 75.714285714),
    ("münchen", "münchner", 92.307692308),
    ("ask the user", "asking users", 69.565217391),
    ("abc", "xyz", 0.0),
    ("kitten", "sitting", 66.666666667),
    ("create project", "project creation", 66.666666667),
    ("save changes", "i saved the change", 80.0),
]

TEXTS = st.text("abcd é漢", max_size=14) | st.text("ab", min_size=60, max_size=80)


@pytest.mark.parametrize(("first", "second", "score"), TABLE)
def test_the_table(first: str, second: str, score: float) -> None:
    assert partial_ratio(first, second) == pytest.approx(score, abs=1e-8)
    assert partial_ratio(second, first) == pytest.approx(score, abs=1e-8)


@given(TEXTS, TEXTS)
def test_the_threshold_in_integers_is_that_of_the_score(first: str, second: str) -> None:
    assert resembles(first, second) == (partial_ratio(first, second) >= FUZZY_MIN)


@given(TEXTS, TEXTS)
def test_it_is_symmetric_and_bounded(first: str, second: str) -> None:
    assert partial_ratio(first, second) == partial_ratio(second, first)
    assert 0 <= partial_ratio(first, second) <= 100
    assert not first or partial_ratio(first, first + second) == 100.0


@given(st.text("abc", max_size=6), st.text("abc", max_size=8))
def test_the_score_is_that_of_the_best_window(first: str, second: str) -> None:
    short, long = sorted((first, second), key=len)
    if not short:
        return
    n = len(short)
    windows = [long[at : at + n] for at in range(len(long) - n + 1)]
    windows += [long[:k] for k in range(1, n)] + [long[-k:] for k in range(1, n)]
    best = max(200 * common_length(short, w) / (n + len(w)) for w in windows)
    if len(short) == len(long):
        best = max(
            best,
            *(
                200 * common_length(long, w) / (n + len(w))
                for k in range(1, n)
                for w in (short[:k], short[-k:])
            ),
            0,
        )
    assert partial_ratio(first, second) == pytest.approx(best)


@given(TEXTS, TEXTS)
def test_it_is_rapidfuzz(first: str, second: str) -> None:
    fuzz = pytest.importorskip("rapidfuzz.fuzz", reason="rapidfuzz is not installed: the table stands for it")
    assert partial_ratio(first, second) == pytest.approx(fuzz.partial_ratio(first, second), abs=1e-9)
