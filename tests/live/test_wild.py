"""Every element of seeded pages that nobody has seen before, changed by scripts: static answers against live ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from replaykit.errors import Unsupported
from replaykit.recorder.page.page_script import API
from replaykit.replay.dom import Dom, Node
from tests.thorough import one_in

sys.path.insert(0, str(Path(__file__).parent))
from wild import PRELUDE, WildPage

pytestmark = [pytest.mark.live, pytest.mark.one_page]


Watch = Callable[..., Any]

# Snapshot and reads in one task of the page: nothing can change between them.
READ = """(() => {
  const push = API.push('asked');
  const reads = [];
  const isShown = (node) => {
    const style = getComputedStyle(node);
    const {width, height} = node.getBoundingClientRect();
    const isVisible = node.checkVisibility() && style.visibility === 'visible';
    return style.display === 'contents' ? null : isVisible && Math.round(width) > 0 && Math.round(height) > 0;
  };
  const visit = (node) => {
    if (node.nodeType === 1) reads.push({tag: node.localName, text: node.innerText ?? null,
      outer: node.outerText ?? null, value: node.value ?? null, checked: node.checked ?? null,
      index: node.selectedIndex ?? null, selected: node.selected ?? null, visible: isShown(node),
      disabled: node.matches(':disabled')});
    if (node.shadowRoot) node.shadowRoot.childNodes.forEach(visit);
    if (node.localName === 'iframe' && node.contentDocument) node.contentDocument.childNodes.forEach(visit);
    (node.localName === 'template' ? node.content : node).childNodes.forEach(visit);
  };
  document.childNodes.forEach(visit);
  return JSON.stringify({push: JSON.parse(push), reads});
})()""".replace("API", API)
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

SEEDS = range(100, 260)
BATCH = 20


def visit(watched: Any, seed: int) -> tuple[Dom, list[dict[str, Any]]]:
    page = WildPage(seed)
    watched.page.set_content(f"<!doctype html><html><head>{page.head}</head><body>{page.body}</body></html>")
    watched.page.evaluate(f"() => {{ {PRELUDE} {page.script} }}")
    watched.page.evaluate(DRAWN)
    answer = msgspec.json.decode(watched.call(READ))
    watched.forget()
    return Dom(answer["push"]["snapshot"].encode()), answer["reads"]


READS: dict[str, Callable[[Node], Any]] = {
    "tag": lambda node: node.tag,
    "text": lambda node: node.inner_text,
    "value": lambda node: node.value,
    "checked": lambda node: node.checked,
    "index": lambda node: node.selected_index,
    "selected": lambda node: node.selected,
    "visible": lambda node: node.visible,
    "disabled": lambda node: node.disabled,
}


def answers(node: Node) -> dict[str, Any]:
    """Return the snapshot's answers about an element; a missing key is refused."""
    found = {}
    for key, read in READS.items():
        try:
            found[key] = read(node)
        except Unsupported:
            continue
    return found


@pytest.mark.parametrize("first", one_in(3, SEEDS[::BATCH]))
def test_every_element_of_a_wild_page_reads_as_live(watch: Watch, first: int) -> None:
    """Every answer is exact, and every element has one, but for what is masked."""
    watched = watch()
    elements, refused = 0, 0
    for seed in range(first, first + BATCH):
        dom, reads = visit(watched, seed)
        assert len(dom.snapshot.nodes) == len(reads)
        for number, live in enumerate(reads):
            node = dom.node(number)
            assert node is not None
            own = answers(node)
            assert live["outer"] == live["text"]
            differing = {key: (live[key], own[key]) for key in own if live[key] not in (None, own[key])}
            assert not differing, f"WildPage({seed}): {node!r}"
            elements, refused = elements + 1, refused + (len(own) < len(READS) and not node.masked)
    assert elements > 20 * BATCH
    assert refused == 0
