"""A verdict in JSON: one value of the last object of a reply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from replaykit.grading.judges.replies.verdict_token import (
    REPLY_MAX,
    Parsed,
    abstain,
    silent,
    unfinished,
    verdict,
)
from replaykit.tasks.judge_settings import JsonParser, Texts

STARTS_MAX = 200
"""Opening braces that are tried: each failed try may read the rest of the reply."""


def json_verdict(text: str, stop_reason: str, parser: JsonParser) -> Parsed:
    """Read the value that a JSON pointer names in the last JSON object of a reply."""
    stopped = unfinished(stop_reason)
    if stopped is not None:
        return stopped
    documents = list(_documents(text[-REPLY_MAX:]))
    if not documents:
        return silent(text)
    return _named(_word(_resolve(documents[-1], parser.pointer)), parser)


def _named(said: str | None, parser: JsonParser) -> Parsed:
    is_success, is_failure = said in _words(parser.success), said in _words(parser.failure)
    return abstain("unknown_token") if is_success is is_failure else verdict(is_success)


def _documents(text: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(), 0
    for _ in range(STARTS_MAX):
        start = text.find("{", at)
        if start < 0:
            return
        try:
            document, at = decoder.raw_decode(text, start)
            yield document
        except (ValueError, RecursionError):
            at = start + 1


def _resolve(document: Any, pointer: str) -> Any:
    """Return the value that a pointer names (RFC 6901); None where there is none."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list) and name.isdecimal() and int(name) < len(document):
            document = document[int(name)]
        else:
            document = document.get(name) if isinstance(document, dict) else None
    return document


def _word(value: Any) -> str | None:
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return value.strip().casefold() if isinstance(value, str) else None


def _words(texts: Texts) -> frozenset[str]:
    listed = (texts,) if isinstance(texts, str) else texts
    return frozenset(text.strip().casefold() for text in listed)
