import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from replaykit.errors import TaskError
from replaykit.tasks.benchmarks.webarena import read_webarena
from replaykit.tasks.checks import ProgramHtml, StringMatch, UrlMatch, plan
from replaykit.tasks.task import Task, fill_task

SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", Path(__file__).parents[2] / "../shared/data"))
PUBLIC = SHARED / "webarena" / "test.raw.json"


def record(**rules: Any) -> dict[str, Any]:
    return {
        "task_id": 7,
        "intent": "Buy tea",
        "start_url": "__SHOPPING__/tea |AND| __SHOPPING__/cups",
        "sites": ["shopping"],
        "intent_template_id": 12,
        "geolocation": None,
        "eval": {"reference_answers": None, "reference_url": "", "program_html": [], **rules},
    }


def one(**rules: Any) -> Task:
    return read_webarena([record(**rules)], "tasks.json")[0]


def test_reads_answers() -> None:
    task = one(
        eval_types=["string_match"],
        reference_answers={"must_include": ["4", "a |OR| b"], "fuzzy_match": "N/A"},
        string_note="not sold",
        reference_answer_raw_annotation="four",
    )
    assert task.checks == (StringMatch(must_include=("4", "a |OR| b"), fuzzy="N/A", note="not sold"),)
    assert (task.id, task.reference, task.dialect, task.metadata) == (
        "7",
        "four",
        "webarena",
        {"template": 12},
    )


def test_reads_tabs_and_keeps_placeholders_until_filled() -> None:
    task = one(eval_types=["url_match"], reference_url="__SHOPPING__/cart")
    assert task.start_urls == ("__SHOPPING__/tea", "__SHOPPING__/cups")
    filled = fill_task(task, {"shopping": ["http://s.test/"]})
    assert filled.checks == (UrlMatch(url="http://s.test/cart", path="prefix"),)
    assert filled.start_urls == ("http://s.test/tea", "http://s.test/cups")


@pytest.mark.parametrize(
    ("fields", "check"),
    [
        ({}, UrlMatch(url="http://s.test/a", path="prefix")),
        ({"url_note": "GOLD in PRED"}, UrlMatch(url="http://s.test/a", path="prefix")),
        ({"url_note": "EXACT"}, UrlMatch(url="http://s.test/a", query="exact", fragment="exact")),
    ],
)
def test_the_note_says_how_a_url_is_compared(fields: dict[str, str], check: UrlMatch) -> None:
    assert one(eval_types=["url_match"], reference_url="http://s.test/a", **fields).checks == (check,)


def test_visualwebarena_wants_the_same_url_where_nothing_is_noted() -> None:
    written = {**record(eval_types=["url_match"], reference_url="http://s.test/a"), "image": None}
    (task,) = read_webarena([written], "tasks.json")
    assert task.checks == (UrlMatch(url="http://s.test/a", query="exact", fragment="exact"),)


def test_keeps_the_record_verbatim() -> None:
    written = record(eval_types=["url_match"], reference_url="__SHOPPING__/cart", url_note="GOLD in PRED")
    assert read_webarena([written], "tasks.json")[0].source_record == written


def test_reads_page_targets_in_order() -> None:
    targets = [
        {"url": "last", "locator": "", "required_contents": {"must_include": ["x"]}},
        {
            "url": "__SHOPPING__/a",
            "locator": "document.querySelector('p').outerText",
            "required_contents": {"exact_match": ""},
            "prep_actions": ["document.forms[0].reset()"],
        },
    ]
    checks = one(eval_types=["url_match", "program_html"], program_html=targets).checks
    assert isinstance(checks[1], ProgramHtml)
    first, second = checks[1].targets
    assert (first.url, first.locator, first.must_include, first.exact_match) == ("last", "", ("x",), None)
    assert (second.exact_match, second.prep_actions) == ("", ("document.forms[0].reset()",))


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ({"eval_types": ["no_such_query"]}, "$.eval.eval_types[0]"),
        ({"eval_types": ["string_match"], "reference_answers": {"must_include": "x"}}, "must_include"),
        ({"eval_types": "string_match"}, "$.eval.eval_types"),
        ({"eval_types": ["program_html"], "program_html": [{"url": "last"}]}, "$.eval.program_html[0]"),
    ],
)
def test_names_the_path_of_what_it_refuses(rules: dict[str, Any], path: str) -> None:
    with pytest.raises(TaskError) as caught:
        one(**rules)
    assert path in str(caught.value)
    assert "tasks.json#7" in str(caught.value)


@pytest.fixture(scope="module")
def public() -> list[Task]:
    if not PUBLIC.exists():
        pytest.skip(f"no public task file at {PUBLIC}: set REPLAYKIT_SHARED_DATA")
    return read_webarena(json.loads(PUBLIC.read_text(encoding="utf-8")), PUBLIC.name)


def targets_of(tasks: list[Task]) -> list[Any]:
    return [
        t for task in tasks for check in task.checks if isinstance(check, ProgramHtml) for t in check.targets
    ]


def test_public_file_has_the_published_counts(public: list[Task]) -> None:
    kinds = Counter(tuple(type(check).__name__ for check in task.checks) for task in public)
    assert kinds == {
        ("StringMatch",): 325,
        ("ProgramHtml",): 282,
        ("UrlMatch",): 66,
        ("UrlMatch", "ProgramHtml"): 129,
        ("StringMatch", "UrlMatch"): 10,
    }
    answers = [check for task in public for check in task.checks if isinstance(check, StringMatch)]
    references = Counter(
        tuple(name for name in ("must_include", "exact", "fuzzy") if getattr(check, name) != ())
        for check in answers
    )
    assert references == {
        ("must_include",): 172,
        ("fuzzy",): 114,
        ("exact",): 45,
        ("must_include", "fuzzy"): 4,
    }
    assert sum(not any(isinstance(c, StringMatch) and c.fuzzy for c in task.checks) for task in public) == 694
    assert [len(task.start_urls) for task in public if len(task.start_urls) > 1] == [3, 2, 2, 2, 2]


def test_public_targets_have_the_published_counts(public: list[Task]) -> None:
    targets = targets_of(public)
    assert len(targets) == 651
    urls = Counter(t.url.split("(")[0] if t.url.startswith("func:") else t.url == "last" for t in targets)
    assert urls == {
        True: 238,
        False: 338,
        "func:reddit_get_post_url": 65,
        "func:shopping_get_latest_order_url": 10,
    }
    assert Counter(t.exact_match is not None for t in targets) == {True: 188, False: 463}
    locators = Counter("func" if t.locator.startswith("func:") else bool(t.locator) for t in targets)
    assert locators == {True: 524, False: 105, "func": 22}


def test_public_tasks_give_a_plan_inside_their_sites(public: list[Task]) -> None:
    sites = {name: [f"http://{name}.test"] for name in ("shopping", "shopping_admin", "reddit", "gitlab")}
    pages = [page for task in public for page in plan(fill_task(task, sites).checks, sites).pages]
    assert pages
    assert all(page.url == "last" or ".test" in page.url for page in pages)
    requests = [http for task in public for http in plan(fill_task(task, sites).checks, sites).http]
    assert len(requests) == 10 + 5  # ten tasks ask for the newest order, five for reviews of a product
    assert all(http.url.startswith("http://shopping.test/rest/V1/") for http in requests)
