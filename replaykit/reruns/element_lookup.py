"""A recorded action's element on a live page: the one in its place, else the only one with its role and name.

It counts as found only where it is what was acted on: same tag, same kind of field, same words on it. What
these rules do not see (labels, roles, names that are computed) is compared afterwards, on the new recording.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from replaykit.trajectory.action import Element

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

TEXT_MAX = 1024
"""Longest text that is compared, UTF-16 units: the recorder keeps as much."""

SHOWN_MAX = 80
"""Longest text in a message, characters."""

# Roles whose element is known by the words on it.
_WORDED = frozenset(
    {
        "button", "checkbox", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio",
        "switch", "tab",
    }
)  # fmt: skip

_DESCRIBE = """
element => ({
  tag: element.localName.toLowerCase(),
  type: ['button', 'input'].includes(element.localName) ? element.type : null,
  text: (element.textContent ?? '').slice(0, 1024),
  aria_label: element.getAttribute('aria-label') ?? '',
  placeholder: element.getAttribute('placeholder') ?? '',
  title: element.getAttribute('title') ?? '',
  value: ['button', 'submit', 'reset'].includes(element.type) ? element.getAttribute('value') ?? '' : '',
})
"""
"""Script that describes an element as it is now. Nothing of the recording is in it."""


class FoundElement(Struct, frozen=True, kw_only=True):
    """Result of looking for a target."""

    state: Literal["found", "moved", "changed", "missing"]
    """`moved`: elsewhere, by its role and name. `changed`: another element stands in its place."""
    locator: Any = None
    """Playwright's locator of it; None unless found or moved."""
    before: str = ""
    """Of a changed or moved one: what it was, or where."""
    after: str = ""
    """Its present description, or its place."""


def look(page: Page, element: Element) -> FoundElement:
    """Look once for an element, without waiting."""
    scope = _scope(page, element)
    place = _place(scope, element.css) if element.css else None
    changed = None
    # Of several matches, it is unknown which one was meant.
    if place is not None and place.count() == 1:
        changed = _difference(element, place.evaluate(_DESCRIBE))
        if changed is None:
            return FoundElement(state="found", locator=place)
    # Layouts change more often than the words on a button.
    other = _namesake(scope, element)
    if other is not None:
        return FoundElement(state="moved", locator=other, before=element.css or "no place", after="elsewhere")
    if changed is not None:
        return FoundElement(state="changed", before=changed[0], after=changed[1])
    return FoundElement(state="missing", before=element.css or "no place")


def _scope(page: Page, element: Element) -> Any:
    """Return the page, or the frame in it: what locators are made from."""
    scope: Any = page
    for ordinal in element.frame:
        scope = scope.locator("iframe, frame").nth(ordinal).content_frame
    return scope


def _place(scope: Any, css: str) -> Locator | None:
    place = scope
    for part in css.split(" >>> "):
        if ">>" in part:  # Playwright would read it as a chain of its own engines
            return None
        place = place.locator(f"css={part}")
    found: Locator = place
    return found


def _namesake(scope: Any, element: Element) -> Locator | None:
    """Return the one element of the same role and name; None if absent, or several."""
    # Nothing hidden is compared, and locators do not enter closed shadow roots.
    if not element.role or not element.name or element.masked or element.closed_shadow:
        return None
    found: Locator = scope.get_by_role(element.role, name=element.name, exact=True)
    if found.count() != 1:
        return None
    return found if _difference(element, found.evaluate(_DESCRIBE)) is None else None


def _difference(element: Element, now: dict[str, str | None]) -> tuple[str, str] | None:
    """Return what was and what is, where the element is another one."""
    for name, before in _known(element).items():
        after = now.get(name) or ""
        if _plain(before) != _plain(after):
            return _shown(name, before), _shown(name, after)
    return None


def _known(element: Element) -> dict[str, str]:
    """Return the recorded facts about the element, as far as it has to be the same."""
    names = element.names
    known = {"tag": element.tag or "", "type": element.type or ""}
    if element.masked or element.cut or names is None:
        return {name: text for name, text in known.items() if text}
    if element.role in _WORDED:
        known |= {"text": element.text or "", "value": names.value or ""}
    known |= {"aria_label": names.aria_label or "", "placeholder": names.placeholder or ""}
    # An empty label is a fact to compare; an empty tag is one that was not recorded.
    return {name: text for name, text in known.items() if text or name not in ("tag", "type")}


def _plain(text: str) -> str:
    # Texts that the recorder hid or cut cannot be compared; `_known` leaves whole elements out for that.
    return " ".join(text[:TEXT_MAX].split())


def _shown(name: str, text: str) -> str:
    words = " ".join(text.split())
    return f"{name} {words[:SHOWN_MAX]!r}"
