"""Kleene's tables, and what travels with them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.policies.events.three_valued_truth import (
    FALSE,
    TRUE,
    TextSpan,
    Truth,
    every,
    negate,
    some,
    unknown,
)

TRUTHS = st.lists(st.sampled_from([TRUE, FALSE, unknown("a"), unknown("b")]), max_size=5)


@given(TRUTHS)
def test_every_and_some_are_kleene(truths):
    held = [truth.holds for truth in truths]
    assert every(truths).holds is (False if False in held else None if None in held else True)
    assert some(truths).holds is (True if True in held else None if None in held else False)


@given(TRUTHS)
def test_de_morgan(truths):
    assert negate(every(truths)).holds is some(map(negate, truths)).holds


def test_codes_are_kept_once_and_in_order():
    assert every([unknown("b"), unknown("a", "b"), TRUE]).missing == ("b", "a")
    assert every([unknown("b"), FALSE]).missing == ()


def test_the_first_hit_is_shown():
    hit = TextSpan("text", 0, 2)
    assert every([TRUE, Truth(True, hit)]).span is hit
