"""The transport to Anthropic's Messages API, and to every server that speaks it. Loads its SDK when it asks.

What is sent holds no sampling parameter: the API refuses them, and the tape gives reproducibility.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from replaykit.grading.judges.clients.client import ClientAnswer, Images, SentRequest
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
from replaykit.grading.judges.clients.screenshot_limits import over_limit
from replaykit.grading.judges.judge_options import provider_of
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest, Part, ReplyFailure, Usage

VENDOR = "https://api.anthropic.com"
"""Where requests go unless another base URL is named."""

POLL_S = 30.0
"""Seconds between two looks at a batch."""

BATCH_S = 25 * 3600.0
"""Seconds that a batch may take: the vendor ends one after a day."""

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
"""Variables that hold a credential."""

_PROFILES = ("ANTHROPIC_PROFILE", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_IDENTITY_TOKEN_FILE")


class AnthropicClient:
    """Asks by `messages.create`. `client`: any object with it, instead of one made here.

    `api_key`: else that of the environment or of a profile; servers on loopback need none. `deadline`:
    seconds of one call. `sleep`: waits between looks at a batch.
    """

    def __init__(
        self,
        *,
        client: Any = None,
        api_key: str | None = None,
        base_url: str | None = None,
        deadline: float = DEADLINE_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._connection = Connection(client, "anthropic", "judge", self._make)
        self._api_key = api_key
        self._base_url = base_url or os.environ.get("ANTHROPIC_BASE_URL") or VENDOR
        self._deadline = deadline
        self._sleep = sleep

    def close(self) -> None:
        """Close the connections of a client that was made here."""
        self._connection.close()

    def ask(self, request: ModelRequest, images: Images) -> ClientAnswer:
        """Ask once; the SDK itself tries again where that may help."""
        return discreet(self._asked(request, images), self._held())

    def _asked(self, request: ModelRequest, images: Images) -> ClientAnswer:
        refused = over_limit(request, images) or self._connection.unready()
        if refused is not None:
            return ClientAnswer(reply=refused)
        began, at = time.monotonic(), datetime.now(UTC)
        message = self._timely(
            lambda: self._connection.client.messages.create(**_admitted(self._parameters(request, images)))
        )
        if isinstance(message, ReplyFailure):
            return ClientAnswer(reply=message)
        latency = round((time.monotonic() - began) * 1000)
        return ClientAnswer(reply=reading(message), provenance=self._provenance(message, at, latency))

    def ask_many(self, sent: Sequence[SentRequest]) -> list[ClientAnswer]:
        """Hand in a batch and wait for its end: half the price, up to a day."""
        refused = [over_limit(one.request, one.images) or self._connection.unready() for one in sent]
        fine = {str(place): one for place, one in enumerate(sent) if refused[place] is None}
        results = self._batch(fine) if fine else {}
        answers = [
            ClientAnswer(reply=bad) if bad else results[str(place)] for place, bad in enumerate(refused)
        ]
        return [discreet(answered, self._held()) for answered in answers]

    def _held(self) -> tuple[object, ...]:
        client = self._connection.client
        made = (getattr(client, name, None) for name in ("api_key", "auth_token"))
        return (self._api_key, *(os.environ.get(name) for name in KEYS), *made)

    def _batch(self, sent: Mapping[str, SentRequest]) -> dict[str, ClientAnswer]:
        at, rows = datetime.now(UTC), self._results(sent)
        if isinstance(rows, ReplyFailure):
            return dict.fromkeys(sent, ClientAnswer(reply=rows))
        found = {row.custom_id: self._of_batch(row.result, at) for row in rows}
        lost = ReplyFailure(kind="bad_response", message="the batch has no result for this request")
        return {id: found.get(id, ClientAnswer(reply=lost)) for id in sent}

    def _results(self, sent: Mapping[str, SentRequest]) -> Any:
        """Hand in a batch; return its rows in any order, or a failure."""
        batches = self._connection.client.messages.batches
        asked = [
            {"custom_id": id, "params": self._parameters(one.request, one.images)} for id, one in sent.items()
        ]
        batch = self._timely(partial(batches.create, requests=asked))
        looks = 0
        while not isinstance(batch, ReplyFailure) and batch.processing_status != "ended":
            if looks * POLL_S >= BATCH_S:
                words = f"the batch {batch.id} has not ended within {BATCH_S / 3600:g} hours"
                return ReplyFailure(kind="deadline", message=words, retryable=True)
            looks += 1
            self._sleep(POLL_S)
            batch = self._timely(partial(batches.retrieve, batch.id))
        if isinstance(batch, ReplyFailure):
            return batch
        return self._timely(partial(_listed, batches, batch.id))

    def _of_batch(self, result: Any, at: datetime) -> ClientAnswer:
        if result.type != "succeeded":
            error = getattr(getattr(getattr(result, "error", None), "error", None), "message", "")
            words = f"the batch reports {result.type}" + (f": {error}" if error else "")
            return ClientAnswer(
                reply=ReplyFailure(kind="batch", message=words, retryable=result.type != "errored")
            )
        how = {**self._provenance(result.message, at, None), "batch": True}
        return ClientAnswer(reply=reading(result.message), provenance=how)

    def _parameters(self, request: ModelRequest, images: Images) -> dict[str, Any]:
        effort = {} if request.effort is None else {"output_config": {"effort": request.effort}}
        content = [self._block(part, images, request.oversized_image) for part in request.content]
        if request.is_repeated and self._is_vendor:
            # Content before this mark is cached: the other votes pay a fraction for it.
            content[-1]["cache_control"] = {"type": "ephemeral"}
        return {
            "model": provider_of(request.model)[1],
            "max_tokens": request.max_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": content}],
            **effort,
        }

    def _block(self, part: Part, images: Images, oversized: str) -> dict[str, Any]:
        if not isinstance(part, ImagePart):
            return {"type": "text", "text": part.text}
        data = in_base64(part, images)
        source = {"type": "base64", "media_type": part.media_type, "data": data}
        # By default the vendor scales large screenshots down in silence; other servers know no such field.
        options = {"transformations": {"oversized_image": oversized}} if self._is_vendor else {}
        return {"type": "image", "source": source, **options}

    @property
    def _is_vendor(self) -> bool:
        return self._base_url.rstrip("/") == VENDOR

    def _make(self) -> Any:
        import anthropic

        return sdk_client(anthropic, anthropic.Anthropic, self._base_url, self._credential(), self._deadline)

    def _credential(self) -> str | ReplyFailure | None:
        """Return the credential to hand over; None where the SDK finds one itself."""
        if self._api_key or any(os.environ.get(name) for name in (*KEYS, *_PROFILES)) or _has_profile():
            return self._api_key
        if is_loopback(self._base_url):
            return "none"
        return missing_key(self._base_url, f"set {' or '.join(KEYS)}, name a profile")

    def _timely(self, call: Callable[[], Any]) -> Any:
        return timely(call, self._deadline)

    def _provenance(self, message: Any, at: datetime, latency: int | None) -> dict[str, Any]:
        return provenance("anthropic", self._base_url, message, at, latency)


def _admitted(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as every release takes them: the oldest admitted ones know no `output_config`."""
    config = parameters.pop("output_config", None)
    return parameters if config is None else {**parameters, "extra_body": {"output_config": config}}


def _listed(batches: Any, id: str) -> list[Any]:
    return list(batches.results(id))


def _has_profile() -> bool:
    """Return whether the SDK would find a profile on the disk."""
    from pathlib import Path

    named = os.environ.get("ANTHROPIC_CONFIG_DIR")
    folder = Path(named) if named else Path.home() / ".config" / "anthropic"
    return (folder / "active_config").exists() or (folder / "configs").is_dir()


def reading(message: Any) -> ModelReply | ReplyFailure:
    """Return a message as a reply; `bad_response` for anything else, `server` for an error inside one."""
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
    """Yield the texts of the text blocks: thinking comes first, and an unknown block has no text."""
    for block in content:
        text = getattr(block, "text", None)
        if getattr(block, "type", None) == "text" and isinstance(text, str):
            yield text


def _detail(details: Any) -> str | None:
    if details is None:
        return None
    # A release that does not know the field gives it as it came.
    read = details.get if isinstance(details, dict) else partial(getattr, details)
    parts = (read(name, None) for name in ("category", "explanation"))
    return "; ".join(str(part) for part in parts if part) or None


def _usage(usage: Any) -> Usage:
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    read = (getattr(usage, name, None) for name in names)
    written = getattr(usage, "output_tokens", None)
    return Usage(
        input_tokens=sum(part for part in read if isinstance(part, int)),
        output_tokens=written if isinstance(written, int) else 0,
    )
