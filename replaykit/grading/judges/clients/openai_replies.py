"""What comes back from chat completions: completions as values of ours."""

from __future__ import annotations

from typing import Any

from replaykit.grading.judges.clients.failures import WORDS_MAX
from replaykit.grading.model_request import ModelReply, ReplyFailure, Usage

_STOPS = {
    "stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use",
    "function_call": "tool_use",
}  # fmt: skip
"""Why a model stopped, in the words of the tape; another word stays as it is, and is no verdict."""


def reading(completion: Any) -> ModelReply | ReplyFailure:
    """Return a completion as a reply; `bad_response` for what is none, `server` for an error inside one."""
    wrong = getattr(completion, "error", None)
    if wrong:
        return _failed(wrong)
    choice = _first(getattr(completion, "choices", None))
    message, stop = getattr(choice, "message", None), getattr(choice, "finish_reason", None)
    text = getattr(message, "content", None)
    if message is None or not isinstance(stop, str) or not isinstance(text, str | None):
        what = type(completion).__name__
        words = (
            f"the server did not answer with a completion but with a {what} without message or finish reason"
        )
        return ReplyFailure(kind="bad_response", message=words)
    if stop == "error":
        return _failed(text)
    return _reply(completion, message, text or "", stop)


def _reply(completion: Any, message: Any, text: str, stop: str) -> ModelReply:
    refusal = getattr(message, "refusal", None)
    is_refused = isinstance(refusal, str) and bool(refusal)
    filtered = stop if stop == "content_filter" else None
    return ModelReply(
        text=text,
        stop_reason="refusal" if is_refused else _STOPS.get(stop, stop),
        stop_detail=refusal if is_refused else filtered,
        model=str(getattr(completion, "model", "") or ""),
        usage=_usage(getattr(completion, "usage", None)),
        origin="live",
    )


def _failed(said: Any) -> ReplyFailure:
    words = f"an error inside a completion: {said}"[:WORDS_MAX]
    return ReplyFailure(kind="server", message=words, retryable=True)


def _first(choices: Any) -> Any:
    return choices[0] if isinstance(choices, list) and choices else None


def _usage(usage: Any) -> Usage:
    read, written = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    return Usage(
        input_tokens=read if isinstance(read, int) else 0,
        output_tokens=written if isinstance(written, int) else 0,
    )
