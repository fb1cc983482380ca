"""Misspelt fields of records of benchmarks."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.tasks.benchmarks.record_faults import record_faults
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
