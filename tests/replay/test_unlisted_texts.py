"""Texts that a page shows and its rendered text lacks."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replaykit.errors import SnapshotInvalid
from replaykit.replay.dom import Dom
from replaykit.replay.unlisted_texts import unlisted_in, unlisted_texts
from tests.replay.conftest import Element, write

Rows = list[tuple[int, int, str]]


def with_rows(dom: Any, rows: Rows) -> Dom:
    """The same page with words of style sheets; numbers count from `html`."""
    head, rest = dom.data.split(b"\n", 1)
    return Dom(msgspec.json.encode({**msgspec.json.decode(head), "generated": rows}) + b"\n" + rest)


def number(dom: Any, css: str) -> int:
    return int(dom.select(css).number)


def test_words_stand_inside_of_the_lines_of_their_element(body: Any, el: Any) -> None:
    dom = body(el("div", "one"), el("div", "two", id="a"), el("div", "three"))
    at = number(dom, "#a")
    shown = with_rows(dom, [(at, 0, "<"), (0, 1, ">")])
    assert unlisted_texts(shown)[0] == "one\n<two>\nthree"
    assert unlisted_in(shown, "#a") == ("<two>", "<", ">")
    assert shown.text == dom.text == "one\ntwo\nthree"


def test_words_of_elements_in_elements_follow_each_other(body: Any, el: Any) -> None:
    dom = body(el("p", el("b", el("i", id="i"), id="b"), el("u", id="u"), id="p"))
    first = number(dom, "#p")
    rows = [
        (first, 0, "1"),
        (0, 1, "9"),
        (1, 0, "2"),
        (0, 1, "5"),
        (1, 0, "3"),
        (0, 1, "4"),
        (1, 0, "6"),
        (0, 1, "7"),
    ]
    assert unlisted_texts(with_rows(dom, rows))[0] == "12345679"


def test_letters_that_run_backwards(body: Any, el: Any) -> None:
    dom = body("It is ", el("bdo", "tuo ", el("b", "dlos"), id="a"), ".")
    assert unlisted_texts(with_rows(dom, [(number(dom, "#a"), 2, "")])) == ("It is sold out.", "sold out")


def test_what_is_far_from_the_screen(body: Any, el: Any) -> None:
    far = el("div", "far", show="block|visible|collapse|none|ca")
    hidden = el("div", "hidden", show="block|visible|collapse|none|c")
    dom = body("near", far, hidden)
    assert (dom.text, unlisted_texts(dom)) == ("near", ("near\nfar",))


def test_words_of_what_is_hidden_do_not_show(body: Any, el: Any) -> None:
    dom = body("shown", el("div", "gone", show="none", id="a"))
    assert unlisted_texts(with_rows(dom, [(number(dom, "#a"), 0, "words")]))[0] == "shown"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("S o l d out", ("Sold out",)),
        ("S\no\nl\nd", ("Sold",)),
        ("Sold out", ()),
        ("I am a man", ()),
        ("1 2 3 4", ()),
    ],
)
def test_letters_that_stand_apart(body: Any, el: Any, text: str, found: tuple[str, ...]) -> None:
    assert unlisted_texts(body(el("pre", text, show="block|visible|preserve|none"))) == found


@pytest.mark.parametrize(
    "row", [(99, 0, "x"), (-1, 0, "x"), (0, 3, "x"), (0, 0), ("0", 0, "x"), (0, 0, None)]
)
def test_rows_that_do_not_fit_are_refused(body: Any, row: Any) -> None:
    with pytest.raises(SnapshotInvalid):
        _ = with_rows(body("x"), [row]).text


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.text("ab ", max_size=3)), max_size=8))
def test_no_row_loses_a_word_or_the_text(rows: Rows) -> None:
    parts = (Element("div", "one", Element("b", "two"), "three"), Element("p", "four"))
    dom = Dom(write(Element("html", Element("body", *parts))))
    fitting: Rows = []
    for row in rows:
        fitting += [row] if sum(distance for distance, *_ in (*fitting, row)) < dom.head.elements else []
    first = unlisted_texts(with_rows(dom, fitting))[:1]
    added = "".join(text for *_, text in fitting)
    assert not fitting or sorted("".join(first[0].split())) == sorted(
        "onetwothreefour" + "".join(added.split())
    )


def test_words_of_elements_that_touch_stand_apart(body: Any, el: Any) -> None:
    dom = body(el("p", el("span", "Total"), el("b", "84.50"), id="p"), el("p", "a ", el("i", "b"), id="q"))
    assert dom.text == "Total84.50\n\na b"
    assert [one.split() for one in unlisted_texts(dom)] == [["Total", "84.50", "a", "b"]]
    assert [one.split() for one in unlisted_in(dom, "#p")] == [["Total", "84.50"]]
    assert unlisted_in(dom, "#q") == ()


def test_texts_of_one_element_are_one_text(body: Any, el: Any) -> None:
    assert unlisted_texts(body(el("p", "Sold", "out"), el("p", "next"))) == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.sampled_from(["a", "b c", " d", "e "]), max_size=5))
def test_words_apart_are_the_same_letters(body: Any, el: Any, texts: list[str]) -> None:
    dom = body(*(el("span", text) for text in texts))
    for apart in unlisted_texts(dom):
        assert "".join(apart.split()) == "".join(dom.text.split())
