"""JSON Schema of the policy file, for editors and for other languages."""

from __future__ import annotations

from typing import Any

from replaykit.tasks.described_schema import components, document
from replaykit.tasks.suite import PolicyFile

ID = "urn:replaykit:policies:1"
"""`$id` of the schema: its `schema` field as a URN."""


def policies_schema() -> dict[str, Any]:
    """Return the JSON Schema of the policy file.

    It sees the shape; what a schema cannot see is found by `replaykit.tasks.faults.policy_faults`.
    """
    (file,), parts = components(PolicyFile)
    return document("replaykit policies", ID, file, parts)
