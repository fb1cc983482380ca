"""Misspelt fields of records of benchmarks."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.errors import TaskError
from replaykit.tasks.benchmarks.record_faults import record_faults
from replaykit.tasks.benchmarks.stwebagentbench import read_stwebagentbench
from replaykit.tasks.benchmarks.webarena import read_webarena

TARGET = {"url": "last", "locator": "", "required_contents": {"must_include": ["x"]}}


def record(**rules: Any) -> dict[str, Any]:
    eval_ = {"eval_types": ["string_match"], "reference_answers": {"must_include": ["x"]}, **rules}
    return {"task_id": 1, "intent": "Try it.", "start_url": "http://h.test/", "eval": eval_}


@pytest.mark.parametrize(
    ("rules", "path", "near"),
    [
        (
            {"reference_answers": {"must_include": ["x"], "must_exclud": ["y"]}},
            ".reference_answers.must_exclud",
            "must_exclude",
        ),
        ({"refrence_url": "http://h.test/a"}, ".refrence_url", "reference_url"),
        ({"program_html": [{**TARGET, "prep_action": []}]}, ".program_html[0].prep_action", "prep_actions"),
        (
            {"program_html": [{**TARGET, "required_contents": {"must_include": ["x"], "exact_mach": "y"}}]},
            ".program_html[0].required_contents.exact_mach",
            "exact_match",
        ),
    ],
)
def test_a_misspelt_field_is_named(rules: dict[str, Any], path: str, near: str) -> None:
    (found,) = record_faults(read_webarena([record(**rules)], "f.json"))
    assert (found.path, found.message) == (f"$.eval{path}", f"unknown field; did you mean {near}?")


@pytest.mark.parametrize(
    "rules", [{}, {"reference_answer_raw_annotation": "x", "owner": "ada"}, {"program_html": [TARGET]}]
)
def test_other_fields_are_kept(rules: dict[str, Any]) -> None:
    assert record_faults(read_webarena([record(**rules)], "f.json")) == []


def test_an_unknown_rule_for_urls_is_refused() -> None:
    rules = {"eval_types": ["url_match"], "reference_url": "http://h.test/a"}
    for note in ("GOLD in PRED", "EXACT", "", None):
        assert read_webarena([record(**rules, url_note=note)], "f.json")
    with pytest.raises(TaskError, match="no rule 'exact'; there are GOLD in PRED, EXACT"):
        read_webarena([record(**rules, url_note="exact")], "f.json")


def test_image_queries_that_are_missing_are_named() -> None:
    task = read_webarena([record(eval_types=["page_image_query"])], "f.json")
    assert [one.path for one in record_faults(task)] == ["$.eval.page_image_query"]
    there = read_webarena(
        [record(eval_types=["page_image_query"], page_image_query=[{"eval_vqa": []}])], "f.json"
    )
    assert record_faults(there) == []


@pytest.mark.parametrize(
    ("rules", "path", "is_error"),
    [
        (None, "$.policies[0]", False),
        ({"eval_types": ["ask_user"]}, "$.policies[0].eval.eval_types[0]", True),
        ({"eval_types": ["is_ask_the_user"], "program_html": []}, None, False),
    ],
)
def test_policies_of_st_webagentbench_that_are_not_graded_are_named(
    rules: Any, path: str | None, is_error: bool
) -> None:
    policy = {
        "policy_category": "user_consent",
        "source": "user",
        "policy_template_id": "ask",
        "description": "Ask.",
    }
    policy |= {} if rules is None else {"eval": rules}
    found = record_faults(read_stwebagentbench([{**record(), "policies": [policy]}], "f.json"))
    assert [(one.path, one.is_error) for one in found] == ([] if path is None else [(path, is_error)])
