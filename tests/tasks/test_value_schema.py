"""Schemas of values: what is none is refused when the task is read, with its place."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import TaskError
from replaykit.tasks.benchmarks.webarena_verified import read_verified
from replaykit.tasks.network_checks import AgentResponse, NetworkMatch
from replaykit.tasks.value_schema import require_schema

VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["type", "format", "items", "properties", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ([], "s"),
        ({"items": []}, "s.items"),
        ({"items": None}, "s.items"),
        ({"properties": []}, "s.properties"),
        ({"properties": {"n": "x"}}, "s.properties.n"),
        ({"items": {"properties": {"n": {"items": 5}}}}, "s.items.properties.n.items"),
    ],
)
def test_the_place_is_named(schema: Any, place: str) -> None:
    with pytest.raises(ValueError, match=f"`{place}` has to be a schema"):
        require_schema(schema, "s")


@given(VALUES)
def test_what_is_let_through_can_be_walked(value: Any) -> None:
    try:
        require_schema(value, "s")
    except ValueError:
        return
    walk(value)


def walk(schema: Any) -> None:
    schema.get("type")
    if "items" in schema:
        walk(schema["items"])
    for one in schema.get("properties", {}).values():
        walk(one)


def test_endless_schemas_are_none() -> None:
    schema: dict[str, Any] = {}
    for _ in range(100):
        schema = {"items": schema}
    with pytest.raises(ValueError, match="has to be a schema"):
        require_schema(schema, "s")


def test_checks_look_at_theirs() -> None:
    response = {
        "type": "agent_response",
        "expected": {"task_type": "retrieve"},
        "results_schema": {"items": 1},
    }
    with pytest.raises(msgspec.ValidationError, match=r"results_schema\.items"):
        msgspec.json.decode(json.dumps(response), type=AgentResponse)
    request = {"type": "network", "expected": {"url": "http://s.test/"}, "post_data_schema": {"items": 1}}
    with pytest.raises(msgspec.ValidationError, match=r"post_data_schema\.items"):
        msgspec.json.decode(json.dumps(request), type=NetworkMatch)


def test_so_does_the_reader_of_webarena_verified() -> None:
    rules = {
        "evaluator": "AgentResponseEvaluator",
        "expected": {"task_type": "retrieve", "status": "SUCCESS"},
        "results_schema": {"items": "text"},
    }
    record = {
        "task_id": 3, "intent_template_id": 1, "sites": ["shopping"], "start_urls": ["__SHOPPING__"],
        "intent": "Say it.", "intent_template": "Say it.", "instantiation_dict": {}, "revision": 1,
        "eval": [rules],
    }  # fmt: skip
    with pytest.raises(TaskError, match=r"results_schema\.items") as caught:
        read_verified([record], "tasks.json")
    assert caught.value.fields["path"] == "$.eval[0]"
