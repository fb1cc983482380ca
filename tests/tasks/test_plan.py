"""What the recorder has to look at, read off the checks."""

from __future__ import annotations

from replaykit.tasks.checks import Expect, HtmlTarget, PageCheck, ProgramHtml, StringMatch, plan

SITES = {"shop": ("http://shop.test/", "http://alias.test")}
EXPECT = Expect(not_empty=True)


def test_answers_and_urls_need_no_probe() -> None:
    assert plan([StringMatch(exact="x")], SITES).pages == ()


def test_another_page_is_probed_before_and_after() -> None:
    check = PageCheck(url="http://shop.test/orders/1", selector="#qty", property="value", expect=EXPECT)
    found = plan([check, check], SITES)
    assert [(page.id, page.phase, page.url) for page in found.pages] == [
        ("p0", "pre", "http://shop.test/orders/1"),
        ("p1", "post", "http://shop.test/orders/1"),
    ]
    assert [(read.selector, read.property) for read in found.pages[1].reads] == [("#qty", "value")]
    assert found.step_reads == ()


def test_the_last_page_is_read_in_place_with_every_observation() -> None:
    script = "document.querySelector('#a').value"
    check = ProgramHtml(
        targets=(HtmlTarget(locator=script, exact_match="x"), HtmlTarget(must_include=("y",)))
    )
    found = plan([check], SITES)
    assert [(page.phase, page.url) for page in found.pages] == [("post", "last")]
    assert [read.script for read in found.step_reads] == [script]


def test_a_preparing_script_keeps_its_page_apart() -> None:
    check = PageCheck(prep=("document.forms[0].submit()",), locator="document.title", expect=EXPECT)
    found = plan([check, PageCheck(locator="document.title", expect=EXPECT)], SITES)
    assert [page.prep for page in found.pages] == [("document.forms[0].submit()",), ()]
    assert len(found.step_reads) == 1


def test_the_recorder_is_sent_nowhere_else() -> None:
    for url in ("http://evil.test/", "http://shop.test.evil.test/", "file:///etc/passwd", "http://shop.tes"):
        assert plan([PageCheck(url=url, expect=EXPECT)], SITES).pages == ()
    assert plan([PageCheck(url="http://alias.test/x", expect=EXPECT)], SITES).pages != ()
