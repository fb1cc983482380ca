"""Forms that gestures send, and the requests of these forms.

The page reports a form that a gesture sends (`form_submissions.js`), and the next one that a script may send.
Both arrive before the request, since one process reports all of them in order. The first request to the
address of the form is the form's, if no script may have sent one in between.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from replaykit.recorder.session.driver_messages import PageMessage
from replaykit.recorder.session.page_message import text_of
from replaykit.recorder.session.request_messages import Requested
from replaykit.recorder.session.tabs import Tab, Tabs

SENDING = "sending"
"""Name of these messages of the page; without an address a script may send a form next."""

GESTURE = "gesture"
"""Initiator of a request that a gesture on a form has led to."""

_OF_AGENT = ("agent", "evaluated", "driver")
"""Initiators by a call stack that names a script of an agent."""


class SentForm(Struct, frozen=True, kw_only=True):
    """A form that is being sent."""

    document: int
    """Ordinal of the main document in its tab."""
    method: str
    address: str
    """Without fragment, and for GET without what the fields replace."""


class Submissions:
    """Forms that gestures have sent, by tab, until a request shows them."""

    def __init__(self, tabs: Tabs) -> None:
        self._tabs = tabs
        self._sent: dict[int, SentForm] = {}

    def receive(self, message: PageMessage) -> bool:
        """Process a message of a page; return whether it is about forms only."""
        if message.event.name != SENDING:
            return False
        self._sent.pop(message.page, None)
        url, method = text_of(message, "url"), text_of(message, "method")
        if url is not None and method is not None:
            self._sent[message.page] = _sent_form(message.document, method, url)
        return True

    def attributed(self, message: Requested) -> Requested:
        """Return a request, with the gesture as its initiator if it is that of a form."""
        tab = self._sender(message)
        is_document = message.resource == "document" and message.redirect_from is None
        if tab is None or not is_document or message.initiator in _OF_AGENT:
            return message
        if self._sent.get(tab.page) != _sent_form(tab.document, message.method, message.url):
            return message
        del self._sent[tab.page]
        return replace(message, initiator=GESTURE)

    def _sender(self, message: Requested) -> Tab | None:
        """Return the tab whose form it may be: of a new tab, the one that opened it."""
        tab = self._tabs.get(message.page)
        return self._tabs.get(tab.opener) if tab is not None and tab.is_new_popup else tab


def _sent_form(document: int, method: str, url: str) -> SentForm:
    method, address = method.upper(), url.partition("#")[0]
    return SentForm(
        document=document, method=method, address=address.partition("?")[0] if method == "GET" else address
    )
