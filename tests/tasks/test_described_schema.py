"""Every property of every schema says what it means, in the words below its field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from replaykit.report.json_report import report_schema
from replaykit.tasks.described_schema import components
from replaykit.tasks.policies_schema import policies_schema
from replaykit.tasks.suite import suite_schema


def properties(schema: Any, at: str = "$") -> Iterator[tuple[str, Any]]:
    """Yield the place and the schema of each property, however deep."""
    if isinstance(schema, dict):
        for name, one in schema.get("properties", {}).items():
            yield f"{at}.{name}", one
    parts = (
        schema.items() if isinstance(schema, dict) else enumerate(schema) if isinstance(schema, list) else ()
    )
    for name, one in parts:
        yield from properties(one, f"{at}.{name}")


@pytest.mark.parametrize("made", [suite_schema, policies_schema, report_schema])
def test_no_property_is_without_a_description(made: Callable[[], dict[str, Any]]) -> None:
    found = list(properties(made()))
    assert len(found) > 100
    assert [place for place, one in found if len(one.get("description", "")) < 5] == []


@pytest.mark.parametrize("made", [suite_schema, policies_schema, report_schema])
def test_a_schema_has_a_title_and_an_id(made: Callable[[], dict[str, Any]]) -> None:
    schema = made()
    assert schema["title"].startswith("replaykit ")
    assert schema["$id"].startswith("urn:replaykit:")


class Base(msgspec.Struct, tag_field="type"):
    """A base."""

    inherited: int = 0
    """From the base."""


class Leaf(Base, tag="leaf"):
    """A leaf."""

    renamed: int = msgspec.field(name="as", default=0)
    """In two
    lines."""
    bare: int = 0


def test_words_are_found_below_fields_of_bases_and_under_the_names_of_files() -> None:
    _, parts = components(Leaf)
    said = {name: one.get("description") for name, one in parts["Leaf"]["properties"].items()}
    assert said == {
        "type": "Always `leaf`, which selects this form.",
        "inherited": "From the base.",
        "as": "In two lines.",
        "bare": None,
    }
