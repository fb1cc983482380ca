"""Pages with shadow trees: read as a person sees them, and as a document alone has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.replay.dom import Dom
from replaykit.testing.pages import snapshot

PICKER = """
<section id=around><date-picker id=host><template shadowrootmode=open><style>p { color: red }</style>
<p class=out>14 December</p><my-field><template shadowrootmode=closed>Inner <button id=next>Next</button></template></my-field>
</template><b slot=label>Arrival</b></date-picker></section><p id=last>Outside</p>
"""


def numbers(dom: Dom, css: str) -> list[int]:
    return [node.number for node in dom.pierce_all(css)]


@pytest.fixture
def dom() -> Dom:
    return Dom(snapshot(PICKER))


@pytest.mark.parametrize(
    "css",
    [
        "#next",
        "date-picker button",
        "section > date-picker > my-field > button",
        "#around #next",
        "my-field > #next",
    ],
)
def test_selectors_cross_shadow_roots_as_those_of_playwright_do(dom: Dom, css: str) -> None:
    assert dom.select(css) is None
    (found,) = dom.pierce_all(css)
    assert found.attribute("id") == "next"


@pytest.mark.parametrize(
    "css", ["date-picker", "#host", "section date-picker", "my-field", ".out ~ my-field", "button"]
)
def test_an_element_is_inside_of_the_hosts_around_it(dom: Dom, css: str) -> None:
    (button,) = dom.pierce_all("#next")
    assert button.is_inside(css)


@pytest.mark.parametrize("css", ["#last", "b", "date-picker > button", ".out", "date-picker > p button"])
def test_and_of_nothing_else(dom: Dom, css: str) -> None:
    (button,) = dom.pierce_all("#next")
    assert not button.is_inside(css)


def test_siblings_are_those_of_one_tree(dom: Dom) -> None:
    assert numbers(dom, "p + my-field")
    assert not numbers(dom, "b + p")
    assert not numbers(dom, "my-field + b")


def test_the_whole_text_has_that_of_shadow_trees(dom: Dom) -> None:
    assert "14 December" not in dom.text
    assert dom.whole_text.split("\n")[-3:] == ["14 December", "Inner", "Next"]
    assert dom.whole_text.startswith(dom.text)
    assert "color" not in dom.whole_text


def test_what_is_not_displayed_is_no_text() -> None:
    hidden = PICKER.replace("<section id=around>", "<section id=around style='display: none'>")
    assert Dom(snapshot(hidden)).whole_text == "Outside"
    part = PICKER.replace("<p class=out>", "<p class=out style='display: none'>")
    assert "December" not in Dom(snapshot(part)).whole_text


def test_documents_in_frames_stay_apart() -> None:
    dom = Dom(snapshot(PICKER))
    assert [node.tag for node in dom.elements][:3] == ["html", "head", "body"]
    assert len(list(dom.elements)) == len(dom.snapshot.nodes)


TREES = st.recursive(
    st.sampled_from(["<i>x</i>", "<b class=a>y</b>", "text"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        .map("".join)
        .flatmap(
            lambda html: st.sampled_from(
                [
                    f"<div>{html}</div>",
                    f"<x-a><template shadowrootmode=open>{html}</template></x-a>",
                    f"<p id=p>{html}</p>",
                ]
            )
        )
    ),
    max_leaves=12,
)


@given(TREES)
def test_a_page_without_shadow_trees_is_the_same_and_any_other_has_no_less(html: str) -> None:
    dom = Dom(snapshot(html))
    for css in ("b", "div b", "div > i", ".a", "p *", "i ~ b"):
        light = [node.number for node in dom.select_all(css)]
        assert set(light) <= set(numbers(dom, css))
        if not dom.has_shadow_trees:
            assert light == numbers(dom, css)
    if not dom.has_shadow_trees:
        assert dom.whole_text == dom.text
