"""The page surface for existing evaluators, on shipped recordings: written as benchmarks write them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import PageInert, PageNotRecorded, ReplayError, Unsupported
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import grade
from replaykit.replay.offline_page import chromium_reader
from replaykit.replay.offline_page import offline_page as pages
from replaykit.replay.offline_page.chromium import Chromium
from replaykit.replay.offline_page.fidelity import fidelity
from replaykit.replay.offline_page.offline_page import OfflinePage
from replaykit.replay.page_reader import PageReader
from replaykit.tasks.checks import Expect, PageCheck
from replaykit.tasks.task import Task
from replaykit.testing import snapshot, trajectory
from replaykit.trajectory.observation import Observation
from tests.blocks import ROOT, block
from tests.thorough import one_in

pytestmark = pytest.mark.live

RECORDINGS = ROOT / "recordings" / "conformance"
COUNTED = "[...document.querySelectorAll('td')].reduce((sum, cell) => sum + cell.innerText.length, 0)"


@pytest.fixture
def bundle() -> Iterator[Bundle]:
    with open_bundle(RECORDINGS / "refund-order--good.zst") as opened:
        yield opened


@pytest.fixture
def page(bundle: Bundle, offline: Chromium) -> Iterator[OfflinePage]:
    with OfflinePage(bundle, chromium=offline) as opened:
        yield opened


def html_content(page: Any, targets: list[dict[str, Any]]) -> float:
    """Score targets as evaluators of program_html do: go, read, compare; what throws reads as empty."""
    score = 1.0
    for target in targets:
        if target["url"] != "last":
            page.goto(target["url"])
        page.wait_for_load_state("networkidle")
        if not target["locator"].strip():
            found = page.content()
        else:
            try:
                found = str(page.evaluate(f"() => {target['locator']}"))
            except Exception:  # noqa: BLE001  # evaluators of WebArena swallow whatever a page throws
                found = ""
        contents = target["required_contents"]
        if "exact_match" in contents:
            score *= float(found.strip() == contents["exact_match"])
        for part in contents.get("must_include", ()):
            score *= float(part in found)
    return score


def test_an_evaluator_of_targets_gives_its_verdict(page: OfflinePage) -> None:
    root = page.url.split("/orders")[0]
    targets = [
        {
            "url": "last",
            "locator": "document.querySelector('h1').outerText",
            "required_contents": {"exact_match": "Order 1004"},
        },
        {
            "url": f"{root}/orders/1004",
            "locator": "document.querySelector('td').outerText",
            "required_contents": {"must_include": ["Blue mug"]},
        },
        {"url": f"{root}/orders", "locator": "", "required_contents": {"must_include": ["1004"]}},
    ]
    assert html_content(page, targets) == 1.0
    assert page.missing == ()
    targets[0]["required_contents"] = {"exact_match": "Order 1005"}
    assert html_content(page, targets) == 0.0
    assert [look.url for look in page.looks] == [
        f"{root}/orders/1004?done=refunded", f"{root}/orders/1004", f"{root}/orders",
    ]  # fmt: skip


def test_a_page_that_was_not_recorded_says_so(page: OfflinePage) -> None:
    url = page.url.split("/orders")[0] + "/nowhere"
    at = page.url
    with pytest.raises(PageNotRecorded, match="nowhere") as caught:
        page.goto(url)
    assert caught.value.fields == {"url": url}
    assert (page.missing, page.url) == ((f"page:{url}",), at)


def test_what_an_evaluator_swallows_is_still_known(page: OfflinePage) -> None:
    target = {"url": "last", "locator": "app.total", "required_contents": {"exact_match": ""}}
    assert html_content(page, [target]) == 1.0
    assert page.missing == ("probe:() => app.total",)


def test_it_reads_as_the_driver_does(page: OfflinePage, bundle: Bundle) -> None:
    assert page.title() == "Order 1004 · Harbour Goods"
    assert "<h1" in page.content()
    assert page.evaluate("(css) => document.querySelector(css).outerText", "h1") == "Order 1004"
    assert page.evaluate("document.querySelectorAll('td').length") == 8
    assert page.evaluate("let sum = 3; sum + 1") == 4
    assert page.inner_text("h1") == "Order 1004"
    heading = page.query_selector("h1")
    assert heading is not None
    assert heading.inner_text() == "Order 1004"
    assert heading.evaluate("(node) => node.tagName") == "H1"
    assert page.evaluate("(node) => node.tagName", heading) == "H1"
    assert [cell.inner_text() for cell in page.query_selector_all("td")][:2] == ["Blue mug", "3"]
    assert page.locator("td").all_inner_texts()[:2] == ["Blue mug", "3"]
    assert (page.locator("td").count(), page.locator("td").nth(1).inner_text()) == (8, "3")
    assert page.get_by_role("heading", level=1).first.inner_text() == "Order 1004"
    assert page.query_selector(".nothing") is None
    assert page.wait_for_selector("h1") is not None
    assert page.eval_on_selector_all("td", "(cells) => cells.length") == 8
    assert page.browser_version.startswith("Chrome/")


def test_methods_with_effects_are_refused_by_name(page: OfflinePage) -> None:
    element = page.query_selector("h1")
    assert element is not None
    for found in (page.locator("h1"), element):
        with pytest.raises(PageInert, match="click") as caught:
            found.click()
        assert "inner_text" in caught.value.message
    with pytest.raises(PageInert, match="keyboard"):
        page.keyboard.press("Enter")
    with pytest.raises(Unsupported, match="click"):
        page.evaluate("() => document.querySelector('a').click()")
    assert not hasattr(page, "nonsense")


def test_tabs_are_opened_and_closed(page: OfflinePage) -> None:
    assert page.context.pages == [page]
    other = page.context.new_page()
    assert (other.url, page.context.pages) == ("about:blank", [page, other])
    with pytest.raises(ReplayError, match="goto"):
        other.title()
    other.goto(page.url.partition("?")[0])
    assert other.title() == page.title()
    other.close()
    assert (page.context.pages, other.is_closed()) == ([page], True)


def test_the_same_surface_is_awaited(page: OfflinePage) -> None:
    async def evaluate() -> tuple[Any, ...]:
        awaited = page.awaited()
        await awaited.goto(page.url.partition("?")[0])
        heading = await awaited.query_selector("h1")
        return (
            awaited.url.rpartition("/")[2],
            await awaited.title(),
            await heading.inner_text(),
            await awaited.locator("td").first.inner_text(),
            await awaited.evaluate("() => document.querySelectorAll('td').length"),
        )

    assert asyncio.run(evaluate()) == ("1004", "Order 1004 · Harbour Goods", "Order 1004", "Blue mug", 8)


def test_masked_values_are_no_answers(tmp_path: Path, offline: Chromium) -> None:
    html = """<input id="p" value="⟦masked⟧" data-live='{"masked": true}'><p id="x">seen</p>"""
    path = trajectory().goto("http://shop.test/", html).final(html).answer("x").write(tmp_path / "run.zst")
    with open_bundle(path) as bundle, OfflinePage(bundle, chromium=offline) as page:
        with pytest.raises(Unsupported, match="masked"):
            page.evaluate("() => document.querySelector('#p').value")
        assert page.evaluate("() => document.querySelector('#x').innerText") == "seen"


def bare(html: str) -> bytes:
    """A snapshot without styles, as imports make them."""
    head, tokens, _, *rest = snapshot(html).split(b"\n")
    known = {**msgspec.json.decode(head), "styles": [], "flags": ["no_box", "no_style"]}
    return b"\n".join([msgspec.json.encode(known), tokens, b"[]", *rest])


SHOWN: list[Callable[[Any], Any]] = [
    lambda page: page.inner_text("p"),
    lambda page: page.is_visible("p"),
    lambda page: page.query_selector("p").is_hidden(),
    lambda page: page.query_selector("body").query_selector("p:visible"),
    lambda page: page.locator("p").all_inner_texts(),
    lambda page: page.locator("body").get_by_role("button").count(),
    lambda page: page.locator("body >> role=button").count(),
    lambda page: page.locator("body").locator("p >> visible=true").count(),
    lambda page: page.get_by_role("button").count(),
    lambda page: page.eval_on_selector("p:visible", "(p) => p.id"),
]


@pytest.mark.parametrize("ask", one_in(4, [*SHOWN]))
def test_what_shows_is_no_answer_where_styles_were_not_recorded(
    tmp_path: Path, offline: Chromium, ask: Callable[[Any], Any]
) -> None:
    body = "<body><p role='button'>seen</p></body>"
    for link in ("", "<link rel=stylesheet href=/x.css>"):
        run = trajectory().goto("http://shop.test/")
        page = bare(f"<html><head>{link}</head>{body}</html>")
        kept = run.keep("application/x-replaykit-dom", page)
        run.add(Observation(role="final", url="http://shop.test/", snapshot=kept)).answer("x")
        path = run.write(tmp_path / f"run{len(link)}.zst")
        with open_bundle(path) as bundle, OfflinePage(bundle, chromium=offline) as page_:
            assert page_.text_content("[role=button]") == "seen"
            if link:
                with pytest.raises(Unsupported, match="styles were not recorded"):
                    ask(page_)
                assert page_.missing
            else:
                assert ask(page_) is not None
                assert page_.missing == ()


def outcomes(bundle: Bundle, tier: PageReader, *locators: str) -> list[tuple[Any, ...]]:
    checks = tuple(PageCheck(url="last", locator=one, expect=Expect(not_empty=True)) for one in locators)
    task = Task(id="t", intent="i", checks=checks)
    verdict = grade(bundle, task, options=GradeOptions(replay=tier))
    return [
        (check.outcome.value, check.missing, check.evidence[0].tier, check.evidence[0].note)
        for check in verdict.checks
    ]


def test_tiers_answer_what_they_say(
    bundle: Bundle, offline: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium_reader, "shared", lambda: offline)
    plain = "document.querySelector('h1').innerText"
    assert outcomes(bundle, "static", COUNTED, plain) == [
        ("UNDECIDED", (f"probe:{COUNTED}",), "static", "--replay auto"), ("PASS", (), "static", None),
    ]  # fmt: skip
    assert outcomes(bundle, "auto", COUNTED, plain) == [
        ("PASS", (), "chromium", None), ("PASS", (), "static", None),
    ]  # fmt: skip
    assert outcomes(bundle, "chromium", plain, "document.cookie") == [
        ("PASS", (), "chromium", None), ("UNDECIDED", ("probe:document.cookie",), "static", "cookie is not recorded"),
    ]  # fmt: skip


def test_the_text_of_a_page_is_the_same_in_both_tiers(
    bundle: Bundle, offline: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium_reader, "shared", lambda: offline)
    tiers: tuple[PageReader, ...] = ("static", "auto", "chromium")
    checks = tuple(
        PageCheck(url="last", expect=Expect(contains=text))
        for text in ("Refunded", "Blue mug", "no such thing")
    )
    found = []
    for tier in tiers:
        verdict = grade(bundle, Task(id="t", intent="i", checks=checks), options=GradeOptions(replay=tier))
        found.append([check.outcome.value for check in verdict.checks])
        assert {check.evidence[0].tier for check in verdict.checks} == {
            "chromium" if tier == "chromium" else "static"
        }
    assert found[0] == found[1] == found[2] == ["PASS", "PASS", "FAIL"]


def test_the_version_of_the_browser_is_evidence(
    bundle: Bundle, offline: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium_reader, "shared", lambda: offline)
    task = Task(
        id="t",
        intent="i",
        checks=(PageCheck(url="last", locator=COUNTED, expect=Expect(equals="47")),),
    )
    verdict = grade(bundle, task, options=GradeOptions(replay="auto"))
    assert verdict.checks[0].evidence[0].browser == offline.version


def test_an_answer_that_depends_on_masked_text_is_none(
    tmp_path: Path, offline: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium_reader, "shared", lambda: offline)
    html = """<input id="p" value="⟦masked⟧" data-live='{"masked": true}'><p id="x">seen</p>"""
    path = trajectory().goto("http://shop.test/", html).final(html).answer("x").write(tmp_path / "run.zst")
    length = "[...document.querySelectorAll('#p')].reduce((sum, one) => sum + one.value.length, 0)"
    shown = "[...document.querySelectorAll('#x')].reduce((sum, one) => sum + one.innerText.length, 0)"
    with open_bundle(path) as bundle:
        first, second = outcomes(bundle, "auto", length, shown)
    assert first == ("UNDECIDED", (f"probe:{length}",), "static", "it depends on text that is masked or cut")
    assert second == ("PASS", (), "chromium", None)


def test_the_document_s_example_runs(
    offline: Chromium, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (RECORDINGS.parents[1] / "docs" / "offline-pages.md").read_text("utf-8")
    source = re.search(r"```python\n(.*?)```", text, re.S)
    assert source is not None
    monkeypatch.chdir(RECORDINGS.parents[1])
    monkeypatch.setattr(pages, "shared", lambda: offline)
    shown = re.sub(r"^    (page\.\S.*?)(  #.*)?$", r"    print(\1)", source[1], flags=re.M)
    exec(shown, {})  # our own document
    first, moved, cells, missing = capsys.readouterr().out.splitlines()
    assert (first, moved, missing) == ("Order 1004", "None", "()")
    assert "Blue mug" in cells


@pytest.mark.thorough
def test_all_witnesses_of_a_recording_agree(bundle: Bundle, offline: Chromium) -> None:
    found = fidelity(bundle, offline)
    assert (found.browser, found.unbuilt, found.disagreements) == (offline.version, (), ())
    assert (found.reads, found.unsupported) == (12, 0)
    assert found.elements > 500


@pytest.mark.thorough
def test_the_page_about_offline_pages_shows_what_is_so(
    browser_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("REPLAYKIT_BROWSER", str(browser_path))
    text = block("docs/offline-pages.md", "import replaykit").text
    asked = re.compile(r"^(    )(page\..*?)( +# (.*))?$", flags=re.M)
    said: list[Any] = []
    with ThreadPoolExecutor(1) as apart:  # as in a program of one's own: without the loop of other tests
        apart.submit(exec, asked.sub(r"\1said.append(\2)", text), {"said": said}).result()
    heading, _, cells, missing = said
    assert [comment[4] for comment in asked.finditer(text) if comment[3]] == [
        repr(heading), "a page recorded for the checks", f"{missing!r} = all was answered",
    ]  # fmt: skip
    assert cells
