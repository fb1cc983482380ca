"""Controls of a recorded page in words: a field's value, a box's mark, a list's choice."""

from __future__ import annotations

from replaykit.replay.dom_tree import words
from replaykit.snapshot.snapshot_format import HTML, TEXT, ElementState, Snapshot

CONTROLS = words("input textarea select button img video canvas iframe frame meter progress object embed hr")
"""Elements that a sketch draws as one piece."""

LETTERS_MAX = 4_000
"""Characters of a control."""

_BUTTONS = ("submit", "button", "reset", "image")


def control(shot: Snapshot, row: int) -> tuple[str, str]:
    """Return how a control looks (one of our words) and its text."""
    tag, attributes = shot.name[row], _attributes(shot, row)
    state = shot.state.get(row, ElementState())
    if tag == "input":
        return _input(attributes, state)
    if tag == "textarea":
        return "field", (state.value if state.value is not None else _text(shot, row))[:LETTERS_MAX]
    if tag == "select":
        return "choice", _chosen(shot, row, state)
    if tag == "button":
        return "button", _text(shot, row)
    if tag == "hr":
        return "rule", ""
    named = attributes.get("alt") or attributes.get("title") or ("" if tag == "img" else tag)
    return "image", named[:LETTERS_MAX]


def _input(attributes: dict[str, str], state: ElementState) -> tuple[str, str]:
    kind = attributes.get("type", "text").lower()
    if kind in ("checkbox", "radio"):
        on = state.checked if state.checked is not None else "checked" in attributes
        return f"{kind}", ("–" if state.indeterminate else ("✓" if kind == "checkbox" else "●") if on else "")
    value = state.value if state.value is not None else attributes.get("value", "")
    if kind in _BUTTONS:
        return "button", value[:LETTERS_MAX]
    if kind == "file":
        return "field", ", ".join(name for name, _, _ in state.files or ())[:LETTERS_MAX]
    if kind == "password":
        return "field", "•" * min(len(value), 12)
    return (
        ("field", value[:LETTERS_MAX]) if value else ("field empty", attributes.get("placeholder", "")[:200])
    )


def _chosen(shot: Snapshot, row: int, state: ElementState) -> str:
    inside = range(row + 1, shot.end[row])
    options = [at for at in inside if shot.kind[at] == HTML and shot.name[at] == "option"]
    chosen = [_text(shot, options[index]) for index in state.selected or () if 0 <= index < len(options)]
    return ", ".join(chosen)[:LETTERS_MAX]


def _text(shot: Snapshot, row: int) -> str:
    rows = range(row + 1, shot.end[row])
    texts = "".join(shot.name[at] for at in rows if shot.kind[at] == TEXT)
    return " ".join(texts[:LETTERS_MAX].split())


def _attributes(shot: Snapshot, row: int) -> dict[str, str]:
    pairs = shot.attributes.get(row, [])
    return dict(zip(pairs[::2], pairs[1::2], strict=True))
