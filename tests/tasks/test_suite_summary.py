"""Contents of a task file, and its faults."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.tasks.checks import Expect, HtmlTarget, PageCheck, ProgramHtml, StringMatch, UrlMatch
from replaykit.tasks.faults.check_faults import check_faults
from replaykit.tasks.suite import load_tasks
from replaykit.tasks.suite_summary import locator_class, sample, summarize_tasks
from replaykit.tasks.task import Task

SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", Path(__file__).parents[2] / "../shared/data"))


def task(number: int, *checks: object, **fields: object) -> Task:
    return Task(id=str(number), intent="Do it.", checks=checks, **fields)  # type: ignore[arg-type]


def public(name: str) -> list[Task]:
    file = SHARED / name
    if not file.exists():
        pytest.skip(f"public data is not here: {file}")
    return load_tasks(file)


@pytest.mark.parametrize(
    ("locator", "kind"),
    [
        ("", "source"),
        (" ", "source"),
        ("document.title", "script"),
        ("lambda:(() => { return document.title })()", "script"),
        ("//input[1]", "path"),
        ("func:get_query_text(__page__, 'p')", "page_call"),
        ("func:shopping_get_sku_latest_review_author('B0')", "api_call"),
        ("document.cookie", "unsupported"),
        ("//input[", "unsupported"),
    ],
)
def test_locators(locator: str, kind: str) -> None:
    assert locator_class(locator) == kind


def test_counts() -> None:
    html = ProgramHtml(
        targets=(HtmlTarget(exact_match="x"), HtmlTarget(url="http://s.test/a", exact_match="x"))
    )
    found = summarize_tasks([
        task(1, StringMatch(exact="x", must_include=("y",)), UrlMatch(url="http://s.test/")),
        task(2, StringMatch(fuzzy="z"), sites=("shop",)),
        task(3, html),
        task(4),
    ])  # fmt: skip
    assert found.tasks == 4
    assert found.kinds == {"none": 1, "program_html": 1, "string_match": 1, "string_match+url_match": 1}
    assert found.references == {"exact": 1, "fuzzy": 1, "must_include": 1}
    assert found.targets == {"fixed": 1, "last": 1}
    assert found.needs == {"answer and final page only": 1, "model": 1}
    assert found.sites == {"shop": 1}


def test_the_counts_of_webarena() -> None:
    found = summarize_tasks(public("webarena/test.raw.json"))
    assert found.checks == {"program_html": 411, "string_match": 335, "url_match": 205}
    assert found.needs == {"answer and final page only": 387, "model": 118, "api": 15}
    assert found.locators == {"script": 524, "source": 105, "page_call": 12, "api_call": 10}
    assert found.targets["fixed"] == 338


@pytest.mark.parametrize(
    "name",
    ["webarena/test.raw.json", "st-webagentbench/test.raw.json", "webarena-verified/webarena-verified.json"],
)
def test_public_files_have_no_faults(name: str) -> None:
    assert check_faults(public(name)) == []


def test_faults_name_their_place() -> None:
    page = PageCheck(locator="document.cookie", expect=Expect(regex="^(a+)+$"))
    html = ProgramHtml(targets=(HtmlTarget(), HtmlTarget(locator="document.title", must_include=("",))))
    found = check_faults([
        task(1, StringMatch(must_include=("a", " ")), UrlMatch(url=""), UrlMatch(url="[", path="regex")),
        task(2, page, html, start_urls=("__NOWHERE__/x",)),
    ])  # fmt: skip
    assert [(fault.task, fault.path, fault.is_error) for fault in found] == [
        ("1", "$.checks[0].must_include[1]", True),
        ("1", "$.checks[1].url[0]", True),
        ("1", "$.checks[2].url[0]", True),
        ("2", "$.checks[0].locator", False),
        ("2", "$.checks[0].expect.regex", True),
        ("2", "$.checks[1].targets[0]", True),
        ("2", "$.checks[1].targets[1]", True),
        ("2", "$", True),
    ]
    answer = StringMatch(exact="x")
    assert check_faults([task(3, answer, start_urls=("__SHOP__/x",))], ["shop"]) == []


TASKS = [task(number, metadata={"level": number % 3}) for number in range(30)]


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    first = [one.id for one in sample(TASKS, 2, 42, "level")]
    assert first == [one.id for one in sample(list(reversed(TASKS)), 2, 42, "level")][::-1]
    assert len(first) == 6
    assert first != [one.id for one in sample(TASKS, 2, 43, "level")]
    assert {one.metadata["level"] for one in sample(TASKS, 1, 1, "level")} == {0, 1, 2}


@given(st.integers(0, 29), st.integers(1, 30), st.integers())
def test_taking_a_task_away_moves_no_other_in(missing: int, count: int, seed: int) -> None:
    before = {one.id for one in sample(TASKS, count, seed)}
    after = {one.id for one in sample([one for one in TASKS if one.id != str(missing)], count, seed)}
    assert len(after - before) <= 1
    assert before - after <= {str(missing)}
