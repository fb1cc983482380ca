"""Paths over recorded pages; the rows are those of the recommendation and of what browsers do with HTML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.replay.dom import Dom
from replaykit.replay.selectors.xpath_evaluation import find
from replaykit.testing.pages import snapshot

PAGE = """
<div id=a class="x y"><label>First Name</label><span id=b>one</span><input id=c value=1></div>
<div id=d><p id=e>two <b id=f>bold</b></p><p id=g>  three
four </p><input id=h><!--note--></div><ul id=u><li id=i>1</li><li id=j>2</li><li id=k>10</li></ul>
"""


@pytest.fixture(scope="module")
def dom() -> Dom:
    return Dom(snapshot(PAGE))


@pytest.mark.parametrize(
    ("path", "ids"),
    [
        ("//div", "a d"),
        ("//DIV", "a d"),
        ("//div[2]", "d"),
        ("//p[2]", "g"),
        ("(//input)[2]", "h"),
        ("//input[1]", "c h"),
        ("//li[last()]", "k"),
        ("//li[position() > 1]", "j k"),
        ("//li[. = 10]", "k"),
        ("//li[. < 5 and not(. = 1)]", "j"),
        ("//*[@class]", "a"),
        ("//div[@class='x y' or @id='d']", "a d"),
        ("//label[contains(., 'First Name')]/following::input[1]", "c"),
        ("//p/following::input", "h"),
        ("//b/ancestor::div", "d"),
        ("//b/ancestor::*[1]", "e"),
        ("//b/ancestor-or-self::*[@id][2]", "e"),
        ("//input/preceding::p", "e g"),
        ("//input[@id='h']/preceding-sibling::p[1]", "g"),
        ("//li/following-sibling::li", "j k"),
        ("//b/..", "e"),
        ("//b/../..", "d"),
        ("//p[text()='two ']", "e"),
        ("//p[normalize-space()='three four']", "g"),
        ("//p[starts-with(., 'two')]", "e"),
        ("//ul[count(li) = 3]", "u"),
        ("//li[string-length(.) = 2]", "k"),
        ("//p | //b", "e f g"),
        ("//*[comment()]", "d"),
        ("//*[@id = //b/@id]", "f"),
        ("//div[input][2]", "d"),
        ("//*[self::b]", "f"),
        ("//*[name() = 'b']", "f"),
        ("//li[translate(., '12', 'ab') = 'a']", "i"),
        ("//li[concat(., '!') = '2!']", "j"),
        ("//li[substring-after(., '1') = '0']", "k"),
        ("//li[true()]", "i j k"),
        ("//li[false() or boolean(@id)]", "i j k"),
        (".//b", "f"),
        ("/html/body/div[1]", "a"),
        ("//@id", ""),
        ("//x", ""),
        ("'text'", ""),
    ],
)
def test_finds_elements_in_document_order(dom: Dom, path: str, ids: str) -> None:
    assert [node.attribute("id") for node in find(path, dom)] == ids.split()


def test_the_work_is_bounded() -> None:
    crowd = Dom(snapshot("<p>x</p>" * 2000))
    assert len(find("//p", crowd)) == 2000
    with pytest.raises(LocatorLimit):
        find("//p/following::p", crowd)
    with pytest.raises(LocatorLimit):
        find("//p[. = //p]/preceding::p", crowd)


@pytest.mark.parametrize("path", ["//@id/following::p", "count(1)", "//p[string(1.5) = '1.5']"])
def test_never_guesses(dom: Dom, path: str) -> None:
    with pytest.raises(Unsupported):
        find(path, dom)


PARTS = st.sampled_from(
    [
        "//p",
        "//*",
        "[1]",
        "[@id]",
        "/..",
        "/following::p",
        "[last()]",
        "/text()",
        " | //b",
        "[. = 'two']",
        "//@id",
    ]
)


@given(st.lists(PARTS, min_size=1, max_size=6).map("".join))
def test_any_path_gives_elements_in_order_or_is_refused(path: str) -> None:
    page = Dom(snapshot(PAGE))
    try:
        found = find(path, page)
    except (Unsupported, LocatorLimit):
        return
    rows = [node.row for node in found]
    assert rows == sorted(set(rows))
    assert all(node.is_element for node in found)
