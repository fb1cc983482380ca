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
from replaykit.snapshot.snapshot_format import DOCUMENT, SHADOW, TEXT

TEXT_MIN = 10
"""Width and height of a frame that may show a text, CSS px."""


class ComposedTree(Tree):
    """The columns of a snapshot, with one scope for a document and all shadow trees in it."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree.snapshot)
        self.scope = self._scopes(tree)

    def _scopes(self, tree: Tree) -> list[int]:
        # A shadow root comes after its host, so the scope around it is already known.
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


def texts_inside(texts: InnerTexts) -> Iterator[str]:
    """Yield the rendered text of each tree inside of a document: shadow trees, and frames that it can read.

    Raises Unsupported, as `InnerTexts.text` does.
    """
    for row in trees_inside(texts):
        yield from _texts_in(texts, row)


def trees_inside(texts: InnerTexts) -> Iterator[int]:
    """Yield the rows of the shadow roots, and of the documents in frames, that show.

    Raises Unsupported where styles were not recorded.
    """
    tree = texts.tree
    if SHADOW not in tree.kind and tree.kind.count(DOCUMENT) < 2:
        return
    hidden_until = 1  # the document itself is no tree inside
    for row, kind in enumerate(tree.kind):
        if kind not in (SHADOW, DOCUMENT) or row < hidden_until:
            continue
        if _is_shown(texts, tree.parent[row], kind):
            yield row
        else:
            hidden_until = tree.end[row]


def _is_shown(texts: InnerTexts, holder: int, kind: int) -> bool:
    """Whether the element that holds a tree is displayed; a frame is as visible as its element."""
    is_displayed = texts.states.state(holder) == SHOWN
    return is_displayed and (kind == SHADOW or _is_window(texts, holder))


def _is_window(texts: InnerTexts, owner: int) -> bool:
    is_visible = texts.states.style(owner).is_visible
    return is_visible and not is_small(texts.tree.snapshot.box_of(owner))


def is_small(box: tuple[int, int, int, int] | None) -> bool:
    """Whether a box is known, and too small for a text: frames that only send something are."""
    return box is not None and min(box[2:]) < TEXT_MIN


def _texts_in(texts: InnerTexts, root: int) -> Iterator[str]:
    tree = texts.tree
    for row in tree.children(root):
        if tree.kind[row] == TEXT:
            yield texts.plain(row)
        elif tree.is_element(row) and texts.states.state(row) == SHOWN:
            yield texts.text(row)
