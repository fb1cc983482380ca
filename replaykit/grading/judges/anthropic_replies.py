"""What comes back from the Messages API: messages and errors as values of ours."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from replaykit.grading.request import ModelReply, ReplyFailure, Usage

_STATUS = {
    400: "bad_request", 401: "auth", 402: "spend_limit", 403: "auth", 404: "bad_request", 413: "too_large",
    422: "bad_request", 429: "rate_limited", 529: "overloaded",
}  # fmt: skip
_RETRYABLE = ("rate_limited", "overloaded", "server", "connection", "timeout")

WORDS_MAX = 500
"""Characters of a server's message that are kept."""


def reading(message: Any) -> ModelReply | ReplyFailure:
    """Return a message as a reply; `bad_response` for what is none, `server` for an error inside one."""
    stop, content = getattr(message, "stop_reason", None), getattr(message, "content", None)
    if not isinstance(stop, str) or not isinstance(content, list):
        what = type(message).__name__
        words = f"the server did not answer with a message but with a {what} without stop reason or content"
        return ReplyFailure(kind="bad_response", message=words)
    text = "".join(_texts(content))
    if stop == "error":
        words = f"an error inside a message: {text[:WORDS_MAX]}"
        return ReplyFailure(kind="server", message=words, retryable=True)
    return ModelReply(
        text=text,
        stop_reason=stop,
        stop_detail=_detail(getattr(message, "stop_details", None)),
        model=str(getattr(message, "model", "") or ""),
        usage=_usage(getattr(message, "usage", None)),
        origin="live",
    )


def failure(error: Exception) -> ReplyFailure:
    """Return what an exception of the SDK, or of the HTTP layer under it, means."""
    status = getattr(error, "status_code", None)
    kind = _kind(error, status if isinstance(status, int) else None)
    return ReplyFailure(
        kind=kind,
        status=status if isinstance(status, int) else None,
        message=_words(error),
        request_id=getattr(error, "request_id", None),
        retryable=kind in _RETRYABLE,
    )


def _kind(error: Exception, status: int | None) -> str:
    names = {base.__name__ for base in type(error).__mro__}
    if "APIResponseValidationError" in names or isinstance(error, json.JSONDecodeError):
        return "bad_response"
    if status is not None:
        return _of_status(error, status)
    if "APITimeoutError" in names or "TimeoutException" in names:
        return "timeout"
    if names & {"APIConnectionError", "TransportError", "HTTPError", "HTTPStatusError"}:
        return "connection"
    if "CredentialsError" in names or (isinstance(error, TypeError) and "auth" in str(error).lower()):
        return "missing_key"
    return "bad_response" if isinstance(error, ValueError) else "client_error"


def _of_status(error: Exception, status: int) -> str:
    code, words = getattr(error, "error_code", None), str(error).lower()
    if code == "image_dimensions_too_large":
        return "image_limit"
    if status == 429 and ("spend" in str(code or "") or "spend limit" in words or "spending limit" in words):
        return "spend_limit"
    return _STATUS.get(status, "server" if status >= 500 else "bad_request")


def _words(error: Exception) -> str:
    said = getattr(error, "api_message", None) or str(error)
    return f"{type(error).__name__}: {said}"[:WORDS_MAX]


def _texts(content: Iterable[Any]) -> Iterable[str]:
    """Yield the texts of the text blocks: thinking comes first, and a block that nobody knows has none."""
    for block in content:
        text = getattr(block, "text", None)
        if getattr(block, "type", None) == "text" and isinstance(text, str):
            yield text


def _detail(details: Any) -> str | None:
    if details is None:
        return None
    said = (getattr(details, name, None) for name in ("category", "explanation"))
    return "; ".join(str(part) for part in said if part) or None


def _usage(usage: Any) -> Usage:
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    read = (getattr(usage, name, None) for name in names)
    written = getattr(usage, "output_tokens", None)
    return Usage(
        input_tokens=sum(part for part in read if isinstance(part, int)),
        output_tokens=written if isinstance(written, int) else 0,
    )
