from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from replaykit.errors import SnapshotInvalid, Unsupported
from replaykit.replay.dom import Dom
from tests.blocks import block


def text(dom: Any, css: str = "#a") -> str:
    return str(dom.select(css).inner_text)


def test_the_example_of_the_standard_algorithm(body: Any, el: Any) -> None:
    dom = body(
        el("div", "a", el("br"), "b", el("p", "c  d"), el("span", "gone", show="none"),
           el("span", "hidden", show="inline|hidden|collapse|none"),
           el("span", "up", show="inline|visible|collapse|uppercase"), id="a"),
    )  # fmt: skip
    assert text(dom) == "a\nb\n\nc d\n\nUP"


def test_blocks_ask_for_one_line_and_paragraphs_for_an_empty_one(body: Any, el: Any) -> None:
    dom = body(el("div", "l1"), el("div", "l2"), el("p", "p1"), el("p", "p2"))
    assert dom.text == "l1\nl2\n\np1\n\np2"


@pytest.mark.parametrize(
    "display", ["flex", "grid", "flow-root", "list-item", "table", "table-caption", "block math"]
)
def test_block_level_displays_stand_on_their_own_lines(body: Any, el: Any, display: str) -> None:
    assert text(body(el("div", "a", el("span", "b", show=display), "c", id="a"))) == "a\nb\nc"


def test_cells_are_joined_by_tabs_and_rows_by_lines(body: Any, el: Any) -> None:
    rows = [el("tr", el("td", one), " ", el("td", two), "\n") for one, two in (("1", "2"), ("3", "4"))]
    caption = el("caption", "cap", show="table-caption")
    section = el("tbody", *rows, show="table-row-group")
    dom = body(el("table", caption, section, el("tbody", show="table-row-group"), id="a"))
    assert text(dom) == "cap\n1\t2\n3\t4"
    assert text(dom, "tbody") == "1\t2\n3\t4"


def test_a_row_asks_whether_a_later_section_has_one(body: Any, el: Any) -> None:
    first = el("tbody", el("tr", el("td", "a")), show="table-row-group", id="first")
    dom = body(el("table", first, el("tbody", el("tr", el("td", "b")), show="table-row-group"), id="a"))
    assert (text(dom), text(dom, "#first")) == ("a\nb", "a\n")


@pytest.mark.parametrize(
    ("collapse", "given", "expected"),
    [
        ("collapse", " a  b\n\tc ", "a b c"),
        ("preserve", " a  b\n c\n", " a  b\n c\n"),
        ("break-spaces", " a ", " a "),
        ("preserve-breaks", "a  b\n c\n", "a b\nc\n"),
        ("collapse", "a\u00a0 b", "a\u00a0 b"),
        ("collapse", "a\u200b\nb", "a\u200b b"),
    ],
)
def test_white_space_by_its_mode(body: Any, el: Any, collapse: str, given: str, expected: str) -> None:
    assert text(body(el("div", given, show=f"block|visible|{collapse}|none", id="a"))) == expected


def test_spaces_collapse_across_inline_elements_and_are_sliced(body: Any, el: Any) -> None:
    dom = body(el("div", el("b", "a ", id="a"), " ", el("i", " b", id="b"), " ", el("u", " c ", id="c"), " "))
    assert [text(dom, css) for css in ("#a", "#b", "#c", "div")] == ["a ", "b", "c", "a b c"]


def test_atoms_hold_spaces_around_them_and_start_lines_of_their_own(body: Any, el: Any) -> None:
    inner = el("span", " b  c ", show="inline-block", id="b")
    dom = body(el("div", "a ", inner, " d ", el("img"), " e", id="a"))
    assert (text(dom), text(dom, "#b")) == ("a b c d  e", "b c")


def test_what_is_not_rendered_reads_as_its_text_content(body: Any, el: Any) -> None:
    dom = body(el("div", " x ", el("br"), el("p", "y", id="p"), show="none", id="a"))
    assert (text(dom), text(dom, "#p"), dom.text) == (" x y", "y", "")


def test_closed_details_show_their_first_summary(body: Any, el: Any) -> None:
    inside = (
        el("summary", "S", show="list-item"),
        "loose",
        el("div", "in", id="in"),
        el("summary", "T", show="list-item"),
    )
    shut, wide = (
        el("details", *inside, show="block", id="a"),
        el("details", *inside, show="block", open="", id="b"),
    )
    dom = body(shut, wide)
    assert (text(dom), text(dom, "#in")) == ("S", "")
    assert text(dom, "#b") == "S\nloose\nin\nT"


def test_skipped_content_reads_empty(body: Any, el: Any) -> None:
    skipped = el("div", "x", el("b", "y", id="b"), show="block|visible|collapse|none|c", id="a")
    dom = body(skipped, el("span", "inline", show="inline|visible|collapse|none|c", id="i"))
    assert (text(dom), text(dom, "#b"), text(dom, "#i"), dom.text) == ("", "", "inline", "inline")


def test_a_select_gives_a_line_per_option(body: Any, el: Any) -> None:
    group = el("optgroup", el("option", " two  words ", show="block", id="o"), label="G", show="block")
    dom = body(el("div", "x", el("select", el("option", "one", show="block"), group, id="a"), "y", id="d"))
    assert (text(dom), text(dom, "#d")) == ("one\ntwo words", "x\none\ntwo words\ny")
    assert text(dom, "#o") == " two  words "
    listbox = body(el("select", el("option", " two  words ", show="block", id="o"), size="2"))
    assert text(listbox, "#o") == "two words"


@pytest.mark.parametrize("tag", ["textarea", "canvas", "video", "iframe", "meter", "progress", "object"])
def test_controls_and_media_show_no_content(body: Any, el: Any, tag: str) -> None:
    dom = body(el("div", "x", el(tag, "fallback", data="d"), "y", id="a"))
    assert text(dom) == "xy"


def test_noscript_and_templates_never_show(body: Any, el: Any) -> None:
    dom = body(el("div", el("noscript", "n"), el("template", el("b", "t"), show="none"), "v", id="a"))
    assert (text(dom), text(dom, "noscript"), text(dom, "template")) == ("v", "n", "")


def test_light_children_have_lines_of_their_own_and_shadow_text_never_counts(body: Any, el: Any) -> None:
    shadow = ("#open", el("b", "shadow "), el("slot", show="contents"))
    dom = body(el("p", "a ", el("x-a", shadow, " light ", el("i", " in "), id="a"), " b", id="p"))
    assert (text(dom), text(dom, "i"), text(dom, "#p")) == ("light in", "in", "a light in b")
    assert "shadow" not in dom.text


def test_hidden_text_counts_for_nothing_but_its_visible_descendants_do(body: Any, el: Any) -> None:
    hidden = "block|hidden|collapse|none"
    dom = body(el("div", "x", el("b", "y"), el("p", "z", show=hidden), show=hidden, id="a"))
    assert text(dom) == "y"


def test_svg_shows_text_elements_only(body: Any, el: Any) -> None:
    svg = el("%svg", el("%title", "Icon"), el("%text", "t", el("%tspan", "s"), show="block"), el("%g", "g"))
    dom = body(el("div", svg, " Save", id="a"))
    assert text(dom) == "ts\n Save"
    assert dom.select("svg").inner_text is None
    assert dom.select("title").text == "Icon"


def test_lines_break_at_br_and_not_at_wbr(body: Any, el: Any) -> None:
    assert text(body(el("div", " a ", el("br"), " b", el("wbr"), "c ", el("br"), id="a"))) == "a\nbc\n"


def test_what_is_out_of_flow_leaves_the_line_around_it(body: Any, el: Any) -> None:
    floats = el("span", "x", show="block|visible|collapse|none|f")
    assert text(body(el("div", "a ", floats, " b", id="a"))) == "a \nx\nb"


def test_rows_say_where_the_browser_shows_something_else(body: Any, el: Any) -> None:
    part = el("p", el("b", "one ", id="b"), el("i", "two", id="i"), id="a")
    # 0 html, 1 head, 2 body, 3 p, 4 b, 5 i
    dom = body(part, "tail", texts=[[2, 7, 0, "!"], [1, 7, 0, "."], [1, 0, 1, "O"]])
    assert text(dom, "#b") == "One "
    assert text(dom, "#i") == "two"
    assert text(dom) == "One two."
    assert dom.text == "One two!.\n\ntail"
    assert text(body(part, texts=[[4, 3, 1, ""], [1, 3, 0, " "]])) == "onetwo "


def test_the_example_of_the_document_on_snapshots(body: Any, el: Any) -> None:
    shown = json.loads(block("docs/snapshot-format.md", "[[5").text)
    part = el("p", el("b"), el("i", "two words", id="i"))
    assert text(body(part, texts=shown), "#i") == "Two Words"


def test_a_row_of_an_element_without_text_counts_for_it_alone(body: Any, el: Any) -> None:
    icon = el("i", id="i")
    dom = body(
        el("p", icon, "x", id="a"), el("p", "y", id="n", show="none"), texts=[[4, 0, 0, "*"], [1, 1, 0, "z"]]
    )
    assert (text(dom, "#i"), text(dom), text(dom, "#n"), dom.text) == ("*", "x", "yz", "x")


@pytest.mark.parametrize(
    ("rows", "refused"),
    [
        ([[4]], {"body", "#a", "#b"}),
        ([[3, None]], {"body", "#a", "#b", "#c"}),
        ([[2, None]], {"body", "#a", "#b", "#c", "#d"}),
    ],
)
def test_an_unknown_text_is_refused_with_those_around_it(
    body: Any, el: Any, rows: Any, refused: set[str]
) -> None:
    part = el("p", el("b", "x", id="b"), el("i", "y", id="c"), id="a")
    dom = body(part, el("p", "z", id="d"), texts=rows)
    for css in ("body", "#a", "#b", "#c", "#d"):
        if css in refused:
            with pytest.raises(Unsupported, match="could not compare"):
                text(dom, css)
        else:
            assert text(dom, css) in "xyz"


def test_an_unknown_text_of_a_shadow_tree_leaves_the_host_alone(body: Any, el: Any) -> None:
    dom = body(el("div", ("#open", el("b", "x")), "light", id="a"), texts=[[4]])
    assert text(dom) == "light"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([3, 2, 0, "x"], "beyond the end"),
        ([3, 0, 2, "x"], "beyond the end"),
        ([3, 0, 1, "a", 1, 0, "b"], "beyond the end"),
    ],
)
def test_rows_that_edit_beyond_the_text_are_refused(body: Any, el: Any, row: Any, message: str) -> None:
    with pytest.raises(SnapshotInvalid, match=message):
        text(body(el("p", "x", id="a"), texts=[row]))


def test_rows_count_in_utf_16_and_cut_no_letter(body: Any, el: Any) -> None:
    part = el("p", "\U0001f600 x", id="a")
    assert text(body(part, texts=[[3, 2, 1, "\t"]])) == "\U0001f600\tx"
    assert text(body(part, texts=[[3, 3, 1, "\U0001f601"]])) == "\U0001f600 \U0001f601"
    for row in ([3, 1, 1, ""], [3, 1, 0, " "]):
        with pytest.raises(SnapshotInvalid, match="cuts a letter"):
            text(body(part, texts=[row]))


def test_rows_cost_no_more_than_a_recorder_spends() -> None:
    depth = 30_000
    head = {"snapshot": 1, "url": "u", "elements": depth, "styles": ["block|visible|collapse|none"],
            "flags": ["composed"], "texts": [[0, 0, 1, "x"]] + [[1, 0, 1, "x"]] * (depth - 1)}  # fmt: skip
    lines = (head, [*["<div"] * depth, "=deep", depth], [0] * depth, [])
    dom = Dom(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    with pytest.raises(SnapshotInvalid, match="more effort"):
        _ = dom.text
    assert dom.node(depth - 100).inner_text == "xeep"


def test_uncompared_texts_are_no_answer(body: Any, el: Any) -> None:
    page = body(el("p", "x", id="a"))
    head, rest = page.data.split(b"\n", 1)
    bare = Dom(head.replace(b'"composed"', b"") + b"\n" + rest)
    for read in (lambda: text(bare), lambda: bare.select("#a").visible):
        with pytest.raises(Unsupported, match="record the run again"):
            read()
    assert bare.select("#a").text_content == "x"


def test_masked_text_is_refused_not_guessed(body: Any, el: Any) -> None:
    dots = el("span", "abc", show="inline|visible|collapse|none|s", id="s")
    dom = body(
        el("div", el("b", "x", id="b"), dots, id="a"), el("p", "⟦masked⟧", id="m", state={"masked": True})
    )
    for css in ("#a", "#s", "#m", "body"):
        with pytest.raises(Unsupported, match="text is masked"):
            text(dom, css)
    assert text(dom, "#b") == "x"


def test_text_of_a_secret_says_which(body: Any, el: Any) -> None:
    assert text(body(el("p", "⟦secret:PIN⟧", id="a"))) == "⟦secret:PIN⟧"


def test_cut_text_is_refused(body: Any, el: Any) -> None:
    dom = body(
        el("p", "long⟦cut:5⟧", id="a"), el("p", "whole", id="b"), el("p", "~", 3, id="c"), flags=("cut",)
    )
    for css in ("#a", "#c", "body"):
        with pytest.raises(Unsupported, match="text is cut"):
            text(dom, css)
    assert text(dom, "#b") == "whole"
    assert text(body(el("p", "says ⟦cut:5⟧", id="a"))) == "says ⟦cut:5⟧"


def test_pages_without_styles_have_no_rendered_text(body: Any, el: Any) -> None:
    dom = body(el("p", "x", id="a"), styled=False, flags=("no_style",))
    with pytest.raises(Unsupported, match="no_style"):
        text(dom)
    assert dom.select("#a").text_content == "x"


def test_depth_costs_no_recursion() -> None:
    depth = 20_000
    head = {"snapshot": 1, "url": "u", "elements": depth, "styles": ["inline|visible|collapse|none"],
            "flags": ["composed"]}  # fmt: skip
    lines = (head, [*["<span"] * depth, "= deep ", depth], [0] * depth, [])
    dom = Dom(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    assert dom.text == "deep"
    assert len(dom.source) == depth * len("<span></span>") + len(" deep ")
    assert len(dom.select_all("span span")) == depth - 1
    assert dom.node(depth - 1).text_content == " deep "
