"""The fenced blocks of the documents, as tests take them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

# Any opening of a fence, so that no form of writing one escapes.
FENCE = re.compile(r"^ *(`{3,}|~{3,})([^\n]*)\n(.*?)^ *\1 *$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """Text between two fences."""

    document: str
    """Path below the root."""
    line: int
    """Of the opening fence, from 1."""
    kind: str
    """The word behind the opening fence."""
    text: str

    @property
    def head(self) -> str:
        """Its first line."""
        return self.text.partition("\n")[0]


def blocks_of(path: Path) -> list[Block]:
    """Every block of a document, in order."""
    text = path.read_text("utf-8")
    name = path.relative_to(ROOT).as_posix()
    return [
        Block(name, text.count("\n", 0, found.start()) + 1, found[2].strip(), found[3])
        for found in FENCE.finditer(text)
    ]


def typed_lines(text: str) -> list[str]:
    """Return the commands that a reader types, one a line: lines that go on after a backslash are joined."""
    return re.sub(r" *\\\n *", " ", text).splitlines()


def block(document: str, head: str) -> Block:
    """The one block of a document whose first line begins like this."""
    (found,) = [one for one in blocks_of(ROOT / document) if one.head.startswith(head)]
    return found
