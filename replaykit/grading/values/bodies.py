"""Bodies of requests and responses as named fields: forms, JSON objects, multipart."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs

from replaykit.charsets import codec_of
from replaykit.decoders import decode_as_python
from replaykit.form_texts import PageCodec, form_in_utf8, text_of
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.redaction_marks import UNREAD

_BOUNDARY = lazy_pattern(r"boundary=([^;\s]+)")
_NAME = lazy_pattern(r'name="([^"]+)"')
_BLANK_LINE = lazy_pattern(r"\r?\n\r?\n")


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
    """Return the fields of a body by what it holds where its type does not say: JSON sent as text, say.

    A body that is a list, or a line of JSON each, is the field `ROOT` only.
    """
    text = text.removeprefix("\ufeff")
    bare = text.strip()
    found = _in_json(bare) if bare[:1] in ("{", "[") else None
    if found is not None:
        return found if isinstance(found, dict) else {ROOT: found}
    kind = media_type.partition(";")[0].strip().lower()
    if bare.startswith("--") and kind.startswith("multipart/"):
        return _parts(text, bare.split(maxsplit=1)[0][2:])
    # The boundary in a type is case-sensitive.
    return body_fields(media_type.lower() if kind != "multipart/form-data" else media_type, text)


def _in_json(text: str) -> dict[str, Any] | list[Any] | None:
    """Read JSON, or a line of JSON each; None where it is neither."""
    found = json_value(text)
    if found is None and "\n" in text:
        lines = [json_value(line) for line in text.splitlines() if line.strip()]
        found = None if None in lines else lines
    return found if isinstance(found, dict | list) else None


def decoded(data: bytes, media_type: str, codec: PageCodec = lambda: None) -> str:
    """Return the text of a body in the charset that its type names, else in UTF-8, else in that of the pages.

    `UNREAD` stands for bytes that no known charset explains.
    """
    charset = _CHARSET.search(media_type)
    named = codec_of(charset[1]) if charset is not None else None
    text = text_of(data, codec) if named is None else data.decode(named, "replace").replace("\ufffd", UNREAD)
    is_form = "x-www-form-urlencoded" in media_type.lower()
    return form_in_utf8(text, codec if named in (None, "utf-8") else lambda: named) if is_form else text


ROOT = ""
"""Field that stands for a whole body that has no fields."""

_CHARSET = lazy_pattern(r"charset=[\"']?([\w-]+)", re.IGNORECASE)


def json_value(text: str) -> Any:
    """Return a text read as JSON; None where it is not JSON."""
    try:
        return decode_as_python(text)
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
        return decode_as_python(text)
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
