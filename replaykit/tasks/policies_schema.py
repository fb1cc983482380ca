"""JSON Schema of the policy file, for editors and for other languages."""

from __future__ import annotations

from typing import Any

import msgspec

from replaykit.tasks.suite import PolicyFile

ID = "urn:replaykit:policies:1"
"""`$id` of the schema: its `schema` field as a URN."""


def policies_schema() -> dict[str, Any]:
    """Return the JSON Schema of the policy file.

    It sees the shape; what a schema cannot see is found by `replaykit.tasks.policy_faults`.
    """
    (file,), parts = msgspec.json.schema_components([PolicyFile], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        **file,
        "$defs": parts,
    }
