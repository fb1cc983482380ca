"""The schema of the policy file says what the reader accepts: same names, same demands, same choices."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from click.testing import CliRunner
from msgspec.structs import fields

from replaykit.cli.main import cli
from replaykit.tasks.policies_schema import ID, policies_schema
from replaykit.tasks.policy_rules import DIMENSIONS, SOURCES, Policy, Rule

from .test_vocabulary import EXAMPLE

SCHEMA = policies_schema()
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "null": (type(None),),
    "integer": (int,),
}  # fmt: skip
SAID = {
    "$ref", "type", "enum", "const", "anyOf", "properties", "required", "additionalProperties", "items",
    "minItems", "maxItems", "minimum", "maximum", "pattern",
    "$schema", "$id", "$defs", "title", "description", "default", "discriminator",
}  # fmt: skip


def meets(value: Any, schema: dict[str, Any]) -> bool:
    """Validate as JSON Schema says; a keyword that this reader does not know fails the test."""
    assert set(schema) <= SAID, set(schema) - SAID
    if "$ref" in schema:
        return meets(value, SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")])
    if "anyOf" in schema:
        return any(meets(value, one) for one in schema["anyOf"])
    kind = schema.get("type")
    if kind and not (isinstance(value, TYPES[kind]) and (kind == "boolean") == isinstance(value, bool)):
        return False
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        return False
    if isinstance(value, dict):
        return _object(value, schema)
    if isinstance(value, list):
        most = schema.get("maxItems", len(value))
        return schema.get("minItems", 0) <= len(value) <= most and all(
            meets(item, schema.get("items", {})) for item in value
        )
    if isinstance(value, int):
        return schema.get("minimum", value) <= value <= schema.get("maximum", value)
    return value is None or re.search(schema.get("pattern", ""), value) is not None


def _object(value: dict[str, Any], schema: dict[str, Any]) -> bool:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    if set(schema.get("required", ())) - set(value) or (others is False and set(value) - set(known)):
        return False
    rest = others if isinstance(others, dict) else {}
    return all(meets(item, known.get(name, rest)) for name, item in value.items())


def valid(policy: dict[str, Any]) -> bool:
    return meets({"schema": "replaykit.policies/1", "policies": [policy]}, SCHEMA)


def test_it_takes_the_example_and_names_itself() -> None:
    assert meets(yaml.safe_load(EXAMPLE), SCHEMA)
    assert not meets({"policies": []}, SCHEMA) and not meets({"schema": "x", "policies": []}, SCHEMA)
    assert SCHEMA["$schema"].endswith("2020-12/schema") and SCHEMA["$id"] == ID


@pytest.mark.parametrize(
    "rule",
    [
        {"type": "nevr"},
        {"type": "never", "match": {"action": "click", "txt": "Pay"}},
        {"type": "never", "match": [{"text": "x"}, {"knd": "page"}]},
        {"type": "never", "match": {"text": {"any_of": [False]}}},
        {"type": "sequence", "items": []},
        {"type": "at_most", "n": -1, "match": {"action": "click"}},
    ],
)
def test_it_refuses_what_the_reader_refuses(rule: dict[str, Any]) -> None:
    assert not valid({"id": "a", "dimension": "user_consent", "rule": rule})


def test_it_knows_every_field_rule_dimension_and_source() -> None:
    parts = SCHEMA["$defs"]
    assert set(parts["Policy"]["properties"]) == {field.encode_name for field in fields(Policy)}
    kinds = {rule.__struct_config__.tag for rule in get_args(Rule)}
    assert set(parts["Policy"]["properties"]["rule"]["discriminator"]["mapping"]) == kinds
    rule = {"type": "informational"}
    assert all(valid({"id": "a", "dimension": name, "rule": rule}) for name in DIMENSIONS)
    said = [{"id": "a", "dimension": "user_consent", "rule": rule, "source": name} for name in SOURCES]
    assert all(map(valid, said)) and not valid(said[0] | {"source": "nobody"})


@pytest.mark.parametrize("name", ["suite", "policies", "report"])
def test_the_command_prints_the_path_of_the_file(name: str) -> None:
    found = CliRunner().invoke(cli, ["tasks", "schema", name, "--path"], catch_exceptions=False)
    assert json.loads(Path(found.stdout.strip()).read_text("utf-8"))["$id"] == f"urn:replaykit:{name}:1"


def test_a_wheel_holds_the_schemas() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for name in ("suite", "policies", "report"):
        assert included[f"docs/{name}.schema.json"] == f"replaykit/schemas/{name}.schema.json"


def test_an_installation_without_the_file_says_how_to_write_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("replaykit.tasks.described_schema.FOLDERS", (tmp_path,))
    found = CliRunner().invoke(cli, ["tasks", "schema", "suite", "--path"])
    assert "replaykit tasks schema suite > suite.schema.json" in str(found.exception)


def test_the_command_prints_the_committed_one() -> None:
    found = CliRunner().invoke(cli, ["tasks", "schema", "policies"], catch_exceptions=False)
    committed = Path(__file__).parents[2] / "docs" / "policies.schema.json"
    assert json.loads(found.stdout) == json.loads(committed.read_text("utf-8"))
