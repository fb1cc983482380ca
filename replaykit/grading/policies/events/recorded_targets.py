"""Pages and targets as recorded: selectors on the page acted on, texts as a person saw them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from replaykit.errors import LocatorLimit, ReplaykitError, Unsupported
from replaykit.grading.policies.events.event import BUTTONS, ENTER, Event
from replaykit.grading.policies.events.text_conditions import Reading
from replaykit.grading.policies.events.three_valued_truth import FALSE, TRUE, Truth, of, some, unknown
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Dom, Node
from replaykit.replay.dom_tree import Tree
from replaykit.replay.frame_pages import FrameView, find
from replaykit.replay.run_state import Page
from replaykit.replay.selectors.xpath_evaluation import find as find_xpath
from replaykit.tasks.grammar.xpath_grammar import is_xpath
from replaykit.trajectory.action import Element, Press

_SUBMITS = "button:not([type=button]):not([type=reset]), input[type=submit], input[type=image]"

_LABELLED = "button, input, meter, output, progress, select, textarea"
"""Elements that a label may stand for, as HTML defines it."""

_BOXES = ("checkbox", "radio", "switch")
"""Roles of boxes."""

_ATTRIBUTE = lazy_pattern(r"""\[\s*([\w-]+)\s*=\s*["']?([^"'\]]*)["']?\s*\]""")


def page_has(event: Event, css: str) -> Truth:
    """Return whether the page holds such an element."""
    dom = event.dom
    if isinstance(dom, tuple):
        return unknown(*dom)
    try:
        found = bool(_path_rows(css, dom)) if is_xpath(css) else bool(dom.pierce_all(css))
    except (Unsupported, LocatorLimit):
        return unknown("probe:" + css)
    return of(found)


def target_inside(event: Event, css: str) -> Truth:
    """Return whether the target is, or is inside, one of all matches on the page before the action."""
    if not event.has_target:
        return FALSE
    try:
        dom = event.dom
        return unknown(*dom) if isinstance(dom, tuple) else _inside(event, dom, css)
    except (Unsupported, LocatorLimit):
        return unknown("probe:" + css)


def page_around(event: Event) -> Page | None:
    """Return the one page of the target and all elements around it; None if there is no such page."""
    if "page" not in event.known:
        event.known["page"] = _page_around(event)
    page: Page | None = event.known["page"]
    return page


def _page_around(event: Event) -> Page | None:
    try:
        dom = event.dom if event.has_target else ()
        target = None if isinstance(dom, tuple) else _node(event, dom)
    except ReplaykitError:
        # Faults of the page are reported by the rule that has to read it.
        return None
    is_alone = target is not None and target.dom is dom and not any(_frame_owners(event))
    return event.page if is_alone else None


def _inside(event: Event, dom: Dom, css: str) -> Truth:
    target = _node(event, dom)
    if target is None:
        in_frame = event.element is not None and bool(event.element.frame)
        found = bool(_path_rows(css, dom)) if is_xpath(css) else bool(dom.pierce_all(css))
        return FALSE if not in_frame and not found else unknown(f"target@{event.step or 0}")
    around = (target, *_buttons(event, target), *_holders(target), *_frame_owners(event))
    return of(any(_is_inside(node, css) for node in around))


def _is_inside(node: Node, css: str) -> bool:
    if not is_xpath(css):
        return node.is_inside(css)
    hits = _path_rows(css, node.dom)
    return node.row in hits or any(row in hits for row in node.dom.composed.ancestors(node.row))


def _path_rows(path: str, dom: Dom) -> frozenset[int]:
    known = dom.tree.memo(_known_paths)
    if path not in known:
        known[path] = frozenset(hit.row for hit in find_xpath(path, dom))
    return known[path]


def _known_paths(tree: Tree) -> dict[str, frozenset[int]]:
    """Rows that paths lead to, filled as they are asked for."""
    return {}


def names_on_page(event: Event) -> tuple[Reading, ...] | None:
    """Return the names of the target as the page acted on holds them; None where it is not found there."""
    if "names" not in event.known:
        event.known["names"] = _names_on_page(event)
    found: tuple[Reading, ...] | None = event.known["names"]
    return found


def _names_on_page(event: Event) -> tuple[Reading, ...] | None:
    dom = event.dom
    node = None if isinstance(dom, tuple) else _node(event, dom)
    if node is None:
        return None
    try:
        return tuple(Reading(name, event.step) for name in page_names(node))
    except Unsupported:
        return None


def names_by_label(event: Event) -> tuple[Reading, ...]:
    """Return the text of the label around a box that the page built: the browser does not name it so."""
    element = event.element
    if element is None or element.role not in _BOXES or element.tag in ("input", "label"):
        return ()
    if "label" not in event.known:
        event.known["label"] = tuple(Reading(text, event.step) for text in _text_of_label(event))
    found: tuple[Reading, ...] = event.known["label"]
    return found


def _text_of_label(event: Event) -> Iterator[str]:
    try:
        target = None if event.page is None or event.page.lacks((b"label",)) else target_of(event)
        label = target.closest("label") if target is not None else None
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return
    yield from (label.text_content,) if label is not None else ()


def page_names(node: Node) -> tuple[str, ...]:
    """Return the names that a page gives an element, and those of its hosts, or of the field of a label."""
    called = (name for one in (node, *_labelled(node), *_hosts(node)) for name in _page_names(one))
    return tuple(dict.fromkeys(name for name in called if name and name.strip()))


def target_of(event: Event) -> Node | None:
    """Return the target in its page; None where it is not found there."""
    dom = event.dom
    return None if isinstance(dom, tuple) else _node(event, dom)


def hosts_of_target(event: Event) -> Iterator[Node]:
    """Yield the elements in whose shadow trees the target is, the innermost first."""
    node = target_of(event)
    yield from _hosts(node) if node is not None else ()


def _hosts(node: Node) -> Iterator[Node]:
    inner: Node | None = node
    while inner is not None and (inner := inner.host) is not None:
        yield inner


def is_exempt(event: Event, selectors: tuple[str, ...]) -> Truth:
    """Return whether the target is one of these fields; its recorded attributes may suffice."""
    return some(_exempt(event, css) for css in selectors)


def _exempt(event: Event, css: str) -> Truth:
    plain = _ATTRIBUTE.fullmatch(css.strip())
    if plain is not None and event.element is not None:
        value = _attribute(event.element, plain[1].lower())
        if value is not None and value.lower() == plain[2].lower():
            return TRUE
    return target_inside(event, css)


def _attribute(element: Element, name: str) -> str | None:
    own = {"type": element.type, "role": element.role}.get(name)
    return own if own is not None else (element.attributes or {}).get(name)


def _node(event: Event, dom: Dom) -> Node | None:
    """Return the target in its page: by number, else by its unique path."""
    element = event.element
    if element is None or event.page is None:
        return None
    if element.node is not None and element.node.snapshot == event.page.snapshot_id:
        return dom.node(element.node.number)
    frame = _frame(event)
    inner = frame.dom if frame is not None else None
    if inner is not None and element.node is not None:
        return inner.node(element.node.number)
    if element.css is None or element.frame or " >>> " in element.css:
        return None
    row = _only(dom, element.css)
    return Node(dom, row) if row >= 0 else None


def _only(dom: Dom, css: str) -> int:
    """Return the row of the one element that a selector finds, else -1."""
    known = dom.tree.memo(_known_targets)
    if css not in known:
        found = dom.select_all(css)
        known[css] = found[0].row if len(found) == 1 else -1
    return known[css]


def _known_targets(tree: Tree) -> dict[str, int]:
    """Rows of elements that actions were on, by their unique paths, filled as they are asked for."""
    return {}


def _frame(event: Event) -> FrameView | None:
    """Return the frame with a document of its own that the target is in."""
    node = event.element.node if event.element is not None else None
    return find(event.page.frames, node.snapshot) if node is not None and event.page is not None else None


def _buttons(event: Event, target: Node) -> Iterator[Node]:
    """Yield the button that Enter in a field has pressed: the first of its form."""
    names = event.element.names if event.element is not None else None
    is_submit = isinstance(event.action, Press) and event.action.key in ENTER and target.tag == "input"
    if not is_submit or names is None or names.active is None or target.attribute("aria-activedescendant"):
        return
    form = _form(target)
    found = (one for one in target.dom.pierce_all(_SUBMITS) if form is not None and _form(one) == form)
    yield from islice((one for one in found if one.attribute("disabled") is None), 1)


def _form(field: Node) -> Node | None:
    """Return the form that a field belongs to."""
    named = field.attribute("form")
    if named is None:
        return field.closest("form")
    return next(iter(_by_attribute(field, "id", named)), None)


def _frame_owners(event: Event) -> Iterator[Node]:
    """Yield the elements that hold the frames with pages of their own around the target, innermost first."""
    frame: object = _frame(event)
    while isinstance(frame, FrameView):
        if frame.owner is not None:
            yield frame.owner
        frame = frame.outer


def _holders(node: Node) -> Iterator[Node]:
    """Yield the elements that hold the frames of its own page around an element, innermost first."""
    tree = node.dom.tree
    document = tree.document(node.row)
    while document != 0:
        holder = tree.parent[document]
        yield Node(node.dom, holder)
        document = tree.document(holder)


def _labelled(node: Node) -> list[Node]:
    """Return the field that a label stands for, if it is one."""
    if node.tag != "label":
        return []
    named = node.attribute("for")
    return _by_attribute(node, "id", named) if named else node.select_all(_LABELLED)[:1]


def _page_names(node: Node) -> Iterator[str | None]:
    yield node.text_content
    yield from (node.attribute(name) for name in ("aria-label", "alt", "title", "placeholder"))
    if node.tag == "input" and node.attribute("type") in BUTTONS:
        yield node.attribute("value")
    for named in (node.attribute("aria-labelledby") or "").split():
        yield from (found.text_content for found in _by_attribute(node, "id", named))
    if node.attribute("id"):
        yield from (label.text_content for label in _by_attribute(node, "for", node.attribute("id") or ""))
    around = node.closest("label")
    yield around.text_content if around is not None else None


def _by_attribute(near: Node, name: str, value: str) -> list[Node]:
    """Return the elements with an attribute in the tree of another: ids count in one tree only."""
    scope = near.dom.tree.scope
    found = near.dom.pierce_all(f"[{name}]") if scope[near.row] else near.dom.select_all(f"[{name}]")
    return [node for node in found if node.attribute(name) == value and scope[node.row] == scope[near.row]]
