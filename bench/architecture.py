"""The diagram of docs/architecture.md: the rooms of the package, and how data go through them.

Run: .venv/bin/python -m bench.architecture [FILE]   (default: docs/architecture.svg)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

IMAGE = Path(__file__).resolve().parent.parent / "docs" / "architecture.svg"
WIDTH, HEIGHT = 940, 330
"""CSS px."""

_STYLE = (
    ":root{--ink:#18202b;--muted:#566173;--line:#b9c2cf;--room:#eef2f8;--file:#fdf3e6;--paper:#ffffff}"
    "@media (prefers-color-scheme:dark){"
    ":root{--ink:#e3e8ef;--muted:#98a4b5;--line:#465162;--room:#1d2530;--file:#33291a;--paper:#12161c}}"
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:var(--muted)}"
    ".name{font-size:14px;font-weight:600;fill:var(--ink)}.paper{fill:var(--paper)}"
    ".room{fill:var(--room);stroke:var(--line)}.file{fill:var(--file);stroke:var(--line)}"
    ".way{stroke:var(--muted);stroke-width:1.5;fill:none;marker-end:url(#head)}.head{fill:var(--muted)}"
)


class Box(NamedTuple):
    """A room of the package, or a file that lies between two of them."""

    name: str
    """Its folder; a file has a full stop in its name."""
    words: tuple[str, ...]
    """Duties of the part, a line each."""
    left: int
    """CSS px."""
    top: int
    """CSS px."""
    width: int = 128
    """CSS px."""

    @property
    def height(self) -> int:
        """CSS px."""
        return 34 + 16 * len(self.words)


BOXES = (
    Box("recorder", ("listens to page and", "driver; finds actions"), 20, 120, 146),
    Box("secrets", ("hides what is", "secret"), 198, 120, 104),
    Box("bundle.zst", ("one file for a run", "(bundle/)"), 334, 120),
    Box("replay", ("states, selectors,", "text, form state"), 494, 120),
    Box("grading", ("checks, policies,", "judges: a verdict"), 654, 120),
    Box("report", ("text, JSON,", "JUnit, HTML"), 814, 120, 106),
    Box("tasks", ("what should happen:", "checks and policies"), 494, 20, 146),
    Box("tape.jsonl", ("replies of models,", "recorded once"), 672, 20, 118),
    Box("interop", ("layouts of other tools,", "both ways"), 325, 232, 146),
    Box("http_replay", ("recorded replies", "over HTTP"), 494, 232),
    Box("reruns", ("the same actions on", "the live site again"), 20, 232, 146),
)
WAYS = (
    ("recorder", "secrets"),
    ("secrets", "bundle.zst"),
    ("bundle.zst", "replay"),
    ("replay", "grading"),
    ("grading", "report"),
    ("tasks", "grading"),
    ("tape.jsonl", "grading"),
    ("interop", "bundle.zst"),
    ("bundle.zst", "http_replay"),
    ("reruns", "recorder"),
)


def image() -> str:
    """Return the diagram as SVG, the same bytes every time."""
    told = "; ".join(f"{one} to {other}" for one, other in WAYS)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" role="img" aria-label="{escape(f"Data go from {told}")}">',
            f"<style>{_STYLE}</style>",
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>',
            f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
            *(line for box in BOXES for line in _drawn(box)),
            *_ways(),
            "</svg>",
            "",
        ]
    )


def _drawn(box: Box) -> Iterator[str]:
    kind, middle = "file" if "." in box.name else "room", box.left + box.width // 2
    place = f'x="{box.left}" y="{box.top}" width="{box.width}" height="{box.height}"'
    yield f'<rect class="{kind}" {place} rx="8"/>'
    yield _text(box.name, middle, box.top + 22, ' class="name"')
    yield from (_text(words, middle, box.top + 42 + 16 * line) for line, words in enumerate(box.words))


def _text(words: str, x: int, y: int, kind: str = "") -> str:
    return f'<text{kind} x="{x}" y="{y}" text-anchor="middle">{escape(words)}</text>'


def _ways() -> Iterator[str]:
    boxes = {box.name: box for box in BOXES}
    for name, other in WAYS:
        one, two = boxes[name], boxes[other]
        if one.top == two.top:
            y = one.top + one.height // 2
            yield f'<path class="way" d="M{one.left + one.width} {y}L{two.left - 2} {y}"/>'
            continue
        down = one.top < two.top
        start = one.top + one.height if down else one.top
        end = two.top - 2 if down else two.top + two.height + 2
        x, aim = one.left + one.width // 2, two.left + two.width // 2
        yield f'<path class="way" d="M{x} {start}L{aim} {end}"/>'


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else IMAGE).write_text(image(), "utf-8")
