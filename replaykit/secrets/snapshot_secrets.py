"""Secrets inside of snapshots: replaced in texts, values and attributes; where they stood on the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import Any, TypeAlias

import msgspec

from replaykit.decoders import decode, decode_plain
from replaykit.trajectory.scalars import INT_MAX, Box

Rewrite: TypeAlias = Callable[[str], str]
"""Returns a string without its secrets."""

HoldsSecret: TypeAlias = Callable[[str], bool]
"""Whether a string holds a secret, in letters of any case."""

Keeps: TypeAlias = Callable[[list[str]], bool]
"""Whether `Rewrite` returns each of these strings as it is."""

_STARTS = ("<", "%", "&", "^")
_TEXTS = ("=", "!", "?")
_INNER = ("#open", "#closed", "@")
_TREE = -1
_MARKS = ("⟦secret:", "⟦masked", "⟦pattern:")


def rewrite_snapshot(data: bytes, rewrite: Rewrite, holds_secret: HoldsSecret, keeps: Keeps) -> bytes | None:
    """Return a snapshot with its strings rewritten, but no tags, names and keys; None = not a snapshot.

    Rows of texts that no longer fit, or would reveal a secret, record only that the text is unknown.
    """
    try:
        # Only the first two lines hold texts; layout and boxes are numbers.
        lines = data.split(b"\n")
        head, tokens = decode_plain(lines[0]), decode_plain(lines[1])
        if not isinstance(tokens, list) or not isinstance(head, dict):
            return None
        # Most pages hold no secret: to ask for all their texts at once takes a third of the time.
        is_kept = keeps(_texts(tokens))
        new_tokens = tokens if is_kept else [_rewrite_token(token, rewrite) for token in tokens]
        new_head = _rewrite_head(head, rewrite)
        if isinstance(head.get("texts"), list):
            changed = _around_changes(tokens, new_tokens) if new_tokens != tokens else set()
            # An edit of a row may hold a part of a secret that its text no longer shows.
            new_head["texts"] = _safe_rows(head["texts"], changed, holds_secret)
        # Lines without a secret keep their bytes: equal pages stay one blob.
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
    # Without layout it is unknown where on the screen the secret stood.
    if not boxes:
        return None
    left, top = _scrolled(tokens)
    found = (boxes[4 * number : 4 * number + 4] for number in hidden)
    return tuple(_viewport_box(box, left, top) for box in found if len(box) == 4 and box[2] and box[3])


def _rewrite_head(head: dict[str, Any], rewrite: Rewrite) -> dict[str, Any]:
    return {key: part if key == "texts" else _rewrite_json(part, rewrite) for key, part in head.items()}


def _safe_rows(rows: list[Any], changed: set[int], holds_secret: HoldsSecret) -> list[Any]:
    """Return the rows of texts; those around a changed text, or with a secret, lose their edits."""
    safe, number = [], 0
    for row in rows:
        number += row[0] if row and isinstance(row[0], int) else 0
        inserted = "".join(part for part in row if isinstance(part, str))
        safe.append(row[:1] if number in changed or holds_secret(inserted) else row)
    return safe


def _around_changes(tokens: list[Any], new_tokens: list[Any]) -> set[int]:
    """Return the numbers of the elements around all texts that differ, each in the tree of its text."""
    around: set[int] = set()
    for token, new, path in zip(tokens, new_tokens, _paths(tokens), strict=True):
        if token != new and isinstance(token, str):
            # Ancestors above a known one were added together with it.
            around.update(takewhile(lambda number: number >= 0 and number not in around, reversed(path)))
    return around


def _paths(tokens: list[Any]) -> Iterator[list[int]]:
    """Yield the open levels at each token: element numbers, -1 for a tree that begins there."""
    path: list[int] = []
    count, is_omission = 0, False
    for token in tokens:
        if isinstance(token, str) and token.startswith(_STARTS):
            path.append(count)
            count += 1
        elif isinstance(token, str) and token in _INNER:
            path.append(_TREE)
        # The number after `~` counts what was left out; others close levels.
        elif isinstance(token, int) and not is_omission:
            del path[max(0, len(path) - token) :]
        is_omission = token == "~"
        yield path


def _texts(tokens: list[Any]) -> list[str]:
    """Return all strings that `_rewrite_token` rewrites."""
    found: list[str] = []
    for token in tokens:
        if isinstance(token, str):
            if token.startswith(_TEXTS):
                found.append(token[1:])
        elif isinstance(token, list):
            _gather(token[1::2], found)
        elif isinstance(token, dict):
            _gather(token.values(), found)
    return found


def _gather(values: Iterable[Any], found: list[str]) -> None:
    for value in values:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            _gather(value, found)
        elif isinstance(value, dict):
            _gather(value.values(), found)


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
    return {
        next((number for number in reversed(path) if number != _TREE), 0)
        for token, path in zip(tokens, _paths(tokens), strict=True)
        if path and not isinstance(token, int) and _is_marked(token)
    }


def _is_marked(token: Any) -> bool:
    if isinstance(token, dict):
        return token.get("masked") is True or any(map(_is_marked, token.values()))
    if isinstance(token, list):
        return any(map(_is_marked, token))
    return isinstance(token, str) and any(mark in token for mark in _MARKS)


def _scrolled(tokens: list[Any]) -> tuple[int, int]:
    """Return how far the root element is scrolled: left, top in CSS px."""
    # The root's state follows its tag, before or after its attributes.
    for token in tokens[1:3]:
        scroll = token.get("scroll") if isinstance(token, dict) else None
        if isinstance(scroll, list) and len(scroll) == 2:
            return round(scroll[1]), round(scroll[0])
    return 0, 0


def _viewport_box(box: list[int], left: int, top: int) -> Box:
    x, y, width, height = (min(max(part, -INT_MAX), INT_MAX) for part in box)
    return (x - left, y - top, width, height)
