"""Secrets inside of snapshots: replaced in texts, values and attributes; where they stood on the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from replaykit.decoders import decode
from replaykit.trajectory.scalars import INT_MAX, Box

Rewrite: TypeAlias = Callable[[str], str]
"""Returns a string without its secrets."""

_STARTS = ("<", "%", "&", "^")
_TEXTS = ("=", "!", "?")
_INNER = ("#open", "#closed", "@")
_MARKS = ("⟦secret:", "⟦masked⟧", "⟦pattern:")


def rewrite_snapshot(data: bytes, rewrite: Rewrite) -> bytes | None:
    """Return a snapshot with its strings rewritten, but no tags, names and keys; None = not a snapshot."""
    try:
        lines = data.split(b"\n")
        head, tokens = msgspec.json.decode(lines[0]), msgspec.json.decode(lines[1])
        if not isinstance(tokens, list) or not isinstance(head, dict):
            return None
        new_tokens = [_rewrite_token(token, rewrite) for token in tokens]
        new_head = _rewrite_head(head, rewrite, is_changed=_texts(tokens) != _texts(new_tokens))
        # What holds no secret keeps its bytes: equal pages stay one blob.
        lines[0] = lines[0] if new_head == head else msgspec.json.encode(new_head)
        lines[1] = lines[1] if new_tokens == tokens else msgspec.json.encode(new_tokens)
    except (msgspec.DecodeError, IndexError, RecursionError):
        return None
    return b"\n".join(lines)


def hidden_boxes(data: bytes) -> tuple[Box, ...] | None:
    """Return the boxes (CSS px of the viewport) of all elements with a hidden text, value or attribute.

    None: there are some, and the snapshot does not say where.
    """
    if not any(mark.encode() in data for mark in _MARKS):
        return ()
    try:
        lines = data.split(b"\n")
        tokens, boxes = (
            decode(lines[1], list),
            decode(lines[3], list[int]),
        )
        hidden = sorted(_hidden(tokens))
    except (msgspec.DecodeError, IndexError, RecursionError):
        return None
    if not boxes:
        return None
    left, top = _scrolled(tokens)
    found = (boxes[4 * number : 4 * number + 4] for number in hidden)
    return tuple(_viewport_box(box, left, top) for box in found if len(box) == 4 and box[2] and box[3])


def _rewrite_head(head: dict[str, Any], rewrite: Rewrite, *, is_changed: bool) -> dict[str, Any]:
    """Rewrite a head; `is_changed`: so was a text, whose length its shape would tell."""
    new = _rewrite_json({key: part for key, part in head.items() if key != "shapes"}, rewrite)
    return {key: new.get(key, part) for key, part in head.items() if key in new or not is_changed}


def _texts(tokens: list[Any]) -> list[str]:
    return [token for token in tokens if isinstance(token, str) and token.startswith("=")]


def _rewrite_token(token: Any, rewrite: Rewrite) -> Any:
    if isinstance(token, str):
        return token[0] + rewrite(token[1:]) if token.startswith(_TEXTS) else token
    if isinstance(token, list):
        # Attributes: names at even places, values at odd ones.
        return [_rewrite_json(part, rewrite) if at % 2 else part for at, part in enumerate(token)]
    return _rewrite_json(token, rewrite) if isinstance(token, dict) else token


def _rewrite_json(value: Any, rewrite: Rewrite) -> Any:
    if isinstance(value, str):
        return rewrite(value)
    if isinstance(value, list):
        return [_rewrite_json(part, rewrite) for part in value]
    if isinstance(value, dict):
        return {key: _rewrite_json(part, rewrite) for key, part in value.items()}
    return value


def _hidden(tokens: list[Any]) -> set[int]:
    """Return the numbers of elements that hold a mark; a text counts for its parent."""
    hidden: set[int] = set()
    open_elements: list[int] = []
    count = 0
    is_omission = False
    for token in tokens:
        if isinstance(token, str) and token.startswith(_STARTS):
            open_elements.append(count)
            count += 1
        elif isinstance(token, str) and token in _INNER:
            open_elements.append(open_elements[-1] if open_elements else 0)
        elif isinstance(token, int):
            if not is_omission:
                del open_elements[max(0, len(open_elements) - token) :]
        elif open_elements and _is_marked(token):
            hidden.add(open_elements[-1])
        is_omission = token == "~"
    return hidden


def _is_marked(token: Any) -> bool:
    if isinstance(token, dict):
        return token.get("masked") is True or any(map(_is_marked, token.values()))
    if isinstance(token, list):
        return any(map(_is_marked, token))
    return isinstance(token, str) and any(mark in token for mark in _MARKS)


def _scrolled(tokens: list[Any]) -> tuple[int, int]:
    """Return how far the root element is scrolled: left, top in CSS px."""
    for token in tokens[1:3]:
        scroll = token.get("scroll") if isinstance(token, dict) else None
        if isinstance(scroll, list) and len(scroll) == 2:
            return round(scroll[1]), round(scroll[0])
    return 0, 0


def _viewport_box(box: list[int], left: int, top: int) -> Box:
    x, y, width, height = (min(max(part, -INT_MAX), INT_MAX) for part in box)
    return (x - left, y - top, width, height)
