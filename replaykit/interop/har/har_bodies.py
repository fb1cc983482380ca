"""Bodies in entries of HAR: what was kept, what there never was, and what was there and is not in the file.

A file without the text of a body does not show it: only sizes of 0, and responses that cannot have one, do.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from replaykit.bundle.bundle_format import is_media_type
from replaykit.interop.imported_run import Run
from replaykit.trajectory.scalars import INT_MAX, Blob, Omitted

OCTETS = "application/octet-stream"
"""Media type of a body without one."""

FORM = "application/x-www-form-urlencoded"
"""Media type of forms, which some tools give as names and values."""

_WRITES = ("POST", "PUT", "PATCH")
"""Methods whose requests have a body, unless it is stated that they have none."""

_BARE = (204, 205)
"""Statuses of responses without a body."""


def post_of(run: Run, method: str, request: Mapping[str, Any]) -> Blob | None:
    """Return the body of a request; None where it had none."""
    data = part(request, "postData")
    kept = _kept(run, data, media_type(data.get("mimeType")) or OCTETS)
    if kept is not None:
        return kept
    form = _form(data)
    if form is not None:
        return run.put(FORM, form)
    found = size(request.get("bodySize"))
    is_bare = found == 0 or (found is None and method.upper() not in _WRITES)
    return None if is_bare and not data.get("params") else Omitted(why="off", n=found)


def body_of(run: Run, method: str, response: Mapping[str, Any]) -> Blob | None:
    """Return the body of a response; None where it had none, or where there was no response."""
    content, status = part(response, "content"), status_of(response.get("status"))
    kept = _kept(run, content, media_type(content.get("mimeType")) or OCTETS)
    if kept is not None:
        return kept
    found = size(content.get("size"), response.get("bodySize"))
    is_redirect = status is not None and 300 <= status < 400 and bool(response.get("redirectURL"))
    cannot = method.upper() == "HEAD" or is_redirect or status is None or status < 200 or status in _BARE
    return None if cannot or found == 0 else Omitted(why="off", n=found)


def part(of: Any, name: str) -> dict[str, Any]:
    """Return an object inside of an object; empty if absent."""
    found = of.get(name) if isinstance(of, dict) else None
    return found if isinstance(found, dict) else {}


def size(*values: Any) -> int | None:
    """Return the first number of bytes that is one; tools write -1 for what they do not know."""
    sizes = (v for v in values if isinstance(v, int) and not isinstance(v, bool) and 0 <= v <= INT_MAX)
    return next(sizes, None)


def status_of(value: Any) -> int | None:
    """Return an HTTP status; None for 0, -1 and null, which stand for no response.

    Some tools write it as `200.0` or `"200"`.
    """
    # Some tools write numbers as text.
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
        value = int(value)
    is_status = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
    return int(value) if is_status and 0 < value < 1000 else None


def media_type(stated: Any) -> str | None:
    """Return a media type without its parameters."""
    kind = stated.partition(";")[0].strip().lower() if isinstance(stated, str) else ""
    return kind if kind and is_media_type(kind) else None


def _kept(run: Run, content: Mapping[str, Any], kind: str) -> Blob | None:
    file = _file(content)
    if file is not None and file in run.source:
        return run.put_file(kind, file)
    payload = _decoded(content) if file is None else None
    if payload is not None:
        return run.put(kind, payload)
    # A body that is named and cannot be read was there all the same.
    is_lost = file is not None or isinstance(content.get("text"), str)
    return Omitted(why="failed", n=size(content.get("size"))) if is_lost else None


def _file(content: Mapping[str, Any]) -> str | None:
    name, digest = content.get("_file"), content.get("_sha1")
    if isinstance(name, str):
        return name.replace("\\", "/")  # written with Windows
    return f"resources/{digest}" if isinstance(digest, str) else None


def _decoded(content: Mapping[str, Any]) -> bytes | None:
    text, encoding = content.get("text"), content.get("encoding")
    if not isinstance(text, str):
        return None
    if not isinstance(encoding, str) or encoding.lower() != "base64":
        # JSON can spell half of a surrogate pair, and no bytes stand for it.
        return text.encode("utf-8", "replace")
    try:
        # Some writers break base64 into lines.
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def _form(data: Mapping[str, Any]) -> bytes | None:
    """Return a form as it was sent, where it is given by names and values; None for anything else."""
    params = data.get("params")
    if media_type(data.get("mimeType")) != FORM or not isinstance(params, list) or not params:
        return None
    found = [(one.get("name"), one.get("value", "")) for one in params if isinstance(one, dict)]
    pairs = [(name, value) for name, value in found if isinstance(name, str) and isinstance(value, str)]
    # A form with a part missing would be another request.
    return urlencode(pairs).encode() if len(pairs) == len(params) else None
