"""The rule of rendered texts is written twice, in Python and in the recorder's page: both say the same."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import replaykit.recorder.page
from replaykit.replay.dom import Dom
from replaykit.replay.rendered_text.element_states import SHOWN
from replaykit.replay.rendered_text.inner_text import Composition, joined
from replaykit.snapshot.text_rows import edited
from tests.needed import missing
from tests.replay.token_streams import Stream

PAGE = Path(replaykit.recorder.page.__file__).parent
HARNESS = Path(__file__).with_name("rendered_text_rule.js")
SEEDS = range(2000)
BATCH = 500


def ask_page(asked: list[Any]) -> list[Any]:
    """Run the page's implementation on each question."""
    node = shutil.which("node")
    if node is None:
        missing("node is not installed: apt-get install nodejs")
    lines = b"".join(msgspec.json.encode(one) + b"\n" for one in asked)
    done = subprocess.run([node, HARNESS, PAGE], input=lines, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return [msgspec.json.decode(line) for line in done.stdout.splitlines()]


def composed(stream: Stream) -> dict[str, Any]:
    """Return the states and texts of all elements, each read by itself."""
    dom = Dom(stream.data)
    inner, nodes = dom.inner_texts, dom.snapshot.nodes
    states = [inner.states.state(row) for row in nodes]
    texts: list[str | None] = [None] * len(nodes)
    for number, row in enumerate(nodes):
        if states[number] == SHOWN:
            composition = inner.composition(row)
            texts[number] = joined(composition.items[slice(*composition.spans[row])])
    return {"state": states, "texts": texts}


def assert_same(seeds: range) -> None:
    streams = [Stream(seed) for seed in seeds]
    for seed, stream, answer in zip(seeds, streams, ask_page([one.asked for one in streams]), strict=True):
        own = composed(stream)
        assert own["state"] == answer["state"], f"Stream({seed})"
        for number, text in enumerate(own["texts"]):
            assert text is None or text == answer["texts"][number], f"Stream({seed}), element {number}"


@pytest.mark.parametrize("first", SEEDS[::BATCH])
def test_both_compose_the_same(first: int) -> None:
    assert_same(range(first, first + BATCH))


def test_a_whole_tree_has_the_texts_of_its_elements() -> None:
    for seed in range(500):
        dom = Dom(Stream(seed).data)
        states = dom.inner_texts.states
        whole = Composition(states, 0)
        for row, (start, end) in whole.spans.items():
            one = dom.inner_texts.composition(row)
            assert joined(whole.items[start:end]) == joined(one.items[slice(*one.spans[row])]), (
                f"Stream({seed})"
            )


LETTERS = st.sampled_from(" \n\tabAB\u00df\U0001f600\U0001f601\ufffd")


@given(
    st.lists(
        st.tuples(st.text(LETTERS, max_size=12), st.text(LETTERS, max_size=12)), min_size=20, max_size=60
    )
)
def test_edits_of_the_page_lead_to_its_text(pairs: list[tuple[str, str]]) -> None:
    for (text, answer), edits in zip(pairs, ask_page([list(pair) for pair in pairs]), strict=True):
        assert edited(text, tuple(edits)) == answer
        assert text != answer or not edits
