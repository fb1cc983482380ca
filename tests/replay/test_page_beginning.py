"""Pages read as far as one element: the same element, the same text, or the whole page."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import LocatorLimit, ReplayError, SelectorInvalid, SnapshotInvalid, Unsupported
from replaykit.replay.dom import Dom
from replaykit.replay.selectors import selector_matching
from replaykit.replay.selectors.locator_evaluation import evaluate, read_selector
from replaykit.testing.pages import snapshot

REST = "<p>rest <b>of</b> it</p>" * 9

TAGS = [
    "div",
    "p",
    "b",
    "span",
    "q",
    "table",
    "tr",
    "td",
    "button",
    "details",
    "summary",
    "object",
    "ul",
    "li",
    "pre",
    "form",
]
SELECTORS = [
    *TAGS, ".a", "#b", "[class=a]", "[class~='a']", "div.a", "div p", "div > p.a", "p + p", "td ~ td", "P", "p, td", "li:nth-child(2)",
    "li:last-child", "p:empty", "div:has(p)", "details > p", ":not(.a)", "p:nth-last-of-type(1)", "b:first-child", "[hidden]", "*",
]  # fmt: skip
NAMES = st.sampled_from(
    ["", " class=a", " class='b a'", " id=b", " hidden", ' style="display:none"', ' class="A"']
)
TEXT = st.sampled_from(["x", " y ", "\n", "a  b", "", "Z ", "~", "&lt;p"])


@st.composite
def markup(draw: st.DrawFn, depth: int = 3) -> str:
    parts = [draw(TEXT)]
    for _ in range(draw(st.integers(0, 3 if depth else 0))):
        tag = draw(st.sampled_from(TAGS))
        parts += [f"<{tag}{draw(NAMES)}>{draw(markup(depth - 1))}</{tag}>", draw(TEXT)]
    return "".join(parts)


def text_of(dom: Dom, css: str) -> Any:
    try:
        node = dom.select(css)
        return None if node is None else (node.number, node.text)
    except ReplayError as error:
        return type(error)


@given(before=markup(), after=markup(), css=st.sampled_from(SELECTORS))
def test_a_glimpse_is_what_the_whole_page_says(before: str, after: str, css: str) -> None:
    data = snapshot(before + after + REST)
    found = Dom(data).glimpse(css)
    assert found is None or (found.number, found.text) == text_of(Dom(data), css)


@given(before=markup(), css=st.sampled_from(SELECTORS))
def test_scripts_and_selectors_read_the_same_text_as_from_the_whole_page(before: str, css: str) -> None:
    data, script = snapshot(before + REST), f"document.querySelector({css!r})?.outerText"
    whole = Dom(data)
    assert whole.snapshot
    assert read_selector("x", css, "text", Dom(data)) == read_selector("x", css, "text", whole)
    assert evaluate(script, Dom(data)) == evaluate(script, whole)


@pytest.mark.parametrize(
    "css", ["h1", "#top", ".big", "h1.big", "div > h1", "[title='a b']", "[title]", "body h1", "H1"]
)
def test_an_early_element_is_read_without_the_rest(css: str) -> None:
    dom = Dom(snapshot(f"<div><h1 id=top class='so big' title='a b'>Order <i>7</i></h1>{REST}</div>"))
    assert read_selector("x", css, "text", dom).value == "Order 7"
    assert "snapshot" not in vars(dom)
    assert evaluate(f"document.querySelector({css!r}).innerText.trim()", dom).value == "Order 7"
    assert "snapshot" not in vars(dom)
    assert dom.select(css) == dom.node(4)


@pytest.mark.parametrize(
    ("body", "css"),
    [
        (f"<p>a</p><h1>x</h1>{REST}", "h1:last-of-type"),
        (f"<h1>x</h1>{REST}", "h1:has(~ p)"),
        (f"<h1>x</h1>{REST}", "h1, h2"),
        (f"{REST}<h1>x</h1>", "h1"),
        (f"a <i>x </i>{REST}", "i"),
        (f"<p title=h1>a</p><h1 id=never>x</h1>{REST}", "h2"),
    ],
)
def test_what_more_of_the_page_might_change_is_read_from_all_of_it(body: str, css: str) -> None:
    dom = Dom(snapshot(body))
    assert dom.glimpse(css) is None


def test_a_second_selector_and_a_page_that_was_read_get_the_whole_page() -> None:
    data = snapshot(f"<h1>x</h1><h2>y</h2>{REST}")
    dom = Dom(data)
    first = dom.glimpse("h1")
    assert first is not None and dom.glimpse("h1") is first
    assert dom.glimpse("h2") is None
    read = Dom(data)
    assert read.text
    assert read.glimpse("h1") is None


def test_faults_are_reported_as_far_as_the_page_is_read() -> None:
    head, tokens, *rest = snapshot(f"<h1>x</h1>{REST}").splitlines()
    torn = b"\n".join([head, tokens.replace(b'"=of"', b'"?"'), *rest, b""])
    late = b"\n".join([head, tokens[:-1] + b',"~"]', *rest, b""])
    early = b"\n".join([head, tokens.replace(b'"<h1"', b'"~","<h1"'), *rest, b""])
    assert read_selector("x", "h1", "text", Dom(torn)).value == "x"
    assert read_selector("x", "h1", "text", Dom(late)).value == "x"
    for data in (late, early):
        with pytest.raises(SnapshotInvalid):
            assert Dom(data).text
    with pytest.raises(SnapshotInvalid):
        read_selector("x", "h1", "text", Dom(early))
    with pytest.raises(SelectorInvalid):
        Dom(late).glimpse("h1[")


def test_an_early_element_is_read_without_decoding_the_rest() -> None:
    head, tokens, style, _ = snapshot(f"<h1 id=top>x</h1>{REST * 40}").splitlines()
    data = b"\n".join([head, tokens[:-1] + b",nothing", style, b"no boxes", b""])
    for css in ("h1", "#top", "[id=top]"):
        assert read_selector("x", css, "text", Dom(data)).value == "x"
    with pytest.raises(SnapshotInvalid):
        assert Dom(data).text


def test_a_page_without_styles_says_so() -> None:
    head, tokens, _, box = snapshot(f"<h1>x</h1>{REST}").splitlines()
    dom = Dom(b"\n".join([head, tokens, b"[]", box, b""]))
    with pytest.raises(Unsupported, match="no_style"):
        read_selector("x", "h1", "text", dom)


def test_the_limit_of_work_is_that_of_the_whole_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selector_matching, "VISITS_MIN", 0)
    monkeypatch.setattr(selector_matching, "VISITS_PER_ELEMENT", 1)
    deep = "<div>" * 9 + "<h1>no</h1>" + "</div>" * 9
    few, many = (deep + "<main><div><h1>x</h1></div></main>" + REST * times for times in (1, 9))
    css = "main div h1"
    with pytest.raises(LocatorLimit):
        read_selector("x", css, "text", Dom(snapshot(few)))
    assert Dom(snapshot(many)).glimpse(css) is None
    assert read_selector("x", css, "text", Dom(snapshot(many))).value == "x"
