"""Fields of a body or of cookies that a task names, compared one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replaykit.grading.checks.requests.run_requests import Missing
from replaykit.grading.checks.requirement import Terms
from replaykit.grading.checks.structured_answer import compare_data
from replaykit.grading.peers.webarena_verified.normal_text import is_pattern
from replaykit.grading.values.bodies import ROOT, with_decoded_texts
from replaykit.grading.values.bounded_regex import full_match
from replaykit.grading.values.jsonpath import find
from replaykit.trajectory.redaction_marks import holds_mark, unknown_code


def fields_difference(
    wanted: Mapping[str, Any], found: Mapping[str, Any], schema: Mapping[str, Any], terms: Terms
) -> str | None:
    """Return the first field that differs from what is wanted; raises `Missing` for a hidden value."""
    types = schema.get("properties", {})
    for key, value in wanted.items():
        hits = _hits(key.strip(), found)
        if value is not None and holds_mark(hits):
            raise Missing(unknown_code(hits))
        kind = types.get(key, {})
        if kind.get("type") == "array":
            given = hits[0] if len(hits) == 1 and isinstance(hits[0], list) else hits
            if not compare_data(value, given, kind, terms.sites).matches:
                return key
        elif value is None:
            if any(hit is not None for hit in hits):
                return key
        elif not hits or not all(compare_data(value, hit, kind, terms.sites).matches for hit in hits):
            return key
    return None


def kinds_difference(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> str | None:
    """Return the first field that is a text on one side only: in JSON `"5"` is not 5."""
    for key, value in wanted.items():
        is_scalar = isinstance(value, str | int | float)
        if is_scalar and any(isinstance(hit, str) is not isinstance(value, str) for hit in _hits(key, found)):
            return key
    return None


def _hits(key: str, found: Mapping[str, Any]) -> list[Any]:
    """Return all values that a key names: a field, a JSONPath, an expression for fields."""
    pattern = key[2:] if key.startswith("$.^") and key.endswith("$") else key
    if is_pattern(pattern):
        return [value for name, value in found.items() if full_match(pattern, name)]
    if not key.startswith("$"):
        return [found[key]] if key in found else []
    whole = found[ROOT] if list(found) == [ROOT] else dict(found)
    return find(key, whole) or find(key, with_decoded_texts(whole))
