"""The final answer of an agent, in transcripts of many harnesses: JSON lines of messages under many keys.

Own module: a harness with another transcript changes only this file; the layout of run folders stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_TEXTS = ("text", "output_text")
_CALLS = ("tool_use", "toolCall", "tool_call", "function_call", "toolcall")


def final_answer(lines: Iterable[Any]) -> str | None:
    """Return the text of the last message, where it is the agent's and calls nothing; else None.

    These are read: messages with `role` and `content`, also under `message` or `payload`; lines of Claude
    Code with a `result`; items of browser-use whose last result is done.
    """
    answer: str | None = None
    for line in lines:
        if not isinstance(line, dict):
            continue
        ended = _ended(line)
        message = _message(line)
        if ended is not None:
            answer = ended
        elif message is not None:
            answer = _text(message) if message.get("role") == "assistant" and not _calls(message) else None
        elif _is_action(line):
            answer = None
    return answer or None


def _ended(line: dict[str, Any]) -> str | None:
    result = line.get("result")
    if line.get("type") == "result" and isinstance(result, str):
        return result
    last = result[-1] if isinstance(result, list) and result else None
    done = last.get("extracted_content") if isinstance(last, dict) and last.get("is_done") is True else None
    return done if isinstance(done, str) else None


def _message(line: dict[str, Any]) -> dict[str, Any] | None:
    parts = (line, line.get("message"), line.get("payload"))
    return next((one for one in parts if isinstance(one, dict) and isinstance(one.get("role"), str)), None)


def _is_action(line: dict[str, Any]) -> bool:
    """Whether a line that is no message shows a call, or of what one gave."""
    payload = line.get("payload")
    kind = payload.get("type") if isinstance(payload, dict) else line.get("type")
    return "model_output" in line or str(kind).startswith(("function_call", "tool", "custom_tool_call"))


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") in _TEXTS]
    return "\n".join(text for text in texts if isinstance(text, str))


def _calls(message: dict[str, Any]) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return bool(message.get("tool_calls")) or any(
        isinstance(p, dict) and p.get("type") in _CALLS for p in parts
    )
