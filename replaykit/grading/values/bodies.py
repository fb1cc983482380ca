"""Bodies of requests and responses as named fields: forms, JSON objects, multipart."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs

_BOUNDARY = re.compile(r"boundary=([^;\s]+)")
_NAME = re.compile(r'name="([^"]+)"')
_BLANK_LINE = re.compile(r"\r?\n\r?\n")


def body_fields(media_type: str, text: str) -> dict[str, Any] | None:
    """Return the fields of a body, the first value of each; None where it has none."""
    if not text:
        return None
    if "application/x-www-form-urlencoded" in media_type:
        return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True).items()}
    if "application/json" in media_type:
        found = json_value(text)
        return found if isinstance(found, dict) else None
    boundary = _BOUNDARY.search(media_type) if "multipart/form-data" in media_type else None
    return _parts(text, boundary[1]) if boundary else None


def read_fields(media_type: str, text: str) -> dict[str, Any] | None:
    """Return the fields of a body by what it holds where its type does not say: JSON sent as text, say."""
    bare = text.strip()
    found = json_value(text) if bare.startswith("{") and bare.endswith("}") else None
    if isinstance(found, dict):
        return found
    if bare.startswith("--") and "boundary=" not in media_type and media_type.startswith("multipart/"):
        media_type = f"multipart/form-data; boundary={bare.split(maxsplit=1)[0][2:]}"
    return body_fields(media_type, text)


def json_value(text: str) -> Any:
    """Return what a text says as JSON; None where it says nothing."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def with_decoded_texts(value: Any) -> Any:
    """Return a value whose fields that are JSON written as text are decoded, one level."""
    if isinstance(value, dict):
        return {
            name: _decoded(part) if isinstance(part, str) else with_decoded_texts(part)
            for name, part in value.items()
        }
    return [with_decoded_texts(part) for part in value] if isinstance(value, list) else value


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _parts(text: str, boundary: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split(f"--{boundary}"):
        pieces = _BLANK_LINE.split(part.strip(), maxsplit=1)
        if len(pieces) < 2:
            continue
        head = (line for line in pieces[0].splitlines() if line.lower().startswith("content-disposition:"))
        name = _NAME.search(next(head, ""))
        if name:
            found[name[1]] = pieces[1].rstrip("\r\n")
    return found
