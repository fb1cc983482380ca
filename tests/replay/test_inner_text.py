"""A text is composed as far as it is asked for; what was asked before changes no answer."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import Unsupported
from replaykit.replay.dom import Dom, Node
from tests.replay.conftest import Element, write

SHOWS = st.sampled_from(
    ("block", "inline", "inline-block", "flex", "none", "contents", "table", "table-row", "table-cell",
     "table-row-group", "block|hidden|collapse|none", "inline|visible|preserve|none", "block|visible|collapse|none|c",
     "block|visible|collapse|none|f", "inline|visible|collapse|capitalize")
)  # fmt: skip
TAGS = st.sampled_from(
    ("div", "p", "span", "details", "summary", "tr", "td", "q", "br", "slot", "x-a", "select")
)
LEAVES = st.sampled_from((" ", "a", " b", "c ", "\n", "d  e", "!note"))


def elements(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    parts = st.lists(below, max_size=4)
    plain = st.builds(lambda tag, show, inside: Element(tag, *inside, show=show), TAGS, SHOWS, parts)
    hosts = st.builds(
        lambda show, shadow, light: Element("div", ("#open", *shadow), *light, show=show), SHOWS, parts, parts
    )
    return plain | hosts


PAGES = st.lists(st.recursive(LEAVES, elements, max_leaves=25), min_size=1, max_size=4)


def answers(node: Node) -> tuple[Any, ...]:
    try:
        return node.rendered, node.visible, node.inner_text
    except Unsupported as error:
        return (str(error),)


ROWS = st.lists(st.tuples(st.integers(1, 4), st.text(".^ \n", max_size=8)), max_size=3)


@given(PAGES, ROWS, st.randoms(use_true_random=False))
def test_answers_do_not_depend_on_what_was_asked_before(
    nodes: list[Any], rows: list[tuple[int, str]], random: Any
) -> None:
    count = Dom(write(Element("html", Element("body", *nodes)))).head.elements
    inserted = [[distance, 0, 0, text] for distance, text in rows]
    fitting = [
        inserted[:most] for most in range(len(inserted) + 1) if sum(row[0] for row in inserted[:most]) < count
    ]
    data = write(Element("html", Element("body", *nodes)), texts=fitting[-1])
    whole = Dom(data)
    expected = {row: answers(Node(whole, row)) for row in whole.snapshot.nodes}
    order = list(expected)
    random.shuffle(order)
    asked = Dom(data)
    assert {row: answers(Node(asked, row)) for row in order} == expected
    for row in order[:3]:
        assert answers(Node(Dom(data), row)) == expected[row]


def test_one_field_is_read_without_the_page(body: Any, el: Any) -> None:
    dom = body(*(el("div", el("p", f"text {n}"), id=f"n{n}") for n in range(50)))
    assert dom.select("#n7").text == "text 7"
    assert dom.inner_texts._latest[1].items == [1, 2, "text 7", 2, 1]


def test_every_level_of_a_deep_page_is_reached(body: Any, el: Any) -> None:
    part = el("p", "end", id="end")
    for _ in range(400):
        part = el("div", part, class_="deep")
    dom = body(part)
    assert all(node.rendered for node in dom.select_all(".deep"))
    assert dom.select("#end").text == "end"


def test_rows_of_a_section_not_asked_for_count(body: Any, el: Any) -> None:
    sections = [
        el("tbody", el("tr", el("td", word)), show="table-row-group", id=word) for word in ("one", "two")
    ]
    assert body(el("table", *sections)).select("#one").text == "one\n"
