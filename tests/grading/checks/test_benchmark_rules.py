"""Where the peers differ from one another: one row per difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.checks.benchmark_rules import RULES, PeerRaises, fulfils
from replaykit.grading.checks.pages.program_html import contents
from replaykit.grading.values.urls import peer_matches
from replaykit.grading.verdict import CheckResult
from replaykit.tasks.checks import HtmlTarget
from replaykit.testing.builder import Builder

S = "http://s.test"
BOX = "document.querySelector('.x').outerText"
LAMBDA = (
    "lambda:(() => { try { return document.querySelector('.x').textContent } catch (e) { return '' } })()"
)
PRICE = "lambda:(() => { return parseFloat(document.querySelector('.x').textContent) })()"
PATH = "//input[@name='q']"

Grade = Callable[..., CheckResult]
Run = Callable[..., Builder]


@pytest.mark.parametrize(
    ("wanted", "answer", "webarena", "vwa"),
    [
        ({"exact": "tea"}, " tea ", "PASS", "FAIL"),
        ({"must_include": ["170"]}, "order 000000170", "PASS", "FAIL"),
        ({"must_include": ["170"]}, "order 170", "PASS", "PASS"),
        ({"must_include": ["a |OR| b"]}, "b", "FAIL", "PASS"),
        ({"must_include": ["two words"]}, "xtwo wordsx", "PASS", "PASS"),
        ({"must_exclude": ["cat"]}, "a catalogue", "FAIL", "PASS"),
        ({"must_exclude": ["cat"]}, "a cat", "FAIL", "FAIL"),
        ({"one_of": ["red", "blue"]}, "dark blue", "PASS", "PASS"),
        ({"required_values": ["<= 700 |OR| == 900"]}, "1,000", "FAIL", "FAIL"),
        ({"required_values": ["<= 700", "> 1"]}, "700", "PASS", "PASS"),
        ({"required_values": ["< 700"]}, "many", "FAIL", "FAIL"),
        ({"required_values": ["about 700"]}, "700", "ERROR", "ERROR"),
        ({"required_values": ["<= 7 <= 8"]}, "7", "ERROR", "ERROR"),
        ({"required_values": ["== 5"]}, " 5 ,", "PASS", "PASS"),
    ],
)
def test_answers(
    grade: Grade, run: Run, wanted: dict[str, Any], answer: str, webarena: str, vwa: str
) -> None:
    check = {"type": "string_match", **wanted}
    assert grade(run().answer(answer), check, "compat", dialect="webarena").outcome == webarena
    found = grade(run().answer(answer), check, "compat", dialect="vwa")
    assert (found.outcome, found.dialect) == (vwa, "vwa@89f5af2")


@pytest.mark.parametrize(
    ("dialect", "reference", "found", "note", "matches"),
    [
        ("webarena", f"{S}/tea", f"{S}/teapots", None, True),
        ("vwa", f"{S}/tea", f"{S}/teapots", None, False),
        ("vwa", f"{S}/tea |OR| {S}/cup", f"{S}/cup/", None, True),
        ("vwa", f"{S}/tea", f"{S}/teapots?x=1", "GOLD in PRED", True),
        ("vwa", "http://localhost:99/a", "http://127.0.0.1:99/a", "EXACT", True),
        ("vwa", f"{S}/tea", f"{S}/tea//", None, False),
        ("stwab", f"{S}/mail", f"{S}/mail#/inbox", None, True),
        ("stwab", f"{S}/mail#/inbox", f"{S}/mail#/inbox/3", None, True),
        ("webarena", f"{S}/mail#/inbox", f"{S}/mail#/sent", None, True),
        ("stwab", f"{S}/mail#/inbox", f"{S}/mail#/sent", None, False),
        ("stwab", f"{S}/a?q=x y", f"{S}/a?q=x%20y", None, True),
        ("stwab", f"{S}/a?q=1", f"{S}/a?q=1#?q=2#b", None, True),
        ("stwab", f"{S}/a#/x?q=1", f"{S}/a#/x?q=1;z", None, True),
        ("stwab", f"{S}/a#/x?q=1", f"{S}/a#/x?q=2", None, False),
        ("stwab", f"{S}/a%20%7COR%7C%20b", "b", None, False),
        ("stwab", f"{S}/a%23b", f"{S}/a%23b/c", None, True),
        ("webarena-lite", f"{S}/tea", f"{S}/teapots", "GOLD in PRED", True),
    ],
)
def test_urls(dialect: str, reference: str, found: str, note: str | None, matches: bool) -> None:
    assert RULES[dialect].url_matches(reference, found, note) is matches


@pytest.mark.parametrize(
    ("dialect", "note"), [("webarena", "EXACT"), ("vwa", "x"), ("vwa", ""), ("stwab", "EXACT")]
)
def test_unknown_notes_raise(dialect: str, note: str) -> None:
    with pytest.raises(PeerRaises):
        RULES[dialect].url_matches(f"{S}/a", f"{S}/a", note)


PAGE = """
<p class=x>Tom &amp; Ann <i>&amp;lt;</i></p><input name=q value=a data-live='{"value": "20"}'>
<div class=n>170</div><div class=e> </div>
"""


def html(locator: str = "", **contents: Any) -> dict[str, Any]:
    return {"type": "program_html", "targets": [{"locator": locator, **contents}]}


@pytest.mark.parametrize(
    ("check", "outcomes"),
    [
        (html(must_include=["Tom & Ann"]), {"webarena": "PASS", "vwa": "FAIL", "webarena-lite": "FAIL"}),
        (html(BOX, must_include=["<"]), {"webarena": "PASS", "vwa": "FAIL", "stwab": "PASS"}),
        (html(BOX, must_include=["tom |or| bo"]), {"webarena": "FAIL", "stwab": "PASS"}),
        (html("document.querySelector('.n').id", must_include=["x"], exact_match=""),
         {"webarena": "PASS", "stwab": "FAIL"}),
        (html(BOX, not_empty=True), {"stwab": "PASS", "webarena": "ERROR"}),
        (html("document.querySelector('.e').textContent", not_empty=True), {"stwab": "FAIL"}),
        (html("document.querySelector('.n').outerText", must_include=["17"]),
         {"webarena": "PASS", "vwa": "FAIL", "stwab": "PASS"}),
        (html(LAMBDA, must_include=["tom"]), {"vwa": "PASS", "webarena-lite": "PASS", "webarena": "ERROR"}),
        (html(LAMBDA.replace(".x", ".none"), must_include=["tom"]), {"vwa": "FAIL"}),
        (html(PRICE.replace(".x", ".n"), required_values=["<= 170"]), {"vwa": "PASS"}),
        (html(PRICE.replace(".x", ".n"), must_include=["170"]), {"vwa": "ERROR"}),
        (html(PRICE, required_values=["<= 170"]), {"vwa": "FAIL"}),
        (html(BOX, must_exclude=["bo"]), {"vwa": "PASS", "webarena": "ERROR", "webarena-lite": "ERROR"}),
        (html("  ", must_include=["Tom & Ann"]), {"webarena": "PASS"}),
        (html(BOX, must_exclude=["tom"]), {"vwa": "FAIL"}),
        (html(BOX, must_exclude=["bo |OR| x"]), {"vwa": "ERROR"}),
        (html(PRICE.replace(".x", ".n"), exact_match="170"), {"vwa": "PASS", "webarena-lite": "ERROR"}),
        (html(BOX, fuzzy_match=["x"]), {"vwa": "ERROR", "webarena-lite": "UNDECIDED"}),
        (html(BOX, fuzzy_match="x"), {"vwa": "UNDECIDED", "webarena-lite": "ERROR"}),
        (html(PATH, exact_match="20"), {"stwab": "PASS", "webarena": "ERROR"}),
        (html("//p", exact_match=""), {"stwab": "PASS"}),
        (html(BOX, must_include=["tom"], must_exclude=["tom"]), {"stwab": "PASS", "webarena": "PASS"}),
        (html(BOX, not_empty=True, must_include=["bob"]), {"stwab": "FAIL", "webarena": "FAIL"}),
        (html(BOX, not_empty=True, must_include=["tom"]), {"stwab": "PASS", "webarena": "PASS"}),
        (html("nothing", exact_match=""), {"webarena": "ERROR", "stwab": "FAIL"}),
    ],
)  # fmt: skip
def test_pages(grade: Grade, run: Run, check: dict[str, Any], outcomes: dict[str, str]) -> None:
    ended = run().goto(f"{S}/p", PAGE).answer("ok")
    found = {name: grade(ended, check, "compat", dialect=name).outcome.value for name in outcomes}
    assert found == outcomes


@pytest.mark.parametrize("dialect", ["webarena-lite", "vwa"])
def test_after_a_target_without_a_value_the_peer_looks_at_none(grade: Grade, run: Run, dialect: str) -> None:
    ended = run().goto(f"{S}/p", PAGE).answer("ok")
    targets = [
        *html(LAMBDA, must_include=["tom"])["targets"],
        *html(LAMBDA.replace(".x", ".none"), must_include=["tom"])["targets"],
        *html("nothing", must_include=["tom"])["targets"],
    ]
    found = grade(ended, {"type": "program_html", "targets": targets}, "compat", dialect=dialect)
    assert [item.outcome.value for item in found.items] == ["PASS", "FAIL", "FAIL"]
    assert found.outcome == "FAIL"


@pytest.mark.parametrize(
    ("dialect", "fuzzy", "asked"),
    [
        ("vwa", "a |OR| b", ["a", "b"]),
        ("webarena-lite", ("a", "b"), ["a, b"]),
        ("webarena", ("a", "b"), ["a", "b"]),
    ],
)
def test_what_a_model_is_asked_of_a_page(dialect: str, fuzzy: Any, asked: list[str]) -> None:
    target = HtmlTarget(fuzzy_match=fuzzy)
    assert [content.reference for content in contents(target, RULES[dialect])] == asked


@pytest.mark.parametrize("dialect", ["webarena", "webarena-lite", "vwa"])
def test_a_list_of_nothing_is_met_to_the_peer_and_a_fault_to_us(grade: Grade, run: Run, dialect: str) -> None:
    ended = run().goto(f"{S}/p", PAGE).answer("ok")
    written = {"url": "last", "locator": BOX, "required_contents": {"must_include": []}}
    record = {"eval": {"program_html": [{**written, "required_contents": {}}, written]}}
    both = [html(BOX), html(BOX)]
    check = {"type": "program_html", "targets": [target for one in both for target in one["targets"]]}

    def outcomes(mode: str) -> list[str]:
        found = grade(ended, check, mode, dialect=dialect, source_record=record)
        return [item.outcome.value for item in found.items]

    assert (outcomes("compat"), outcomes("strict")) == (["ERROR", "PASS"], ["ERROR", "ERROR"])


@pytest.mark.parametrize(
    ("check", "strict"),
    [
        (html(LAMBDA, must_include=["tom"]), "PASS"),
        (html(PRICE.replace(".x", ".n"), required_values=["<= 170"]), "PASS"),
        (html(PRICE.replace(".x", ".n"), required_values=["< 170"]), "PASS"),
        (html(PRICE, required_values=["<= 170"]), "FAIL"),
        (html(BOX, must_exclude=["tom"]), "FAIL"),
        (html(BOX, not_empty=True), "PASS"),
        (html(PATH, exact_match="20"), "PASS"),
    ],
)
def test_strict_reads_them_all(grade: Grade, run: Run, check: dict[str, Any], strict: str) -> None:
    ended = run().goto(f"{S}/p", PAGE).answer("ok")
    assert grade(ended, check, dialect="vwa").outcome == strict


def test_in_a_tab_for_each_the_cursor_stays(grade: Grade, run: Run) -> None:
    targets = [{"url": f"{S}/a", "must_include": ["tea"]}, {"url": "last", "must_include": ["cup"]}]
    check = {"type": "program_html", "targets": targets}
    ended = run().goto(f"{S}/p", "<p>cup</p>").answer("ok").probe(f"{S}/a", "<p>tea</p>")
    assert grade(ended, check, "compat", dialect="webarena").outcome == "FAIL"
    assert grade(ended, check, "compat", dialect="stwab").outcome == "PASS"


def test_where_the_environment_swallows_exceptions_they_fail(grade: Grade, run: Run) -> None:
    check = {"type": "string_match", "fuzzy": "some text"}
    found = grade(run().answer("x"), check, "compat", dialect="stwebagentbench")
    assert (found.outcome, found.dialect) == ("FAIL", "stwab@67f56dd")
    assert "peer_exception" in found.notes
    assert grade(run().answer("x"), check, "compat", dialect="webarena").outcome == "ERROR"


def test_screenshots_are_not_graded(grade: Grade, run: Run) -> None:
    check = {"type": "page_image_query", "queries": [{"eval_image_url": "last"}]}
    for mode in ("strict", "compat"):
        found = grade(run().goto(f"{S}/p", "").answer("x"), check, mode, dialect="vwa")
        assert (found.outcome, found.reason) == ("UNDECIDED", "unsupported")


@given(
    st.text(max_size=30), st.text(max_size=30), st.sampled_from(["webarena", "vwa", "stwab"]), st.booleans()
)
def test_any_texts_are_compared(reference: str, answer: str, dialect: str, is_only: bool) -> None:
    assert isinstance(RULES[dialect].includes(reference, answer, is_only=is_only), bool)
    assert isinstance(RULES[dialect].cleaned(answer), str)


@given(st.text(max_size=20), st.one_of(st.text(max_size=10), st.integers(), st.floats(allow_nan=False)))
def test_any_inequality_holds_or_raises(required: str, value: Any) -> None:
    try:
        assert isinstance(fulfils(required, value), bool)
    except PeerRaises:
        return


def test_stwab_is_webarena_where_there_is_nothing_to_decode() -> None:
    for reference, found in ((f"{S}/a?x=1", f"{S}/a/b?x=1&y=2"), (f"{S}/a", f"{S}/b")):
        assert RULES["stwab"].url_matches(reference, found, None) is peer_matches(reference, found)
