"""The texts of a page with what style sheets do to them, which `innerText` lacks.

They generate words, display letters backwards, and let the browser skip what is far from the screen
(`content-visibility: auto`).
"""

from __future__ import annotations

from functools import cached_property

from replaykit.replay.dom_tree import Tree
from replaykit.replay.rendered_text.element_states import ElementStates
from replaykit.replay.rendered_text.inner_text import Composition, Item, joined
from replaykit.replay.rendered_text.style_palette import BLOCK, palette
from replaykit.snapshot.generated_rows import BACKWARDS, START, Generated, generated


class StyledTexts:
    """The texts of one page as its style sheets show them."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._rows = list(generated(tree.snapshot.head))
        self._states = ElementStates(tree, skips_far=False)

    @cached_property
    def trees(self) -> tuple[str, ...]:
        """The text of each tree with such words or such content, then these words by themselves."""
        if not self._rows and not self._skips:
            return ()
        nodes, scope = self._tree.snapshot.nodes, self._tree.scope
        tops = {scope[nodes[row.number]] for row in self._rows} | self._skips
        return (*filter(None, map(self.text, sorted(tops))), *map(self._alone, self._rows))

    def _alone(self, one: Generated) -> str:
        """Return what shows by a row, without what stands beside it."""
        return one.text or self.text(self._tree.snapshot.nodes[one.number])

    def inside(self, row: int) -> tuple[str, ...]:
        """Return the text of an element, if there are such words or such content in its tree."""
        nodes, tree = self._tree.snapshot.nodes, self._tree
        own = [one for one in self._rows if row <= nodes[one.number] < tree.end[row]]
        is_styled = own or tree.scope[row] in self._skips
        return (*filter(None, [self.text(row)]), *(one.text for one in own if one.text)) if is_styled else ()

    @cached_property
    def _skips(self) -> set[int]:
        """Trees in which content is skipped because it is far away."""
        snapshot = self._tree.snapshot
        far = {at for at, style in enumerate(palette(snapshot.head.styles)) if style.is_far}
        numbers = (number for number, index in enumerate(snapshot.style) if index in far) if far else ()
        return {self._tree.scope[snapshot.nodes[number]] for number in numbers}

    def text(self, top: int) -> str:
        """Return the text of an element, or of a whole tree by the row of its document or shadow root."""
        composition = Composition(self._states, top)
        items, spans = composition.items, composition.spans
        nodes = self._tree.snapshot.nodes
        own = [(nodes[row.number], row) for row in self._rows if nodes[row.number] in spans]
        for at, row in own:
            if row.place == BACKWARDS:
                _turn(items, *spans[at])
        placed = (
            (self._place(items, spans[at], at, row.place), self._order(at, row), row) for at, row in own
        )
        for place, _, row in sorted(placed, reverse=True):
            items.insert(place, row.text)
        return joined(items)

    def _order(self, row: int, one: Generated) -> tuple[float, int]:
        """Return what orders words at one place: where their element begins or ends, the inner one first."""
        return (row, 0) if one.place == START else (self._tree.end[row] - 0.5, -row)

    def _place(self, items: list[Item], span: tuple[int, int], row: int, place: int) -> int:
        """Return where words stand: inside of the line breaks that their element requests."""
        start, end = span
        has_breaks = self._states.kind(row) == BLOCK and end - start > 1
        if place == START:
            return start + (has_breaks and isinstance(items[start], int))
        return end - (has_breaks and isinstance(items[end - 1], int))


def _turn(items: list[Item], start: int, end: int) -> None:
    """Display the letters of a slice backwards; as many items stay."""
    texts = [at for at in range(start, end) if isinstance(items[at], str) and items[at]]
    if texts:
        first, last = texts[0], texts[-1]
        items[first : last + 1] = [joined(items[first : last + 1])[::-1], *[""] * (last - first)]
