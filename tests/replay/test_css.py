from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import LocatorLimit, SelectorInvalid, Unsupported
from replaykit.replay.selectors import css, selector_matching
from replaykit.replay.selectors.selector_cache import compile_selector

INVALID = ["", " ", "p >", "p,", ",p", "..k", "[name=a[b]]", ":nth-child(", "a)", ":contains(x)", 'p:has-text("x")', ":unknown",
     "::unknown", ":not()", ":has()", ":has(:has(a))", "[a=1]", "[a=b s]", "ns|p", "|", "a|", "[a|", "p..a", "#1a", "a{}", ":hover:nope"]  # fmt: skip
"""Selectors that no browser accepts."""


@pytest.fixture
def dom(body: Any, el: Any) -> Any:
    return body(
        el(
            "div",
            el("p", "1", class_="a", id="one"),
            el("p", "2", class_="a b", title="T"),
            id="main",
            class_="Box",
        ),
        el(
            "form",
            el("input", name="p[q]", id="pq"),
            el("input", type="CHECKBOX", checked="", id="box"),
            id="f",
        ),
        el("ul", el("li", id="l1"), el("li", "x", id="l2"), el("li", "!c", id="l3")),
        el("%svg", el("%linearGradient", id="lg"), viewBox="0"),
    )


def ids(dom: Any, selector: str) -> list[str]:
    return [node.attribute("id") or node.tag for node in dom.select_all(selector)]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ('[name="p[q]"', ["pq"]),
        ('[name="p[q]', ["pq"]),
        (":not(div, html, head, body, .a, form, input, ul, li, svg, [viewBox], #lg", []),
        ("p[title=T", ["p"]),
        ("li:nth-child(2", ["l2"]),
        ("[type=checkbox]", ["box"]),
        ("[viewbox] lineargradient", ["lg"]),
        ("p.a.b, #one", ["one", "p"]),
        ("li:empty", ["l1", "l3"]),
        ("div:has(> .b)", ["main"]),
        (":is(ul, ..x) > :last-child", ["l3"]),
        ("p ~ p, p + form", ["p"]),
        ("LI:NTH-CHILD(odd)", ["l1", "l3"]),
        ("li:nth-last-child(1 of :empty)", ["l3"]),
        ("p::before", []),
        (".box", []),
    ],
)
def test_selectors_match_as_in_browsers(dom: Any, selector: str, expected: list[str]) -> None:
    assert ids(dom, selector) == expected


@pytest.mark.parametrize("selector", INVALID)
def test_what_no_browser_accepts_is_invalid(selector: str) -> None:
    with pytest.raises(SelectorInvalid) as caught:
        compile_selector(selector)
    assert caught.value.fields["selector"] == selector


@pytest.mark.parametrize(
    "selector", ["a:hover", ":focus", ":not(:valid)", "p:lang(en)", ":dir(ltr)", ":target"]
)
def test_what_no_snapshot_records_is_unsupported(selector: str) -> None:
    with pytest.raises(Unsupported, match="does not record"):
        compile_selector(selector)


def test_quirks_mode_ignores_the_case_of_ids_and_classes(page: Any, el: Any) -> None:
    nodes = el("html", el("body", el("p", id="Main", class_="Box Wide")))
    quirks, standard = page(nodes, compat="BackCompat"), page(nodes, compat="CSS1Compat")
    for selector in ("#main", ".box", "P.WIDE#MAIN"):
        assert len(quirks.select_all(selector)) == 1
        assert standard.select_all(selector) == []


def test_xml_documents_keep_the_case_of_names(page: Any, el: Any) -> None:
    dom = page(el("html", el("Body", Name="x")), content_type="application/xhtml+xml")
    assert (len(dom.select_all("Body")), len(dom.select_all("body"))) == (1, 0)
    assert (len(dom.select_all("[Name]")), len(dom.select_all("[name]"))) == (1, 0)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [("[href]", ["a"]), ("[*|href]", ["a", "use"]), ("[HREF]", ["a"]), ("[lang], use", ["p", "use"])],
)
def test_attributes_are_found_by_every_name_they_may_have(
    body: Any, el: Any, selector: str, expected: list[str]
) -> None:
    use = el("%use", **{"xlink:href": "#y"})
    dom = body(el("a", href="/x"), el("p", lang="en"), el("%svg", use))
    assert [node.tag for node in dom.select_all(selector)] == expected


def test_queries_stay_in_their_tree(body: Any, el: Any) -> None:
    frame = el(
        "iframe", ({"url": "http://in.test/", "base": "http://in.test/"}, el("html", el("p", id="inner")))
    )
    dom = body(
        el("div", ("#open", el("p", id="shadow")), el("p", id="light")),
        frame,
        el("template", el("p", id="t")),
    )
    assert ids(dom, "p") == ["light"]
    assert [node.attribute("id") for node in dom.select("div").shadow.select_all("p")] == ["shadow"]
    assert [node.attribute("id") for node in dom.select("iframe").content.select_all("html p")] == ["inner"]


def test_scope_is_the_element_that_asks(body: Any, el: Any) -> None:
    dom = body(el("div", el("div", el("p", id="deep"), id="inner"), id="outer"))
    outer = dom.select("#outer")
    assert [node.attribute("id") for node in outer.select_all(":scope > div")] == ["inner"]
    assert [node.attribute("id") for node in outer.select_all("body p")] == ["deep"]
    assert outer.matches(":scope")
    assert dom.select("#deep").closest(":scope > p") is None
    assert ids(dom, ":scope > body") == ["body"]


def test_work_is_bounded(body: Any, el: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selector_matching, "VISITS_MIN", 1000)
    monkeypatch.setattr(selector_matching, "VISITS_PER_ELEMENT", 0)
    node = el("p")
    for _ in range(40):
        node = el("div", node)
    dom = body(node)
    with pytest.raises(LocatorLimit, match="visited nodes"):
        dom.select_all("div " * 12 + "b, " + "div " * 12 + ":not(p)")
    with pytest.raises(LocatorLimit):
        compile_selector("a" * (css.SOURCE_MAX + 1))
    with pytest.raises(LocatorLimit):
        compile_selector(":not(" * (css.DEPTH_MAX + 1) + "a")


@given(st.text(st.sampled_from(list("ap.#*[]=\"'()>+~,: \\i1-|&/{};@!nthas")), max_size=24))
def test_any_text_compiles_or_is_refused(text: str) -> None:
    try:
        compile_selector(text)
    except (SelectorInvalid, Unsupported) as error:
        assert str(error)


@given(st.text(max_size=20))
def test_an_unclosed_selector_means_what_its_closed_form_means(value: str) -> None:
    quoted = "".join(f"\\{ord(letter):x} " for letter in value if letter != "\0")
    closed, unclosed = compile_selector(f'[name="{quoted}"]'), compile_selector(f'[name="{quoted}')
    assert len(closed.complexes) == len(unclosed.complexes) == 1
