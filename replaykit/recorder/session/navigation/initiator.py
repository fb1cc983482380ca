"""Kind and cause of a navigation, from what the browser says and whether somebody touched the page before."""

from __future__ import annotations

from msgspec import Struct

KINDS = {
    "anchorClick": "link",
    "formSubmissionGet": "form",
    "formSubmissionPost": "form",
    "scriptInitiated": "script",
    "metaTagRefresh": "refresh",
    "httpHeaderRefresh": "refresh",
}
"""Reason of `Page.frameRequestedNavigation` to kind; others are `unknown`."""

WITHIN = {"historyApi": "push", "fragment": "fragment"}
"""Type of `Page.navigatedWithinDocument` to kind."""

RELOADS = frozenset({"reload", "reloadBypassingCache"})
HISTORY = frozenset({"historyDifferentDocument", "historySameDocument", "restore", "restoreWithPost"})


class Sign(Struct, frozen=True, kw_only=True):
    """Facts about a navigation."""

    type: str | None = None
    """Of `Page.frameStartedNavigating`."""
    reason: str | None = None
    """Of `Page.frameRequestedNavigation`: present only when the page or a gesture started it."""
    within: str | None = None
    """Of `Page.navigatedWithinDocument`."""
    direction: str | None = None
    """`back forward`, from the navigation history."""
    is_popup: bool = False
    """First navigation of a tab that a page opened."""
    is_touched: bool = False
    """A trusted gesture in the tab, or an action of the agent, lies at most a second before."""
    is_touched_here: bool = False
    """That gesture was on the very document that the navigation leaves."""
    is_asked: bool = False
    """It is certain that somebody outside of the page asked for it."""
    is_own: bool = False
    """It is certain that the page moved by itself."""
    is_open: bool = False
    """Neither is known yet, and the next document may show."""


class Origin(Struct, frozen=True, kw_only=True):
    """Kind and cause of a navigation."""

    kind: str
    """`goto back forward reload link form script refresh push fragment popup unknown`."""
    cause: str
    """`agent step script`."""
    is_ambiguous: bool = False
    """The page's own back button looks the same."""


def origin(sign: Sign) -> Origin:
    """Return kind and cause of a navigation."""
    caused = "step" if sign.is_touched else "script"
    if sign.is_popup:
        return Origin(kind="popup", cause=caused)
    if sign.type in HISTORY or sign.within in HISTORY:
        kind = sign.direction if sign.direction in ("back", "forward") else "unknown"
        is_page_like = not sign.is_asked and (sign.is_own or sign.is_open or sign.is_touched_here)
        cause = caused if is_page_like else "agent"
        return Origin(kind=kind or "unknown", cause=cause, is_ambiguous=is_page_like and not sign.is_own)
    if sign.type in RELOADS or sign.reason == "reload":
        # Only a page's own reload has a reason: the browser gives none for a driver's.
        return Origin(kind="reload", cause="script" if sign.reason else "agent")
    if sign.reason is not None:
        return Origin(kind=KINDS.get(sign.reason, "unknown"), cause=caused)
    return _unreasoned(sign, caused)


def _unreasoned(sign: Sign, caused: str) -> Origin:
    if sign.within is None:
        return Origin(kind="goto", cause="agent")
    # The browser announces what a driver asks for; of a page's own change it learns afterwards.
    if sign.type == "sameDocument":
        return Origin(kind="goto", cause="agent")
    return Origin(kind=WITHIN.get(sign.within, "unknown"), cause=caused)
