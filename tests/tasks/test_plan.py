"""Pages that the recorder has to visit, read off the checks."""

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


SHOP = "http://shop.test"


def page(path: str, selector: str = "#a", **more: object) -> PageCheck:
    return PageCheck(url=f"{SHOP}{path}", selector=selector, expect=EXPECT, **more)


def test_pages_of_other_tasks_come_after_the_run_only_and_last() -> None:
    found = plan([page("/1")], SITES, others=[page("/2"), page("/1", "#b")], urls=[f"{SHOP}/3"])
    assert [(one.phase, one.url) for one in found.pages] == [
        ("pre", f"{SHOP}/1"),
        ("post", f"{SHOP}/1"),
        ("post", f"{SHOP}/2"),
        ("post", f"{SHOP}/3"),
    ]
    assert [[read.selector for read in one.reads] for one in found.pages[1:]] == [["#a", "#b"], ["#a"], []]


def test_all_pages_may_be_looked_at_before_the_run_too() -> None:
    found = plan([page("/1")], SITES, others=[page("/2")], urls=[f"{SHOP}/3"], pre="all")
    assert [one.url for one in found.pages if one.phase == "pre"] == [f"{SHOP}/{n}" for n in (1, 2, 3)]


def test_other_tasks_neither_prepare_a_page_nor_ride_on_every_observation() -> None:
    prepared = page("/2", prep=("document.forms[0].submit()",))
    last = PageCheck(selector="#c", expect=EXPECT)
    found = plan([], SITES, others=[prepared, last])
    assert [(one.url, one.prep) for one in found.pages] == [("last", ())]
    assert found.step_reads == ()


def test_other_tasks_send_the_recorder_nowhere_else_but_a_list_may() -> None:
    outside = "http://elsewhere.test/"
    assert plan([], SITES, others=[PageCheck(url=outside, expect=EXPECT)]).pages == ()
    assert [one.url for one in plan([], {}, urls=[outside]).pages] == [outside]


def test_a_prepared_page_without_a_value_to_read_still_says_that_it_was_prepared() -> None:
    found = plan([PageCheck(prep=("f()",), expect=EXPECT), PageCheck(expect=EXPECT)], SITES)
    assert [(one.prep, len(one.reads)) for one in found.pages] == [(("f()",), 1), ((), 0)]
