"""What comes back from the Messages API: messages as values of ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from replaykit.grading.judges.clients.failures import WORDS_MAX
from replaykit.grading.model_request import ModelReply, ReplyFailure, Usage


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
