"""What a judge was shown and what it said, read back from the tape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from replaykit.grading.judges.tape.tape import Tape
from replaykit.grading.verdict import Judgement, Verdict
from replaykit.report.html.words import any_value, bounded, lean, line

PARTS_MAX = 200
"""Parts of one request."""


def transcripts(verdict: Verdict, tape: Tape | None) -> list[dict[str, Any]]:
    """Return the exchanges behind each judgement of a verdict, in order; without a tape the replies alone."""
    asked = {} if tape is None else {entry.key: entry for entry in tape.entries}
    return [
        {
            "judge": judgement.judge,
            "exchanges": [_exchange(stage, asked) for stage in judgement.stages],
            "images": _sent(judgement),
        }
        for judgement in verdict.judgements
    ]


def pictures_of(verdict: Verdict) -> Iterator[str]:
    """Yield the blobs of the pictures that judges were shown."""
    for judgement in verdict.judgements:
        yield from (str(image.get("digest", "")) for image in _sent(judgement))


def _sent(judgement: Judgement) -> list[dict[str, Any]]:
    sent = judgement.images.get("sent", [])
    return [image for image in sent if isinstance(image, dict)]


def _exchange(stage: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    entry = asked.get(str(stage.get("request_key", "")))
    plain = lean(
        {
            "stage": line(f"{stage.get('member', '')} {stage.get('stage', '')}".strip()),
            "reply": bounded(str(stage.get("reply_text", ""))),
            "parsed": bounded(any_value(stage.get("parsed"))),
        }
    )
    if entry is None:
        return plain
    request = entry.request
    return lean(
        {
            **plain,
            "model": str(request.get("model", "")),
            "answered": entry.reply.model,
            "origin": entry.origin,
            "stop": entry.reply.stop_reason,
            "system": [bounded(text) for text in _texts(request.get("system"))],
            "parts": list(_parts(request.get("messages")))[:PARTS_MAX],
        }
    )


def _texts(blocks: Any) -> Iterator[str]:
    for block in blocks if isinstance(blocks, list) else [blocks]:
        text = block.get("text") if isinstance(block, dict) else block
        if isinstance(text, str):
            yield text


def _parts(messages: Any) -> Iterator[dict[str, Any]]:
    for message in messages if isinstance(messages, list) else []:
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, dict) and isinstance(part.get("sha256"), str):
                yield {"picture": part["sha256"]}
            else:
                yield from ({"text": bounded(text)} for text in _texts(part))
