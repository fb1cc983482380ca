from __future__ import annotations

import pytest

from replaykit.trajectory.plurals import counted


@pytest.mark.parametrize(
    ("n", "noun", "said"),
    [
        (1, "step", "1 step"),
        (0, "step", "0 steps"),
        (2, "reply", "2 replies"),
        (1, "undecided policy", "1 undecided policy"),
        (12, "undecided policy", "12 undecided policies"),
    ],
)
def test_a_number_agrees_with_its_noun(n: int, noun: str, said: str) -> None:
    assert counted(n, noun) == said
