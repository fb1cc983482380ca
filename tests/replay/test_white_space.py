from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from replaykit.replay.rendered_text.white_space import Lines

TEXTS = st.lists(st.text(st.sampled_from(" \n\tab\u00a0"), max_size=6), max_size=8)


def laid(texts: list[str], collapse: str = "collapse") -> list[str]:
    found: dict[int, str] = {}
    lines = Lines(found)
    for row, text in enumerate(texts):
        lines.add(row, text, collapse)
    lines.end()
    return [found[row] for row in range(len(texts))]


@given(TEXTS)
def test_pieces_of_a_line_collapse_as_one_text_does(texts: list[str]) -> None:
    whole = re.sub("[ \t\n]+", " ", "".join(texts)).strip(" ")
    assert "".join(laid(texts)) == whole


@given(TEXTS)
def test_preserved_texts_stay(texts: list[str]) -> None:
    assert laid(texts, "preserve") == texts


@given(TEXTS)
def test_preserved_breaks_are_all_that_stays_of_blanks(texts: list[str]) -> None:
    lines = re.split("\n", "".join(texts))
    assert "".join(laid(texts, "preserve-breaks")) == "\n".join(
        re.sub("[ \t]+", " ", line).strip(" ") for line in lines
    )


def test_a_space_belongs_to_the_first_text_that_has_it() -> None:
    assert laid(["a ", " b", "c ", " "]) == ["a ", "b", "c", ""]


def test_atoms_keep_spaces_on_both_sides() -> None:
    found: dict[int, str] = {}
    lines = Lines(found)
    lines.atom()
    lines.add(0, " a ", "collapse")
    lines.atom()
    lines.end()
    assert found == {0: " a "}


def test_breaks_beside_a_zero_width_space_vanish() -> None:
    assert laid(["a\u200b \n b"]) == ["a\u200bb"]
    assert laid(["a \n \u200bb"]) == ["a\u200bb"]
    assert laid(["a\u200b", "\nb"]) == ["a\u200b", "b"]
    assert laid(["a \n", "\u200bb"]) == ["a", "\u200bb"]
    assert laid(["a\u200b b"]) == ["a\u200b b"]
