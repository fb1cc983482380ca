"""Forms that are sent, by a gesture or by a script, and the requests of these forms.

The page reports each form (`form_submissions.js`) before its request, since one process reports both in
order. The first request to the address of a form that a gesture sends is the form's, if no script may have
sent one in between. A new tab may ask before it is known; then all tabs may have sent it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from replaykit.recorder.browser.witnesses.net_log import Sent
from replaykit.recorder.session.driver_messages import PageMessage
from replaykit.recorder.session.page_message import text_of
from replaykit.recorder.session.request_messages import Requested
from replaykit.recorder.session.tabs import Tab, Tabs

SENDING = "sending"
"""Name of these messages of the page."""

BY_SCRIPT = "script"
"""Sender of a form that no gesture sent, as far as the page knows."""

GESTURE = "gesture"
"""Initiator of a request that a gesture on a form has led to."""

FORM = "form"
"""Initiator of a request of a form that a script sent: of the page or of the agent."""

FORMS_MAX = 1000
"""Forms that are kept of one recording."""

SLACK_MS = 100
"""Page and driver report by ways of their own, one of them so much later."""

_OF_AGENT = ("agent", "evaluated", "driver")
"""Initiators by a call stack that names a script of an agent."""


class SentForm(Struct, kw_only=True):
    """A form that was sent."""

    at: float
    """When the page reported it, ms."""
    page: int
    document: int
    """Ordinal of the main document in its tab."""
    target: tuple[str, str]
    """Method, and address without fragment; for GET without what the fields replace."""
    sender: str
    """Initiator of its request: GESTURE or FORM."""
    is_used: bool = False
    """Whether it explains no further request."""


class Submissions:
    """Forms that were sent, in order; one that a gesture sent explains one request."""

    def __init__(self, tabs: Tabs) -> None:
        self._tabs = tabs
        self._sent: deque[SentForm] = deque(maxlen=FORMS_MAX)
        self._asking: set[int] = set()
        """Tabs that have asked for a document."""

    def receive(self, message: PageMessage) -> bool:
        """Process a message of a page; return whether it is about forms only."""
        if message.event.name != SENDING:
            return False
        target = _target(text_of(message, "method") or "", text_of(message, "url") or "")
        sender = FORM if text_of(message, "sender") == BY_SCRIPT else GESTURE
        self._sent.append(
            SentForm(
                at=message.at, page=message.page, document=message.document, target=target, sender=sender
            )
        )
        return True

    def attributed(self, message: Requested) -> Requested:
        """Return a request, with what sent its form as its initiator if it is that of a form."""
        is_document = message.resource == "document" and message.redirect_from is None
        if message.page is None or not is_document or message.initiator in _OF_AGENT:
            return message
        found = [one for tab in self._senders(message.page) for one in self._latest(tab)]
        self._asking.add(message.page)
        return replace(message, initiator=_take(found, message.method, message.url) or message.initiator)

    def _senders(self, page: int) -> list[Tab]:
        """Return the tabs whose form it may be: of a tab that asks for the first time, also its opener."""
        tab = self._tabs.get(page)
        opener = self._tabs.get(tab.opener) if tab is not None and page not in self._asking else None
        return [one for one in (tab, opener) if one is not None]

    def _latest(self, tab: Tab) -> list[SentForm]:
        """Return the form that the document of a tab sent last, if any."""
        latest = next((one for one in reversed(self._sent) if one.page == tab.page), None)
        return [latest] if latest is not None and latest.document == tab.document else []

    def explained(self, sent: Sent) -> Sent:
        """Return a request of the driver's log, with what sent its form if no tab is known to have asked."""
        if sent.page is not None or not sent.is_document:
            return sent
        found = [one for one in reversed(self._sent) if one.at <= sent.at + SLACK_MS]
        return replace(sent, initiator=_take(found, sent.method, sent.url))


def _take(forms: Iterable[SentForm], method: str, url: str) -> str | None:
    """Return what sent the first of these forms that goes there."""
    target = _target(method, url)
    found = next((one for one in forms if one.target == target), None)
    if found is None or found.is_used:
        return None
    found.is_used = found.sender == GESTURE
    return found.sender


def _target(method: str, url: str) -> tuple[str, str]:
    method, address = method.upper(), url.partition("#")[0]
    return method, address.partition("?")[0] if method == "GET" else address
