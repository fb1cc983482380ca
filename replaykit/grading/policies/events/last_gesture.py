"""The last gesture before a field changed without an event: whether the field belongs to its target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TypeVar

from msgspec.structs import replace

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import (
    ENTER,
    PRESSED,
    SPACE,
    has_lines,
    is_moving,
    is_printable,
)
from replaykit.grading.policies.events.plain_widgets.page_change import NAME_MAX, around, shown_texts
from replaykit.grading.policies.events.recorded_targets import page_names
from replaykit.grading.policies.events.text_conditions import find
from replaykit.grading.policies.events.widgets_around import (
    ENTRIES,
    is_beside,
    is_select_of,
    is_step_button,
)
from replaykit.grading.values.dates import dates_in
from replaykit.grading.values.normal_form import fold
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Dom, Node
from replaykit.replay.run_state import Page
from replaykit.tasks.policy_rules import GROUPS
from replaykit.trajectory.action import (
    ActionBase,
    Check,
    DragAndDrop,
    Element,
    Fill,
    NodeRef,
    Press,
    SelectOption,
    Uncheck,
    tag_of,
)
from replaykit.trajectory.text_changes import alike

_NUMBER = lazy_pattern(r"\d+")
_PAGER = lazy_pattern(r"(?i)(?:^|[-_\s])(?:page|pager|pagination|paginator)(?:$|[-_\s])")
_PLAIN = lazy_pattern(r"(> [\w-]+)(?= > |$)")
"""A step of a path that names a tag only."""

_LEVELS = 4
"""Elements around a number that may say what it counts."""

_DRAWN = (None, "graphics-document", "img")
"""Roles of parts that may be all that a person sees of a control."""

_OPTIONS = (*PRESSED, "checkbox", "radio")
"""Roles of targets that may stand for a choice in a field elsewhere."""


_CELLS = ("cell", "gridcell", "row", "rowheader")
_GRIDS = "[role=grid], [role=treegrid], table"


class LastGesture:
    """A gesture, on the page that a later look found."""

    def __init__(self, action: ActionBase, page: Page | None) -> None:
        self.element = action.element or Element()
        #: Whether it is a key of a text, or one that leaves a field: a page may rewrite what was typed.
        self.is_typing = isinstance(action, Press) and (is_printable(action.key) or action.key == "Tab")
        #: The text that it entered, or that the field held.
        self._typed = typed_by(action) or self.element.value or ""
        self.is_moving = is_moving(action)
        self.is_pressing = _presses(action)
        #: Whether the pointer or a key was on what it changes.
        self.is_direct = self.is_pressing or isinstance(action, DragAndDrop)
        #: Whether it set a box of the browser: what it is called is no value then.
        self._is_set = isinstance(action, Check | Uncheck)
        self.dom = page.dom if page is not None else None
        is_part = self.element.role in _DRAWN and self.element.tag not in ("body", "html")
        self.part = field_at(self.dom, self.element.css) if is_part else None

    @property
    def is_option(self) -> bool:
        """Whether it was on a control that is pressed."""
        return self.element.role in _OPTIONS

    def has(self, path: str) -> bool:
        """Whether a field is the target, or is inside of it, or beside it, or a box in the same grid."""
        if is_in(path, self.element.css):
            return True
        field = field_at(self.dom, path)
        if field is None or self._target is None:
            return self.part is not None and is_beside(field, self.part)
        is_near = _holds(self._target, field) or self._is_in_grid_of(field)
        is_near |= self.element.role == "combobox" and is_select_of(field, self._target)
        return is_near or (self.part is not None and is_beside(field, self.part))

    def _is_in_grid_of(self, field: Node) -> bool:
        """Whether a box and the target, a cell or row, are in one grid: parts of a row may stand apart."""
        if self.element.role not in _CELLS or field.attribute("type") not in ("checkbox", "radio"):
            return False
        grid = self._target.closest(_GRIDS) if self._target is not None else None
        return grid is not None and field.closest(_GRIDS) == grid

    @cached_property
    def _target(self) -> Node | None:
        return field_at(self.dom, self.element.css)

    def moves_to(self, path: str) -> bool:
        """Whether a key went from one radio button to another, which is at a path."""
        is_on_radio = self.element.role == "radio" and self.is_moving
        field = field_at(self.dom, path) if is_on_radio else None
        return field is not None and field.tag == "input" and field.attribute("type") == "radio"

    def steps(self, path: str, before: str, after: str) -> bool:
        """Whether the target gave a number another value: a button beside it, or a key that moves in it."""
        is_number = bare(after).isdigit() and (not before or bare(before).isdigit())
        css = self.element.css
        if path == css:
            is_stepped = self.element.role == "spinbutton" or bare(before) != ""
            return is_number and self.is_moving and is_stepped
        field = field_at(self.dom, path)
        if not is_number or self.is_typing or (field is not None and field.attribute("type") == "range"):
            return False
        is_sign = not bare((self.element.text or "").strip() or self._called)
        return is_in(path, css) or is_step_button(field, self._target, is_sign=is_sign)

    def steps_for_certain(self, path: str, before: str) -> bool:
        """Whether it was a step for certain, in a field that can be edited.

        A field that had no number before may be filled by any button beside it.
        """
        field = field_at(self.dom, path)
        is_read = field is None or not {"readonly", "disabled"}.isdisjoint(field.attributes)
        is_read |= field is not None and any(map(_is_of_pages, around(field, _LEVELS)))
        is_step = self.is_moving or (self.is_direct and bool(bare(before) or not bare(self._called)))
        return is_step and not is_read

    def taken(
        self, row: tuple[str, str, str], page: Page | None, *, is_used: bool, is_preset: bool = False
    ) -> Iterator[ActionBase]:
        """Yield the choice of what the target is called, if a field holds it now, and did not before.

        `is_used`: whether a gesture was on the field. A form that opens has fields with what was clicked.
        `is_preset`: whether the target came for the field: it may set it, whatever it is called.
        """
        _, before, after = row
        is_entry = self.is_pressing and (self.is_option or self.element.role in ENTRIES)
        if not is_entry or has_lines(self.element):
            return
        names = [name for name in map(fold, self._called.splitlines()) if len(bare(name)) > 1]
        is_offered = is_used or self.element.role == "option"
        if is_preset and bare(added(before, after)) in {bare(name) for name in self._called.splitlines()}:
            is_preset = len(bare(added(before, after))) > 1  # a key of a keypad adds its character
        gained = [name for name in names if is_offered and self._is_gained(name, fold(before), fold(after))]
        if gained or self._is_day(row) or (is_preset and _is_text(row)):
            # A cascade writes the entry after those that led to it.
            parts = [name for name in names if is_preset and find(name, fold(after)) >= 0]
            yield SelectOption(element=_field(row, page), values=(after,), labels=(*gained, *parts)[:1])

    def _is_gained(self, name: str, before: str, after: str) -> bool:
        """Whether a field gained a name; a page that reports what a button did names it in a sentence."""
        if self.element.role == "option":
            return find(name, after) >= 0 > find(name, before)
        return name == after or name == added(before, after).strip(" ,;")

    def _is_day(self, row: tuple[str, str, str]) -> bool:
        """Whether the target is a day of a calendar, and a field holds its date now."""
        names = [name for name in self._called.splitlines() if name.strip().isdigit() or has_date(name)]
        is_short = len(row[2]) <= NAME_MAX
        return is_short and any(_gives_numbers(name, row[2]) for name in names) and has_date(row[2])

    def dates(self, rows: Sequence[tuple[str, str, str]]) -> bool:
        """Whether it was on a button or entry, and nothing but dates came into fields: it may be a preset."""
        is_entry = self.is_pressing and (self.is_option or self.element.role in ENTRIES)
        return is_entry and all(
            len(row[2]) <= NAME_MAX and _is_text(row) and has_date(row[2]) for row in rows
        )

    def opens(self, path: str, text: str) -> bool:
        """Whether a cell shows its own text in a field that lies on it: nothing was entered yet."""
        if self.element.role not in _CELLS or fold(text) not in map(fold, self._called.splitlines()):
            return False
        field = field_at(self.dom, path)
        boxes = [one.box for one in (field, self._target) if one is not None]
        return len(boxes) == 2 and None not in boxes and _overlap(*filter(None, boxes))

    def offers(self, text: str) -> bool:
        """Whether the target is called as a field is now, so that it was an option of the field."""
        name = fold(self._called)
        is_entry = self.is_option or self.element.role in ENTRIES
        if self._is_set and name != fold(text):
            return False
        is_entry &= not has_lines(self.element)
        is_part = bool(name) and (name in fold(text) or fold(text) in name)
        return is_entry and (is_part or _gives_numbers(name, text))

    def completes(self, row: tuple[str, str, str], before: Page | None) -> bool:
        """Whether the page put an entry that it offered in the place of what was typed."""
        words = fold(added(row[1], row[2])).strip()
        try:
            is_word = any(char.isalpha() for char in words)
            return is_word and any(words in fold(text) for text in shown_texts(before))
        except ReplaykitError:  # faults of the page are reported by the rule that has to read it
            return False

    @property
    def _called(self) -> str:
        return "\n".join(one for one in (self.element.text, self.element.name) if one)

    def files(self, row: tuple[str, str, str]) -> bool:
        """Whether a list, or an unseen field, took what was typed into its search field as a tag."""
        is_search = self.element.role == "searchbox" or self.element.type == "search"
        field = field_at(self.dom, row[0]) if is_search else None
        taken = bare(added(row[1], row[2]))
        is_taken = field is not None and bool(taken) and taken in bare(self._typed)
        return is_taken and field is not None and (field.tag == "select" or self._is_emptied_into(field))

    def _is_emptied_into(self, field: Node) -> bool:
        """Whether a field is unseen, and the search field does not hold its text any more."""
        try:
            is_unseen = field.attribute("tabindex") == "-1" or not field.visible
            is_emptied = self._target is not None and self._target.value == ""
            return field.tag == "input" and is_unseen and is_emptied
        except ReplaykitError:  # faults of the page are reported by the rule that has to read it
            return False

    def naming(self, action: ActionBase) -> ActionBase:
        """Return an action on a field with those of the target as well: they may be all that is seen."""
        one, field = self.element, action.element or Element()
        own = _names_at(self.dom, field.css)
        called = replace(field, text=one.text, name=one.name, names=one.names, earlier=own)
        return replace(action, element=called)

    def by_option(self, action: ActionBase) -> ActionBase:
        """Return what an option put into a field that no one sees: its value, and the option has the name."""
        field = field_at(self.dom, action.element.css) if action.element is not None else None
        is_unseen = field is not None and "hidden" in (field.attribute("type"), *field.attributes)
        is_unseen |= field is not None and field.attribute("tabindex") == "-1"
        is_entry = self.is_option or self.element.role in ENTRIES
        labels = tuple(self._called.splitlines()) if is_entry else ()
        if not isinstance(action, Fill) or not is_unseen or not labels:
            return action
        return SelectOption(element=action.element, values=(field_text(action),), labels=labels[:1])


def _is_text(row: tuple[str, str, str]) -> bool:
    """Whether a field holds another text now, and is no box."""
    _, before, after = row
    return bare(after) not in ("", bare(before)) and after not in ("true", "false")


def _is_of_pages(node: Node) -> bool:
    """Whether an element is for going from page to page: its number says where one is."""
    names = (node.attribute(name) or "" for name in ("class", "id", "aria-label", "name"))
    return any(map(_PAGER.search, names))


def _presses(action: ActionBase) -> bool:
    """Whether an action presses its target: a click, or a key that does the same."""
    if isinstance(action, Press):
        return action.key in (*ENTER, *SPACE)
    return tag_of(action) in GROUPS["@activate"] and getattr(action, "button", "left") == "left"


def _field(row: tuple[str, str, str], page: Page | None) -> Element:
    """Return the field of a change, where a page has it."""
    node = field_at(page.dom, row[0]) if page is not None else None
    at = page.snapshot_id if page is not None else None
    place = NodeRef(snapshot=at, number=node.number) if node is not None and at else None
    tag, type = (node.tag, node.attribute("type")) if node is not None else (None, None)
    return Element(css=row[0], tag=tag, type=type, value=row[1], node=place)


def field_text(action: ActionBase) -> str:
    """Return what a field holds after an entry."""
    return getattr(action, "value_after", None) or getattr(action, "value", None) or ""


def typed_by(action: ActionBase) -> str:
    """Return the text that an action typed, a letter of a key included; else nothing."""
    letter = action.key if isinstance(action, Press) and is_printable(action.key) else ""
    return getattr(action, "value", None) or letter


def is_typed_in(typed: str, row: tuple[str, str, str]) -> bool:
    """Whether a field gained what was typed: the page only put it there itself."""
    gained = bare(added(row[1], row[2]))
    return bool(gained) and gained in bare(typed)


def _names_at(dom: Dom | None, path: str | None) -> tuple[str, ...]:
    field = field_at(dom, path)
    try:
        return page_names(field) if field is not None else ()
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return ()


def _holds(around: Node, part: Node) -> bool:
    """Whether a part of a page is inside of an element, whatever their paths begin with."""
    return part.dom is around.dom and around.row < part.row < around.dom.tree.end[around.row]


def is_in(path: str, place: str | None) -> bool:
    """Whether a field is an element, or is inside of it."""
    path, place = same_place(path), same_place(place)
    return place is not None and (path == place or path.startswith((f"{place} > ", f"{place} >>> ")))


_Path = TypeVar("_Path", str, None, str | None)


def same_place(path: _Path) -> _Path:
    """Return a path in one form: the only element of its tag is the first one once a page adds another."""
    return path.replace(":nth-of-type(1)", "") if path is not None else None


def _overlap(*boxes: tuple[int, int, int, int]) -> bool:
    """Whether two boxes have a place in common."""
    one, other = boxes
    return all(one[at] < other[at] + other[at + 2] and other[at] < one[at] + one[at + 2] for at in (0, 1))


def has_date(text: str) -> bool:
    """Whether a text gives a date."""
    return next(iter(dates_in(fold(text))), None) is not None


def _gives_numbers(name: str, text: str) -> bool:
    """Whether a text has all numbers of a name, as the date of a day in a calendar has."""
    given, shown = ({number.lstrip("0") for number in _NUMBER.findall(one)} for one in (name, text))
    return bool(given) and given <= shown


def bare(text: str) -> str:
    """Return letters and digits without case: a page that writes a number with hyphens enters nothing."""
    return "".join(one for one in text if one.isalnum()).casefold()


def added(before: str, after: str) -> str:
    """Return the part of a text that was not there before."""
    start = alike(before, after)
    end = alike(before[start:][::-1], after[start:][::-1])
    return after[start : len(after) - end]


def field_at(dom: Dom | None, path: str | None) -> Node | None:
    """Return the one element at a path through document and shadow trees; None where it is not there."""
    if dom is None or path is None:
        return None
    outer, *inner = path.split(" >>> ")
    try:
        found = dom.select_all(outer)
        # The only element of its tag is the first one once a page adds another.
        found = dom.select_all(_PLAIN.sub(r"\1:nth-of-type(1)", outer)) if len(found) > 1 else found
        for step in inner:
            found = _in_shadow(found[0], step) if len(found) == 1 else []
    except ReplaykitError:
        return None
    return found[0] if len(found) == 1 else None


def _in_shadow(host: Node, path: str) -> list[Node]:
    """Return what a path finds that begins at the top of the shadow tree of a host, or at an id."""
    tree = host.dom.tree
    root = tree.shadow(host.row)
    found = Node(host.dom, root).select_all(path) if root >= 0 else []
    if path.startswith("#"):
        return found
    levels = path.count(" > ")
    return [one for one in found if sum(1 for _ in islice(tree.ancestors(one.row), levels + 1)) == levels]
