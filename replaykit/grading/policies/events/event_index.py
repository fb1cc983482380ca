"""Which events a pattern may hold for: most words of a policy are nowhere in a run.

The texts of all events are looked through as one, so that a policy costs its words and what they hit, not its
words times the events. Nothing is decided here: the events that are left are asked one by one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain
from operator import attrgetter

from replaykit.errors import LocatorLimit, ReplaykitError, Unsupported
from replaykit.grading.policies.events.aria_choices import choices_of, is_segment
from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.event_patterns import ActionTypes, Pattern
from replaykit.grading.policies.events.recorded_targets import names_on_page, page_around
from replaykit.grading.policies.events.scope_window import Held, Window
from replaykit.grading.policies.events.text_conditions import Reading
from replaykit.grading.policies.events.three_valued_truth import FALSE
from replaykit.grading.policies.events.url_conditions import parts_of
from replaykit.replay.run_state import Page
from replaykit.trajectory.action import Unknown

_ACTIONS = frozenset({"action"})


class Concordance:
    """Texts of many events as one."""

    def __init__(self, texts: Iterable[str | None]) -> None:
        listed = list(texts)
        self._unread = [row for row, text in enumerate(listed) if text is None]
        self._whole = "\n".join(text or "" for text in listed)
        #: Where each text begins, and where one more would.
        self._starts = list(accumulate((len(text or "") + 1 for text in listed), initial=0))

    def rows(self, words: Iterable[str]) -> list[int]:
        """Return the rows that hold one of these words, and those whose text is unknown, in order.

        A word with a line break in it may find a row too many, never one too few.
        """
        found = set(self._unread)
        for word in words:
            at = self._whole.find(word)
            while 0 <= at < self._starts[-1]:
                row = bisect_right(self._starts, at) - 1
                found.add(row)
                # One hit decides a row, so the search goes on in the next one.
                at = self._whole.find(word, self._starts[row + 1])
        return sorted(found)


def may_match(pattern: Pattern, window: Window) -> Sequence[Held]:
    """Return the events that a pattern may hold for, and the gaps that may hide one, in order."""
    return _sifted(pattern, _TEXTS, window, pattern.types)


def may_be_at_stake(pattern: Pattern, window: Window) -> Sequence[Held]:
    """Return the events that a pattern could have been about, and those that cannot be decided, in order."""
    if pattern.kinds != _ACTIONS or not pattern.is_about_subject:
        return window.of(pattern.kinds)
    return _sifted(pattern, ("text", "url"), window, None)


def _sifted(
    pattern: Pattern, fields: Iterable[str], window: Window, types: ActionTypes | None
) -> Sequence[Held]:
    """Return the events of these types that have the words of one of these fields, or a page with a match."""
    held = window.of(pattern.kinds, types)
    field = next((field for field in fields if field in pattern.words), None)
    if field is not None:
        texts = (_text(field, one.event) for one in held)
        concordance = window.known((field, pattern.kinds, types), lambda: Concordance(texts))
        return [held[row] for row in concordance.rows(pattern.words[field])]
    return held if pattern.css is None else _on_pages(pattern.css, pattern.kinds, window)


def _on_pages(css: str, kinds: frozenset[str], window: Window) -> list[Held]:
    """Return the events with a target on a page that may hold a match, and those that cannot be decided."""
    pages = window.known(("pages", kinds), lambda: _by_page(window.of(kinds)))
    there = (held for page, held in pages if not _excludes(page, css))
    return window.known((css, kinds), lambda: sorted(chain.from_iterable(there), key=attrgetter("place")))


def _by_page(held: Iterable[Held]) -> list[tuple[Page | None, list[Held]]]:
    """Return the events by the page that their targets are on; None where a match may be elsewhere."""
    found: dict[str | None, tuple[Page | None, list[Held]]] = {}
    for one in held:
        page = page_around(one.event)
        if page is not None or _may_have_target(one.event):
            found.setdefault(None if page is None else page.snapshot_id, (page, []))[1].append(one)
    return list(found.values())


def _may_have_target(event: Event) -> bool:
    return event.has_target or event.kind != "action" or isinstance(event.action, Unknown)


def _excludes(page: Page | None, css: str) -> bool:
    """Whether the bytes of a page say that it holds no match."""
    try:
        return page is not None and page.excludes(css)
    except (Unsupported, LocatorLimit):
        return False


def _names(event: Event) -> str | None:
    if event.kind == "page" or event.unnamed is FALSE:
        return None if event.kind == "page" else event.called
    if event.is_drawn or (event.element is not None and event.element.closed_shadow):
        return None
    try:
        on_page = names_on_page(event)
    except ReplaykitError:
        # Faults of the page are reported by the rule that has to read it.
        return None
    return _read((*event.names, *event.lookalikes, *event.over, *event.seen, *on_page)) if on_page else None


def _read(readings: Iterable[Reading]) -> str | None:
    """Return texts as one, None where a part of one is missing."""
    listed = list(readings)
    whole = not any(reading.missing for reading in listed)
    return "\n".join(reading.folded for reading in listed) if whole else None


_TEXTS: dict[str, Callable[[Event], str | None]] = {
    "text": _names,
    "value": lambda event: _read((*event.entered, *event.held, *event.keys)),
    "message": lambda event: _read((event.message_text,)),
    "url": lambda event: None if event.url is None else parts_of(event.url),
}
"""Field of a match to the text that holds its words, None where it is unknown."""


def _text(field: str, event: Event) -> str | None:
    """Return where the words of a field would be; None = they may be there unseen."""
    is_hidden = event.kind in ("gap", "maybe") or isinstance(event.action, Unknown)
    is_hidden = is_hidden or (bool(choices_of(event)) and field != "url")
    is_hidden = is_hidden or (is_segment(event) and field == "value")
    return None if is_hidden else _TEXTS[field](event)
