"""Pages of a real browser cut off after each of their elements: who has lines of its own reads as on the whole page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaykit.errors import Unsupported
from replaykit.replay.dom import Dom, Node
from replaykit.replay.selectors.prefilter import end_of
from replaykit.snapshot.codec import SnapshotLines
from tests.thorough import one_in

sys.path.insert(0, str(Path(__file__).parent))
from awkward import PAGES
from test_fidelity import load
from test_wild import visit

pytestmark = [pytest.mark.live, pytest.mark.one_page]


SEEDS = range(100, 148)


def cut_pages(dom: Dom) -> list[Node]:
    """Return each element that has lines of its own, on a page that ends with it."""
    lines, found = SnapshotLines(dom.data), []
    starts = [at for at, token in enumerate(lines.tokens) if isinstance(token, str) and token[:1] in "<%&^"]
    for number, start in enumerate(starts):
        page = Dom(dom.data)
        page.snapshot = lines.beginning(lines.tokens[: end_of(lines.tokens, start)])
        node = page.node(number)
        assert node is not None
        if page.reads_the_same(node.row):
            found.append(node)
    return found


def text_of(node: Node | None) -> str | None:
    assert node is not None
    try:
        return node.text
    except Unsupported as error:
        return str(error)


def assert_cut_pages_read_the_same(dom: Dom) -> int:
    cut = cut_pages(dom)
    assert [text_of(node) for node in cut] == [text_of(dom.node(node.number)) for node in cut]
    return len(cut)


@pytest.mark.parametrize("name", one_in(4, [*PAGES]))
def test_awkward_pages_begin_as_they_are(watch: Callable[..., Any], name: str) -> None:
    assert_cut_pages_read_the_same(load(watch(), PAGES[name])[0])


@pytest.mark.thorough
def test_wild_pages_begin_as_they_are(watch: Callable[..., Any]) -> None:
    watched = watch()
    count = sum(assert_cut_pages_read_the_same(visit(watched, seed)[0]) for seed in SEEDS)
    assert count > 10 * len(SEEDS)
