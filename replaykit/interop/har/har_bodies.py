"""Bodies in entries of HAR: what was kept, what there never was, and what was there and is not in the file.

A file without the text of a body does not show it. Writers give 0 for a size that they do not know, and an
empty text for a body that they left out: the headers that went over the wire decide.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, NamedTuple
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

_BOM = 3
"""Bytes that a writer may take off a text without losing any of it."""

_LOST = "�"
"""Stands for bytes that are no text, where a writer gave them as text."""


class SentBody(NamedTuple):
    """The body of a request, None without one. `size`: bytes sent, if it holds fewer of them."""

    blob: Blob | None
    size: int | None = None


def post_of(run: Run, method: str, request: Mapping[str, Any]) -> SentBody:
    """Return the body of a request."""
    data, sent = part(request, "postData"), _sent_size(method, request)
    file = _file(data)
    if file is not None:
        return SentBody(_put_file(run, data, file))
    payload = _decoded(data)
    if payload:
        return _sent_text(run, data, payload, request)
    form = _form(data)
    if form is not None:
        return SentBody(run.put(FORM, form))
    if isinstance(data.get("text"), str) and data["text"]:
        return SentBody(Omitted(why="failed", n=sent))
    if sent == 0 and not data.get("params"):
        return SentBody(None if payload is None else run.put(_kind(data), b""))
    return SentBody(Omitted(why="off", n=sent))


def _sent_text(run: Run, data: Mapping[str, Any], payload: bytes, request: Mapping[str, Any]) -> SentBody:
    """Keep a body that is given as text; a text that is less than what was sent is no whole body."""
    length = _length(request)
    known = size(request.get("bodySize")) if length is None else length
    is_coded = _header(request, "content-encoding") not in (None, "", "identity")
    is_lossy = _LOST.encode() in payload and known != len(payload)
    if is_lossy or (known is not None and len(payload) < known and not is_coded):
        return _part_of_form(run, data, payload, known)
    if data.get("comment") and length is None:
        return SentBody(Omitted(why="off"))  # a remark of Firefox: it left out the body, or the end of it
    return SentBody(run.put(_kind(data), payload))


def _part_of_form(run: Run, data: Mapping[str, Any], payload: bytes, known: int | None) -> SentBody:
    """Keep what is text of a body of several parts: its fields are readable without the files in it."""
    if not _kind(data).startswith("multipart/"):
        return SentBody(Omitted(why="cap", n=known))
    kept = payload.replace(_LOST.encode(), b"")
    return SentBody(run.put(_kind(data), kept), max(known or 0, len(payload)))


def _sent_size(method: str, request: Mapping[str, Any]) -> int | None:
    """Return the size of a request's body: 0 only if it had none, None if that is not known."""
    length, stated = _length(request), size(request.get("bodySize"))
    if length is not None or stated:
        return max(length or 0, stated or 0)
    if method.upper() not in _WRITES:
        return None if _header(request, "transfer-encoding") else 0
    # Over HTTP/1 a body has a length or an encoding; lists that were made before sending lack both.
    is_sent = bool(_header(request, "host")) and not _header(request, "transfer-encoding")
    return 0 if is_sent and stated == 0 else None


def body_of(run: Run, method: str, response: Mapping[str, Any]) -> Blob | None:
    """Return the body of a response; None where it had none, or where there was no response."""
    content, status = part(response, "content"), status_of(response.get("status"))
    if (file := _file(content)) is not None:
        return _put_file(run, content, file)
    is_redirect = status is not None and 300 <= status < 400 and bool(response.get("redirectURL"))
    cannot = method.upper() == "HEAD" or is_redirect or status is None or status < 200 or status in _BARE
    payload, due = _decoded(content), None if cannot else _length(response)
    if isinstance(content.get("text"), str):
        if payload == b"" and not cannot and _header(response, "transfer-encoding") == "chunked":
            return Omitted(why="off")  # a response without a body needs no encoding for it
        return _received_text(run, content, payload, due)
    found = [one for one in (size(content.get("size"), response.get("bodySize")), due) if one is not None]
    return None if cannot or (found and not any(found)) else Omitted(why="off", n=max(found, default=None))


def _received_text(run: Run, content: Mapping[str, Any], payload: bytes | None, due: int | None) -> Blob:
    """Keep a body that is given as text, unless it is less than what its writer says it is."""
    stated = size(content.get("size"))
    if payload is None:
        return Omitted(why="failed", n=stated)
    # Text in UTF-16 is shorter in UTF-8.
    is_wide = "utf-16" in str(content.get("mimeType")).lower()
    is_torn = stated is not None and len(payload) + _BOM < stated and not is_wide
    is_left_out = not payload and bool(due)
    return Omitted(why="cap", n=stated or due) if is_torn or is_left_out else run.put(_kind(content), payload)


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


def _kind(content: Mapping[str, Any]) -> str:
    return media_type(content.get("mimeType")) or OCTETS


def _header(message: Mapping[str, Any], name: str) -> str | None:
    """Return the last header of a name, lower-case; None if absent."""
    found = message.get("headers")
    pairs = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    values = [str(one.get("value")) for one in pairs if str(one.get("name")).lower() == name]
    return values[-1].strip().lower() if values else None


def _length(message: Mapping[str, Any]) -> int | None:
    """Return the `Content-Length` of a message."""
    value = _header(message, "content-length")
    is_number = value is not None and value.isascii() and value.isdigit() and len(value) < 16
    return int(value) if value is not None and is_number else None


def _put_file(run: Run, content: Mapping[str, Any], file: str) -> Blob:
    if file in run.source:
        return run.put_file(_kind(content), file)
    # A body that is named and cannot be read was there all the same.
    return Omitted(why="failed", n=size(content.get("size")))


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
