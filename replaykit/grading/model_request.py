"""Requests of checks and judges to a model, and its replies: values, no transport."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct


class TextPart(Struct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Words."""

    text: str
    """The words."""


class ImagePart(Struct, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """A screenshot, by identity; whoever sends the request reads its bytes."""

    sha256: str
    """Blob id."""
    media_type: str
    """Media type sent: `image/png` for a pixmap, else the blob's own."""
    width: int
    """Pixels."""
    height: int
    """Pixels."""
    step: int
    """Step it shows."""


Part: TypeAlias = TextPart | ImagePart
"""One part of a message."""


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens billed."""

    input_tokens: int = 0
    """Tokens read."""
    output_tokens: int = 0
    """Tokens written."""


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One question to a model."""

    judge: str
    """Who asks; not part of the key."""
    stage: str
    """Where in its protocol; not part of the key."""
    index: int
    """Position in the stage; not part of the key."""
    system: str
    """System text."""
    content: tuple[Part, ...]
    """The user message."""
    model: str
    """Model asked."""
    max_tokens: int
    """Longest reply, tokens."""
    effort: str | None = None
    """Effort asked for."""
    oversized_image: str = "error"
    """The provider's way with a screenshot that is too large: `error`, or `downsize`, which is keyed."""
    is_repeated: bool = False
    """The same is asked several times, for votes: the provider may keep what it read; not part of the key."""
    is_shared: bool = False
    """It holds nothing of the run, and all votes use one reply; not part of the key."""
    prompt: str = ""
    """Whose words a check asks in: a benchmark's, or `sha256:...`; empty = our own, or a judge's; not part
    of the key."""


PLACES = ("question", "reference", "pred")
"""Places of a template that checks ask by, as `{question}`."""


class Asking(Struct, frozen=True, kw_only=True):
    """How checks ask a model."""

    prompts: dict[str, str] = {}
    """The user's texts for `fuzzy`, `unachievable` and `system`; the others are our own."""
    model: str = "claude-sonnet-5-5"
    """Model asked."""
    effort: str | None = "medium"
    """Effort asked for: left out, it would be each model's own."""
    max_tokens: int = 4096
    """Longest reply, tokens; what a model thinks before it replies counts too."""


class ModelReply(Struct, frozen=True, kw_only=True):
    """Text of the model's reply."""

    text: str
    """All text blocks, joined."""
    stop_reason: str
    """`end_turn stop_sequence max_tokens refusal ...`."""
    stop_detail: str | None = None
    """Detail of a refusal."""
    model: str
    """Model that answered."""
    usage: Usage = Usage()
    """Tokens billed."""
    origin: str
    """`live imported synthetic`."""


def cut_short(stop_reason: str) -> str | None:
    """Return why a reply is not whole: `truncated refused context_full stopped`; None of one that is."""
    if stop_reason in ("end_turn", "stop_sequence"):
        return None
    return _CUT_SHORT.get(stop_reason, "stopped")


_CUT_SHORT = {
    "max_tokens": "truncated",
    "refusal": "refused",
    "model_context_window_exceeded": "context_full",
}


class ReplyFailure(Struct, frozen=True, kw_only=True):
    """Why there is no reply; a value, never an exception."""

    kind: str
    """`tape_miss missing_key rate_limited ...`."""
    status: int | None = None
    """HTTP status."""
    message: str
    """For people."""
    request_id: str | None = None
    """Of the provider."""
    retryable: bool = False
    """Whether asking again may help."""
