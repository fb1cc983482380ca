"""Schemas of values in task files (JSON Schema: `type`, `format`, `items`, `properties`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEPTH_MAX = 64
"""Schemas inside of schemas."""


def require_schema(schema: Any, name: str) -> None:
    """Raise ValueError with the place in it that is no schema."""
    place = _fault(schema, name, 0)
    if place is not None:
        raise ValueError(
            f"`{place}` has to be a schema: an object, whose `properties` is an object of schemas"
        )


def _fault(schema: Any, place: str, depth: int) -> str | None:
    if not isinstance(schema, Mapping) or depth > DEPTH_MAX:
        return place
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        return f"{place}.properties"
    inner = {f"{place}.properties.{name}": one for name, one in properties.items()}
    if "items" in schema:
        inner[f"{place}.items"] = schema["items"]
    faults = (_fault(one, where, depth + 1) for where, one in inner.items())
    return next((found for found in faults if found is not None), None)
