"""Which commands make a document the agent's own, so that it is no evidence of the site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from replaykit.patterns import lazy_pattern
from replaykit.recorder.session.tabs import Tab, Tabs
from replaykit.recorder.session.witnesses import Commanded

AUTHORING = frozenset({"Frame.setContent", "Page.setDocumentContent"})
"""Commands that write the present document."""

PLANTING = frozenset(
    {"BrowserContext.addInitScript", "Page.addInitScript", "Page.addScriptToEvaluateOnNewDocument"}
)
"""Commands that run a script in every later document before the page's own."""

ANSWERING = frozenset({"Fetch.fulfillRequest", "Network.continueInterceptedRequest"})
"""Commands that answer a request in place of the site."""

_NO_CODE = lazy_pattern(r"(?:\s|/\*.*?\*/|//[^\n\r\u2028\u2029]*)*", re.DOTALL)


def forges(name: str, params: Mapping[str, Any]) -> str:
    """Return which documents a command makes the agent's: the present `document`, `later` ones, `both`."""
    if name in AUTHORING:
        return "document"
    if name in PLANTING and has_code(str(params.get("source") or "")):
        return "both" if params.get("runImmediately") else "later"
    if name == "Fetch.continueRequest" and params.get("url"):
        return "both"
    return "both" if name in ANSWERING else ""


def has_code(source: str) -> bool:
    """Whether a script holds more than blanks and comments, which drivers plant to make a world."""
    return _NO_CODE.fullmatch(source) is None


def forge(command: Commanded, tab: Tab | None, tabs: Tabs) -> None:
    """Mark the documents of a tab, where it is known, else of every tab and of those to come."""
    what = command.forges
    for one in tabs.all if tab is None else (tab,):
        if what in ("document", "both"):
            one.authored = one.document
        if what in ("later", "both"):
            one.forged_after = min(one.forged_after, one.document)
    reaches_new = tab is None and what != "document"
    tabs.is_forged |= reaches_new
    # A program behind the proxy never comes near the tabs of the recorder.
    tabs.is_planted |= reaches_new and command.origin == "driver"
