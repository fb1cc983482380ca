"""Accessibility trees of pages, as Playwright writes them (`Locator.aria_snapshot`)."""

from __future__ import annotations

from replaykit.recorder.browser.cdp_tab import CdpTab
from replaykit.recorder.browser.command_effects import Carried, CommandRefused, Outline, evaluate

ELEMENTS_MAX = 10_000
"""Elements of a page whose tree is taken: Playwright needs 40 ms for a thousand."""


def outline(tab: CdpTab) -> Carried:
    """Return the tree of a page's main frame, as YAML.

    Raises `CommandRefused("withheld")` where a masked field or region holds something: the tree says what, in
    words of its own.
    """
    if (yield from evaluate(tab, f"document.getElementsByTagName('*').length > {ELEMENTS_MAX}")):
        raise CommandRefused("too_large")
    yield from _open(tab)
    tree = yield Outline(tab=tab)
    yield from _open(tab)
    return tree


def _open(tab: CdpTab) -> Carried:
    if (yield from evaluate(tab, f"{tab.names.api}.hasMasked()")):
        raise CommandRefused("withheld")
