"""The rendered texts of one recorded page: composed, and edited as the rows of its snapshot say."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

from replaykit.errors import Unsupported
from replaykit.replay.dom_tree import Tree
from replaykit.replay.rendered_text.element_states import SHOWN, SKIPPED, ElementStates
from replaykit.replay.rendered_text.inner_text import MARKS, Composition, Item, joined, parted
from replaykit.replay.rendered_text.style_palette import GROUP, INLINE
from replaykit.snapshot.snapshot_format import OTHER, refuse
from replaykit.snapshot.text_rows import SPENT, UNKNOWN, Edits, edited, text_rows

_MASK, _CUT = MARKS
# A recorder asks no more than this, in items and pieces of text, per node and piece of text of a page.
_EFFORT = 16
_EFFORT_LEAST = 1000
_PIECE = 256


def unsupported(tree: Tree, row: int, reason: str) -> Unsupported:
    """Build the refusal to read the text of an element."""
    return Unsupported(locator=f"innerText of <{tree.name[row]}>", reason=reason)


class InnerTexts:
    """The rendered texts of one page."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.states = ElementStates(tree)
        self._latest: tuple[int, Composition] | None = None
        #: Those of the outer elements of each tree: rules ask for them again.
        self._outer: dict[int, Composition] = {}

    @cached_property
    def _rows(self) -> dict[int, Edits]:
        return text_rows(self.tree.snapshot.head)

    @cached_property
    def _numbers(self) -> list[int]:
        return list(self._rows)

    @cached_property
    def _effort(self) -> int:
        names = self.tree.name
        return _EFFORT * (len(names) + _EFFORT_LEAST + sum(map(len, names)) // _PIECE)

    def text(self, row: int) -> str:
        """Return what `innerText` gives for an element.

        Raises Unsupported where the snapshot does not show: styles not recorded, texts not compared with the
        browser's, text masked or cut. Raises SnapshotInvalid where its rows do not fit the text.
        """
        check_composed(self.tree, row)
        edits = self._edits_inside(row)
        state = self.states.state(row)
        if state == SHOWN:
            return self._shown(row, edits)
        text = "" if state == SKIPPED else self.tree.text_content(row)
        if row in edits:
            text = edited(text, edits[row])
        self._refuse_gaps(row, text)
        return text

    def plain(self, row: int) -> str:
        """Return a text as it is laid out where white space collapses. Raises Unsupported, as `text` does."""
        text = " ".join(self.tree.name[row].split())
        self._refuse_gaps(row, text)
        return text

    def _edits_inside(self, row: int) -> dict[int, Edits]:
        """Return the edits of an element and of those inside of it, by row. Raises Unsupported."""
        tree, numbers = self.tree, self._numbers
        if not numbers:
            return {}
        nodes = tree.snapshot.nodes
        low = bisect_left(numbers, tree.number[row])
        high = bisect_left(numbers, bisect_left(nodes, tree.end[row]))
        inside = {nodes[number]: self._rows[number] for number in numbers[low:high]}
        found = {at: edits for at, edits in inside.items() if tree.scope[at] == tree.scope[row]}
        if UNKNOWN in found.values() or SPENT in found.values() or self._is_spent_around(row):
            raise unsupported(tree, row, "the recorder could not compare it with what the browser showed")
        return found

    def _is_spent_around(self, row: int) -> bool:
        rows, number = self._rows, self.tree.number
        is_spent = SPENT in rows.values()
        return is_spent and any(rows.get(number[above]) == SPENT for above in self.tree.ancestors(row))

    def _shown(self, row: int, edits: dict[int, Edits]) -> str:
        composition = self.composition(row)
        start, end = composition.spans[row]
        self._refuse_marks(row, composition, start, end)
        items = composition.items[start:end]
        if edits:
            items = self._edited(row, items, edits, composition)
        text = joined(items)
        self._refuse_gaps(row, text)
        return text

    def _edited(
        self, row: int, items: list[Item], edits: dict[int, Edits], composition: Composition
    ) -> list[Item]:
        """Apply the rows of all elements that are shown, those inside before those around them."""
        offset, effort = composition.spans[row][0], self._effort
        for at in sorted(edits.keys() & composition.spans.keys(), reverse=True):
            first, last = (place - offset for place in composition.spans[at])
            text = edited(joined(items[first:last]), edits[at])
            effort -= 1 + last - first + len(text) // _PIECE
            if effort < 0:
                refuse("head", "text rows take more effort than a recorder makes")
            if at == row:
                return [text]
            put(items, first, last, text)
        return items

    def composition(self, row: int) -> Composition:
        """Return the composition of the box that decides what an element shows.

        Kept are the latest one and those of outer elements, which have no more text than the page has twice.
        """
        top = self._top(row)
        if self._is_outer(top):
            return self._outer.get(top) or self._outer.setdefault(top, Composition(self.states, top))
        if self._latest is None or self._latest[0] != top:
            self._latest = (top, Composition(self.states, top))
        return self._latest[1]

    def _is_outer(self, row: int) -> bool:
        """Whether a row is a tree, an element right in it, or one in that: the body of a document."""
        kinds, parent = self.tree.kind, self.tree.parent
        around = (row, parent[row], parent[parent[row]])
        return any(at < 0 or kinds[at] > OTHER for at in around)

    def _top(self, row: int) -> int:
        while not self.stands_apart(row):
            above = self.tree.up[row]
            if above < 0:
                return self.tree.scope[row]
            row = above
        return row

    def stands_apart(self, row: int) -> bool:
        """Whether nothing outside of the element changes what it shows."""
        return self.states.kind(row) not in (INLINE, GROUP)

    def _refuse_marks(self, row: int, composition: Composition, start: int, end: int) -> None:
        low, high = bisect_left(composition.marked, start), bisect_left(composition.marked, end)
        for item in composition.marked[low:high]:
            text = str(composition.items[item])
            if text:
                raise unsupported(self.tree, row, "text is cut" if _CUT in text else "text is masked")

    def _refuse_gaps(self, row: int, text: str) -> None:
        if _MASK in text:
            raise unsupported(self.tree, row, "text is masked")
        snapshot = self.tree.snapshot
        if "cut" not in snapshot.head.flags:
            return
        if _CUT in text or any(row < omitted < self.tree.end[row] for omitted in snapshot.omitted):
            raise unsupported(self.tree, row, "text is cut")


class PartedTexts(InnerTexts):
    """The same texts with a blank at each border of an element, as they may stand on the screen."""

    def __init__(self, texts: InnerTexts) -> None:
        """Take over what `texts` has composed: only how items are joined differs."""
        self.tree, self.states, self._texts = texts.tree, texts.states, texts

    def composition(self, row: int) -> Composition:
        """Return that of the other texts."""
        return self._texts.composition(row)

    def _shown(self, row: int, edits: dict[int, Edits]) -> str:
        composition = self.composition(row)
        return parted(composition, *composition.spans[row])


def check_composed(tree: Tree, row: int) -> None:
    """Raise Unsupported where the recorder did not compare texts with what the browser showed."""
    snapshot = tree.snapshot
    if snapshot.nodes and not snapshot.style:
        raise unsupported(tree, row, "no_style")
    if "composed" not in snapshot.head.flags:
        raise unsupported(tree, row, "the recorder took no rendered texts: record the run again")


def put(items: list[Item], first: int, last: int, text: str) -> None:
    """Put a text in place of all texts of a slice, from the first to the last that is not empty."""
    filled = [at for at in range(first, last) if isinstance(items[at], str) and items[at]]
    if filled:
        items[filled[0] : filled[-1] + 1] = [text, *[""] * (filled[-1] - filled[0])]
