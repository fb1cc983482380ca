"""The key points that a model found in a task (Online-Mind2Web, `WebJudge`)."""

from __future__ import annotations

import re

from replaykit.grading.judges.replies.verdict_token import normalised, unfinished
from replaykit.grading.model_request import ModelReply

_HEADER = re.compile(r"key[ _-]?points\s*:?", re.IGNORECASE)


def key_points(reply: ModelReply, mode: str) -> str:
    """Return the key points, one a line; empty where the reply names none."""
    if mode == "compat":
        return _peer(reply.text)
    if unfinished(reply.stop_reason) is not None:
        return ""
    # Markdown hides where the header ends, so lines are looked at without it and kept with it.
    lines = reply.text.splitlines()
    headers = [place for place, line in enumerate(lines) if _is_header(line)]
    kept = [line.strip() for line in _after(lines, headers[-1] if headers else None)]
    return "\n".join(line for line in kept if line)


def _is_header(line: str) -> bool:
    plain = re.sub(r"^\W+", "", normalised(line))
    return _HEADER.match(plain) is not None


def _after(lines: list[str], header: int | None) -> list[str]:
    if header is None:
        return lines
    rest = _HEADER.split(lines[header], maxsplit=1)[-1].strip(" *_:#")
    return [rest, *lines[header + 1 :]]


def _peer(text: str) -> str:
    text = text.replace("\n\n", "\n")
    parts = text.split("**Key Points**:")
    found = parts[1] if len(parts) > 1 else text.split("Key Points:")[-1]
    return "\n".join(line.lstrip() for line in found.splitlines())
