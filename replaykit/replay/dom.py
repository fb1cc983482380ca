"""A recorded page to ask questions of: selectors, rendered text, live form state, without a browser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.replay import form_values, page_source
from replaykit.replay.composed_tree import ComposedTree, texts_inside
from replaykit.replay.dom_tree import Tree, ascii_lower
from replaykit.replay.link_resolution import resolve
from replaykit.replay.rendered_text.element_texts import InnerTexts, check_composed
from replaykit.replay.rendered_text.style_palette import NONE, Style
from replaykit.replay.selectors.prefilter import Prefilter, beginning, reach
from replaykit.replay.selectors.pseudo_classes import disabled
from replaykit.replay.selectors.selector_cache import compile_selector
from replaykit.replay.selectors.selector_matching import Selector
from replaykit.snapshot.attributes import qualified
from replaykit.snapshot.codec import SnapshotLines, decode_head
from replaykit.snapshot.snapshot_format import DOCUMENT, HTML, OTHER, SHADOW, Head, Snapshot
from replaykit.snapshot.text_rows import unseen
from replaykit.trajectory.redaction_marks import MASKS


class Dom:
    """One recorded document with its shadow trees and readable frames.

    Its head is read at once, its elements when they are first asked for: both raise SnapshotInvalid for bytes
    that are no snapshot. For use by one thread.
    """

    def __init__(self, data: bytes, head: Head | None = None) -> None:
        """Begin with a snapshot; `head`: its first line, where that was read before."""
        #: The snapshot.
        self.data = data
        self._glimpsed: tuple[str, Node | None] | None = None
        #: What the page says about itself.
        self.head: Head = head or decode_head(data)

    @cached_property
    def snapshot(self) -> Snapshot:
        """The recorded columns."""
        lines = self._lines
        del self._lines  # its tokens take as much room as the columns
        return lines.whole()

    @cached_property
    def _lines(self) -> SnapshotLines:
        return SnapshotLines(self.data, self.head)

    @cached_property
    def tree(self) -> Tree:
        """The columns as a tree."""
        return Tree(self.snapshot)

    @cached_property
    def _prefilter(self) -> Prefilter:
        return Prefilter(self.data)

    def excludes(self, selector: Selector) -> bool:
        """Whether the raw bytes of the snapshot already rule out a match."""
        return self._prefilter.excludes(selector)

    @cached_property
    def live_values(self) -> tuple[str, ...]:
        """Values of fields that differ from their document, in all trees; hidden ones are left out."""
        if not self._prefilter.may_hold_values:
            return ()
        states = self.snapshot.state.values()
        return tuple(state.value for state in states if state.value and state.value not in MASKS)

    def held(self, words: Iterable[bytes]) -> list[bytes]:
        """Return those of these words, in lower case, that may stand in the bytes of the snapshot."""
        return self._prefilter.held(words)

    def lacks(self, words: Iterable[bytes]) -> bool:
        """Whether one of these words, in lower case, is nowhere in the bytes of the snapshot."""
        return self._prefilter.lacks(words)

    @property
    def url(self) -> str:
        """Address of the document."""
        return self.head.url

    @property
    def base(self) -> str:
        """URL that relative links resolve against."""
        return self.head.base or self.url

    @property
    def title(self) -> str:
        """`document.title`."""
        return self.head.title

    @cached_property
    def root(self) -> Node | None:
        """The root element."""
        row = self.tree.root()
        return Node(self, row) if row >= 0 else None

    @cached_property
    def body(self) -> Node | None:
        """The body, or the frameset that stands in its place."""
        children = self.root.children if self.root is not None else []
        return next((child for child in children if child.tag in ("body", "frameset")), None)

    @cached_property
    def source(self) -> str:
        """Doctype and HTML, as `page.content()` gave them: attributes only, no live state."""
        return page_source.page_source(self.tree)

    @cached_property
    def text(self) -> str:
        """Rendered text of the body (of the root element without a body).

        Raises Unsupported where styles were not recorded or texts are masked or cut.
        """
        top = self.body or self.root
        return top.text if top is not None else ""

    @cached_property
    def whole_text(self) -> str:
        """Rendered text of the body, then that of shadow trees and readable frames, which `innerText` lacks.

        Raises Unsupported, as `text` does.
        """
        return "\n".join(filter(None, (self.text, *texts_inside(self.inner_texts))))

    @cached_property
    def composed(self) -> Tree:
        """The columns as a tree in which shadow trees belong to their hosts."""
        return ComposedTree(self.tree) if self.has_shadow_trees else self.tree

    @property
    def has_shadow_trees(self) -> bool:
        """Whether any element hosts a shadow tree."""
        return SHADOW in self.tree.kind

    @property
    def elements(self) -> Iterator[Node]:
        """All elements of the document and its shadow trees, in order."""
        scopes = self.composed.scope
        return (Node(self, row) for row in self.snapshot.nodes if scopes[row] == 0)

    def node(self, number: int) -> Node | None:
        """Return the element of that number, the n-th that the recorder met."""
        rows = self.snapshot.nodes
        return Node(self, rows[number]) if 0 <= number < len(rows) else None

    def select(self, css: str) -> Node | None:
        """Return the first element of the document that matches, as `document.querySelector`.

        Raises SelectorInvalid, Unsupported, LocatorLimit.
        """
        return None if self.excludes(compile_selector(css)) else self._select(css, 0)

    def select_all(self, css: str) -> list[Node]:
        """Return all elements of the document that match; shadow trees and frames are trees of their own.

        Raises SelectorInvalid, Unsupported, LocatorLimit.
        """
        return [] if self.excludes(compile_selector(css)) else self._select_all(css, 0)

    def pierce_all(self, css: str, document: int = 0) -> list[Node]:
        """Return all matches in a document, by its row, and its shadow trees, as a CSS locator of Playwright.

        Raises SelectorInvalid, Unsupported, LocatorLimit.
        """
        selector = compile_selector(css)
        if self.excludes(selector):
            return []
        self._refuse_cut(selector)
        return [Node(self, row) for row in selector.find(self.composed, document)]

    def glimpse(self, css: str) -> Node | None:
        """Return what `select` finds, on a page that ends with it: its `text` is the same, and nothing else.

        None where the whole page is needed; so it is for the second selector of a page. Raises as `select`.
        """
        if self._glimpsed is None:
            self._glimpsed = (css, self._glimpse(compile_selector(css)))
        return self._glimpsed[1] if self._glimpsed[0] == css else None

    def _glimpse(self, selector: Selector) -> Node | None:
        if "snapshot" in vars(self) or self.excludes(selector):
            return None
        begun = self._begun(selector)
        if begun is None:
            return None
        page = Dom(self.data, self.head)
        page.snapshot = begun
        with suppress(LocatorLimit):  # a smaller page has a smaller limit
            row = next(selector.find(page.tree, 0), -1)
            if row >= 0 and page.reads_the_same(row):
                del self._lines
                return Node(page, row)
        return None

    def _begun(self, selector: Selector) -> Snapshot | None:
        """Return the page up to the end of the first element that may match; None if that saves nothing."""
        lines = self._lines
        upto = reach(lines.packed, selector)
        opening = lines.opening(upto) if upto else None
        if opening is not None and (count := beginning(opening, selector, worth=1)):
            return lines.beginning(opening[:count])
        count = beginning(lines.tokens, selector)
        return lines.beginning(lines.tokens[:count]) if count else None

    def reads_the_same(self, row: int) -> bool:
        """Whether an element reads the same if the page ends with it. Raises Unsupported, as `text`."""
        check_composed(self.tree, row)
        return self.inner_texts.stands_apart(row)

    def _select(self, css: str, scope: int) -> Node | None:
        selector = compile_selector(css)
        row = next(selector.find(self.tree, scope), -1)
        # Omitted nodes come later than a first match, unless the selector looks ahead.
        if row < 0 or selector.looks_ahead:
            self._refuse_cut(selector)
        return Node(self, row) if row >= 0 else None

    def _select_all(self, css: str, scope: int) -> list[Node]:
        selector = compile_selector(css)
        self._refuse_cut(selector)
        return [Node(self, row) for row in selector.find(self.tree, scope)]

    def _refuse_cut(self, selector: Selector) -> None:
        if self.snapshot.omitted:
            raise Unsupported(locator=selector.source, reason="the snapshot leaves elements out")

    @cached_property
    def inner_texts(self) -> InnerTexts:
        """The rendered texts of its elements."""
        return InnerTexts(self.tree)

    @cached_property
    def unseen(self) -> frozenset[int]:
        """Numbers of elements that the browser did not show, though style and box say nothing of it."""
        return frozenset(number for run in unseen(self.head) for number in run)


class Node:
    """One node of a recorded document; elements have all of the properties below."""

    __slots__ = ("dom", "row")

    def __init__(self, dom: Dom, row: int) -> None:
        self.dom = dom
        self.row = row

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and other.dom is self.dom and other.row == self.row

    def __hash__(self) -> int:
        return hash((id(self.dom), self.row))

    def __repr__(self) -> str:
        return f"<Node {self.number} {self.tag or self.text_content[:40]!r}>"

    @property
    def is_element(self) -> bool:
        """Whether it is an element (else a text, comment, instruction, shadow root or document)."""
        return self.dom.tree.kind[self.row] <= OTHER

    @property
    def is_html(self) -> bool:
        """Whether it is an HTML element: SVG and MathML have neither `innerText` nor `value`."""
        return self.dom.tree.kind[self.row] == HTML

    @property
    def number(self) -> int:
        """Element number in the snapshot, -1 for other nodes."""
        return self.dom.snapshot.number[self.row]

    @property
    def tag(self) -> str:
        """Local name as in the DOM; empty for other nodes."""
        return self.dom.tree.name[self.row] if self.is_element else ""

    @property
    def tag_name(self) -> str:
        """`tagName`: upper-case for HTML elements."""
        return self.tag.upper() if self.is_html and self.dom.tree.html else self.tag

    @property
    def host(self) -> Node | None:
        """The element that hosts the shadow tree that it stands in; None in a document."""
        tree = self.dom.tree
        row = self.row
        while row >= 0 and tree.kind[row] not in (SHADOW, DOCUMENT):
            row = tree.parent[row]
        return Node(self.dom, tree.parent[row]) if row >= 0 and tree.kind[row] == SHADOW else None

    @property
    def attributes(self) -> dict[str, str]:
        """Attributes by qualified name, in DOM order."""
        return {qualified(name): value for name, value in self.dom.tree.attributes(self.row)}

    def attribute(self, name: str) -> str | None:
        """Return an attribute as `getAttribute` does: names of HTML elements ignore ASCII case."""
        html = self.is_html and self.dom.tree.html
        return self.dom.tree.attribute(self.row, ascii_lower(name) if html else name)

    def resolved(self, name: str) -> str:
        """Return a link attribute resolved against the document's base, as properties `href` and `src` do."""
        found = self.attribute(name)
        return "" if found is None else resolve(self._base(), found)

    def _base(self) -> str:
        document = self.dom.tree.document(self.row)
        return self.dom.snapshot.inner[document].base if document else self.dom.base

    @property
    def text(self) -> str:
        """Rendered text (`innerText`); of a node that is no HTML element, its `textContent`.

        Raises Unsupported where styles were not recorded or texts are masked or cut.
        """
        inner = self.inner_text
        return self.text_content if inner is None else inner

    @property
    def inner_text(self) -> str | None:
        """`innerText`, which reads like `outerText`; None where the DOM has no such property.

        Raises Unsupported, as `text` does.
        """
        return self.dom.inner_texts.text(self.row) if self.is_html else None

    @property
    def text_content(self) -> str:
        """`textContent`."""
        return self.dom.tree.text_content(self.row)

    @property
    def inner_html(self) -> str:
        """`innerHTML`."""
        return page_source.inner_html(self.dom.tree, self.row)

    @property
    def outer_html(self) -> str:
        """`outerHTML`."""
        return page_source.outer_html(self.dom.tree, self.row)

    @property
    def value(self) -> form_values.Value:
        """Live `value`; None where the element has no such property.

        Raises Unsupported for a value that was masked without saying which secret it is.
        """
        found = form_values.value(self.dom.tree, self.row) if self.is_element else None
        if found in MASKS:
            raise Unsupported(locator=f"value of <{self.tag}>", reason="value is masked")
        return found

    @property
    def masked(self) -> bool:
        """Whether its value or text was masked inside the page."""
        return self.dom.tree.state(self.row).masked

    @property
    def checked(self) -> bool | None:
        """Live `checked` of an input; None for other elements."""
        return form_values.checked(self.dom.tree, self.row)

    @property
    def selected(self) -> bool | None:
        """Live `selected` of an option; None for other elements."""
        return form_values.selected(self.dom.tree, self.row)

    @property
    def selected_index(self) -> int | None:
        """Live `selectedIndex` of a select, -1 where nothing is selected; None for other elements."""
        return form_values.selected_index(self.dom.tree, self.row)

    @property
    def options(self) -> list[Node]:
        """Options of a select in order."""
        return [Node(self.dom, row) for row in form_values.options(self.dom.tree, self.row)]

    @property
    def disabled(self) -> bool:
        """Whether a control is disabled, by its attribute, its group or a fieldset."""
        return disabled(self.dom.tree, self.row)

    @property
    def rendered(self) -> bool:
        """Whether it has a box that is not skipped: no `display: none`, closed details or hidden content."""
        style = self._style
        return style is not None and style.kind != NONE and self.number not in self.dom.unseen

    @property
    def visible(self) -> bool:
        """Whether a person could see it: rendered, `visibility: visible`, and of some size where boxes exist.

        Raises Unsupported where styles were not recorded.
        """
        style = self._style
        if style is None or not self.rendered or not style.is_visible:
            return False
        box = self.box
        return box is None or style.display == "contents" or (box[2] > 0 and box[3] > 0)

    @property
    def _style(self) -> Style | None:
        if not self.is_element:
            return None
        check_composed(self.dom.tree, self.row)
        return self.dom.inner_texts.states.style(self.row)

    @property
    def box(self) -> tuple[int, int, int, int] | None:
        """Bounding box in document CSS px (x, y, width, height); None where boxes were not taken."""
        return self.dom.snapshot.box_of(self.row)

    @property
    def parent(self) -> Node | None:
        """Parent element within the same tree."""
        return self._node(self.dom.tree.up[self.row])

    @property
    def children(self) -> list[Node]:
        """Child elements."""
        return [Node(self.dom, row) for row in self.dom.tree.elements(self.row)]

    @property
    def child_nodes(self) -> list[Node]:
        """Child nodes of every kind."""
        return [Node(self.dom, row) for row in self.dom.tree.children(self.row)]

    @property
    def next_element(self) -> Node | None:
        """`nextElementSibling`."""
        return self._node(self.dom.tree.after[self.row])

    @property
    def previous_element(self) -> Node | None:
        """`previousElementSibling`."""
        return self._node(self.dom.tree.before[self.row])

    @property
    def shadow(self) -> Node | None:
        """Its shadow root, open or closed, if one was recorded."""
        return self._node(self.dom.tree.shadow(self.row))

    @property
    def content(self) -> Node | None:
        """The document inside a frame, if it was recorded here."""
        return self._node(self.dom.tree.inner_document(self.row))

    def matches(self, css: str) -> bool:
        """Whether the element matches a selector. Raises SelectorInvalid, Unsupported, LocatorLimit."""
        return self._nearest(compile_selector(css), (self.row,)) >= 0

    def closest(self, css: str) -> Node | None:
        """Return the nearest of itself and its ancestors that matches.

        Raises SelectorInvalid, Unsupported, LocatorLimit.
        """
        selector = compile_selector(css)
        if self.dom.excludes(selector):
            return None
        return self._node(self._nearest(selector, (self.row, *self.dom.tree.ancestors(self.row))))

    def is_inside(self, css: str) -> bool:
        """Whether it matches, or an element around it, hosts of shadow trees included.

        Raises SelectorInvalid, Unsupported, LocatorLimit.
        """
        selector, tree = compile_selector(css), self.dom.composed
        if self.dom.excludes(selector):
            return False
        if selector.looks_ahead:
            self.dom._refuse_cut(selector)
        return selector.nearest(tree, (self.row, *tree.ancestors(self.row)), self.row) >= 0

    def select(self, css: str) -> Node | None:
        """Return the first match below, as `element.querySelector`. Raises as `Dom.select`."""
        return self.dom._select(css, self.row)

    def select_all(self, css: str) -> list[Node]:
        """Return all matches below, as `element.querySelectorAll`. Raises as `Dom.select`."""
        return self.dom._select_all(css, self.row)

    def descendants(self) -> Iterator[Node]:
        """Yield all nodes below in document order."""
        return (Node(self.dom, row) for row in self.dom.tree.descendants(self.row))

    def _nearest(self, selector: Selector, rows: Iterable[int]) -> int:
        if selector.looks_ahead:
            self.dom._refuse_cut(selector)
        return selector.nearest(self.dom.tree, rows, self.row)

    def _node(self, row: int) -> Node | None:
        return Node(self.dom, row) if row >= 0 else None
