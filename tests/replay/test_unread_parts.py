"""Visible parts of a page that no recording holds."""

from __future__ import annotations

import pytest
from msgspec import json

from replaykit.replay.dom import Dom
from replaykit.replay.unread_parts import unread_parts
from replaykit.testing.pages import snapshot

LONG = "<p>" + "A chart of all sales. " * 30


def sized(html: str, width: int, height: int) -> Dom:
    """A page on which every element has this size."""
    head, tokens, styles, _ = snapshot(html).splitlines()
    elements = json.decode(head)["elements"]
    flags = [flag for flag in json.decode(head).get("flags", []) if flag != "no_box"]
    head = json.encode({**json.decode(head), "flags": flags})
    return Dom(b"\n".join((head, tokens, styles, json.encode([0, 0, width, height] * elements), b"")))


@pytest.mark.parametrize(
    ("content_type", "codes"),
    [
        ("application/pdf", ["embedded.unread"]),
        ("image/png", ["embedded.unread"]),
        ("image/svg+xml", []),
        ("application/xhtml+xml", []),
        ("text/plain", []),
    ],
)
def test_a_document_that_is_none_of_elements(content_type: str, codes: list[str]) -> None:
    head, rest = snapshot("<p>Shop").split(b"\n", 1)
    named = json.encode({**json.decode(head), "content_type": content_type})
    assert list(unread_parts(Dom(named + b"\n" + rest), ())) == codes


@pytest.mark.parametrize(
    ("html", "size", "codes"),
    [
        ("<p>Shop", (500, 400), []),
        ("<object data=/a>", (500, 400), ["embedded.unread"]),
        ("<embed src=/a>", (500, 400), ["embedded.unread"]),
        ("<embed src=/a>", (0, 0), []),
        ("<object>fallback</object>", (500, 400), []),
        ("<object data=/a type=image/png>", (500, 400), []),
        ("<canvas>", (500, 400), ["canvas.unread"]),
        ("<canvas>", (300, 400), []),
        (f"<canvas></canvas>{LONG}", (500, 400), []),
    ],
)
def test_what_shows_and_is_in_no_recording(html: str, size: tuple[int, int], codes: list[str]) -> None:
    assert list(unread_parts(sized(html, *size), ())) == codes
