"""Texts against shapes: what fits is left, what fits in one way is mended, all else is doubted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import Unsupported
from replaykit.replay.rendered_text.mending import compare
from replaykit.replay.rendered_text.text_shapes import NO_ROW, Finding, shape_of, written_as
from tests.blocks import block

UNREAD = ("unread",)
TEXTS = st.lists(st.text("ab\u00dfBC \n\t\u01c5", max_size=5), max_size=6)


def found(items: list[str], shape: str, *, data: list[str] | None = None, one: bool = False) -> Finding:
    """Compare items of rows 0, 1, ...; those of "\\n" and "\\t" are no texts. `one`: all of one element."""
    rows = [NO_ROW if item in ("\n", "\t") else row for row, item in enumerate(items)]
    return compare(rows, items, shape, (data or items).__getitem__, lambda row: 0 if one else row)


def test_a_shape_keeps_blanks_and_capitals() -> None:
    assert shape_of("Ab \u00c9\u00a0\u01c5-9\U0001f600\n\tx") == "^. ^.^...\n\t."


def test_the_example_of_the_document_on_snapshots() -> None:
    shown = json.loads(block("docs/snapshot-format.md", "[[2").text)
    assert shown == [[2, shape_of("Pots 3 green\nTotal")]]


@pytest.mark.parametrize(
    ("char", "mark", "expected"),
    [("a", ".", "a"), ("a", "^", "A"), ("A", ".", "a"), ("\u00df", "^", None), ("1", "^", None),
     ("\u01c6", "^", None), ("\u01c5", "^", "\u01c5"), ("\u01c5", ".", "\u01c6"), ("\u0130", ".", None)],
)  # fmt: skip
def test_a_letter_is_written_in_the_one_way_that_its_mark_allows(
    char: str, mark: str, expected: str | None
) -> None:
    assert written_as(char, mark) == expected


@given(TEXTS)
def test_what_fits_is_left(items: list[str]) -> None:
    assert found(items, shape_of("".join(items))) == Finding({}, [], [])


@given(TEXTS, st.text(".^ \n\t", max_size=20))
def test_what_is_mended_fits_and_all_else_is_doubted(items: list[str], shape: str) -> None:
    texts, doubts, seams = found(items, shape)
    if not doubts and not seams:
        assert shape_of("".join(texts.get(row, item) for row, item in enumerate(items))) == shape


@pytest.mark.parametrize(
    ("items", "data", "shape", "texts"),
    [
        (["Ab", "\n", "cd"], None, "..\n^.", {0: "ab", 2: "Cd"}),
        (["Name"], [" Name"], " ^...", {0: " Name"}),
        (["a", "b"], ["a ", "b"], ". .", {0: "a "}),
        (["a", "b"], ["a ", " b"], ".  .", {0: "a ", 1: " b"}),
        (["a ", "b"], ["a ", " b"], "..", {0: "a"}),
        (["a", "\n", "b"], ["a\n", "\n", " b"], ". \n .", {0: "a ", 2: " b"}),
        (["a", "", "b"], ["a", "\n", "b"], ". .", {1: " "}),
        (["ab c"], None, ". ..", {0: "a bc"}),
    ],
)
def test_blanks_go_where_a_text_has_one(
    items: list[str], data: list[str] | None, shape: str, texts: dict[int, str]
) -> None:
    assert found(items, shape, data=data) == Finding(texts, [], [])


def test_of_texts_of_one_element_any_shows_the_blank() -> None:
    assert found(["a", "b"], ". .", data=["a ", " b"]).doubts == [(0, 1)]
    assert found(["a", "b"], ". .", data=["a ", " b"], one=True).texts == {0: "a "}


@pytest.mark.parametrize(
    ("items", "shape", "doubts", "seams"),
    [
        (["a", "b"], ". .", [(0, 1)], []),
        (["a", "\n", "b"], ".\n\n.", [], [(0, 2)]),
        (["a", "\n", "bc", "\n", "d"], ".\n...\n.", [(2, 2)], []),
        (["a", "\n", "\u00df", "\n", "d"], ".\n^^\n.", [(2, 2)], []),
        (["a"], "", [(NO_ROW, NO_ROW)], []),
        (["a"], ". .", [(0, NO_ROW)], []),
    ],
)
def test_what_does_not_fit_is_doubted_where_it_stands(
    items: list[str], shape: str, doubts: Any, seams: Any
) -> None:
    assert found(items, shape) == Finding({}, doubts, seams)


def test_what_is_doubted_is_no_answer_for_anything_around_it(body: Any, el: Any) -> None:
    dom = body(
        *(el("p", "one"), el("p", el("b", "two"), " 3"), el("p", "four")),
        shapes=[(2, "...\n\n.....\n\n....")],
        flags=UNREAD,
    )
    for css in ("body", "html", "p:nth-child(2)", "b"):
        with pytest.raises(Unsupported, match="another way"):
            _ = dom.select(css).text
    assert [dom.select(f"p:nth-child({place})").text for place in (1, 3)] == ["one", "four"]


def test_line_breaks_that_differ_are_no_answer_for_what_holds_both_sides(body: Any, el: Any) -> None:
    dom = body(
        el("div", el("div", "one"), el("p", "two")), el("p", "3"), shapes=[(2, "...\n...\n\n.")], flags=UNREAD
    )
    with pytest.raises(Unsupported, match="broke its lines"):
        _ = dom.select("div").text
    assert [node.text for node in dom.select_all("div div, p")] == ["one", "two", "3"]


def test_a_row_ends_in_a_line_break_that_may_differ(body: Any, el: Any) -> None:
    section = el("tbody", el("tr", el("td", "one")), show="table-row-group")
    dom = body(el("table", section), el("p", "two"), shapes=[(2, "...\n\n\n...")])
    for css in ("tbody", "table"):
        with pytest.raises(Unsupported, match="broke its lines"):
            _ = dom.select(css).text
    assert [node.text for node in dom.select_all("td, p")] == ["one", "two"]


def test_a_shape_speaks_for_its_own_tree_only(body: Any, el: Any) -> None:
    host = el("div", ("#open", el("i", "x"), el("slot")), "light ", el("u", "y"))
    dom = body(host, shapes=[(2, "^.... ."), (4, "..")])
    assert dom.select("div").text == "Light y"
    with pytest.raises(Unsupported):
        _ = dom.select("div").shadow.children[0].text
    assert dom.text == "Light y"


def test_letters_of_languages_with_rules_of_their_own_are_not_mended(body: Any, el: Any) -> None:
    for language, is_mended in (("tr", False), ("el-GR", False), ("en", True)):
        dom = body(el("p", el("b", "in"), lang=language), shapes=[(2, "^^")], flags=UNREAD)
        if is_mended:
            assert dom.text == "IN"
        else:
            with pytest.raises(Unsupported, match="another way"):
                _ = dom.text


def test_options_are_not_mended(body: Any, el: Any) -> None:
    dom = body(el("select", el("option", "one"), el("option", "two")), shapes=[(2, "...\n^..")])
    with pytest.raises(Unsupported):
        _ = dom.text


def test_plain_text_needs_no_shape_but_for_what_is_not_plain(body: Any, el: Any) -> None:
    words = el("p", "one ", el("b", "two"), el("i", "x", show="none"))
    odd = [
        el("p", "a ", el("b", "b", show="inline|visible|collapse|none|a")), el("p", el("q", "c")),
        el("p", "d", show="block|visible|collapse|capitalize"), el("p", "e\u200b"), el("p", el("b", "f", show="flex")),
    ]  # fmt: skip
    dom = body(words, *odd, shapes=[(2, ".")])
    assert [node.text for node in dom.select_all("p:first-child, p:first-child b")] == ["one two", "two"]
    for node in dom.select_all("p + p, p + p b, q, body"):
        with pytest.raises(Unsupported):
            _ = node.text


def test_first_letters_reach_into_blocks(body: Any, el: Any) -> None:
    above = el("div", el("p", "one"), show="block|visible|collapse|none|u")
    with pytest.raises(Unsupported):
        _ = body(above, shapes=[(2, ".")]).select("p").text
