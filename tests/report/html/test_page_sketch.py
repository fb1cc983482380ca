"""Drawn pages: what of a page gets through is its words and places, never its markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.report.html.page_outline import outline
from replaykit.report.html.page_sketch import FramePage, Sketch, sketch
from replaykit.snapshot.codec import decode
from replaykit.snapshot.snapshot_format import Snapshot
from replaykit.testing.pages import snapshot

STYLE = re.compile(
    r"(?:(?:left|top|width|height|font-size|line-height|text-indent):-?\d+px|white-space:pre-wrap)"
    r"(?:;(?:(?:left|top|width|height|font-size|line-height|text-indent):-?\d+px|white-space:pre-wrap))*"
)
CLASS = re.compile(r"(?:f|t|t-[a-z0-9]+|modal|graphic|room|control [a-z]+(?: empty)?)")
TEXTS = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=30)


class Written(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def placed(html: str, box: tuple[int, int, int, int] = (0, 0, 200, 20)) -> Snapshot:
    """A snapshot whose elements all have boxes, one below the other."""
    plain = decode(snapshot(html))
    x, y, width, height = box
    boxes = [n for at in range(len(plain.nodes)) for n in (x, y + at * height, width, height)]
    return msgspec.structs.replace(plain, box=boxes)


def drawn(html: str, **more: Any) -> Sketch:
    return sketch(FramePage(id="a" * 64, snapshot=placed(html), **more))


def only_ours(markup: str, tags: tuple[str, ...]) -> None:
    for tag, attributes in Written(markup).tags:
        assert tag in tags
        assert set(attributes) <= {"class", "style"}
        assert CLASS.fullmatch(attributes.get("class") or "t")
        assert STYLE.fullmatch(attributes.get("style") or "left:0px")


HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1) alt='<img src=x onerror=alert(1)>'></img>"
    "<a href='javascript:alert(1)' style='background:url(http://evil.test/)' class='x\" onclick=\"y'>go</a>"
    "<iframe src='http://evil.test/'></iframe><link rel=stylesheet href=http://evil.test/></link>"
    "<style>@import 'http://evil.test/'</style><base href=http://evil.test/></base>"
    "<form action='http://evil.test/'><input value='\"><script>alert(1)</script>'><button>Go</button></form>"
    "<object data='http://evil.test/'></object><embed src=http://evil.test/></embed>"
    "<svg onload=alert(1)><text>in a picture</text></svg><meta http-equiv=refresh content='0;url=http://evil.test/'>"
)


def test_nothing_of_a_hostile_page_but_its_text_gets_through() -> None:
    found = drawn(HOSTILE)
    only_ours(found.html, ("p", "i", "br"))
    assert "evil.test" not in found.html
    assert "go" in Written(found.html).words


def test_nothing_of_a_hostile_page_gets_through_without_boxes() -> None:
    found = outline(decode(snapshot(HOSTILE)))
    assert {tag for tag, _ in Written(found.html).tags} <= {"article", "div", "span", "a", "i"}
    assert "evil.test" not in found.html
    assert not found.is_placed


@given(st.lists(st.tuples(st.sampled_from(["p", "a", "td", "x-y", "h1", "label"]), TEXTS, TEXTS), max_size=6))
def test_whatever_a_page_says_is_text(parts: list[tuple[str, str, str]]) -> None:
    import html as escapes

    body = "".join(
        f'<{tag} title="{escapes.escape(said)}">{escapes.escape(words)}</{tag}>' for tag, said, words in parts
    )
    for made in (drawn(body), outline(decode(snapshot(body)))):
        read = Written(made.html)
        assert "<" not in re.sub(r"</?(?:p|i|br|article|div|span|h1|td|tr|table)(?: [^<>]*)?>", "", made.html)
        for _, _, words in parts:
            assert all(word in read.words for word in words.replace("\r", "\n").split())


def test_live_state_is_what_fields_show() -> None:
    found = drawn(
        "<input value='old' data-live='{\"value\": \"typed\"}'><input type=checkbox data-live='{\"checked\": true}'>"
        "<select data-live='{\"selected\": [1]}'><option>one</option><option>two</option></select>"
        "<textarea data-live='{\"value\": \"long\"}'>short</textarea><input type=password value='secret'>"
        "<input placeholder='Name'><input type=submit value='Send'>"
    )
    words = Written(found.html).words
    assert "typed" in words
    assert "old" not in words
    assert "✓" in words
    assert "two" in words
    assert "one" not in words
    assert "long" in words
    assert "secret" not in words
    assert "Name" in words
    assert "Send" in words


def test_hidden_elements_are_not_drawn() -> None:
    assert "secret" not in drawn("<p style='display:none'>secret</p><p>seen</p>").html


def test_places_asked_for_are_given() -> None:
    shot = placed("<p>one</p><button>two</button>", (10, 5, 100, 30))
    number = next(n for n, row in enumerate(shot.nodes) if shot.name[row] == "button")
    found = sketch(FramePage(id="b" * 64, snapshot=shot), [("b" * 64, number), ("c" * 64, number)])
    assert found.boxes == {("b" * 64, number): (10, 5 + 30 * number, 100, 30)}


def test_a_frame_is_drawn_where_it_stands() -> None:
    outer = placed("<iframe data-live='{\"frame\": 0}'></iframe>", (50, 60, 300, 200))
    inner = FramePage(id="b" * 64, snapshot=placed("<p>inside</p>", (1, 2, 90, 20)))
    found = sketch(FramePage(id="a" * 64, snapshot=outer, frames={0: inner}))
    number = next(n for n, row in enumerate(inner.snapshot.nodes) if inner.snapshot.name[row] == "p")
    owner = next(n for n, row in enumerate(outer.nodes) if outer.name[row] == "iframe")
    assert f"left:51px;top:{60 + 200 * owner + 2 + 20 * number}px" in found.html
    assert "inside" in found.html


def test_a_page_of_any_size_is_drawn_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("replaykit.report.html.page_sketch.PLACED_MAX", 5)
    found = drawn("<p>x</p>" * 50)
    assert found.is_cut
    assert found.html.count("<p ") == 5


def test_places_outside_of_all_sense_are_drawn_at_the_edge() -> None:
    found = sketch(FramePage(id="a" * 64, snapshot=placed("<p>far</p>", (10**9, -(10**9), 10**9, 10**9))))
    assert found.width == found.height == 20_000
    assert "1000000000" not in found.html


def test_a_page_nested_thousands_of_levels_deep_is_drawn() -> None:
    html = "<b>" * 3000 + "deep" + "</b>" * 3000
    assert "deep" in drawn(html).html
    made = outline(decode(snapshot(html))).html
    assert "deep" in made
    assert made.count("<b>") <= 100


def boxed(html: str, **boxes: tuple[int, int, int, int]) -> list[tuple[str, str, str]]:
    """Class, style and words of what is drawn of a page, its elements placed by their tags."""
    plain = decode(snapshot(html))
    named = [boxes.get(plain.name[row], (0, 0, 0, 0)) for row in plain.nodes]
    shot = msgspec.structs.replace(plain, box=[n for box in named for n in box])
    found = sketch(FramePage(id="a" * 64, snapshot=shot)).html
    return re.findall(r'<p class="([^"]*)" style="([^"]*)">(.*?)</p>', found)


def test_words_above_a_block_stand_above_it() -> None:
    said, _ = boxed(
        "<div>Signed in as <b>clerk</b><p>Sign out</p></div>",
        div=(10, 100, 300, 60), b=(90, 100, 40, 20), p=(10, 130, 300, 30),
    )  # fmt: skip
    assert said[1].startswith("left:10px;top:100px;width:300px;height:30px;")
    assert "line-height:30px" in said[1]


def test_words_below_a_block_stand_below_it() -> None:
    said = boxed("<td><p>Paid</p>by card</td>", td=(0, 0, 300, 60), p=(0, 0, 300, 40))
    (below,) = [style for kind, style, _ in said if kind == "t-td"]
    assert below.startswith("left:0px;top:40px;width:300px;height:20px;")


def test_the_frame_of_what_holds_words_and_blocks_is_all_of_it() -> None:
    frame, said, _ = boxed("<form>Search<p>Go</p></form>", form=(0, 0, 300, 60), p=(0, 30, 300, 30))
    assert frame[0] == "f" and "height:60px" in frame[1] and not frame[2]
    assert said[0] == "t" and "height:30px" in said[1] and said[2] == "Search"


def test_a_block_that_is_somewhere_else_moves_no_words() -> None:
    said, _ = boxed("<div>Menu<p>Item</p></div>", div=(0, 0, 300, 20), p=(0, 500, 300, 20))
    assert "top:0px;width:300px;height:20px" in said[1]


def test_lines_that_the_page_breaks_share_its_height() -> None:
    (said,) = boxed("<div>Tom O'Neil<br>Harbour Street 1<br>Cork</div>", div=(0, 0, 300, 60))
    assert "font-size:15px;line-height:20px" in said[1]
    assert said[2].count("<br>") == 2
