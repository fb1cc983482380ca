"""Letters that looked for an entry, which an action took: the text that was entered is the entry.

Own module: it goes through all events of a run in order; only_fill asks about single ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.last_gesture import field_at
from replaykit.grading.policies.events.plain_widgets.confirmed_choices import confirmed
from replaykit.grading.policies.events.plain_widgets.page_change import shown_texts
from replaykit.grading.values.normal_form import fold
from replaykit.replay.run_state import Page
from replaykit.trajectory.action import SelectOption

_FURTHER_MAX = 4
"""Actions after the last letter of which one may take the entry: arrows come before Enter."""


def searched_entries(events: Iterable[Event]) -> Iterator[tuple[str, str, str]]:
    """Yield path and text of each field whose letters found an entry, and the entry.

    The page offered the entry, the next actions took it, and the field has lost the letters.
    """
    search = _Search("", "")
    for event in events:
        if event.kind == "action" and event.held and event.element is not None:
            search = _Search(event.element.css or "", event.held[0].raw)
        elif search.text:
            yield from search.found(event)


class _Search:
    """The letters that were typed last."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self._names: list[str] = []
        self._is_lost = False
        self._further = 0

    def found(self, event: Event) -> Iterator[tuple[str, str, str]]:
        """Yield path and letters with each entry, once the field has lost them."""
        if event.kind == "action":
            self._further += 1
            self._names, self._is_lost = [], False
        if event.kind == "page":
            self._is_lost |= event.page is not None and not self._is_held(event.page)
        elif self._further <= _FURTHER_MAX:
            self._names += self._taken(event)
        if self._is_lost:
            yield from ((self.path, self.text, name) for name in self._names)
            self._names = []

    def _taken(self, event: Event) -> list[str]:
        """Return the entries that an action took, of those that the page offered with these letters."""
        made = confirmed(event) if event.kind == "action" else (event,)
        chosen = [one for one in made if isinstance(one.action, SelectOption)]
        offered = {*map(fold, shown_texts(event.page))} if chosen else set()
        names = (text for one in chosen for option in one.values for text in option)
        return [name for name in names if fold(self.text) in fold(name) and fold(name) in offered]

    def _is_held(self, page: Page) -> bool:
        """Whether the field still holds the letters."""
        field = field_at(page.dom, self.path)
        try:
            return field is not None and self.text in str(field.value)
        except ReplaykitError:  # which secret it holds is not recorded
            return True
