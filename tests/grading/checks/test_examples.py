"""One row per known difference between the peer's rules and the strict ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from replaykit.grading.verdict import CheckResult
from replaykit.testing.builder import Builder
from replaykit.trajectory.observation import Read
from replaykit.trajectory.scalars import Threw

S = "http://s.test"

Grade = Callable[..., CheckResult]
Run = Callable[..., Builder]


def both(grade: Grade, run: Builder, check: dict[str, Any]) -> tuple[str, str]:
    return grade(run, check, "compat").outcome.value, grade(run, check, "strict").outcome.value


@pytest.mark.parametrize(
    ("wanted", "answer", "compat", "strict"),
    [
        ({"exact": "Blue Kettle"}, "'\"blue kettle\"'", "PASS", "PASS"),
        ({"exact": "Blue Kettle"}, "Blue  kettle.", "FAIL", "PASS"),
        ({"exact": "3.2km"}, "3200 m", "FAIL", "PASS"),
        ({"exact": "Yes"}, "Yes, since 2019", "FAIL", "PASS"),
        ({"must_include": ["cat"]}, "a catalogue", "PASS", "FAIL"),
        ({"must_include": ["0"]}, "$0.00", "FAIL", "PASS"),
        ({"must_include": ["4"]}, "There are 4. Next come pears", "FAIL", "PASS"),
        ({"must_include": ["4"]}, "There are 4.", "PASS", "PASS"),
        ({"must_include": ["170"]}, "order 000000170", "PASS", "PASS"),
        ({"must_include": ["7", "2"]}, "27 items", "PASS", "FAIL"),
        ({"must_include": ["a |OR| b"]}, "b", "FAIL", "PASS"),
        ({"must_include": [""]}, "anything", "PASS", "ERROR"),
    ],
)
def test_answers(
    grade: Grade, run: Run, wanted: dict[str, Any], answer: str, compat: str, strict: str
) -> None:
    assert both(grade, run().answer(answer), {"type": "string_match", **wanted}) == (compat, strict)


@pytest.mark.parametrize(
    ("reference", "final", "compat", "strict"),
    [
        (f"{S}/tea", f"{S}/teapots", "PASS", "FAIL"),
        (f"{S}/s?q=tea", f"{S}/s?page=2&q=tea", "PASS", "PASS"),
        (f"{S}/a?x=1 |OR| {S}/b?x=2", f"{S}/a?x=2", "PASS", "FAIL"),
        (f"{S}/mail", f"{S}/mail#/inbox", "PASS", "PASS"),
    ],
)
def test_urls(grade: Grade, run: Run, reference: str, final: str, compat: str, strict: str) -> None:
    ended = run().goto(final).answer("done")
    assert both(grade, ended, {"type": "url_match", "url": reference}) == (compat, strict)


def html(locator: str, url: str = "last", **contents: Any) -> dict[str, Any]:
    return {"type": "program_html", "targets": [{"url": url, "locator": locator, **contents}]}


BOX = "document.querySelector('.x').outerText"


@pytest.mark.parametrize(
    ("body", "check", "compat", "strict"),
    [
        (
            """<input name="p[q]" value="15" data-live='{"value": "20"}'>""",
            html("document.querySelector('[name=\"p[q]\"').value", exact_match="20"),
            "PASS",
            "PASS",
        ),
        ("<p>red</p>", html(BOX, must_include=["red"]), "FAIL", "FAIL"),
        (
            "<p class=x>y</p>",
            html("document.querySelector('.x').getAttribute('title')", must_include=["none"]),
            "PASS",
            "FAIL",
        ),
        ("<p class=x>a<br>b</p>", html(BOX, exact_match="a b"), "FAIL", "PASS"),
        ("<script>draft</script><p>y</p>", html("", must_include=["draft"]), "PASS", "FAIL"),
        ("<p>Tom &amp; Ann</p>", html("", must_include=["Tom & Ann"]), "PASS", "PASS"),
    ],
)
def test_pages(grade: Grade, run: Run, body: str, check: dict[str, Any], compat: str, strict: str) -> None:
    ended = run().goto(f"{S}/p", body).answer("done")
    assert both(grade, ended, check) == (compat, strict)


def test_no_element_is_named(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/p", "<p>red</p>").answer("done")
    assert grade(ended, html(BOX, must_include=["red"])).reason == "no_element"


def test_a_visited_page_is_no_evidence_after_a_change(grade: Grade, run: Run) -> None:
    check = html("", url=f"{S}/cart", must_include=["tea"])
    visited = (
        run().goto(f"{S}/cart", "<p>tea</p>").goto(f"{S}/p", "").request("POST", f"{S}/add").answer("done")
    )
    assert both(grade, visited, check) == ("UNDECIDED", "UNDECIDED")
    assert grade(visited, check).missing == (f"page:{S}/cart",)


@pytest.mark.parametrize(("status", "strict"), [(503, "UNDECIDED"), (404, "FAIL"), (403, "UNDECIDED")])
def test_a_page_not_reached_is_no_evidence(grade: Grade, run: Run, status: int, strict: str) -> None:
    check = html("", url=f"{S}/cart", must_include=["ok"])
    ended = run().goto(f"{S}/p", "").answer("done").probe(f"{S}/cart", "<p>trouble</p>", status=status)
    assert both(grade, ended, check) == ("FAIL", strict)
    assert (grade(ended, check).reason == "page_not_reached") is (strict == "UNDECIDED")


def test_public_task_that_requires_404_passes(grade: Grade, run: Run) -> None:
    check = html("", url=f"{S}/gone", must_include=["404"])
    ended = run().goto(f"{S}/p", "").answer("done").probe(f"{S}/gone", "<h1>404 Not Found</h1>", status=404)
    assert both(grade, ended, check) == ("PASS", "PASS")


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("bool", True, "true"),
        ("number", 4, "4"),
        ("string", "a", "a"),
        ("null", None, "none"),
        ("undefined", None, "none"),
        ("exception", None, ""),
        ("array", [1, "a", None], "[1, 'a', none]"),
    ],
)
def test_compat_reads_values_as_python_prints_them(
    grade: Grade, run: Run, kind: str, value: Any, text: str
) -> None:
    threw = Threw(name="TypeError") if kind == "exception" else None
    live = Read(locator=BOX, kind=kind, value=value, threw=threw)
    ended = run().goto(f"{S}/p", "").final("<p>x</p>", reads=(live,)).answer("done")
    assert grade(ended, html(BOX, exact_match=text), "compat").outcome == "PASS"
