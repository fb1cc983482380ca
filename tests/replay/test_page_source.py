from __future__ import annotations

from typing import Any

import pytest


def test_source_is_doctype_and_markup_without_live_state(page: Any, el: Any) -> None:
    dom = page(
        el(
            "html",
            el("head"),
            el("body", el("input", value="a", state={"value": "typed"}), el("br"), "!c", "?t d"),
        ),
        doctype=["html", "", ""],
    )
    assert (
        dom.source
        == '<!DOCTYPE html><html><head></head><body><input value="a"><br><!--c--><?t d></body></html>'
    )


@pytest.mark.parametrize(
    ("doctype", "written"),
    [
        (None, ""),
        (["html", "-//W3C//DTD HTML 4.01//EN", "http://w.test/strict.dtd"],
         '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://w.test/strict.dtd">'),
        (["html", "-//IETF//DTD HTML//EN", ""], '<!DOCTYPE html PUBLIC "-//IETF//DTD HTML//EN">'),
        (["html", "", "about:legacy-compat"], '<!DOCTYPE html SYSTEM "about:legacy-compat">'),
    ],
)  # fmt: skip
def test_doctypes(page: Any, el: Any, doctype: Any, written: str) -> None:
    assert page(el("html"), doctype=doctype).source == written + "<html></html>"


def test_what_is_escaped_where(body: Any, el: Any) -> None:
    dom = body(
        el("p", 'a&b\u00a0<c>"', title='a&b\u00a0<c>"'), el("script", "a && b < c"), el("style", "a > b"), el("noscript", "<b>"),
        el("%style", "a > b"), el("template", el("i", "<")),
    )  # fmt: skip
    assert [node.outer_html for node in dom.body.children] == [
        '<p title="a&amp;b&nbsp;&lt;c&gt;&quot;">a&amp;b&nbsp;&lt;c&gt;"</p>',
        "<script>a && b < c</script>",
        "<style>a > b</style>",
        "<noscript><b></noscript>",
        "<style>a &gt; b</style>",
        "<template><i>&lt;</i></template>",
    ]


def test_shadow_trees_and_inner_documents_are_no_source(body: Any, el: Any) -> None:
    dom = body(el("div", ("#open", el("b")), "light"), el("iframe", ({"url": "u"}, el("html")), src="x"))
    assert dom.body.inner_html == '<div>light</div><iframe src="x"></iframe>'
