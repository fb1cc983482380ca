"""Reading a report file back: its blocks, and what an HTML parser makes of it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from typing import Any

import pytest


class Markup(HTMLParser):
    """Every tag with its attributes, in order, and the content of scripts by id."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.blocks: dict[str, str] = {}
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(attrs)))
        self._open = str(dict(attrs).get("id", "")) if tag == "script" else ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.blocks[self._open] = self.blocks.get(self._open, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    @property
    def report(self) -> dict[str, Any]:
        """Data of the first screen."""
        return json.loads(self.blocks["report"])

    def run(self, id: str) -> dict[str, Any]:
        """Data of a run."""
        return json.loads(unpacked(self.blocks[f"r{id}"]))

    def pages(self) -> list[str]:
        """Every drawn page."""
        return [unpacked(block).decode() for id, block in self.blocks.items() if re.match(r"d[0-9a-f]", id)]


def unpacked(block: str) -> bytes:
    return zlib.decompress(base64.b64decode(block))


@pytest.fixture
def markup() -> type[Markup]:
    """The reader of report files."""
    return Markup
