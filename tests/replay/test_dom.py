from __future__ import annotations

from typing import Any

import pytest

from replaykit.errors import SnapshotInvalid, Unsupported
from replaykit.replay.dom import Dom


def test_a_page_says_what_it_is(body: Any, el: Any) -> None:
    dom = body(el("p", "x"), title="Cart", url="http://x.test/a/b", base="http://x.test/base/")
    assert (dom.url, dom.base, dom.title, dom.text) == (
        "http://x.test/a/b",
        "http://x.test/base/",
        "Cart",
        "x",
    )
    assert (dom.root.tag, dom.body.tag, dom.body.tag_name) == ("html", "body", "BODY")
    with pytest.raises(SnapshotInvalid):
        Dom(b"<html></html>")


def test_a_page_without_elements_has_no_root(page: Any) -> None:
    dom = page("!nothing")
    assert (dom.root, dom.body, dom.text, dom.source, dom.select("*")) == (None, None, "", "", None)


def test_nodes_navigate(body: Any, el: Any) -> None:
    dom = body(el("ul", "t", el("li", id="a"), "!c", el("li", id="b")))
    first, second = dom.select_all("li")
    assert (first.next_element, second.previous_element) == (second, first)
    assert (first.previous_element, second.next_element) == (None, None)
    assert first.parent.children == [first, second]
    assert [node.is_element for node in first.parent.child_nodes] == [False, True, False, True]
    assert first.closest("ul").closest("body") == dom.body
    assert dom.node(first.number) == first
    assert dom.node(99) is None
    assert len({first, dom.select("#a")}) == 1


def test_attributes_are_found_as_by_get_attribute(body: Any, el: Any) -> None:
    dom = body(el("p", id="x", data_a="1"), el("%svg", viewBox="0"))
    assert dom.select("p").attribute("DATA-A") == "1"
    assert dom.select("p").attributes == {"id": "x", "data-a": "1"}
    assert (dom.select("svg").attribute("viewBox"), dom.select("svg").attribute("viewbox")) == ("0", None)


@pytest.mark.parametrize(
    ("href", "resolved"),
    [
        ("c", "http://x.test/base/c"),
        ("/r?q#f", "http://x.test/r?q#f"),
        (" //y.test ", "http://y.test/"),
        ("http://[bad", "http://[bad"),
        ("a|b?c|d#e|f", "http://x.test/base/a%7Cb?c|d#e|f"),
        ("javascript:a|b", "javascript:a|b"),
        ("data:,a\nb", "data:,a%0Ab"),
    ],
)
def test_links_resolve_against_the_base(body: Any, el: Any, href: str, resolved: str) -> None:
    dom = body(el("a", href=href), base="http://x.test/base/")
    assert dom.select("a").resolved("href") == resolved
    assert dom.select("a").resolved("src") == ""


def test_visible_means_a_person_could_see_it(body: Any, el: Any) -> None:
    dom = body(
        el("p", id="seen"), el("p", el("b", id="below"), id="gone", show="none"),
        el("p", id="hidden", show="block|hidden|collapse|none"), el("details", el("p", id="shut")),
        unseen=[8, 1],
    )  # fmt: skip
    assert [node.attribute("id") for node in dom.select_all("[id]") if node.visible] == ["seen"]
    assert [node.attribute("id") for node in dom.select_all("[id]") if node.rendered] == ["seen", "hidden"]


def test_visible_asks_for_a_size_where_boxes_were_taken(body: Any, el: Any) -> None:
    dom = body(el("p", id="flat"), el("p", id="seen"), box=[0] * 12 + [1, 2, 30, 0] + [1, 2, 30, 4])
    assert [node.visible for node in dom.select_all("p")] == [False, True]
    assert dom.select("#seen").box == (1, 2, 30, 4)
    assert body(el("p")).select("p").box is None


def test_elements_left_out_make_absence_unknown(body: Any, el: Any) -> None:
    dom = body(el("p", id="a"), "~", 5, flags=("cut",))
    assert dom.select("#a") is not None
    assert dom.select("#a").matches("p")
    for ask in (
        lambda: dom.select("#b"), lambda: dom.select_all("#a"), lambda: dom.select("p:last-child"),
        lambda: dom.select("#a").matches(":only-child"), lambda: dom.select("body:has(p)"),
    ):  # fmt: skip
        with pytest.raises(Unsupported, match="leaves elements out"):
            ask()


def test_inner_documents_have_their_own_text_and_base(body: Any, el: Any) -> None:
    inner = {"url": "http://in.test/", "base": "http://in.test/b/", "compat": "CSS1Compat"}
    dom = body(el("iframe", (inner, el("html", el("p", " in ", el("a", href="c")))), show="inline"))
    document = dom.select("iframe").content
    assert document.select("p").text == "in"
    assert document.select("a").resolved("href") == "http://in.test/b/c"
    assert dom.text == ""
