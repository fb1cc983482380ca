"""A recorded page without boxes: its texts and controls one after the other, in HTML that can do nothing."""

from __future__ import annotations

from replaykit.replay.tree import words
from replaykit.report.html.controls import CONTROLS, control
from replaykit.report.html.inert import text as escaped
from replaykit.report.html.sketch import PLACED_MAX, TEXT_MAX, Sketch, display, is_hidden
from replaykit.snapshot import HTML, OTHER, TEXT, Snapshot

WIDTH, HEIGHT = 960, 720
"""CSS px that such a page is given: it has none of its own."""

DEPTH_MAX = 100
"""Elements in elements that are written; deeper ones go without tags, their texts do not."""

KEPT = words(
    "h1 h2 h3 h4 h5 h6 p ul ol li dl dt dd table thead tbody tfoot tr td th caption pre blockquote"
    " b strong em i u s code kbd small sub sup"
)
"""Tags that are written as they are."""

_UNSEEN = ("script", "style", "template", "noscript", "head", "title")


def outline(shot: Snapshot) -> Sketch:
    """Write a page as a plain document."""
    parts: list[str] = []
    open_ends: list[tuple[int, str]] = []
    row, written, letters = 1, 0, 0
    while row < len(shot.kind) and written < PLACED_MAX and letters < TEXT_MAX:
        while open_ends and open_ends[-1][0] <= row:
            parts.append(f"</{open_ends.pop()[1]}>")
        before = len(parts)
        row = _write(shot, row, parts, open_ends)
        written += len(parts) > before
        letters += sum(map(len, parts[before:]))
    parts += [f"</{tag}>" for _, tag in reversed(open_ends)]
    return Sketch(
        html=f'<article>{"".join(parts)}</article>', width=WIDTH, height=HEIGHT, boxes={},
        is_placed=False, is_cut=row < len(shot.kind),
    )  # fmt: skip


def _write(shot: Snapshot, row: int, parts: list[str], open_ends: list[tuple[int, str]]) -> int:
    kind = shot.kind[row]
    if kind == TEXT:
        parts.append(escaped(shot.name[row]))
    if kind > OTHER:
        return row + 1
    tag = shot.name[row]
    if display(shot, row) == "none" or is_hidden(shot, row) or (kind == HTML and tag in _UNSEEN):
        return shot.end[row]
    if kind == HTML and tag in CONTROLS:
        look, said = control(shot, row)
        parts.append(f'<span class="control {look}">{escaped(said)}</span>')
        return shot.end[row]
    if tag == "br":
        parts.append("<br>")
    elif len(open_ends) < DEPTH_MAX:
        own = _tag(shot, row)
        parts.append(f"<{own}>")
        open_ends.append((shot.end[row], own))
    return row + 1


def _tag(shot: Snapshot, row: int) -> str:
    tag = shot.name[row]
    if shot.kind[row] == HTML and tag in KEPT:
        return tag
    return "span" if display(shot, row).startswith(("inline", "contents")) else "div"
