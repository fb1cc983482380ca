from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.replay.dom import Dom, Node
from replaykit.replay.selectors.prefilter import Prefilter
from replaykit.replay.selectors.selector_cache import compile_selector
from replaykit.testing.pages import snapshot

NAMES = ("order", "Order", "row-1", "ROW-1", "a b", "x:y", "größe", "ord")
VALUES = st.sampled_from(("order", "Order-7", "new order", 'a"order', "to\norder", "K", "~", "größe"))
PARTS = st.sampled_from(
    ("div", "main", "#order", ".row-1", "#Order", "[data-order]", "[data-order=order]", "[title*=der-7]",
     "[title~=order i]", '[title="a\\"order"]', ":not(.order)", ":has(.order)", ":is(#order, .ord)",
     ":first-child", "*", "[title$=größe]", ".x\\:y", ":root")
)  # fmt: skip
SELECTORS = st.lists(st.lists(PARTS, min_size=1, max_size=3).map("".join), min_size=1, max_size=3).flatmap(
    lambda parts: st.sampled_from((" ", " > ", ", ", " ~ ")).map(lambda glue: glue.join(parts))
)
ELEMENTS = st.fixed_dictionaries(
    {}, optional={"id": VALUES, "class": VALUES, "title": VALUES, "data-order": VALUES}
)


def html(tree: Any) -> str:
    return "".join(
        f"<{tag}{''.join(f' {name}={quoted(value)}' for name, value in named.items())}>{html(below)}</{tag}>"
        for tag, named, below in tree
    )


def quoted(value: str) -> str:
    return '"' + value.replace('"', "&quot;") + '"'


TREES = st.recursive(
    st.just([]),
    lambda below: st.lists(st.tuples(st.sampled_from(("div", "main", "p")), ELEMENTS, below), max_size=3),
    max_leaves=8,
)


@given(TREES, SELECTORS)
def test_what_is_excluded_has_no_match(tree: Any, css: str) -> None:
    data = snapshot(html(tree))
    try:
        selector = compile_selector(css)
    except Exception:  # noqa: BLE001  # parts do not always join to a selector
        return
    if Prefilter(data).excludes(selector):
        assert not Dom(data)._select_all(css, 0)


@given(TREES, st.lists(st.sampled_from((b"order", b"row-1", b"main", b"nowhere")), max_size=3))
def test_a_page_lacks_words_of_which_one_is_not_held(tree: Any, words: list[bytes]) -> None:
    page = Prefilter(snapshot(html(tree)))
    assert page.lacks(words) is (page.held(words) != words)


@given(TREES, SELECTORS)
def test_indexes_find_what_every_element_says_of_itself(tree: Any, css: str) -> None:
    dom = Dom(snapshot(html(tree)))
    try:
        selector = compile_selector(css)
    except Exception:  # noqa: BLE001  # parts do not always join to a selector
        return
    everything = dom.select_all("*")
    found = [node for node in everything if selector.nearest(dom.tree, (node.row,), 0) >= 0]
    assert dom.select_all(css) == found
    assert dom.select(css) == (found[0] if found else None)
    for node in everything:
        above = (node.row, *dom.tree.ancestors(node.row))
        row = selector.nearest(dom.tree, above, node.row)
        assert node.closest(css) == (Node(dom, row) if row >= 0 else None)


@pytest.mark.parametrize(
    ("css", "excluded"),
    [
        ("#gone", True), ("#order", False), (".gone, #order", False), (".gone, #lost", True), ("#order .gone", True),
        ("[title=gone]", True), ("video", True), ("*", False), ("#go", False), (":not(.gone)", False),
        ("#GONE", True), ("#ORDER", False), ("#order::before", True),
    ],
)  # fmt: skip
def test_words_of_the_selector_decide(css: str, excluded: bool) -> None:
    data = snapshot('<main id="order">text</main>')
    assert Prefilter(data).excludes(compile_selector(css)) is excluded
    assert excluded is False or Dom(data).select(css) is None


def test_an_excluded_selector_costs_no_parsing() -> None:
    dom = Dom(snapshot('<main id="order">text</main>'))
    assert (dom.select("#gone"), dom.select_all(".gone")) == (None, [])
    assert "snapshot" not in vars(dom)
    assert dom.select("#order") is not None
    assert "snapshot" in vars(dom)


@pytest.mark.parametrize("hidden", [b"\\u0067one", b'"~"'])
def test_bytes_that_may_hide_a_match_exclude_nothing(hidden: bytes) -> None:
    data = snapshot("<p>text</p>").replace(b"=text", b"=" + hidden)
    assert not Prefilter(data).excludes(compile_selector("#gone"))


def test_only_tokens_hold_what_a_selector_matches() -> None:
    data = b'{"snapshot":1,"title":"gone \\u00e9"}\n["<p",["id","here"],1]\n[71]\n[0,0,71,9]\n'
    assert Prefilter(data).excludes(compile_selector("#gone"))
    assert Prefilter(data).excludes(compile_selector('[title="71"]'))
    assert not Prefilter(data).excludes(compile_selector("#here"))


def test_an_escaped_name_is_found() -> None:
    data = snapshot('<p id="gone">text</p>').replace(b'"gone"', b'"\\u0067one"')
    assert Dom(data).select("#gone") is not None


@pytest.mark.parametrize(
    ("data", "may"),
    [
        (b'{}\n["<input",["value","a"],{"value":"b"},1]', True),
        (b'{}\n["<input",{"value" : "b"},1]', True),
        (b'{}\n["<input",{"v\\u0061lue":"b"},1]', True),
        (b'{}\n["<input",["value","a"],1,"=\\"value\\":"]', False),
    ],
)
def test_a_live_value_stands_in_the_bytes(data: bytes, may: bool) -> None:
    assert Prefilter(data).may_hold_values is may
