"""Links as a real browser resolves them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from replaykit.replay.link_resolution import resolve

pytestmark = pytest.mark.live

BASES = ("http://h.test/p/q?x#y", "about:blank", "https://h.test/", "file:///a/b/c")
LINKS = (
    "a{}b",
    "/{}",
    "?a{}b",
    "#a{}b",
    "..{}/c",
    "HTTP://I.test:80/{}",
    "data:,a{}b",
    "foo:a{}b",
    "foo://h/a{}b",
)
CHARACTERS = (*map(chr, range(0x20, 0x7F)), *"\t\n\r\u00e9\u6f22\U0001f600")


def test_every_character_at_every_place_of_a_link(page: Page) -> None:
    cases = [(base, link.format(c)) for base in BASES for link in LINKS for c in CHARACTERS]
    live = page.evaluate(
        """cases => cases.map(([base, link]) => URL.canParse(link, base) ? new URL(link, base).href : link)""",
        cases,
    )
    resolved = {case: (resolve(*case), href) for case, href in zip(cases, live, strict=True)}
    assert {case: both for case, both in resolved.items() if both[0] != both[1]} == {}
