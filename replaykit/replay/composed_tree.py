"""A page as a person sees it: shadow trees belong to the elements that host them.

Playwright's selectors and its accessibility tree see a page like this, while `document.querySelector` and
`innerText` end at every shadow root. Documents in frames stay apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from replaykit.replay.dom_tree import Tree
from replaykit.replay.rendered_text.element_states import SHOWN
from replaykit.replay.rendered_text.element_texts import InnerTexts
from replaykit.snapshot.snapshot_format import SHADOW, TEXT


class ComposedTree(Tree):
    """The columns of a snapshot, with one scope for a document and all shadow trees in it."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree.snapshot)
        self.scope = self._scopes(tree)

    def _scopes(self, tree: Tree) -> list[int]:
        # A shadow root comes after its host, so the scope around it is known by then.
        around: dict[int, int] = {}
        found: list[int] = []
        for row, scope in enumerate(tree.scope):
            if self.kind[row] == SHADOW:
                around[row] = found[self.parent[row]]
            found.append(around.get(scope, scope))
        return found

    @cached_property
    def up(self) -> list[int]:
        """Per node: its parent element, or the host of the shadow tree that it is at the top of, or -1."""
        hosts = {row: self.parent[row] for row, kind in enumerate(self.kind) if kind == SHADOW}
        inside = super().up
        return [hosts.get(parent, above) for parent, above in zip(self.parent, inside, strict=True)]


def shadow_texts(texts: InnerTexts) -> Iterator[str]:
    """Yield the rendered text of each shadow tree of a page, those in frames left out.

    Raises Unsupported, as `InnerTexts.text` does.
    """
    tree = texts.tree
    if SHADOW not in tree.kind:
        return
    scopes = ComposedTree(tree).scope
    for row, kind in enumerate(tree.kind):
        if kind == SHADOW and scopes[row] == 0:
            yield from _texts_in(texts, row)


def _texts_in(texts: InnerTexts, root: int) -> Iterator[str]:
    tree = texts.tree
    if texts.states.around(root).state != SHOWN or texts.states.state(tree.parent[root]) != SHOWN:
        return
    for row in tree.children(root):
        if tree.kind[row] == TEXT:
            yield texts.plain(row)
        elif tree.is_element(row) and texts.states.state(row) == SHOWN:
            yield texts.text(row)
