"""The transport to OpenAI's chat completions, and to servers that speak them. Loads its SDK when it asks.

What is sent holds no sampling parameter: models that reason refuse them, and the tape gives reproducibility.
"""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime
from typing import Any

from replaykit.grading.judges.clients.client import ClientAnswer, Images
from replaykit.grading.judges.clients.connection import (
    DEADLINE_S,
    Connection,
    in_base64,
    is_loopback,
    missing_key,
    provenance,
    sdk_client,
    timely,
)
from replaykit.grading.judges.clients.credentials import discreet
from replaykit.grading.judges.clients.failures import WORDS_MAX
from replaykit.grading.judges.clients.screenshot_limits import OPENAI, over_limit
from replaykit.grading.judges.judge_options import provider_of
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest, Part, ReplyFailure, Usage

VENDOR = "https://api.openai.com/v1"
"""Where requests go unless another base URL is named."""

KEY = "OPENAI_API_KEY"
"""Variable that holds the credential."""

_OTHERWISE = {"reasoning_effort": None, "max_completion_tokens": "max_tokens"}
"""Parameters that some models refuse, with the older name to use instead; None: models that do not reason."""

_UNKNOWN = ("unsupported parameter", "not supported", "unrecognized", "unknown", "unexpected", "extra inputs")
"""Words of a server that does not know a parameter; one that refuses only its value writes others."""


class OpenAIClient:
    """Asks by `chat.completions.create`. `client`: any object with it, instead of one made here.

    `api_key`: else that of the environment; servers on loopback need none. `base_url` ends in the version
    of the API, such as `/v1`. `deadline`: seconds of one call.
    """

    def __init__(
        self,
        *,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
        deadline: float = DEADLINE_S,
    ) -> None:
        self._connection = Connection(client, "openai", "openai", self._make)
        self._api_key = api_key
        self._base_url = base_url or os.environ.get("OPENAI_BASE_URL") or VENDOR
        self._deadline = deadline
        self._lock = threading.Lock()
        self._refused: dict[str, tuple[str, ...]] = {}

    def close(self) -> None:
        """Close the connections of a client that was made here."""
        self._connection.close()

    def ask(self, request: ModelRequest, images: Images) -> ClientAnswer:
        """Ask once; the SDK itself tries again where that may help."""
        made = getattr(self._connection.client, "api_key", None)
        return discreet(self._asked(request, images), (self._api_key, os.environ.get(KEY), made))

    def _asked(self, request: ModelRequest, images: Images) -> ClientAnswer:
        failed = over_limit(request, images, OPENAI) or self._connection.unready()
        if failed is not None:
            return ClientAnswer(reply=failed)
        parameters = _parameters(request, images)
        began, at = time.monotonic(), datetime.now(UTC)
        completion = self._accepted(parameters)
        if isinstance(completion, ReplyFailure):
            return ClientAnswer(reply=completion)
        latency = round((time.monotonic() - began) * 1000)
        how = provenance("openai", self._base_url, completion, at, latency)
        refused = self._refused.get(parameters["model"])
        return ClientAnswer(reply=reading(completion), provenance={**how, **_without(refused)})

    def _accepted(self, parameters: dict[str, Any]) -> Any:
        """Return the reply to a request.

        Parameters that the model is known, or reports, to refuse are left out.
        """
        model, known = parameters["model"], self._refused.get(parameters["model"], ())
        asked = _less(parameters, known)
        answer = timely(lambda: self._connection.client.chat.completions.create(**asked), self._deadline)
        named = _named(answer, asked) if isinstance(answer, ReplyFailure) else None
        if named is None:
            return answer
        with self._lock:
            self._refused[model] = tuple(sorted({*self._refused.get(model, ()), named}))
        return self._accepted(parameters)

    def _make(self) -> Any:
        import openai

        return sdk_client(openai, openai.OpenAI, self._base_url, self._credential(), self._deadline)

    def _credential(self) -> str | ReplyFailure:
        key = self._api_key or os.environ.get(KEY)
        if key:
            return key
        if is_loopback(self._base_url):
            return "none"
        return missing_key(self._base_url, f"set {KEY}")


def _parameters(request: ModelRequest, images: Images) -> dict[str, Any]:
    effort = {} if request.effort is None else {"reasoning_effort": request.effort}
    content = [_block(part, images) for part in request.content]
    return {
        "model": provider_of(request.model)[1],
        "max_completion_tokens": request.max_tokens,
        "messages": [
            {"role": "system", "content": request.system},
            {"role": "user", "content": content},
        ],
        **effort,
    }


def _block(part: Part, images: Images) -> dict[str, Any]:
    if not isinstance(part, ImagePart):
        return {"type": "text", "text": part.text}
    data = in_base64(part, images)
    # `high`: left to choose, a server may look at a thumbnail in silence.
    return {
        "type": "image_url",
        "image_url": {"url": f"data:{part.media_type};base64,{data}", "detail": "high"},
    }


def _named(failed: ReplyFailure, asked: dict[str, Any]) -> str | None:
    """Return the parameter that a server refuses by name; None for other failures."""
    words = failed.message.lower()
    if failed.kind != "bad_request" or not any(phrase in words for phrase in _UNKNOWN):
        return None
    return next((name for name in _OTHERWISE if name in asked and name in words), None)


def _less(parameters: dict[str, Any], refused: tuple[str, ...]) -> dict[str, Any]:
    kept = {name: value for name, value in parameters.items() if name not in refused}
    older = {_OTHERWISE[name]: parameters[name] for name in refused if name in parameters}
    return kept | {name: value for name, value in older.items() if name is not None}


def _without(refused: tuple[str, ...] | None) -> dict[str, Any]:
    return {"not_sent": list(refused)} if refused else {}


_STOPS = {
    "stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use",
    "function_call": "tool_use",
}  # fmt: skip
"""Why a model stopped, in the words of the tape; another word stays as it is, and is no verdict."""


def reading(completion: Any) -> ModelReply | ReplyFailure:
    """Return a completion as a reply; `bad_response` for anything else, `server` for an error inside one."""
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


def _failed(error: Any) -> ReplyFailure:
    words = f"an error inside a completion: {error}"[:WORDS_MAX]
    return ReplyFailure(kind="server", message=words, retryable=True)


def _first(choices: Any) -> Any:
    return choices[0] if isinstance(choices, list) and choices else None


def _usage(usage: Any) -> Usage:
    read, written = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    return Usage(
        input_tokens=read if isinstance(read, int) else 0,
        output_tokens=written if isinstance(written, int) else 0,
    )
