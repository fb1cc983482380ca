"""Meaning of the exceptions of the SDKs, and of the HTTP layer under them: failures as values."""

from __future__ import annotations

import json
from typing import Any

from replaykit.grading.model_request import ReplyFailure

WORDS_MAX = 500
"""Characters of a server's message that are kept."""

_STATUS = {
    400: "bad_request", 401: "auth", 402: "spend_limit", 403: "auth", 404: "bad_request", 413: "too_large",
    422: "bad_request", 429: "rate_limited", 529: "overloaded",
}  # fmt: skip
_RETRYABLE = ("rate_limited", "overloaded", "server", "connection", "timeout")
_SPENT = ("spend limit", "spending limit", "insufficient_quota")


def failure(error: Exception) -> ReplyFailure:
    """Return what an exception means."""
    body = _body_error(error)
    if body is not None:
        is_slow = type(body).__name__ == "SlowBody"
        kind = "deadline" if is_slow else "bad_response"
        return ReplyFailure(kind=kind, message=str(body), retryable=is_slow)
    status = getattr(error, "status_code", None)
    kind = _kind(error, status if isinstance(status, int) else None)
    return ReplyFailure(
        kind=kind,
        status=status if isinstance(status, int) else None,
        message=_words(error, kind),
        request_id=getattr(error, "request_id", None),
        retryable=kind in _RETRYABLE,
    )


def _body_error(error: BaseException | None) -> BaseException | None:
    """Return the error of the body among the causes of what an SDK raises; None if absent."""
    while error is not None and type(error).__name__ not in ("BodyError", "SlowBody"):
        error = error.__cause__ or error.__context__
    return error


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
    code = _code(error)
    words = f"{code} {error}".lower()
    if code == "image_dimensions_too_large":
        return "image_limit"
    if status == 429 and ("spend" in code or any(phrase in words for phrase in _SPENT)):
        return "spend_limit"
    return _STATUS.get(status, "server" if status >= 500 else "bad_request")


def _code(error: Exception) -> str:
    """Return the code of an error; older SDKs leave it in the body of the response."""
    details = _error_fields(error).get("details")
    below = details.get("error_code") if isinstance(details, dict) else None
    return str(getattr(error, "error_code", None) or getattr(error, "code", None) or below or "")


def _error_fields(error: Exception) -> dict[str, Any]:
    """Return the fields of an error in the body of a response; empty if absent."""
    body = getattr(error, "body", None)
    fields = body.get("error", body) if isinstance(body, dict) else None
    return fields if isinstance(fields, dict) else {}


def _words(error: Exception, kind: str) -> str:
    stated = _error_fields(error).get("message")
    message = (
        getattr(error, "api_message", None) or (stated if isinstance(stated, str) else None) or str(error)
    )
    return f"{type(error).__name__}: {message}{_asked(error) if kind == 'connection' else ''}"[:WORDS_MAX]


def _asked(error: Exception) -> str:
    """Return what refused a connection and why, of an error that names neither."""
    url = getattr(error.__dict__.get("request"), "url", None)
    if url is None:
        return ""
    return f" {url}: {error.__cause__}" if error.__cause__ else f" {url}"
